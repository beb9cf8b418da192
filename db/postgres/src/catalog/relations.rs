//! The relations of PostgreSQL's catalogue whose rows name tables or databases, and what each of their columns means.
//! <https://www.postgresql.org/docs/current/catalogs.html>, <https://www.postgresql.org/docs/current/information-schema.html>

use pando_kernel::presentation::Holding;
use pando_sql::ast::{Ident, ObjectName};

/// Some relations of one shape.
#[derive(Debug)]
pub(super) struct Relation {
    /// The schema they stand in.
    pub(super) schema: &'static str,
    names: &'static [&'static str],
    /// What their rows are about.
    pub(super) holding: Holding,
    /// How a row is known to belong to a table.
    pub(super) owner: Owner,
    /// Columns that are not shown as they stand.
    pub(super) columns: &'static [(&'static str, Role)],
}

/// How a row is known to belong to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// It belongs to none, or its columns tell.
    Columns,
    /// This column has the number of the table, or of an index or sequence of it.
    Number(&'static str),
    /// The relation lists databases.
    Databases,
    /// The relation lists what the session has made.
    Session,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The name of the row's owner, or of what belongs to it (owner by number).
    Own,
    /// The name of a table in the schema that the other column names.
    Table(&'static str),
    /// The name of an index or constraint.
    Part,
    /// The name of a sequence in the schema that the other column names. By that it is found: one that is only called as a table's own is none.
    Sequence(&'static str),
    /// The number of a relation or of what belongs to one.
    Number,
    /// The number of an object of the class in the other column.
    Object(&'static str),
    /// The name of a database.
    Database,
    /// The number of a type.
    Type,
    /// The number of a server process: that of the session for the one behind it.
    Process,
    /// The text of a definition, with names of tables in it.
    Definition,
}

use Holding::{Shared, Tables};
use Owner::{Columns, Databases, Number};

const CATALOG: &str = "pg_catalog";
const INFORMATION: &str = "information_schema";

const fn by_number(
    names: &'static [&'static str],
    owner: &'static str,
    columns: &'static [(&'static str, Role)],
) -> Relation {
    Relation { schema: CATALOG, names, holding: Tables, owner: Number(owner), columns }
}

const fn by_name(
    names: &'static [&'static str],
    columns: &'static [(&'static str, Role)],
) -> Relation {
    Relation { schema: CATALOG, names, holding: Tables, owner: Columns, columns }
}

const fn shared(
    names: &'static [&'static str],
    columns: &'static [(&'static str, Role)],
) -> Relation {
    Relation { schema: CATALOG, names, holding: Shared, owner: Columns, columns }
}

/// Columns of the information schema that name a catalogue are found by their names.
const fn information(
    names: &'static [&'static str],
    columns: &'static [(&'static str, Role)],
) -> Relation {
    Relation { schema: INFORMATION, names, holding: Tables, owner: Columns, columns }
}

const N: Role = Role::Number;
const T: Role = Role::Type;
const OF_SCHEMA: Role = Role::Table("schemaname");
const OF_TABLE_SCHEMA: Role = Role::Table("table_schema");

