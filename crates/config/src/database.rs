//! One logical database: its name, its storage units and its rules.

use crate::node::Node;
use crate::place::{At, Errors, Placed, Problem, Report};
use crate::placeholder::Environment;
use crate::read::Fields;
use crate::rules::Rules;
use crate::storage::{self, StorageUnit};

/// One `database-*.yaml`, or the database part of a JDBC file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    /// Where it stands.
    pub at: At,
    /// The name clients use.
    pub name: Placed<String>,
    /// Storage units in file order; may be empty.
    pub storage_units: Vec<StorageUnit>,
    /// Rules.
    pub rules: Rules,
}

impl Database {
    /// The storage unit of that name.
    pub fn storage_unit(&self, name: &str) -> Option<&StorageUnit> {
        self.storage_units.iter().find(|unit| unit.name.value == name)
    }

    /// Reads a tree whose placeholders are not filled yet; also gives what is accepted but should be changed.
    ///
    /// # Errors
    /// The first placeholder that cannot be filled, else every problem of the tree.
    pub fn from_tree(
        root: &Node,
        environment: Environment<'_>,
    ) -> Result<(Self, Vec<Problem>), Errors> {
        let root = root.filled(environment)?;
        let mut report = Report::default();
        let database = Fields::of(&root, &mut report).and_then(|mut fields| {
            let database = Self::read(&mut fields, None);
            fields.finish();
            database
        });
        let warnings = report.finish()?;
        // Whoever gives nothing has reported why.
        let missing = || root.expected("a database");
        Ok((database.ok_or_else(missing)?, warnings))
    }

    /// Reads the fields of a database; a missing name takes `default_name`, or is an error without one.
    pub(crate) fn read(fields: &mut Fields<'_, '_>, default_name: Option<&str>) -> Option<Self> {
        let name = fields.synonym(&["databaseName", "schemaName"]);
        let name = match (name, default_name) {
            (Some(node), _) => node.name(fields.report()),
            (None, Some(default)) => Some(Placed { value: default.to_owned(), at: fields.at() }),
            (None, None) => {
                fields.missing("databaseName");
                None
            }
        };
        let storage_units = fields.optional("dataSources");
        let storage_units =
            storage_units.map(|node| storage::read_all(node, fields.report())).unwrap_or_default();
        let rules = fields.optional("rules");
        let rules = rules.map(|node| Rules::read(node, fields.report())).unwrap_or_default();
        check_names(&storage_units, &rules, fields.report());
        Some(Self { at: fields.at(), name: name?, storage_units, rules })
    }
}

/// A group and a storage unit of one name would make every reference to it ambiguous.
fn check_names(units: &[StorageUnit], rules: &Rules, report: &mut Report) {
    let Some(readwrite) = &rules.readwrite else { return };
    for (name, _) in readwrite.groups.iter() {
        if units.iter().any(|unit| unit.name.value == name.value) {
            let message = format!("`{}` is the name of a storage unit already", name.value);
            report.error(name.at.problem(message));
        }
    }
}
