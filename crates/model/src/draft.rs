//! A database on its way from one state to the next.

use std::collections::HashSet;

use pando_config::{Database, Node, parse_raw, print};
use pando_distsql::command::{self, Name};
use pando_kernel::feature::{LogicTable, TableKind};

use crate::around::Around;
use crate::canonical;
use crate::change::{Change, Check, Task};
use crate::model::Model;
use crate::reach;
use crate::refusal::{Kind, Refusal, Result, listed};
use crate::scrub;

/// The tree being changed, and what the change asks for.
pub(crate) struct Draft<'a> {
    /// The logical database.
    pub(crate) name: &'a str,
    /// Its tree so far.
    pub(crate) tree: Node,
    pub(crate) around: &'a Around<'a>,
    pub(crate) checks: Vec<Check>,
    pub(crate) tasks: Vec<Task>,
}

/// A tree, read.
pub(crate) struct Seen {
    pub(crate) database: Database,
    /// What the rooms know about tables; none where there is no storage unit.
    pub(crate) tables: Vec<LogicTable>,
}

impl Model {
    /// The model that a draft of one database leads to, validated as a whole. `then` gives the kind of refusal that a
    /// whole that cannot be served is.
    pub(crate) fn drafted(
        &self,
        database: &str,
        around: &Around<'_>,
        then: impl FnOnce(&mut Draft<'_>) -> Result<Kind>,
    ) -> Result<Change> {
        let (name, tree) = self.database(database)?;
        let tree = tree.clone();
        let mut draft = Draft { name, tree, around, checks: Vec::new(), tasks: Vec::new() };
        let invalid = then(&mut draft)?;
        let Draft { tree, mut checks, mut tasks, .. } = draft;
        let tree = canonical::database(&tree);
        let (_, old) = self.database(database)?;
        if old != &tree {
            check_readable(&tree, invalid)?;
            let new = see(&tree, around, invalid)?;
            checks.extend(reach::checks(Some(old), &new, around));
            tasks.push(Task::ReadTables);
        }
        let model = self.with_tree(name, tree);
        Ok(Change { model, database: Some(name.to_owned()), checks, tasks })
    }
}

/// Reads a tree and builds its rooms.
///
/// # Errors
/// `kind` with every problem.
pub(crate) fn see(tree: &Node, around: &Around<'_>, kind: Kind) -> Result<Seen> {
    let read = Database::from_tree(tree, around.environment);
    let (database, _) = read.map_err(|errors| scrub::refusal(kind, &errors, tree))?;
    // Rules without any storage unit could be stored and not served: nothing could be changed any more.
    if database.storage_units.is_empty() && !speaks_of_units(&database) {
        return Ok(Seen { database, tables: Vec::new() });
    }
    let tables = (around.rooms)(&database);
    let tables = tables.map_err(|errors| scrub::refusal(kind, &errors, tree))?;
    Ok(Seen { database, tables })
}

fn speaks_of_units(database: &Database) -> bool {
    database
        .rules
        .sharding
        .as_ref()
        .is_some_and(|sharding| !sharding.tables.is_empty() || !sharding.auto_tables.is_empty())
        || database.rules.readwrite.as_ref().is_some_and(|section| !section.groups.is_empty())
        || !database.rules.own.is_empty()
}

/// Refuses a tree that could be kept but not read again: what is accepted can always be exported, stored and imported.
///
/// # Errors
/// `kind` with what is beyond the bounds of documents: their size, the length of a name, a text that YAML cannot hold.
pub(crate) fn check_readable(tree: &Node, kind: Kind) -> Result<()> {
    let again = parse_raw("configuration", &print(tree));
    let again = again.map_err(|problem| {
        let message = format!("the configuration would be too large: {}", problem.message);
        Refusal::new(kind, scrub::scrubbed(message, tree))
    })?;
    if again.map(|again| again.plain()).as_ref() == Some(tree) {
        return Ok(());
    }
    Err(Refusal::new(kind, "the statement has a text that a document cannot hold"))
}

impl Seen {
    /// The sharded tables, each with its nodes.
    pub(crate) fn sharded(&self) -> impl Iterator<Item = &LogicTable> {
        self.tables.iter().filter(|table| table.kind == TableKind::Sharded)
    }
}

impl Draft<'_> {
    /// A section of the rules.
    pub(crate) fn section(&self, tag: &str) -> Option<&Node> {
        self.tree.rule(tag)
    }

    /// A field of a section.
    pub(crate) fn field(&self, tag: &str, field: &str) -> Option<&Node> {
        self.section(tag)?.get(field)
    }

    /// Whether a mapping field of a section has a key.
    pub(crate) fn has(&self, tag: &str, field: &str, key: &str) -> bool {
        self.field(tag, field).is_some_and(|map| map.get(key).is_some())
    }

    /// The names of the storage units, in order.
    pub(crate) fn units(&self) -> impl Iterator<Item = &str> {
        let units = self.tree.get("dataSources").map(Node::pairs).unwrap_or_default();
        units.iter().map(|entry| entry.key.as_str())
    }

