//! Who of a group's members should take its writes, by what they say now and what is remembered.

use std::collections::{BTreeMap, BTreeSet};

use pando_kernel::health::{Copying, Role, Vitals};
use pando_kernel::route::{Place, UnitName};

use crate::memory::{Memory, leads, standing, timeline, told};
use crate::{Standing, UnitState};

/// What is known of a group when it is to be decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) place: &'a Place,
    pub(crate) memory: &'a Memory,
    pub(crate) units: &'a BTreeMap<UnitName, UnitState>,
}

/// Who should take the writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) unit: Option<UnitName>,
    pub(crate) why: String,
    /// Claims to lead, of this group's data, but is not the one.
    pub(crate) split: BTreeSet<UnitName>,
    /// What makes the difference was read at different times: it has to be seen again before it is believed.
    pub(crate) is_doubtful: bool,
}

type Claimer<'a> = (&'a UnitName, &'a Vitals);

impl<'a> View<'a> {
    pub(crate) fn claim(self) -> Claim {
        let claimers: Vec<Claimer<'a>> = self.told().filter(|(_, vitals)| leads(vitals)).collect();
        let able: Vec<Claimer<'a>> =
            claimers.iter().copied().filter(|(unit, vitals)| self.may_lead(unit, vitals)).collect();
        let (unit, why) = match &able[..] {
            [] => self.nobody_claims(),
            [(only, _)] => (Some((*only).clone()), format!("`{only}` says that it is the primary")),
            [..] => self.one_of(&able),
        };
        let is_split =
            |claimer: &Claimer<'_>| self.is_split(claimer.0, claimer.1, unit.as_ref(), &able);
        let split = claimers.into_iter().filter(is_split).map(|(unit, _)| unit.clone()).collect();
        let current = &self.memory.primary;
        let by_timeline = unit.as_ref().and_then(|unit| told(self.units, unit)).and_then(timeline);
        let is_doubtful = unit.as_ref() != Some(current)
            && by_timeline.is_none()
            && able.iter().any(|(unit, _)| *unit == current);
        Claim { unit, why, split, is_doubtful }
    }

