//! `!READWRITE_SPLITTING`, validated.

use std::collections::HashSet;

use pando_config::rules::{ReadwriteSplitting, TransactionalRead};
use pando_config::{Placed, Problem};
use pando_kernel::route::{Place, UnitName};
use pando_kernel::states::{GroupState, Primary};
use pando_kernel::{Around, States};

use crate::algorithm::{self, Balancer};

/// The groups by name, in file order.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) groups: Vec<Group>,
}

/// One primary and its replicas under one name.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: UnitName,
    /// The configured primary.
    write: UnitName,
    /// Each once, the configured primary first.
    members: Vec<UnitName>,
    /// Never empty. When a replica has become primary, the configured one stands in its place.
    pub(crate) reads: Vec<UnitName>,
    /// Indexes of the reads that may be asked, ascending.
    pub(crate) able: Vec<usize>,
    pub(crate) primary: Primary,
    /// Who leads, even if nothing may be sent there now.
    leader: Option<UnitName>,
    /// Members that were primary before.
    pub(crate) former: Vec<UnitName>,
    pub(crate) transactional: TransactionalRead,
    pub(crate) balancer: Box<dyn Balancer>,
}

impl Rule {
    /// Every problem is found, not only the first.
    pub(crate) fn new(
        section: &ReadwriteSplitting,
        around: &Around<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let units = around.units;
        let mut problems = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        let mut writes = HashSet::new();
        for (name, group) in section.groups.iter() {
            let write = member(&group.write, units, &mut problems);
            if !writes.insert(group.write.as_str()) {
                let message = format!(
                    "storage unit `{}` takes the writes of another group",
                    group.write.value
                );
                problems.push(group.write.at.problem(message));
            }
            let mut seen = HashSet::new();
            for twice in group.read.iter().filter(|read| !seen.insert(read.as_str())) {
                problems.push(twice.at.problem(format!("`{}` is named twice", twice.value)));
            }
            let reads: Vec<UnitName> =
                group.read.iter().filter_map(|read| member(read, units, &mut problems)).collect();
            let names: Vec<&str> = group.read.iter().map(|read| read.as_str()).collect();
            let found =
                group.load_balancer.as_ref().and_then(|name| section.load_balancers.get(name));
            let made = |algorithm| algorithm::balancer(algorithm, &names, around.modules);
            let balancer = match found.map(made) {
                None => algorithm::default(),
                Some(Ok(balancer)) => balancer,
                Some(Err(problem)) => {
                    problems.push(problem);
                    continue;
                }
            };
            let Some(write) = write else { continue };
            let others = reads.iter().filter(|read| **read != write).cloned();
            let members = std::iter::once(write.clone()).chain(others).collect();
            groups.push(Group {
                name: name.as_str().into(),
                primary: Primary::Unit(write.clone()),
                leader: Some(write.clone()),
                write,
                members,
                able: (0..reads.len()).collect(),
                reads,
                former: Vec::new(),
                transactional: group.transactional_read,
                balancer,
            });
        }
        if problems.is_empty() { Ok(Self { groups }) } else { Err(problems) }
    }
}

impl Rule {
    /// Members of groups that lead none.
    pub(crate) fn followers(&self) -> Vec<UnitName> {
        let leads = |unit: &UnitName| self.groups.iter().any(|g| g.leader.as_ref() == Some(unit));
        let members = self.groups.iter().flat_map(|group| &group.members);
        members.filter(|unit| !leads(unit)).cloned().collect()
    }
}

impl Group {
    /// Takes on what is known of the members, and what persons have switched off.
    pub(crate) fn adapt(&mut self, states: &States) {
        let state = states.groups.get(&self.name);
        if let Some(state) = state {
            self.follow(state);
        }
        self.leader = match &self.primary {
            Primary::Unit(unit) => Some(unit.clone()),
            Primary::Nobody { .. } => None,
        };
        if let Primary::Unit(unit) = &self.primary
            && states.disabled.contains(unit)
        {
            self.primary = Primary::Nobody { why: format!("storage unit `{unit}` is disabled") };
        }
        let is_able = |read: &UnitName| {
            state.is_none_or(|state| state.readable.contains(read))
                && !states.disabled.contains(read)
                && !states.unread.contains(&(self.name.clone(), read.clone()))
        };
        self.able =
            (0..self.reads.len()).filter(|at| self.reads.get(*at).is_some_and(is_able)).collect();
    }

    fn follow(&mut self, state: &GroupState) {
        match &state.primary {
            // Of another configuration than this one.
            Primary::Unit(unit) if !self.members.contains(unit) => {}
            Primary::Unit(_) | Primary::Nobody { .. } => self.primary.clone_from(&state.primary),
        }
        let free = match &self.primary {
            Primary::Unit(unit) => self.reads.iter_mut().find(|read| *read == unit),
            // The configured primary may be a copy of one that is gone.
            Primary::Nobody { .. } => {
                let is_free = |read: &&mut UnitName| !state.readable.contains(*read);
                self.reads.iter_mut().find(is_free)
            }
        };
        if let Some(read) = free {
            read.clone_from(&self.write);
        }
        self.former = state.former.iter().cloned().collect();
    }

    /// What other rooms see of it: each member once. First is the one that takes writes; while nobody does, one that can be read, so that questions
    /// about the catalogue find an answer.
    pub(crate) fn place(&self) -> Place {
        let readable = self.able.first().and_then(|at| self.reads.get(*at));
        let first = match &self.primary {
            Primary::Unit(unit) => unit,
            Primary::Nobody { .. } => readable.unwrap_or(&self.write),
        };
        let others = self.members.iter().filter(|unit| *unit != first).cloned();
        let members = std::iter::once(first.clone()).chain(others).collect();
        Place { name: self.name.clone(), members }
    }
}

fn member(
    name: &Placed<String>,
    units: &[UnitName],
    problems: &mut Vec<Problem>,
) -> Option<UnitName> {
    let found = units.iter().find(|unit| ***unit == *name.value).cloned();
    if found.is_none() {
        let message = if name.contains("${") || name.contains("$->{") {
            format!("inline expression `{}` is not served here; write the names out", name.value)
        } else {
            format!("storage unit `{}` is not defined", name.value)
        };
        problems.push(name.at.problem(message));
    }
    found
}
