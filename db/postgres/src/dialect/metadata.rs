//! Reading PostgreSQL's catalogue.
//! <https://www.postgresql.org/docs/current/catalogs.html>

use pando_kernel::Effects;
use pando_kernel::dialect::{Language, Metadata, TableColumn};
use pando_kernel::health::Health;
use pando_kernel::temporary::Kept;
use pando_kernel::views::ViewTexts;
use pando_kernel::{Attribute, Error, OidRules, Presentation, Result, Value};
use pando_sql::ast::DefineAction;

use super::{Postgres, text_literal};
use crate::types;

/// Effective collations as libc names, or with a prefix when only the server knows the order.
/// Columns that older versions lack are read through `to_jsonb`, which gives NULL for them.
const COLLATION: &str = "\
    CASE WHEN a.attcollation = 0 THEN '' \
    WHEN coalesce(to_jsonb(co)->>'collisdeterministic', 'true') = 'false' THEN 'nondeterministic:' || co.collname \
    WHEN co.collprovider = 'd' THEN \
      CASE coalesce(to_jsonb(db)->>'datlocprovider', 'c') WHEN 'c' THEN db.datcollate \
      WHEN 'b' THEN to_jsonb(db)->>'datlocale' ELSE 'icu:default' END \
    WHEN co.collprovider = 'c' THEN coalesce(co.collcollate, co.collname) \
    WHEN co.collprovider = 'b' THEN to_jsonb(co)->>'colllocale' \
    ELSE 'icu:' || co.collname END::text";

/// A default that asks what time it is; what is generated is none.
const TIMED: &str = "\
    CASE WHEN coalesce(to_jsonb(a)->>'attgenerated', '') = '' AND pg_get_expr(d.adbin, d.adrelid) ~* \
    '\\y(now\\(\\)|transaction_timestamp\\(\\)|statement_timestamp\\(\\)|current_(timestamp|date|time)|localtime(stamp)?)' \
    THEN pg_get_expr(d.adbin, d.adrelid) END";

/// <https://www.postgresql.org/docs/current/ddl-system-columns.html>
pub(crate) const SYSTEM_COLUMNS: [&str; 6] = ["tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"];

