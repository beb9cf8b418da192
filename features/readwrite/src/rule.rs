//! `!READWRITE_SPLITTING`, validated.

use std::collections::HashSet;

use pando_config::rules::{ReadwriteSplitting, TransactionalRead};
use pando_config::{Placed, Problem};
use pando_kernel::States;
use pando_kernel::route::{Place, UnitName};
use pando_kernel::states::{GroupState, Primary};

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
    /// Never empty. When a replica has become primary, the configured one stands in its place.
    pub(crate) reads: Vec<UnitName>,
    /// Indexes of the reads that may be asked, ascending.
    pub(crate) able: Vec<usize>,
    pub(crate) primary: Primary,
    /// Members that were primary before.
    pub(crate) former: Vec<UnitName>,
    pub(crate) transactional: TransactionalRead,
    pub(crate) balancer: Box<dyn Balancer>,
}

impl Rule {
    /// `units` are the names of all storage units. Every problem is found, not only the first.
    pub(crate) fn new(
        section: &ReadwriteSplitting,
        units: &[UnitName],
    ) -> Result<Self, Vec<Problem>> {
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
            let balancer = match found.map(|algorithm| algorithm::balancer(algorithm, &names)) {
                None => algorithm::default(),
                Some(Ok(balancer)) => balancer,
                Some(Err(problem)) => {
                    problems.push(problem);
                    continue;
                }
            };
            let Some(write) = write else { continue };
            groups.push(Group {
                name: name.as_str().into(),
                primary: Primary::Unit(write.clone()),
                write,
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

impl Group {
    /// Takes on what is known of the members, and what persons have switched off.
    pub(crate) fn adapt(&mut self, states: &States) {
        let state = states.groups.get(&self.name);
        if let Some(state) = state {
            self.follow(state);
        }
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
        let is_member = |unit: &UnitName| *unit == self.write || self.reads.contains(unit);
        match &state.primary {
            // Of another configuration than this one.
            Primary::Unit(unit) if !is_member(unit) => {}
            Primary::Unit(_) | Primary::Nobody { .. } => self.primary.clone_from(&state.primary),
        }
        if let Primary::Unit(unit) = &self.primary
            && *unit != self.write
        {
            let promoted = self.reads.iter_mut().filter(|read| **read == *unit);
            promoted.for_each(|read| read.clone_from(&self.write));
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
        let mut members = vec![first.clone()];
        for unit in std::iter::once(&self.write).chain(&self.reads) {
            if !members.contains(unit) {
                members.push(unit.clone());
            }
        }
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
