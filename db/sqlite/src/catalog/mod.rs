//! The catalogues of PostgreSQL and MySQL, as far as their clients ask for them, over SQLite's own: each relation a client names is replaced by a
//! common table expression in front of the statement, which already speaks in logic names.

mod base;
mod calls;
pub(crate) mod functions;
mod mysql;
mod postgres;
mod presentation;
mod relation;
mod settings;
mod show;
mod types;

use pando_sql::ast::ObjectName;

pub(crate) use base::MARK;
use relation::Relation;
pub(crate) use settings::{POSTGRES_VERSION, is_known as is_known_setting, mysql_variable};
pub(crate) use show::of_table;

use crate::literal::text_literal;
use crate::tongue::Tongue;

/// The vendor's own databases, as MySQL has them.
const MYSQLS: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];
/// The database of PostgreSQL that is there to log in to.
const LOGIN: &str = "postgres";

/// The vendor's own schemas, as PostgreSQL has them.
const POSTGRES: [&str; 3] = ["pg_catalog", "information_schema", "pg_toast"];

/// Schema and name of a relation that is the vendor's own.
fn vendors(name: &ObjectName, tongue: Tongue) -> Option<(&str, &str)> {
    match (tongue, &name.parts[..]) {
        (Tongue::Postgres, [only]) if only.value.starts_with("pg_") => {
            Some((POSTGRES[0], &only.value))
        }
        (Tongue::Postgres, [.., schema, name]) if POSTGRES.contains(&schema.value.as_str()) => {
            Some((&schema.value, &name.value))
        }
        (Tongue::MySql, [schema, name])
            if MYSQLS.iter().any(|own| own.eq_ignore_ascii_case(&schema.value)) =>
        {
            Some((&schema.value, &name.value))
        }
        _ => None,
    }
}

fn find(schema: &str, name: &str, tongue: Tongue) -> Option<&'static Relation> {
    let mut all = match tongue {
        Tongue::Postgres => postgres::RELATIONS.iter().chain(postgres::INFORMATION),
        Tongue::MySql => mysql::RELATIONS.iter().chain(&[]),
        Tongue::Any => return None,
    };
    all.find(|known| {
        known.schema.eq_ignore_ascii_case(schema) && known.name.eq_ignore_ascii_case(name)
    })
}

/// A query that tells the columns of a relation in the shape of a table's.
pub(crate) fn columns_query(schema: &str, name: &str, tongue: Tongue) -> Option<String> {
    let relation = find(schema, name, tongue)?;
    let rows: Vec<String> = relation
        .columns()
        .map(|column| {
            let (name, class) = (text_literal(column.name), text_literal(column.class));
            format!("SELECT {name}, {class}, 0, 0, 0, NULL")
        })
        .collect();
    Some(rows.join(" UNION ALL "))
}

#[cfg(test)]
mod tests;
