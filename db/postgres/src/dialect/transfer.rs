//! Rows that one statement reads and another writes.

use pando_kernel::dialect::{Language, TableColumn};
use pando_kernel::transfer::{Field, Obstacles, Transfer};
use pando_kernel::{Column, Error, ErrorKind, Format, Kind, Result};

use super::{Postgres, text_literal};
use crate::types::{FIRST_OWN, catalogue_name, oid};

impl Transfer for Postgres {
    fn literal(&self, field: &Field<'_>, to: Option<&TableColumn>) -> Result<String> {
        if field.column.format != Format::Text {
            return Err(Error::internal("rows travel as text"));
        }
        let text = std::str::from_utf8(field.bytes).map_err(|_| {
            Error::new(ErrorKind::Value("a value that is no UTF-8 cannot travel".into()))
        })?;
        let type_id = field.column.native.type_id;
        let is_bare = matches!(type_id, oid::INT2 | oid::INT4 | oid::INT8 | oid::NUMERIC)
            && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
        if is_bare {
            let parted = text.starts_with('-');
            return Ok(if parted { format!("({text})") } else { text.to_owned() });
        }
        let literal = text_literal(text);
        match catalogue_name(type_id) {
            // A bare string is read as the column reads it; that is the same when the types are, and the only way for a type of the user's own.
            Some(name) if !to.is_some_and(|to| is_same(name, to)) => {
                Ok(format!("{literal}::pg_catalog.\"{name}\""))
            }
            None if type_id < FIRST_OWN && ![0, oid::UNKNOWN].contains(&type_id) => {
                Err(cannot_travel(to))
            }
            Some(_) | None => Ok(literal),
        }
    }

    fn typed_as(&self, to: &TableColumn) -> String {
        format!("::{}", without_length(&to.type_name))
    }

    fn typed(&self, column: &Column) -> String {
        let type_id = column.native.type_id;
        let name = catalogue_name(type_id).filter(|_| type_id != oid::UNKNOWN);
        name.map_or_else(String::new, |name| format!("::pg_catalog.\"{name}\""))
    }

    fn keep_given(&self) -> &'static str {
        " OVERRIDING SYSTEM VALUE"
    }
}

impl Obstacles for Postgres {
    fn refill(&self) -> Option<&dyn pando_kernel::RefillWords> {
        Some(self)
    }

    fn obstacles_query(&self, schema: Option<&str>, table: &str) -> String {
        let schema = schema.map_or_else(String::new, |schema| self.quote(schema) + ".");
        let name = format!("{schema}{}", self.quote(table));
        obstacles(&format!("to_regclass({})", text_literal(&name)))
    }
}

/// The query for the obstacles of a table, given as an expression of its OID.
pub(super) fn obstacles(table: &str) -> String {
    // Columns that older versions lack are read through `to_jsonb`, which gives NULL for them. Partitions have triggers, rules and references of their own.
    let tree = format!(
        "(WITH RECURSIVE tree (oid) AS (SELECT ({table})::oid UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree t ON t.oid = i.inhparent) SELECT oid FROM tree)"
    );
    format!(
        "SELECT 'computed'::text, attname::text, ''::text FROM pg_catalog.pg_attribute a \
         WHERE attrelid = {table} AND attnum > 0 AND NOT attisdropped AND coalesce(to_jsonb(a)->>'attgenerated', '') <> '' \
         UNION ALL SELECT 'always', attname::text, '' FROM pg_catalog.pg_attribute \
         WHERE attrelid = {table} AND attnum > 0 AND NOT attisdropped AND attidentity = 'a' \
         UNION ALL SELECT 'reference', conrelid::regclass::text, \
         CASE WHEN 'c' IN (confdeltype, confupdtype) THEN 'CASCADE' WHEN 'n' IN (confdeltype, confupdtype) THEN 'SET NULL' ELSE 'SET DEFAULT' END \
         FROM pg_catalog.pg_constraint WHERE contype = 'f' AND confrelid IN {tree} AND conparentid = 0 \
         AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd')) \
         UNION ALL SELECT 'trigger', tgname::text, '' FROM pg_catalog.pg_trigger WHERE tgrelid IN {tree} AND NOT tgisinternal \
         UNION ALL SELECT CASE WHEN ev_type = '1' THEN 'view' ELSE 'trigger' END, rulename::text, '' FROM pg_catalog.pg_rewrite WHERE ev_class IN {tree}"
    )
}

