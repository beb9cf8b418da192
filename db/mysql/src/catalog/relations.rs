//! The tables of `information_schema` whose rows name tables or databases, and what each of their columns means.
//! <https://dev.mysql.com/doc/refman/8.4/en/information-schema.html>, <https://mariadb.com/kb/en/information-schema-tables/>

use pando_kernel::presentation::Holding;
use pando_sql::ast::ObjectName;

/// Some tables of one shape.
#[derive(Debug)]
pub(super) struct Relation {
    names: &'static [&'static str],
    /// What their rows are about.
    pub(super) holding: Holding,
    /// The column with the database a row belongs to.
    pub(super) schema: &'static str,
    /// The column with the table a row belongs to; not every server has it.
    pub(super) table: Option<&'static str>,
    /// Columns besides these two that are not shown as they stand.
    pub(super) columns: &'static [(&'static str, Role)],
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The name of a database.
    Database,
    /// The name of a constraint of the row's table, or of the index the server made for one.
    Part,
    /// The name of a table, perhaps another than the row's own.
    Reference,
    /// A text with qualified names in it.
    Definition,
}

use Holding::{Shared, Tables};

const RELATIONS: &[Relation] = &[
    Relation {
        names: &[
            "TABLES",
            "COLUMNS",
            "PARTITIONS",
            "TABLE_PRIVILEGES",
            "COLUMN_PRIVILEGES",
            "TABLES_EXTENSIONS",
            "COLUMNS_EXTENSIONS",
        ],
        holding: Tables,
        schema: "TABLE_SCHEMA",
        table: Some("TABLE_NAME"),
        columns: &[],
    },
    Relation {
        names: &["STATISTICS"],
        holding: Tables,
        schema: "TABLE_SCHEMA",
        table: Some("TABLE_NAME"),
        columns: &[("INDEX_SCHEMA", Role::Database), ("INDEX_NAME", Role::Part)],
    },
    Relation {
        names: &["VIEWS"],
        holding: Tables,
        schema: "TABLE_SCHEMA",
        table: Some("TABLE_NAME"),
        columns: &[("VIEW_DEFINITION", Role::Definition)],
    },
    Relation {
        names: &["KEY_COLUMN_USAGE"],
        holding: Tables,
        schema: "TABLE_SCHEMA",
        table: Some("TABLE_NAME"),
        columns: &[
            ("CONSTRAINT_SCHEMA", Role::Database),
            ("CONSTRAINT_NAME", Role::Part),
            ("REFERENCED_TABLE_SCHEMA", Role::Database),
            ("REFERENCED_TABLE_NAME", Role::Reference),
        ],
    },
    Relation {
        names: &["TABLE_CONSTRAINTS", "TABLE_CONSTRAINTS_EXTENSIONS"],
        holding: Tables,
        schema: "CONSTRAINT_SCHEMA",
        table: Some("TABLE_NAME"),
        columns: &[("TABLE_SCHEMA", Role::Database), ("CONSTRAINT_NAME", Role::Part)],
    },
    Relation {
        names: &["REFERENTIAL_CONSTRAINTS"],
        holding: Tables,
        schema: "CONSTRAINT_SCHEMA",
        table: Some("TABLE_NAME"),
        columns: &[
            ("CONSTRAINT_NAME", Role::Part),
            ("UNIQUE_CONSTRAINT_SCHEMA", Role::Database),
            ("REFERENCED_TABLE_NAME", Role::Reference),
        ],
    },
    Relation {
        names: &["CHECK_CONSTRAINTS"],
        holding: Tables,
        schema: "CONSTRAINT_SCHEMA",
        table: Some("TABLE_NAME"),
        columns: &[("CONSTRAINT_NAME", Role::Part)],
    },
    Relation {
        names: &["TRIGGERS"],
        holding: Tables,
        schema: "EVENT_OBJECT_SCHEMA",
        table: Some("EVENT_OBJECT_TABLE"),
        columns: &[("TRIGGER_SCHEMA", Role::Database), ("TRIGGER_NAME", Role::Part)],
    },
    Relation {
        names: &["ROUTINES"],
        holding: Shared,
        schema: "ROUTINE_SCHEMA",
        table: None,
        columns: &[],
    },
    Relation {
        names: &["PARAMETERS"],
        holding: Shared,
        schema: "SPECIFIC_SCHEMA",
        table: None,
        columns: &[],
    },
    Relation {
        names: &["EVENTS"],
        holding: Shared,
        schema: "EVENT_SCHEMA",
        table: None,
        columns: &[],
    },
    Relation {
        names: &[SCHEMATA, "SCHEMATA_EXTENSIONS"],
        holding: Shared,
        schema: "SCHEMA_NAME",
        table: None,
        columns: &[],
    },
];

/// The list of databases itself.
pub(super) const SCHEMATA: &str = "SCHEMATA";

/// The vendor's own databases, in lower case.
pub(super) const VENDORS: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];

/// Whether a name is one of the vendor's own databases.
pub(super) fn is_vendors(name: &str) -> bool {
    vendors(name).is_some()
}

/// One of the vendor's own databases as the vendor spells it.
pub(super) fn vendors(name: &str) -> Option<&'static str> {
    VENDORS.into_iter().find(|own| own.eq_ignore_ascii_case(name))
}

/// The table a name means, and its name in capitals; `None` when it is shown as it stands.
pub(super) fn find(name: &ObjectName) -> Option<(&'static Relation, &'static str)> {
    let [schema, table] = &name.parts[..] else { return None };
    if !schema.value.eq_ignore_ascii_case(VENDORS[0]) {
        return None;
    }
    RELATIONS.iter().find_map(|known| {
        let name = known.names.iter().find(|own| own.eq_ignore_ascii_case(&table.value))?;
        Some((known, *name))
    })
}
