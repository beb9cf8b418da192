//! Rows of elsewhere as a table of a statement: a list of VALUES whose first row carries the types, or a temporary table.
//! <https://www.postgresql.org/docs/current/queries-values.html>, <https://www.postgresql.org/docs/current/sql-createtable.html>

use pando_kernel::dialect::{Language, TableColumn};
use pando_kernel::query_tables::QueryTables;
use pando_kernel::relation::{Carried, Inline, PREFIX, RelationWriter, Relations, Stands};
use pando_kernel::{Column, Error, Kind, Result};

use super::variables::date_style::DateStyle;
use super::{Postgres, text_literal};
use crate::types::oid;

/// Rows that go as VALUES; more go into a temporary table.
const FEW: usize = 200;
/// Bytes of one INSERT; a single longer row makes a longer one.
const BATCH: usize = 256 << 10;

impl Relations for Postgres {
    fn check(&self, variables: &[(String, String)]) -> Result<()> {
        if !DateStyle::of(variables).is_iso() {
            return Err(Error::uncarried(
                30001,
                "with a `DateStyle` other than ISO rows cannot travel between storage units: zones are written by names that may mean others",
                "set `datestyle` to ISO, or narrow it to one shard",
            ));
        }
        let rounds = |(name, value): &&(String, String)| {
            let digits = value.trim().trim_matches('\'').parse::<i32>();
            name == "extra_float_digits" && digits.is_ok_and(|digits| digits < 1)
        };
        match variables.iter().find(rounds) {
            None => Ok(()),
            Some(_) => Err(Error::uncarried(
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
            zone: None,
            primary_key: false,
            auto_increment: false,
            nullable: true,
            invisible: false,
            attribute: Default::default(),
            timed: None,
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

    fn begin(&self, number: usize, columns: &[Carried]) -> Box<dyn RelationWriter> {
        let name = format!("{PREFIX}{number}");
        let columns = columns.to_vec();
        Box::new(Table {
            name,
            columns,
            first: String::new(),
            batches: Vec::new(),
            rows: 0,
            size: 0,
        })
    }

    fn query_tables(&self) -> Option<&dyn QueryTables> {
        Some(self)
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

/// The rows as they come: a list of VALUES where they are few, else a temporary table, which has statistics and indexes.
#[derive(Debug)]
struct Table {
    name: String,
    columns: Vec<Carried>,
    /// The first row with its types.
    first: String,
    /// All rows, in texts of at most about [`BATCH`] bytes.
    batches: Vec<String>,
    rows: usize,
    size: usize,
}

impl Table {
    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|one| Postgres.quote(&one.column.name)).collect()
    }

    /// The types stand at the first row; what that loses is said once more.
    fn values(&self, stands: Stands) -> String {
        let names = self.names();
        let items: Vec<String> = self
            .columns
            .iter()
            .zip(&names)
            .map(|(carried, name)| match (cast(&carried.column), collate(&carried.column)) {
                (cast, clause) if cast.is_empty() && clause.is_empty() => name.clone(),
                (cast, clause) => format!("{name}{cast}{clause} AS {name}"),
            })
            .collect();
        let (items, names) = (items.join(", "), names.join(", "));
        let all = self.batches.join(", ");
        let others = all.get(self.first_length()..).unwrap_or("");
        let first = &self.first;
        let table = format!("(SELECT {items} FROM (VALUES {first}{others}) AS pando ({names}))");
        fenced(&table, stands)
    }

    /// Bytes of the first row without its types.
    fn first_length(&self) -> usize {
        let types: usize =
            self.columns.iter().map(|one| one.column.type_name.len() + "::".len()).sum();
        self.first.len().saturating_sub(types)
    }

    /// What makes and fills a temporary table.
    fn before(&self) -> Vec<String> {
        let name = &self.name;
        let columns: Vec<String> = self
            .columns
            .iter()
            .map(|one| {
                let column = &one.column;
                let quoted = Postgres.quote(&column.name);
                format!("{quoted} {}{}", column.type_name, collate(column))
            })
            .collect();
        let mut before = vec![
            // A session that only reads writes its temporary tables all the same.
            "BEGIN READ WRITE".to_owned(),
            format!("CREATE TEMPORARY TABLE {name} ({})", columns.join(", ")),
        ];
        before.extend(
            self.batches.iter().map(|batch| format!("INSERT INTO pg_temp.{name} VALUES {batch}")),
        );
        let indexed = self.columns.iter().filter(|one| one.is_compared && is_short(&one.column));
        before.extend(indexed.map(|one| {
            format!("CREATE INDEX ON pg_temp.{name} ({})", Postgres.quote(&one.column.name))
        }));
        before.extend([format!("ANALYZE pg_temp.{name}"), "COMMIT".to_owned()]);
        before
    }
}

/// OFFSET keeps the server from taking a single row, or none, for constants, whose types have modifiers of their own. In a statement whose planning is not
/// over it would look like a limit.
fn fenced(table: &str, stands: Stands) -> String {
    match (stands, table.strip_suffix(')')) {
        (Stands::Apart, Some(open)) => format!("{open} OFFSET 0)"),
        _ => table.to_owned(),
    }
}

/// Whether an index takes every value of the column.
fn is_short(column: &TableColumn) -> bool {
    match column.kind {
        Kind::Int
        | Kind::UInt
        | Kind::Decimal
        | Kind::Date
        | Kind::Timestamp
        | Kind::TimestampTz => true,
        Kind::Text => ["character varying(", "character("].iter().any(|name| {
            let length =
                column.type_name.strip_prefix(name).and_then(|rest| rest.split(')').next());
            length.and_then(|length| length.parse::<u32>().ok()).is_some_and(|length| length <= 255)
        }),
        Kind::Bool | Kind::Float | Kind::Bytes | Kind::Time | Kind::Other => {
            column.type_name == "uuid"
        }
    }
}

impl RelationWriter for Table {
    fn row(&mut self, fields: &[Option<&str>]) {
        let mut row = String::from("(");
        for (at, (field, carried)) in fields.iter().zip(&self.columns).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let text = field.map_or_else(|| "NULL".to_owned(), text_literal);
            row.push_str(comma);
            row.push_str(text.trim_start());
            if self.rows == 0 {
                let open = if at == 0 { "(" } else { "" };
                let text = text.trim_start();
                self.first.push_str(&format!("{comma}{open}{text}::{}", carried.column.type_name));
            }
        }
        row.push(')');
        if self.rows == 0 {
            self.first.push(')');
        }
        self.rows += 1;
        self.size += row.len();
        match self.batches.last_mut().filter(|batch| batch.len() < BATCH) {
            Some(batch) => {
                batch.push_str(", ");
                batch.push_str(&row);
            }
            None => self.batches.push(row),
        }
    }

    fn size(&self) -> usize {
        self.size
    }

    fn finish(self: Box<Self>, stands: Stands) -> Inline {
        // A transaction that has touched temporary tables could not be prepared for a commit in two phases.
        if self.rows > FEW && stands == Stands::Apart {
            let names = self.names().join(", ");
            let table = format!("(SELECT {names} FROM pg_temp.{})", self.name);
            return Inline { before: self.before(), table };
        }
        let table = match self.rows {
            0 => fenced(&Postgres.described(&self.columns), stands),
            _ => self.values(stands),
        };
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
            zone: None,
            primary_key: false,
            auto_increment: false,
            nullable: true,
            invisible: false,
            attribute: Default::default(),
            timed: None,
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
            writer.finish(Stands::Apart).table,
            "(SELECT \"id\", \"N\" COLLATE pg_catalog.\"C\" AS \"N\" FROM (VALUES ('1'::bigint, 'it''s'::text), ('-2', NULL)) AS pando (\"id\", \"N\") OFFSET 0)"
        );
    }

    #[test]
    fn modifiers_of_types_are_said_once_more() {
        let mut writer = Postgres.begin(1, &[column("p", "numeric(10,2)", "")]);
        writer.row(&[Some("1.50")]);
        assert_eq!(
            writer.finish(Stands::Apart).table,
            "(SELECT \"p\"::numeric(10,2) AS \"p\" FROM (VALUES ('1.50'::numeric(10,2))) AS pando (\"p\") OFFSET 0)"
        );
    }

    #[test]
    fn a_table_without_rows_has_its_types() {
        let writer = Postgres.begin(1, &[column("id", "numeric(10,2)", "")]);
        let table = writer.finish(Stands::Apart).table;
        assert_eq!(table, "(SELECT NULL::numeric(10,2) AS \"id\" WHERE false OFFSET 0)");
    }

    #[test]
    fn many_rows_become_a_temporary_table() {
        let mut id = column("id", "integer", "");
        (id.is_compared, id.column.kind) = (true, Kind::Int);
        let mut writer = Postgres.begin(3, &[id]);
        (0..=FEW).for_each(|row| writer.row(&[Some(&row.to_string())]));
        let inline = writer.finish(Stands::Apart);
        assert_eq!(inline.table, "(SELECT \"id\" FROM pg_temp.pando_relation_3)");
        assert_eq!(inline.before.len(), 6);
        assert!(
            inline.before[2]
                .starts_with("INSERT INTO pg_temp.pando_relation_3 VALUES ('0'), ('1')")
        );
        assert_eq!(inline.before[3], "CREATE INDEX ON pg_temp.pando_relation_3 (\"id\")");
    }

    #[test]
    fn a_session_that_rounds_floats_is_refused() {
        let one = |value: &str| vec![("extra_float_digits".to_owned(), value.to_owned())];
        assert!(Postgres.check(&one("'0'")).is_err());
        assert!(Postgres.check(&one("3")).is_ok());
    }
}
