//! `!READWRITE_SPLITTING`, validated.

use std::collections::HashSet;

use pando_config::rules::{ReadwriteSplitting, TransactionalRead};
use pando_config::{Placed, Problem};
use pando_kernel::route::{Place, UnitName};

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
    pub(crate) write: UnitName,
    /// Never empty.
    pub(crate) reads: Vec<UnitName>,
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
                write,
                reads,
                transactional: group.transactional_read,
                balancer,
            });
        }
        if problems.is_empty() { Ok(Self { groups }) } else { Err(problems) }
    }
}

impl Group {
    /// What other rooms see of it: each member once, the one that takes writes first.
    pub(crate) fn place(&self) -> Place {
        let reads = self.reads.iter().filter(|read| **read != self.write).cloned();
        let members = std::iter::once(self.write.clone()).chain(reads).collect();
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
