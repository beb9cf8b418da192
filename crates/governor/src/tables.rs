//! Where the tables of a name stand.

use pando_config::Database;

/// The storage units behind a name: the members of a group, else the unit itself.
pub(crate) fn members(database: &Database, name: &str) -> Vec<String> {
    let groups = database.rules.readwrite.iter().flat_map(|section| section.groups.iter());
    let mut group = groups.filter(|(own, _)| own.value == name);
    match group.next() {
        Some((_, group)) => {
            let read = group.read.iter().map(|unit| unit.value.clone());
            std::iter::once(group.write.value.clone()).chain(read).collect()
        }
        None => vec![name.to_owned()],
    }
}
