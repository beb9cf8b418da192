//! Rows of elsewhere as a table of a statement: a list of VALUES whose first row carries the types.
//! <https://www.postgresql.org/docs/current/queries-values.html>

use pando_kernel::dialect::{Language, TableColumn};
use pando_kernel::relation::{Carried, Inline, RelationWriter, Relations};
use pando_kernel::{Column, Error, Result};

use super::{Postgres, text_literal};
use crate::types::oid;

impl Relations for Postgres {
    fn check(&self, variables: &[(String, String)]) -> Result<()> {
        let rounds = |(name, value): &&(String, String)| {
            let digits = value.trim().trim_matches('\'').parse::<i32>();
            name == "extra_float_digits" && digits.is_ok_and(|digits| digits < 1)
        };
        match variables.iter().find(rounds) {
            None => Ok(()),
            Some(_) => Err(Error::refused(
                30001,
                "with `extra_float_digits` below 1 rows cannot travel between storage units without loss",
                "set `extra_float_digits` to 1",
            )),
        }
    }

    fn carry(&self, column: &TableColumn) -> Result<String> {
        Ok(self.quote(&column.name))
    }

    fn answered(&self, column: &Column, like: Option<&TableColumn>) -> Option<TableColumn> {
        let type_name = match column.native.type_id {
            oid::BOOL => "boolean",
            oid::INT2 => "smallint",
            oid::INT4 => "integer",
            oid::INT8 => "bigint",
            oid::NUMERIC => "numeric",
            oid::FLOAT4 => "real",
            oid::FLOAT8 => "double precision",
            oid::DATE => "date",
            oid::TIMESTAMP => "timestamp without time zone",
            oid::TIMESTAMPTZ => "timestamp with time zone",
            oid::TEXT if like.is_some() => "text",
            _ => return None,
        };
        Some(TableColumn {
            name: String::new(),
            kind: column.kind,
            type_name: type_name.to_owned(),
            collation: String::new(),
            collate: like.map_or_else(String::new, |column| column.collate.clone()),
            primary_key: false,
            auto_increment: false,
            nullable: true,
        })
    }

    fn described(&self, columns: &[Carried]) -> String {
        let items: Vec<String> = columns
            .iter()
            .map(|carried| {
                let column = &carried.column;
                let name = self.quote(&column.name);
                format!("NULL::{}{} AS {name}", column.type_name, collate(column))
            })
            .collect();
        format!("(SELECT {} WHERE false)", items.join(", "))
    }

    fn begin(&self, _number: usize, columns: &[Carried]) -> Box<dyn RelationWriter> {
        let columns = columns.iter().map(|carried| carried.column.clone()).collect();
        Box::new(Values { columns, text: String::new(), rows: 0 })
    }
}

/// ` COLLATE …` where the column has a collation of its own.
fn collate(column: &TableColumn) -> String {
    match column.collate.as_str() {
        "" => String::new(),
        name => format!(" COLLATE {name}"),
    }
}

/// `::type(…)` where the type has a modifier, which a list of VALUES loses.
fn cast(column: &TableColumn) -> String {
    if column.type_name.contains('(') { format!("::{}", column.type_name) } else { String::new() }
}

/// The rows, written one behind the other.
#[derive(Debug)]
struct Values {
    columns: Vec<TableColumn>,
    text: String,
    rows: usize,
}

impl RelationWriter for Values {
    fn row(&mut self, fields: &[Option<&str>]) {
        self.text.push_str(if self.rows == 0 { "(" } else { ", (" });
        for (at, (field, column)) in fields.iter().zip(&self.columns).enumerate() {
            if at > 0 {
                self.text.push_str(", ");
            }
            match field {
                None => self.text.push_str("NULL"),
                Some(text) => self.text.push_str(text_literal(text).trim_start()),
            }
            if self.rows == 0 {
                self.text.push_str("::");
                self.text.push_str(&column.type_name);
            }
        }
        self.text.push(')');
        self.rows += 1;
    }

    fn size(&self) -> usize {
        self.text.len()
    }

    fn finish(self: Box<Self>) -> Inline {
        let carried = |column: &TableColumn| Carried {
            column: column.clone(),
            is_key: false,
            is_compared: false,
        };
        if self.rows == 0 {
            let columns: Vec<Carried> = self.columns.iter().map(carried).collect();
            return Inline { before: Vec::new(), table: Postgres.described(&columns) };
        }
        let names: Vec<String> =
            self.columns.iter().map(|column| Postgres.quote(&column.name)).collect();
        let items: Vec<String> = self
            .columns
            .iter()
            .zip(&names)
            .map(|(column, name)| match (cast(column), collate(column)) {
                (cast, clause) if cast.is_empty() && clause.is_empty() => name.clone(),
                (cast, clause) => format!("{name}{cast}{clause} AS {name}"),
            })
            .collect();
        let (items, names) = (items.join(", "), names.join(", "));
        let table = format!("(SELECT {items} FROM (VALUES {}) AS pando ({names}))", self.text);
        Inline { before: Vec::new(), table }
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::Kind;

    use super::*;

    fn column(name: &str, type_name: &str, collate: &str) -> Carried {
        let column = TableColumn {
            name: name.into(),
            kind: Kind::Text,
            type_name: type_name.into(),
            collation: String::new(),
            collate: collate.into(),
            primary_key: false,
            auto_increment: false,
            nullable: true,
        };
        Carried { column, is_key: false, is_compared: false }
    }

    #[test]
    fn the_first_row_carries_the_types() {
        let columns = [column("id", "bigint", ""), column("N", "text", "pg_catalog.\"C\"")];
        let mut writer = Postgres.begin(1, &columns);
        writer.row(&[Some("1"), Some("it's")]);
        writer.row(&[Some("-2"), None]);
        assert_eq!(
            writer.finish().table,
            "(SELECT \"id\", \"N\" COLLATE pg_catalog.\"C\" AS \"N\" FROM (VALUES ('1'::bigint, 'it''s'::text), ('-2', NULL)) AS pando (\"id\", \"N\"))"
        );
    }

    #[test]
    fn modifiers_of_types_are_said_once_more() {
        let mut writer = Postgres.begin(1, &[column("p", "numeric(10,2)", "")]);
        writer.row(&[Some("1.50")]);
        assert_eq!(
            writer.finish().table,
            "(SELECT \"p\"::numeric(10,2) AS \"p\" FROM (VALUES ('1.50'::numeric(10,2))) AS pando (\"p\"))"
        );
    }

    #[test]
    fn a_table_without_rows_has_its_types() {
        let writer = Postgres.begin(1, &[column("id", "numeric(10,2)", "")]);
        let table = writer.finish().table;
        assert_eq!(table, "(SELECT NULL::numeric(10,2) AS \"id\" WHERE false)");
    }

    #[test]
    fn a_session_that_rounds_floats_is_refused() {
        let one = |value: &str| vec![("extra_float_digits".to_owned(), value.to_owned())];
        assert!(Postgres.check(&one("'0'")).is_err());
        assert!(Postgres.check(&one("3")).is_ok());
    }
}