/// Of a record, and of what the catalogue is made of.
fn cannot_travel(to: Option<&TableColumn>) -> Error {
    let name = to.map_or_else(String::new, |to| format!(" for column `{}`", to.name));
    Error::uncarried(
        30001,
        format!("a value of this type{name} cannot travel between storage units"),
        "cast it in the query",
    )
}

/// Whether the column reads a bare string as this type would.
fn is_same(name: &str, to: &TableColumn) -> bool {
    let own = without_length(&to.type_name);
    match name {
        "text" | "varchar" => to.kind == Kind::Text && own != "bpchar" && own != "name",
        "bool" => own == "boolean",
        "float4" => own == "real",
        "float8" => own == "double precision",
        "time" => own == "time without time zone",
        "timestamp" => own == "timestamp without time zone",
        "timestamptz" => own == "timestamp with time zone",
        "timetz" => own == "time with time zone",
        other => own == other,
    }
}

/// A type without its length, which an explicit cast would cut to.
fn without_length(type_name: &str) -> String {
    let mut text = String::with_capacity(type_name.len());
    let mut depth = 0usize;
    for letter in type_name.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            other if depth == 0 => text.push(other),
            _ => {}
        }
    }
    match text.as_str() {
        "character" => "bpchar".into(),
        "character[]" => "bpchar[]".into(),
        "bit" => "bit varying".into(),
        "bit[]" => "bit varying[]".into(),
        _ if text.starts_with("interval") => "interval".into(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::Native;

    use super::*;
    use crate::row::DataRows;

    fn literal(type_id: u32, text: &str, to: &str) -> String {
        let mut column = Column::computed("c", crate::types::kind(type_id));
        column.native = Native { family: crate::types::FAMILY, type_id, ..Native::default() };
        let to = TableColumn {
            name: "c".into(),
            kind: if to.starts_with("char") || to == "text" { Kind::Text } else { Kind::Other },
            type_name: to.into(),
            collation: String::new(),
            collate: String::new(),
            zone: None,
            primary_key: false,
            auto_increment: false,
            nullable: true,
            invisible: false,
            attribute: Default::default(),
            timed: None,
        };
        let field = Field { column: &column, codec: &DataRows, bytes: text.as_bytes() };
        Transfer::literal(&Postgres, &field, Some(&to)).unwrap()
    }

    #[test]
    fn fields_become_literals_of_their_type() {
        let cases = [
            (oid::INT8, "-5", "integer", "(-5)"),
            (oid::NUMERIC, "1.50", "text", "1.50"),
            (oid::NUMERIC, "NaN", "numeric", "'NaN'"),
            (oid::FLOAT8, "1.5", "integer", "'1.5'::pg_catalog.\"float8\""),
            (oid::TEXT, "it's", "character varying(3)", "'it''s'"),
            (oid::TEXT, "1", "integer", "'1'::pg_catalog.\"text\""),
            (oid::BPCHAR, "a  ", "character(3)", "'a  '"),
            (oid::BPCHAR, "a  ", "text", "'a  '::pg_catalog.\"bpchar\""),
            (
                oid::TIMESTAMP,
                "2024-01-02 00:00:00.5",
                "timestamp(1) without time zone",
                "'2024-01-02 00:00:00.5'",
            ),
            (
                oid::DATE,
                "2024-01-02",
                "timestamp without time zone",
                "'2024-01-02'::pg_catalog.\"date\"",
            ),
            (16_400, "happy", "mood", "'happy'"),
            (1560, "101", "integer", "'101'::pg_catalog.\"bit\""),
            (869, "10.0.0.1", "text", "'10.0.0.1'::pg_catalog.\"inet\""),
            (1009, "{a,b}", "bytea", "'{a,b}'::pg_catalog.\"_text\""),
        ];
        for (type_id, text, to, expected) in cases {
            assert_eq!(literal(type_id, text, to), expected);
        }
    }

    #[test]
    fn a_record_does_not_travel() {
        let mut column = Column::computed("c", Kind::Other);
        column.native = Native { family: crate::types::FAMILY, type_id: 2249, ..Native::default() };
        let field = Field { column: &column, codec: &DataRows, bytes: b"(1)" };
        assert!(Transfer::literal(&Postgres, &field, None).is_err());
    }

    #[test]
    fn a_cast_does_not_cut() {
        let cases = [
            ("character varying(20)", "character varying"),
            ("character(5)", "bpchar"),
            ("numeric(10,2)[]", "numeric[]"),
            ("timestamp(3) without time zone", "timestamp without time zone"),
            ("bit(3)", "bit varying"),
        ];
        for (given, expected) in cases {
            assert_eq!(without_length(given), expected);
        }
    }
}
