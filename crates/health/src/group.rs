//! What is decided for one read/write group: pure, from observation to observation.

use std::collections::{BTreeMap, BTreeSet};

use pando_kernel::route::{Place, UnitName};
use pando_kernel::states::{GroupState, Primary};

use crate::claim::{Claim, View};
use crate::damper::Damper;
use crate::memory::{Memory, told};
use crate::reads::Reads;
use crate::verdict::Verdict;
use crate::{Happening, Moment, Settings, UnitState};

/// A group, what it remembers, and what is decided for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub(crate) place: Place,
    memory: Memory,
    verdict: Verdict,
    damper: Damper,
    /// Who should take over, and since when.
    pending: Option<(UnitName, Moment)>,
    pub(crate) reads: Reads,
    foreign: BTreeSet<UnitName>,
    /// Everybody who led in this process' time.
    former: BTreeSet<UnitName>,
}

impl Group {
    /// A group as configured; the first member takes its writes. With a memory from before, whoever led then. `None` for a group without members.
    pub fn new(place: Place, memory: Option<Memory>) -> Option<Self> {
        let memory = memory.or_else(|| Memory::new(&place))?;
        let verdict = Verdict {
            primary: Some(memory.primary.clone()),
            why: "as configured".into(),
            since: None,
            split: BTreeSet::new(),
        };
        Some(Self {
            place,
            memory,
            verdict,
            damper: Damper::default(),
            pending: None,
            reads: Reads::default(),
            foreign: BTreeSet::new(),
            former: BTreeSet::new(),
        })
    }

    /// Decides anew by what is believed of the members. Never by chance: the same history gives the same verdict.
    #[must_use]
    pub fn decide(
        mut self,
        units: &BTreeMap<UnitName, UnitState>,
        now: Moment,
        settings: &Settings,
    ) -> (Self, Vec<Happening>) {
        self.memory.learn(&self.place, units);
        let mut news = self.strangers(units);
        let memory = self.memory.clone();
        let claim = View { place: &self.place, memory: &memory, units }.claim();
        let (claimed, mut split) = (claim.unit.clone(), claim.split.clone());
        news.extend(self.follow(claim, units, now, settings));
        if self.verdict.primary.is_some() && self.verdict.primary != claimed {
            // In doubt the one that leads goes on, and the other one is the claimer beside it.
            split.extend(claimed);
            split.retain(|unit| Some(unit) != self.verdict.primary.as_ref());
        }
        for unit in split.difference(&self.verdict.split) {
            news.push(Happening::SplitBrain { group: self.name(), unit: unit.clone() });
        }
        self.verdict.split = split;
        let view = View { place: &self.place, memory: &self.memory, units };
        news.extend(self.reads.decide(view, &self.verdict, now, settings));
        (self, news)
    }

    fn follow(
        &mut self,
        claim: Claim,
        units: &BTreeMap<UnitName, UnitState>,
        now: Moment,
        settings: &Settings,
    ) -> Option<Happening> {
        if claim.unit == self.verdict.primary {
            self.pending = None;
            return None;
        }
        let Some(unit) = claim.unit else {
            self.pending = None;
            return self.dethrone(claim.why, now);
        };
        let since = match self.pending.take() {
            Some((pending, since)) if pending == unit => since,
            Some(_) | None => now,
        };
        let mut hold = self.damper.hold(now, settings);
        if claim.is_doubtful {
            hold = hold.max(settings.longest_interval().saturating_mul(2));
        }
        let is_heard = units.get(&unit).is_none_or(UnitState::is_heard);
        if now.since(since) < hold || !is_heard {
            self.pending = Some((unit, since));
            // Whoever leads goes on only while nothing is known against it.
            return match claim.is_doubtful && self.verdict.primary.is_some() {
                true => None,
                false => self.dethrone(format!("`{}` must first hold out", self.waiting()), now),
            };
        }
        self.damper.note(now);
        let from = self.memory.primary.clone();
        if from != unit {
            self.reads.forget();
        }
        self.former.insert(from.clone());
        self.former.remove(&unit);
        self.memory.crown(&unit, told(units, &unit));
        self.verdict.primary = Some(unit.clone());
        self.verdict.since = Some(now);
        self.verdict.why.clone_from(&claim.why);
        Some(Happening::Primary { group: self.name(), from, to: unit, why: claim.why })
    }

    fn waiting(&self) -> &str {
        self.pending.as_ref().map_or("nobody", |(unit, _)| unit)
    }

    fn dethrone(&mut self, why: String, now: Moment) -> Option<Happening> {
        self.verdict.primary.take()?;
        self.verdict.since = Some(now);
        self.verdict.why.clone_from(&why);
        Some(Happening::NoPrimary { group: self.name(), why })
    }

    fn strangers(&mut self, units: &BTreeMap<UnitName, UnitState>) -> Vec<Happening> {
        let is_foreign =
            |unit: &&UnitName| told(units, unit).is_some_and(|told| self.memory.is_foreign(told));
        let foreign: BTreeSet<UnitName> =
            self.place.members.iter().filter(is_foreign).cloned().collect();
        let news = foreign.difference(&self.foreign);
        let news = news.map(|unit| Happening::Foreign { group: self.name(), unit: unit.clone() });
        let news = news.collect();
        self.foreign = foreign;
        news
    }

    /// The group's name.
    pub fn name(&self) -> UnitName {
        self.place.name.clone()
    }

    /// The group: its name, and its members with the configured writer first.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What is decided.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// What it remembers, for keeping over a restart.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// What of it concerns routing.
    pub fn state(&self) -> GroupState {
        let Verdict { primary, why, since, .. } = &self.verdict;
        let readable = self.place.members.iter().filter(|unit| self.reads.allows(unit)).cloned();
        GroupState {
            primary: match primary {
                Some(unit) => Primary::Unit(unit.clone()),
                None => Primary::Nobody {
                    why: format!("no primary since {}: {why}", since.unwrap_or_default()),
                },
            },
            readable: readable.collect(),
            former: self.former.clone(),
        }
    }
}