const RELATIONS: &[Relation] = &[
    by_number(
        &["pg_class"],
        "oid",
        &[
            ("oid", N),
            ("relname", Role::Own),
            ("reltoastrelid", N),
            ("reltype", T),
            ("reloftype", T),
        ],
    ),
    by_number(&["pg_attribute"], "attrelid", &[("attrelid", N), ("atttypid", T)]),
    by_number(&["pg_attrdef"], "adrelid", &[("oid", N), ("adrelid", N)]),
    by_number(
        &["pg_constraint"],
        "conrelid",
        &[
            ("oid", N),
            ("conname", Role::Own),
            ("conrelid", N),
            ("conindid", N),
            ("conparentid", N),
            ("confrelid", N),
            ("contypid", T),
        ],
    ),
    by_number(&["pg_index"], "indrelid", &[("indexrelid", N), ("indrelid", N)]),
    by_number(&["pg_inherits"], "inhrelid", &[("inhrelid", N), ("inhparent", N)]),
    by_number(
        &["pg_trigger"],
        "tgrelid",
        &[
            ("oid", N),
            ("tgrelid", N),
            ("tgparentid", N),
            ("tgconstrrelid", N),
            ("tgconstrindid", N),
            ("tgconstraint", N),
        ],
    ),
    by_number(&["pg_rewrite"], "ev_class", &[("oid", N), ("ev_class", N)]),
    by_number(&["pg_description"], "objoid", &[("objoid", Role::Object("classoid"))]),
    by_number(
        &["pg_depend"],
        "objid",
        &[("objid", Role::Object("classid")), ("refobjid", Role::Object("refclassid"))],
    ),
    by_number(&["pg_sequence"], "seqrelid", &[("seqrelid", N)]),
    by_number(&["pg_partitioned_table"], "partrelid", &[("partrelid", N), ("partdefid", N)]),
    by_number(&["pg_policy"], "polrelid", &[("oid", N), ("polrelid", N)]),
    by_number(
        &["pg_statistic_ext"],
        "stxrelid",
        &[("oid", N), ("stxrelid", N), ("stxname", Role::Own)],
    ),
    by_number(&["pg_publication_rel"], "prrelid", &[("oid", N), ("prrelid", N)]),
    by_number(&["pg_foreign_table"], "ftrelid", &[("ftrelid", N)]),
    Relation {
        schema: CATALOG,
        names: &["pg_type"],
        holding: Shared,
        owner: Number("typrelid"),
        columns: &[
            ("oid", T),
            ("typrelid", N),
            ("typname", Role::Own),
            ("typelem", T),
            ("typarray", T),
            ("typbasetype", T),
        ],
    },
    shared(&["pg_enum"], &[("enumtypid", T)]),
    shared(&["pg_range"], &[("rngtypid", T), ("rngsubtype", T), ("rngmultitypid", T)]),
    shared(&["pg_namespace"], &[]),
    Relation {
        schema: CATALOG,
        names: &["pg_database"],
        holding: Shared,
        owner: Databases,
        columns: &[],
    },
    shared(&["pg_stat_activity"], &[("datname", Role::Database), ("pid", Role::Process)]),
    shared(&["pg_stat_database", "pg_stat_database_conflicts"], &[("datname", Role::Database)]),
    Relation {
        schema: CATALOG,
        names: &["pg_prepared_statements", "pg_cursors"],
        holding: Shared,
        owner: Owner::Session,
        columns: &[],
    },
    shared(&["pg_prepared_xacts"], &[("database", Role::Database)]),
    shared(&["pg_locks"], &[("relation", N), ("pid", Role::Process)]),
    by_name(
        &["pg_tables", "pg_rules", "pg_policies", "pg_stats", "pg_publication_tables"],
        &[("tablename", OF_SCHEMA), ("definition", Role::Definition)],
    ),
    by_name(
        &["pg_indexes"],
        &[("tablename", OF_SCHEMA), ("indexname", Role::Part), ("indexdef", Role::Definition)],
    ),
    by_name(&["pg_views"], &[("viewname", OF_SCHEMA), ("definition", Role::Definition)]),
    by_name(&["pg_matviews"], &[("matviewname", OF_SCHEMA), ("definition", Role::Definition)]),
    by_name(&["pg_sequences"], &[("sequencename", Role::Sequence("schemaname"))]),
    by_name(
        &[
            "pg_stat_all_tables",
            "pg_stat_user_tables",
            "pg_stat_sys_tables",
            "pg_stat_xact_all_tables",
            "pg_stat_xact_user_tables",
            "pg_statio_all_tables",
            "pg_statio_user_tables",
            "pg_statio_sys_tables",
        ],
        &[("relid", N), ("relname", OF_SCHEMA)],
    ),
    by_name(
        &[
            "pg_stat_all_indexes",
            "pg_stat_user_indexes",
            "pg_stat_sys_indexes",
            "pg_statio_all_indexes",
            "pg_statio_user_indexes",
            "pg_statio_sys_indexes",
        ],
        &[("relid", N), ("indexrelid", N), ("relname", OF_SCHEMA), ("indexrelname", Role::Part)],
    ),
    by_name(
        &["pg_statio_all_sequences", "pg_statio_user_sequences"],
        &[("relid", N), ("relname", Role::Sequence("schemaname"))],
    ),
    information(
        &[
            "tables",
            "columns",
            "table_privileges",
            "column_privileges",
            "role_table_grants",
            "role_column_grants",
            "column_domain_usage",
            "column_udt_usage",
            "column_options",
            "foreign_tables",
            "view_table_usage",
            "view_column_usage",
            "column_column_usage",
        ],
        &[("table_name", OF_TABLE_SCHEMA), ("column_default", Role::Definition)],
    ),
    information(
        &["views"],
        &[("table_name", OF_TABLE_SCHEMA), ("view_definition", Role::Definition)],
    ),
    information(
        &[
            "table_constraints",
            "key_column_usage",
            "constraint_column_usage",
            "constraint_table_usage",
        ],
        &[("table_name", OF_TABLE_SCHEMA), ("constraint_name", Role::Part)],
    ),
    information(&["check_constraints"], &[("constraint_name", Role::Part)]),
    information(
        &["referential_constraints"],
        &[("constraint_name", Role::Part), ("unique_constraint_name", Role::Part)],
    ),
    information(
        &["triggers", "triggered_update_columns"],
        &[("event_object_table", Role::Table("event_object_schema"))],
    ),
    information(&["element_types"], &[("object_name", Role::Table("object_schema"))]),
    information(&["sequences"], &[("sequence_name", Role::Sequence("sequence_schema"))]),
    Relation {
        schema: INFORMATION,
        names: &["schemata", "routines", "parameters", "domains", "domain_constraints"],
        holding: Shared,
        owner: Columns,
        columns: &[],
    },
];

/// The relation a name means, in lower case; `None` when it is shown as it stands.
pub(super) fn find(name: &ObjectName) -> Option<(&'static Relation, &'static str)> {
    let (schema, name) = parts(name)?;
    RELATIONS
        .iter()
        .filter(|known| known.schema == schema)
        .find_map(|known| known.names.iter().find(|own| **own == name).map(|own| (known, *own)))
}

/// Whether columns of this name hold numbers of types.
pub(super) fn is_type_column(name: &str) -> bool {
    let mut columns = RELATIONS.iter().flat_map(|known| known.columns);
    columns.any(|(column, role)| *column == name && *role == Role::Type)
}

/// Schema and name of a relation that is the vendor's own.
pub(super) fn parts(name: &ObjectName) -> Option<(&str, &str)> {
    match &name.parts[..] {
        [only] if only.value.starts_with("pg_") => Some((CATALOG, &only.value)),
        [.., Ident { value: schema, .. }, Ident { value: name, .. }]
            if matches!(schema.as_str(), CATALOG | INFORMATION | "pg_toast") =>
        {
            Some((schema, name))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_relation_is_listed_once() {
        let mut all: Vec<(&str, &str)> = RELATIONS
            .iter()
            .flat_map(|known| known.names.iter().map(|name| (known.schema, *name)))
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
