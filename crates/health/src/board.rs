//! All units and groups of one database together.

use std::collections::BTreeMap;
use std::time::Duration;

use pando_kernel::States;
use pando_kernel::health::Role;
use pando_kernel::route::{Place, UnitName};

use crate::memory::told;
use crate::{Group, Happening, Memory, Moment, Observation, Settings, Standing, UnitState};

/// What is believed of a database's storage units, and decided for its groups.
///
/// # Example
/// ```
/// use pando_health::{Board, Moment, Observation, Seen, Settings};
/// use pando_kernel::health::{Role, Vitals};
/// use pando_kernel::route::Place;
///
/// let group = Place { name: "rw".into(), members: vec!["w".into(), "r".into()] };
/// let mut board = Board::new(vec!["w".into(), "r".into()], vec![group], Settings::default());
/// let primary = Vitals { role: Role::Primary, ..Vitals::default() };
/// let observation =
///     Observation { unit: "w".into(), at: Moment(1000), seen: Seen::Answers(Box::new(primary)) };
/// let change = board.observe(&observation);
/// assert_eq!(change.news[0].to_string(), "storage unit `w` answers, its role is primary");
/// assert!(!change.states_changed, "it is as configured");
/// ```
#[derive(Debug, Clone)]
pub struct Board {
    settings: Settings,
    units: BTreeMap<UnitName, UnitState>,
    groups: Vec<Group>,
}

/// What one observation has brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// For the log, in order.
    pub news: Vec<Happening>,
    /// Whether [`Board::states`] is another now: what routes has to be built anew.
    pub states_changed: bool,
    /// Whether a group's memory is another now: it should be kept.
    pub memories_changed: bool,
}

/// How one unit stands, once for each group it is a member of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The group; absent for a unit that is in none.
    pub group: Option<UnitName>,
    /// The storage unit.
    pub unit: UnitName,
    /// What it says it is.
    pub role: Role,
    /// How it stands.
    pub state: State,
    /// By how much it is behind the primary; absent where that is not known, and for primaries.
    pub lag: Option<Duration>,
    /// Since when it answers or does not; absent while nothing is known.
    pub since: Option<Moment>,
    /// Why its last probe failed, or why its group has no primary.
    pub error: Option<String>,
}

/// How a unit stands in its group, with what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing is known yet: it does what it is configured for.
    Unknown,
    /// It takes the writes.
    Writes,
    /// It answers reads.
    Reads,
    /// It answers, but too late or in no state to be read.
    Late,
    /// It claims to be a primary beside the one that is; nothing is sent there.
    Split,
    /// It does not answer.
    Down,
}

impl State {
    /// As it is shown.
    pub fn text(self) -> &'static str {
        match self {
            Self::Unknown => "UNKNOWN",
            Self::Writes => "PRIMARY",
            Self::Reads => "REPLICA",
            Self::Late => "LAGGING",
            Self::Split => "SPLIT_BRAIN",
            Self::Down => "DOWN",
        }
    }
}

impl Board {
    /// Units and groups of which nothing is known but their configuration. Of each group the first member takes the writes.
    pub fn new(units: Vec<UnitName>, groups: Vec<Place>, settings: Settings) -> Self {
        let units = units.into_iter().map(|unit| (unit, UnitState::default())).collect();
        let groups = groups.into_iter().filter_map(|place| Group::new(place, None)).collect();
        Self { settings, units, groups }
    }

    /// Another configuration: what stays the same keeps what is known of it. A group with another writer or other members begins anew.
    pub fn reconfigure(&mut self, units: Vec<UnitName>, groups: Vec<Place>, settings: Settings) {
        let mut known = std::mem::take(&mut self.units);
        let known = |unit: UnitName| {
            let state = known.remove(&unit).unwrap_or_default();
            (unit, state)
        };
        self.units = units.into_iter().map(known).collect();
        let mut before = std::mem::take(&mut self.groups);
        let known = |place: Place| match before.iter().position(|group| group.place == place) {
            Some(at) => Some(before.swap_remove(at)),
            None => Group::new(place, None),
        };
        self.groups = groups.into_iter().filter_map(known).collect();
        self.settings = settings;
    }

