//! `pg_prepared_statements` and `pg_cursors` as the session's own: a unit would list what connections of the pool have prepared for anybody.
//! <https://www.postgresql.org/docs/current/view-pg-prepared-statements.html>, <https://www.postgresql.org/docs/current/view-pg-cursors.html>

use std::time::{SystemTime, UNIX_EPOCH};

use pando_kernel::dialect::{Language, Own, OwnCursor, TableColumn};
use pando_kernel::request::UNNUMBERED;
use pando_kernel::{Named, Prepared};

use super::names::literal;
use crate::dialect::Postgres;

/// A sub-query in parentheses that has these rows, with the columns that the server's relation has.
pub(super) fn sub_query(own: &Own, relation: &str, columns: &[TableColumn]) -> String {
    let rows: Vec<String> = match relation {
        "pg_cursors" => {
            own.cursors.iter().map(|one| row(columns, |column| of_cursor(one, column))).collect()
        }
        _ => {
            let row = |(name, one): &(String, Named)| {
                row(columns, |column| of_statement(name, one, column))
            };
            own.statements.iter().map(row).collect()
        }
    };
    let none = format!("{} WHERE FALSE", row(columns, |_| None));
    let all: Vec<String> = std::iter::once(none).chain(rows).collect();
    format!("({})", all.join(" UNION ALL "))
}

fn row(columns: &[TableColumn], value: impl Fn(&str) -> Option<String>) -> String {
    let items = columns.iter().map(|column| {
        let value = value(&column.name).unwrap_or_else(|| "NULL".into());
        format!("({value})::{} AS {}", column.type_name, Postgres.quote(&column.name))
    });
    format!("SELECT {}", items.collect::<Vec<_>>().join(", "))
}

/// Types that are not known without asking are NULL.
fn of_statement(name: &str, one: &Named, column: &str) -> Option<String> {
    let prepared = &one.prepared;
    match column {
        "name" => Some(literal(name)),
        "statement" => Some(literal(one.from.as_deref().unwrap_or(&prepared.sql))),
        "prepare_time" => Some(moment(one.made)),
        "parameter_types" => types(parameters(prepared)),
        "result_types" => {
            let columns = prepared.description.get()?.columns.as_ref()?;
            types(columns.list.iter().map(|column| column.native.type_id).collect())
        }
        "from_sql" => Some(one.from.is_some().to_string()),
        "generic_plans" | "custom_plans" => Some("0".into()),
        _ => None,
    }
}

fn of_cursor(one: &OwnCursor, column: &str) -> Option<String> {
    match column {
        "name" => Some(literal(&one.name)),
        "statement" => Some(literal(&one.text)),
        "is_holdable" => Some(one.holds.to_string()),
        "is_binary" | "is_scrollable" => Some("false".into()),
        "creation_time" => Some(moment(one.made)),
        _ => None,
    }
}

fn parameters(prepared: &Prepared) -> Vec<u32> {
    let types = prepared.types();
    let described = |index: usize| {
        let described = prepared.description.get()?.parameters.get(index)?;
        Some(described.type_id)
    };
    let wanted = 0..prepared.statement.parameters as usize;
    let number = |index| match types.get(index) {
        // The first unit answers, whose numbers are those that are shown.
        Some(&UNNUMBERED) => described(index),
        held => held.copied(),
    };
    wanted.map(|index| number(index).unwrap_or(0)).collect()
}

fn types(all: Vec<u32>) -> Option<String> {
    let known = all.iter().all(|number| *number != 0);
    let list: Vec<String> = all.iter().map(u32::to_string).collect();
    known.then(|| format!("'{{{}}}'::pg_catalog.oid[]::pg_catalog.regtype[]", list.join(",")))
}

fn moment(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("pg_catalog.to_timestamp({}.{:06})", since.as_secs(), since.subsec_micros())
}