    fn told(self) -> impl Iterator<Item = Claimer<'a>> {
        self.place.members.iter().filter_map(move |unit| Some((unit, told(self.units, unit)?)))
    }

    /// Whether who claims to lead may be believed. A copy that was promoted has evidence for it; a server that merely takes writes has not.
    fn may_lead(self, unit: &UnitName, vitals: &Vitals) -> bool {
        let memory = self.memory;
        if *unit == memory.primary {
            return true;
        }
        let order = timeline(vitals).zip(memory.timeline).map(|(own, last)| own.cmp(&last));
        let is_newer = order.is_some_and(|order| order.is_gt());
        if memory.is_foreign(vitals) || order.is_some_and(|order| order.is_lt()) {
            return false;
        }
        if self.leader_follows(vitals) {
            return true;
        }
        if memory.deposed.contains(unit) && !is_newer {
            return false;
        }
        memory.kin.contains(unit)
            || memory.is_own(vitals) && (is_newer || order.is_none())
            || self.place.members.first() == Some(unit)
            || vitals.was_copy && self.leader_is_lost()
    }

    /// The group's leader itself says that it is a copy of this one now.
    fn leader_follows(self, vitals: &Vitals) -> bool {
        let leader = told(self.units, &self.memory.primary).filter(|leader| !leads(leader));
        let source = leader.and_then(|leader| leader.source.as_ref());
        source.is_some() && source == vitals.node.as_ref()
    }

    /// Nothing was ever heard of the group's leader: after a restart, for example, in the middle of its absence.
    fn leader_is_lost(self) -> bool {
        let state = self.units.get(&self.memory.primary);
        let is_lost =
            |state: &UnitState| state.standing() == Standing::Down && state.vitals().is_none();
        self.memory.cluster.is_none() && state.is_some_and(is_lost)
    }

    fn one_of(self, able: &[Claimer<'a>]) -> (Option<UnitName>, String) {
        let current = &self.memory.primary;
        let prefer = |among: &[Claimer<'a>]| {
            let has = |wanted: &UnitName| among.iter().any(|(unit, _)| *unit == wanted);
            let configured = self.place.members.first().filter(|first| has(first));
            Some(current).filter(|current| has(current)).or(configured).cloned()
        };
        let peers: Vec<Claimer<'a>> =
            able.iter().copied().filter(|(_, vitals)| vitals.role == Role::Peer).collect();
        if let Some((first, _)) = peers.first() {
            let unit = prefer(&peers).unwrap_or_else(|| (*first).clone());
            return (Some(unit), "several members take writes".into());
        }
        let beats = |(_, own): &Claimer<'_>, (_, other): &Claimer<'_>| {
            let order = own.position.as_ref().zip(other.position.as_ref());
            same_server(own, other)
                || order.and_then(|(own, other)| own.against(other)).is_some_and(|o| o.is_gt())
        };
        let is_furthest =
            |own: &&Claimer<'a>| able.iter().all(|other| other.0 == own.0 || beats(own, other));
        let furthest: Vec<Claimer<'a>> = able.iter().filter(is_furthest).copied().collect();
        let names: Vec<String> = able.iter().map(|(unit, _)| format!("`{unit}`")).collect();
        let names = names.join(" and ");
        if let Some((first, _)) = furthest.first() {
            let unit = prefer(&furthest).unwrap_or_else(|| (*first).clone());
            let why = format!("{names} say that they are the primary, `{unit}` is further");
            return (Some(unit), why);
        }
        match prefer(able) {
            Some(unit) => (Some(unit), format!("{names} say that they are the primary")),
            None => {
                (None, format!("{names} say that they are the primary, and neither is further"))
            }
        }
    }

    /// Whom to leave the writes to when nobody shows to be the right one.
    fn nobody_claims(self) -> (Option<UnitName>, String) {
        let current = &self.memory.primary;
        let keep = |why: &str| (Some(current.clone()), why.to_owned());
        match (standing(self.units, current), told(self.units, current)) {
            (Standing::Unseen, _) => keep("nothing is known of it yet"),
            (Standing::Up, Some(vitals)) if vitals.role == Role::Standby => {
                let reason = match &vitals.unfit {
                    Some(why) => why.clone(),
                    None => "it is a standby".to_owned(),
                };
                (None, format!("storage unit `{current}` takes no writes, {reason}"))
            }
            (Standing::Up, _) => keep("its role is unknown"),
            (Standing::Down, _) if self.is_replicated() => {
                let since = self.units.get(current).and_then(UnitState::since).unwrap_or_default();
                (None, format!("storage unit `{current}` does not answer since {since}"))
            }
            (Standing::Down, _) => keep("no other member is known to copy it"),
        }
    }

    /// Whether there is anything that shows members to be copies of each other.
    pub(crate) fn is_replicated(self) -> bool {
        let shows = |(unit, vitals): Claimer<'_>| {
            let others = self.told().filter(|(other, _)| *other != unit);
            let mut same = others.filter(|(_, other)| !same_server(vitals, other));
            vitals.role == Role::Standby
                || vitals.role == Role::Peer
                || vitals.copying != Copying::No
                || vitals.cluster.is_some()
                    && same.any(|(_, other)| other.cluster == vitals.cluster)
        };
        !self.memory.kin.is_empty() || !self.memory.deposed.is_empty() || self.told().any(shows)
    }

    fn is_split(
        self,
        unit: &UnitName,
        vitals: &Vitals,
        winner: Option<&UnitName>,
        able: &[Claimer<'_>],
    ) -> bool {
        if Some(unit) == winner || vitals.role == Role::Peer {
            return false;
        }
        if let Some(leader) = winner.and_then(|winner| told(self.units, winner))
            && same_server(leader, vitals)
        {
            return false;
        }
        let memory = self.memory;
        able.iter().any(|(able, _)| *able == unit)
            || memory.is_own(vitals)
            || memory.kin.contains(unit)
            || memory.deposed.contains(unit)
    }
}

/// Two names for one server.
fn same_server(one: &Vitals, other: &Vitals) -> bool {
    one.node.is_some() && one.node == other.node && one.cluster == other.cluster
}