    /// What is known of a unit begins anew: it has been configured to be another one.
    pub fn forget(&mut self, unit: &str) {
        if let Some(state) = self.units.get_mut(unit) {
            *state = UnitState::default();
        }
    }

    /// Gives a group back what it remembered before a restart. A text that does not fit is passed over: false.
    pub fn remember(&mut self, group: &str, text: &str) -> bool {
        let found = self.groups.iter_mut().find(|own| *own.place.name == *group);
        let Some(found) = found else { return false };
        let memory = Memory::parse(text, &found.place);
        let made = memory.and_then(|memory| Group::new(found.place.clone(), Some(memory)));
        made.map(|made| *found = made).is_some()
    }

    /// Takes in one observation. One of a unit that is not on the board changes nothing.
    pub fn observe(&mut self, observation: &Observation) -> Change {
        let Some(state) = self.units.get_mut(&observation.unit) else { return Change::default() };
        let (next, mut news) = std::mem::take(state).observe(observation, &self.settings);
        *state = next;
        let (mut states_changed, mut memories_changed) = (false, false);
        for group in &mut self.groups {
            if !group.place.members.contains(&observation.unit) {
                continue;
            }
            let (next, more) = group.clone().decide(&self.units, observation.at, &self.settings);
            states_changed |= next.state() != group.state();
            memories_changed |= next.memory() != group.memory();
            *group = next;
            news.extend(more);
        }
        Change { news, states_changed, memories_changed }
    }

    /// What of all this concerns routing. What persons have switched off is not in it.
    pub fn states(&self) -> States {
        let state = |group: &Group| (group.place.name.clone(), group.state());
        States { groups: self.groups.iter().map(state).collect(), ..States::default() }
    }

    /// How every unit stands: members of groups first, in their groups' order, then the others by name.
    pub fn report(&self) -> Vec<Report> {
        let members = self
            .groups
            .iter()
            .flat_map(|group| group.place.members.iter().map(move |unit| self.member(group, unit)));
        let is_alone =
            |unit: &&UnitName| !self.groups.iter().any(|group| group.place.members.contains(unit));
        let others = self.units.keys().filter(is_alone).map(|unit| self.row(unit, None));
        members.chain(others).collect()
    }

    fn member(&self, group: &Group, unit: &UnitName) -> Report {
        let verdict = group.verdict();
        let is_primary = verdict.primary.as_ref() == Some(unit);
        let mut row = self.row(unit, Some(&group.place.name));
        let vitals = told(&self.units, unit);
        row.lag = vitals.filter(|_| !is_primary).and_then(|told| group.reads.lag(unit, told));
        row.state = match row.state {
            State::Down | State::Unknown => row.state,
            _ if verdict.split.contains(unit) => State::Split,
            _ if is_primary => State::Writes,
            _ if !group.reads.allows(unit) => State::Late,
            State::Writes | State::Reads | State::Late | State::Split => State::Reads,
        };
        if verdict.primary.is_none() && group.memory().primary == *unit {
            row.error = row.error.or_else(|| Some(verdict.why.clone()));
        }
        row
    }

    fn row(&self, unit: &UnitName, group: Option<&UnitName>) -> Report {
        let state = self.units.get(unit);
        let role = state.and_then(UnitState::vitals).map_or(Role::Unknown, |vitals| vitals.role);
        Report {
            group: group.cloned(),
            unit: unit.clone(),
            role,
            state: match state.map_or(Standing::Unseen, UnitState::standing) {
                Standing::Unseen => State::Unknown,
                Standing::Up => State::Writes,
                Standing::Down => State::Down,
            },
            lag: None,
            since: state.and_then(UnitState::since),
            error: state.and_then(UnitState::error).map(str::to_owned),
        }
    }

    /// The groups, with their verdicts and memories.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// What is believed of a unit.
    pub fn unit(&self, unit: &str) -> Option<&UnitState> {
        self.units.get(unit)
    }
}
