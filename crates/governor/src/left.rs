//! What persons and instances said of things that a change takes away: a later thing of the same name must not inherit it.

use pando_config::Database;
use pando_config::rules::Group;
use pando_model::{Kind, Model, Write};
use pando_repository::Result;

use crate::governor::{ENVIRONMENT, Now};
use crate::keys;

/// The deletions that go with a change: of states of units and replicas that are gone, and of what is remembered of groups that are gone or have
/// other members.
///
/// # Errors
/// A name that makes no key; such a one was never stored.
pub(crate) fn behind(base: &Now, model: &Model) -> Result<Vec<Write>> {
    let cluster = &base.stored.cluster;
    let mut gone = Vec::new();
    for (name, unit) in &cluster.units {
        if !stands(model, name, |own| own.storage_unit(unit).is_some()) {
            gone.push(keys::key(keys::UNITS, &[name, unit])?);
        }
    }
    for replica in &cluster.replicas {
        let (name, group, unit) = (&replica.database, &replica.group, &replica.unit);
        let reads = |own: &Group| own.read.iter().any(|read| read.value == *unit);
        if !stands(model, name, |own| find(own, group).is_some_and(reads)) {
            gone.push(keys::key(keys::REPLICAS, &[name, group, unit])?);
        }
    }
    for (name, group) in cluster.memories.keys() {
        let before = base.database(name);
        if !stands(model, name, |own| before.is_some_and(|before| is_same(before, own, group))) {
            gone.push(keys::key(keys::MEMORIES, &[name, group])?);
        }
    }
    Ok(gone.into_iter().map(|key| Write::Delete { path: key.as_str().to_owned() }).collect())
}

/// Whether something is in a database of the model; a database that cannot be read is taken to have it.
fn stands(model: &Model, database: &str, holds: impl FnOnce(&Database) -> bool) -> bool {
    match model.read(database, ENVIRONMENT) {
        Ok((database, _)) => holds(&database),
        Err(refusal) => refusal.kind != Kind::UnknownDatabase,
    }
}

fn find<'d>(database: &'d Database, group: &str) -> Option<&'d Group> {
    let mut groups = database.rules.readwrite.iter().flat_map(|section| section.groups.iter());
    groups.find(|(name, _)| name.value == *group).map(|(_, group)| group)
}

/// Whether a group has the same members in the same places, at the same addresses.
fn is_same(before: &Database, after: &Database, group: &str) -> bool {
    let (Some(old), Some(new)) = (find(before, group), find(after, group)) else { return false };
    let names = |group: &Group| -> Vec<String> {
        std::iter::once(&group.write).chain(&group.read).map(|unit| unit.value.clone()).collect()
    };
    let stays = |unit: &String| match (before.storage_unit(unit), after.storage_unit(unit)) {
        (Some(old), Some(new)) => old.url.value == new.url.value,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    names(old) == names(new) && names(new).iter().all(stays)
}