    /// The names of the read-write splitting groups, and of those that units have together with their shadows.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &str> {
        let fields = [("READWRITE_SPLITTING", "dataSourceGroups"), ("SHADOW", "dataSources")];
        let entries = fields
            .into_iter()
            .flat_map(|(tag, field)| self.field(tag, field).map(Node::pairs).unwrap_or_default());
        entries.map(|entry| entry.key.as_str())
    }

    /// Refuses names of storage units that are not there. Inline expressions are left to the rooms.
    pub(crate) fn need_units<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<()> {
        self.need(names, &self.units().collect::<Vec<_>>())
    }

    /// Refuses names that are neither storage units nor groups of them.
    pub(crate) fn need_places<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<()> {
        self.need(names, &self.units().chain(self.groups()).collect::<Vec<_>>())
    }

    fn need<'n>(&self, names: impl IntoIterator<Item = &'n str>, known: &[&str]) -> Result<()> {
        let missing = |name: &&str| !is_expression(name) && !known.contains(name);
        let missing: Vec<&str> = names.into_iter().filter(missing).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!(
            "storage units {} do not exist in database `{}`",
            listed(once_each(missing)),
            self.name
        );
        Err(Refusal::new(Kind::MissingStorageUnits, message))
    }

    /// Those of the definitions that are to be carried out. `what` is the word for the rule, `exists` says which names are taken.
    pub(crate) fn wanted<'d, T>(
        &self,
        change: command::Change,
        definitions: &'d [T],
        name: impl Fn(&T) -> &str,
        taken: &Taken<'_>,
    ) -> Result<Vec<&'d T>> {
        let mut seen = HashSet::new();
        let names = || definitions.iter().map(&name);
        let twice: Vec<&str> = names().filter(|own| !seen.insert(own.to_lowercase())).collect();
        if !twice.is_empty() {
            return Err(self.duplicate(taken.what, twice));
        }
        match change {
            command::Change::Create => {
                let old: Vec<&str> = names().filter(|own| (taken.exists)(own)).collect();
                if !old.is_empty() {
                    return Err(self.duplicate(taken.what, old));
                }
                Ok(definitions.iter().collect())
            }
            command::Change::CreateIfNotExists => {
                Ok(definitions.iter().filter(|own| !(taken.exists)(name(own))).collect())
            }
            command::Change::Alter => {
                self.need_all(names(), taken)?;
                Ok(definitions.iter().collect())
            }
        }
    }

    /// Those of the names that are to be dropped: all of them must be there, unless the statement says IF EXISTS.
    pub(crate) fn dropped<'d>(
        &self,
        missing: command::Missing,
        names: &'d [Name],
        taken: &Taken<'_>,
    ) -> Result<Vec<&'d str>> {
        // Names that differ in case may be two things: whoever drops knows.
        let mut seen = HashSet::new();
        let names = names.iter().map(|name| name.text.as_str());
        let names: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
        match missing {
            command::Missing::Fails => {
                self.need_all(names.iter().copied(), taken)?;
                Ok(names)
            }
            command::Missing::Passes => {
                Ok(names.into_iter().filter(|name| (taken.exists)(name)).collect())
            }
        }
    }

    fn need_all<'n>(&self, names: impl Iterator<Item = &'n str>, taken: &Taken<'_>) -> Result<()> {
        let missing: Vec<&str> = names.filter(|own| !(taken.exists)(own)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message =
            format!("{} {} do not exist in database `{}`", taken.what, listed(missing), self.name);
        Err(Refusal::new(taken.missing, message))
    }

    fn duplicate(&self, what: &str, names: Vec<&str>) -> Refusal {
        let message = format!(
            "{what} {} are defined already in database `{}`, or twice by this statement",
            listed(names),
            self.name
        );
        let is_unit = what == STORAGE_UNITS;
        let kind = if is_unit { Kind::DuplicateStorageUnit } else { Kind::DuplicateRule };
        Refusal::new(kind, message)
    }

    /// The refusal of dropping what others build on.
    pub(crate) fn in_use(&self, kind: Kind, what: &str, by: &[String]) -> Refusal {
        let by = listed(by.iter().map(String::as_str));
        let message = format!("{what} of database `{}` is still used by {by}", self.name);
        Refusal::new(kind, message)
    }
}

/// The word for storage units in messages.
pub(crate) const STORAGE_UNITS: &str = "storage units";

/// Which names of a kind of thing are there.
pub(crate) struct Taken<'t> {
    /// The word for the things, as `sharding tables`.
    pub(crate) what: &'t str,
    /// What it is called when one is missing.
    pub(crate) missing: Kind,
    /// Whether a name is there.
    pub(crate) exists: &'t dyn Fn(&str) -> bool,
}

/// Whether a name is an inline expression, which only a room can expand.
pub(crate) fn is_expression(name: &str) -> bool {
    name.contains("${") || name.contains("$->{") || name.starts_with('<')
}

/// The names without repetitions, in their order.
pub(crate) fn once_each<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen = HashSet::new();
    names.into_iter().filter(|name| seen.insert(name.to_lowercase())).collect()
}