impl Metadata for Postgres {
    fn hidden_columns(&self) -> &'static [&'static str] {
        &SYSTEM_COLUMNS
    }

    fn reads_unions_as_tables(&self) -> bool {
        true
    }

    /// Dumps leave the search path empty, and name tables by their schema.
    fn columns_query(&self, schema: Option<&str>, table: &str) -> String {
        let find = |name: &str| {
            let in_schema = |schema: &str| {
                let name = format!("{}.{}", self.quote(schema), self.quote(name));
                format!("to_regclass({})", text_literal(&name))
            };
            match schema {
                Some(schema) => in_schema(schema),
                None => format!(
                    "coalesce(to_regclass({}), CASE WHEN current_schema() IS NULL THEN {} END)",
                    text_literal(&self.quote(name)),
                    in_schema("public")
                ),
            }
        };
        // A name configured in mixed case and never quoted in a statement is a lower-case table.
        let table = format!("coalesce({}, {})", find(table), find(&table.to_lowercase()));
        format!(
            "SELECT a.attname::text, CASE WHEN t.typbasetype = 0 THEN t.oid ELSE t.typbasetype END::int8, \
             format_type(a.atttypid, a.atttypmod)::text, {COLLATION}, \
             EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary \
             AND a.attnum = ANY (i.indkey)), \
             a.attidentity <> '' OR coalesce(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false), \
             NOT a.attnotnull, \
             CASE WHEN a.attcollation <> t.typcollation \
             THEN quote_ident(n.nspname) || '.' || quote_ident(co.collname) ELSE '' END::text, \
             a.attrelid::int8, a.attnum::int8, {TIMED} \
             FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
             JOIN pg_catalog.pg_database db ON db.datname = current_database() \
             LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation \
             LEFT JOIN pg_catalog.pg_namespace n ON n.oid = co.collnamespace \
             LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
             WHERE a.attrelid = {table} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
        )
    }

    fn read_column(&self, row: &[Value]) -> Result<TableColumn> {
        let [
            Value::Text(name),
            Value::Int(oid),
            Value::Text(type_name),
            collation,
            Value::Bool(primary_key),
            Value::Bool(auto_increment),
            Value::Bool(nullable),
            Value::Text(collate),
            Value::Int(relation),
            Value::Int(attribute),
            timed,
        ] = row
        else {
            return Err(Error::internal("a row of the column catalogue has another shape"));
        };
        let collation = if let Value::Text(collation) = collation {
            collation.clone()
        } else {
            "unknown".into()
        };
        Ok(TableColumn {
            name: name.clone(),
            kind: types::kind(u32::try_from(*oid).unwrap_or_default()),
            type_name: type_name.clone(),
            collation,
            collate: collate.clone(),
            zone: None,
            primary_key: *primary_key,
            auto_increment: *auto_increment,
            nullable: *nullable,
            timed: if let Value::Text(default) = timed {
                Some(default.as_str().into())
            } else {
                None
            },
            invisible: false,
            attribute: Attribute {
                relation: u32::try_from(*relation).unwrap_or_default(),
                number: i16::try_from(*attribute).unwrap_or_default(),
            },
        })
    }

    fn health(&self) -> Option<&dyn Health> {
        Some(self)
    }

    fn presentation(&self) -> Option<&dyn Presentation> {
        Some(self)
    }

    fn oid_rules(&self) -> Option<&dyn OidRules> {
        Some(self)
    }

    fn aggregates_query(&self) -> Option<String> {
        Some("SELECT DISTINCT proname::text FROM pg_catalog.pg_proc WHERE prokind = 'a' AND oid >= 16384".into())
    }

    /// Constraints that can be deferred are triggers, as those that users call constraint triggers are.
    /// <https://www.postgresql.org/docs/current/sql-set-constraints.html>
    fn deferred(&self) -> Option<(&'static str, &'static str)> {
        let any = "SELECT EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgdeferrable)";
        Some((any, "SET CONSTRAINTS ALL IMMEDIATE"))
    }

    fn constraints_query(&self, names: &[Vec<String>]) -> Option<String> {
        let named = names.iter().enumerate().map(|(at, parts)| {
            let mut parts = parts.iter().rev().map(|part| text_literal(part));
            let name = parts.next().unwrap_or_else(|| "NULL".to_owned());
            let schema = parts.next().unwrap_or_else(|| "NULL".to_owned());
            format!("({at}, {schema}::text, {name}::text)")
        });
        let named = named.collect::<Vec<_>>().join(", ");
        Some(format!(
            "SELECT DISTINCT n.place, k.conname <> n.name FROM (VALUES {named}) n(place, schema, name) \
             JOIN pg_catalog.pg_constraint k ON true JOIN pg_catalog.pg_class t ON t.oid = k.conrelid \
             JOIN pg_catalog.pg_namespace s ON s.oid = k.connamespace \
             WHERE k.conname IN (n.name, n.name || '_' || t.relname) AND (n.schema IS NULL OR s.nspname = n.schema)"
        ))
    }

    fn indexes_query(&self) -> Option<String> {
        Some(
            "SELECT i.relname::text, t.relname::text FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid JOIN pg_catalog.pg_class t ON t.oid = x.indrelid WHERE pg_catalog.pg_table_is_visible(t.oid) \
             UNION ALL SELECT s.stxname::text, t.relname::text FROM pg_catalog.pg_statistic_ext s JOIN pg_catalog.pg_class t ON t.oid = s.stxrelid \
             WHERE pg_catalog.pg_table_is_visible(t.oid)"
                .into(),
        )
    }

    fn names_query(&self) -> Option<String> {
        Some(
            "SELECT t.relname::text, o.name::text, o.kind FROM pg_catalog.pg_class t JOIN \
             (SELECT x.indrelid, i.relname, 'index' FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid \
             UNION ALL SELECT s.stxrelid, s.stxname, 'index' FROM pg_catalog.pg_statistic_ext s \
             UNION ALL SELECT k.conrelid, k.conname, 'constraint' FROM pg_catalog.pg_constraint k) o(id, name, kind) ON o.id = t.oid \
             WHERE t.oid >= 16384 AND pg_catalog.pg_table_is_visible(t.oid)"
                .into(),
        )
    }

    fn privilege_query(&self, privilege: &str) -> Option<String> {
        let query = match privilege.to_ascii_uppercase().as_str() {
            "NONE" => "SELECT true",
            // What SELECT needs of a database that may have no tables yet.
            "SELECT" => {
                "SELECT has_database_privilege(current_database(), 'CONNECT') AND \
                 COALESCE(has_schema_privilege(current_schema(), 'USAGE'), false) AND NOT EXISTS \
                 (SELECT FROM pg_catalog.pg_class WHERE relkind IN ('r', 'p') \
                 AND relnamespace = current_schema()::regnamespace AND NOT has_table_privilege(oid, 'SELECT'))"
            }
            "CREATE" => "SELECT COALESCE(has_schema_privilege(current_schema(), 'CREATE'), false)",
            "TEMP" => "SELECT has_database_privilege(current_database(), 'TEMP')",
            "XA" => {
                "SELECT setting::int > 0 FROM pg_catalog.pg_settings WHERE name = 'max_prepared_transactions'"
            }
            _ => return None,
        };
        Some(query.to_owned())
    }

    fn default_schema(&self) -> Option<&'static str> {
        Some("public")
    }

    fn indexes_of(&self, table: &str) -> Option<(String, &'static str)> {
        let table = text_literal(table);
        let query = format!(
            "SELECT i.indexname FROM pg_catalog.pg_indexes AS i WHERE i.tablename = {table} \
             AND i.schemaname = ANY (pg_catalog.current_schemas(false)) ORDER BY i.indexname"
        );
        Some((query, "indexname"))
    }

    fn names_indexes(&self) -> bool {
        true
    }

    /// <https://www.postgresql.org/docs/current/sql-droptable.html>, <https://www.postgresql.org/docs/current/sql-truncate.html>
    fn lists_tables(&self, action: DefineAction) -> bool {
        matches!(action, DefineAction::Drop | DefineAction::Truncate)
    }

    /// <https://www.postgresql.org/docs/current/sql-grant.html>, <https://www.postgresql.org/docs/current/sql-vacuum.html>
    fn lists_tables_behind(&self, verb: &str) -> bool {
        matches!(verb, "ANALYZE" | "GRANT" | "LOCK" | "REVOKE" | "VACUUM")
    }

    fn settled_queries(&self, columns: &str, table: &str, most: usize) -> Vec<String> {
        // The lock waits for whoever has written and not committed, and the query after it sees what became of that.
        vec![
            "BEGIN".to_owned(),
            "SET LOCAL lock_timeout = '2s'".to_owned(),
            format!("LOCK TABLE {table} IN SHARE MODE"),
            format!("SELECT {columns} FROM {table} LIMIT {most}"),
        ]
    }

    fn effects(&self) -> Option<&dyn Effects> {
        Some(self)
    }

    fn temporaries(&self) -> Option<Kept> {
        Some(Kept::Asked(
            "SELECT c.relname::text FROM pg_catalog.pg_class c \
             WHERE c.relnamespace = pg_catalog.pg_my_temp_schema() AND c.relkind IN ('r', 'p', 'v')",
        ))
    }

    fn views(&self) -> Option<&dyn ViewTexts> {
        Some(self)
    }

    /// With what a fresh connection of the session's user looks into: what this one has set is another matter.
    fn tables_query(&self) -> String {
        "SELECT n.nspname::text, c.relname::text, c.relkind = 'S', p.rank FROM pg_catalog.pg_class c \
         JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         LEFT JOIN (SELECT s.oid, pg_catalog.min(p.rank) AS rank FROM pg_catalog.pg_settings g, \
         pg_catalog.unnest(pg_catalog.string_to_array(g.reset_val, ',')) WITH ORDINALITY p(name, rank), \
         pg_catalog.pg_namespace s WHERE g.name = 'search_path' AND s.nspname = \
         CASE pg_catalog.btrim(p.name, ' \"') WHEN '$user' THEN SESSION_USER ELSE pg_catalog.btrim(p.name, ' \"') END \
         GROUP BY s.oid) p ON p.oid = n.oid \
         WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND n.nspname <> 'information_schema' \
         AND n.nspname !~ '^pg_' \
         AND NOT (n.nspname = 'pando' AND c.relname IN ('unit', 'decision', 'undo', 'row_lock')) ORDER BY 1, 2"
            .into()
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::Kind;

    use super::*;

    #[test]
    fn a_table_name_cannot_break_out_of_the_query() {
        let query = Postgres.columns_query(Some("s"), "t'x\"");
        assert!(query.contains("to_regclass('\"s\".\"t''x\"\"\"')"), "{query}");
    }

    #[test]
    fn a_row_becomes_a_column() {
        let row = [
            Value::Text("id".into()),
            Value::Int(23),
            Value::Text("integer".into()),
            Value::Text(String::new()),
            Value::Bool(true),
            Value::Bool(true),
            Value::Bool(false),
            Value::Text(String::new()),
            Value::Int(16_400),
            Value::Int(2),
            Value::Text("now()".into()),
        ];
        let column = Postgres.read_column(&row).unwrap();
        assert_eq!((column.kind, column.primary_key, column.nullable), (Kind::Int, true, false));
        assert_eq!(column.attribute, Attribute { relation: 16_400, number: 2 });
        assert_eq!(column.timed.as_deref(), Some("now()"));
        assert!(Postgres.read_column(&row[..3]).is_err());
    }
}
