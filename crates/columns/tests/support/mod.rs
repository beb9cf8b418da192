//! Two families, four tables, and a reading of what the analysis says in one line per use.

#![allow(clippy::unwrap_used, unreachable_pub, dead_code, reason = "test support functions")]

pub mod making;

use std::collections::HashMap;
use std::sync::Arc;

use pando_columns::{
    Definition, Duplicates, Given, Interest, Origin, Place, Reference, Rows, Star, StarPlace, Stop,
    Use, Uses, Value,
};
use pando_fake::Still;
use pando_fake::table_column;
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Context, Database, SessionView};
use pando_kernel::route::UnitName;
use pando_kernel::value::Kind;
use pando_kernel::{Dialect, Error};
use pando_sql::Span;

/// `t_user` and `t_card` have columns of interest, `t_plain` has one that is spelled alike, `t_unread` was not read
/// yet, nor was `t_new`, which has one of interest.
#[derive(Debug)]
struct Tables;

impl Catalog for Tables {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        let names: &[&str] = match table {
            "t_user" => &["id", "name", "phone", "mail"],
            "t_card" => &["id", "user_id", "phone", "note"],
            "t_plain" => &["id", "phone", "note"],
            "t_unread" | "t_new" => return None,
            _ => &[],
        };
        Some(Arc::new(names.iter().map(|name| table_column(name, Kind::Text)).collect()))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        None
    }
}

/// The family of this short name.
pub fn dialect(family: &str) -> Arc<dyn Dialect> {
    match family {
        "my" => Arc::new(pando_mysql::MySql),
        _ => Arc::new(pando_postgres::Postgres),
    }
}

/// The columns that the tests care about.
pub fn interest() -> Interest {
    Interest::new([
        ("t_user", "phone"),
        ("t_user", "mail"),
        ("t_card", "phone"),
        ("t_new", "phone"),
    ])
}

/// What the analysis says, and the text its spans are of.
pub fn analyse(family: &str, sql: &str) -> Result<(Arc<str>, Result<Uses, Stop>), Error> {
    analyse_with(family, sql, (&Tables, &interest()))
}

/// The same with other tables.
pub fn analyse_with(
    family: &str,
    sql: &str,
    (catalog, interest): (&dyn Catalog, &Interest),
) -> Result<(Arc<str>, Result<Uses, Stop>), Error> {
    let dialect = dialect(family);
    let stmt = pando_sql::parse(sql, dialect.syntax())
        .map_err(|error| Error::internal(error.to_string()))?;
    let database = Database {
        name: "db".to_owned(),
        units: Vec::new(),
        features: Vec::new(),
        dialect: Arc::clone(&dialect),
    };
    let ctx = Context {
        database: &database,
        catalog,
        dialect: dialect.as_ref(),
        parameters: None,
        session: &SessionView::default(),
        source: &Still,
    };
    Ok((Arc::clone(&stmt.text), pando_columns::uses(&ctx, &stmt, interest)))
}

/// One line per use and star, in text order; or why there are none.
pub fn told(family: &str, sql: &str) -> String {
    let (text, found) = match analyse(family, sql) {
        Err(error) => return format!("cannot be read: {error:?}"),
        Ok((_, Err(Stop::Need(need)))) => return format!("needs {need:?}"),
        Ok((_, Err(Stop::Unclear { why }))) => return format!("unclear: {why}"),
        Ok((_, Err(Stop::Unknown { column }))) => return format!("unknown column: {column}"),
        Ok((text, Ok(found))) => (text, found),
    };
    let tell = Tell { sql: &text };
    let mut lines: Vec<(Span, String)> =
        found.columns.iter().map(|one| (one.span, tell.one(one))).collect();
    lines.extend(found.stars.iter().map(|star| (star.span, tell.star(star))));
    lines.sort();
    if lines.is_empty() {
        return "nothing".to_owned();
    }
    lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

struct Tell<'a> {
    sql: &'a str,
}

impl Tell<'_> {
    fn text(&self, span: Span) -> &str {
        span.of(self.sql)
    }

    fn one(&self, one: &Use) -> String {
        let before = one.qualifier.map_or(String::new(), |span| format!("{}.", self.text(span)));
        let by = match one.by {
            Reference::Column => String::new(),
            Reference::Named
            | Reference::Ordinal
            | Reference::Query
            | Reference::Proposed
            | Reference::Position => format!(" by {:?}", one.by),
        };
        let (at, name) = (one.span.start, self.text(one.span));
        format!("{at} {before}{name} is {}{by}: {}", of(&one.of), self.place(&one.place))
    }

    fn place(&self, place: &Place) -> String {
        match place {
            Place::Item { at, alias, duplicates, .. } => {
                format!("Item {at}{}", self.item(*alias, *duplicates))
            }
            Place::Returning { at, alias, .. } => {
                format!("Returning {at}{}", self.item(*alias, Duplicates::Kept))
            }
            Place::InnerItem { at, alias, duplicates, .. } => {
                format!("InnerItem {at}{}", self.item(*alias, *duplicates))
            }
            Place::Stored { at, into, alias, duplicates, .. } => {
                let into = into.as_ref().map_or("plain".to_owned(), of);
                format!("Stored {at}{} into {into}", self.item(*alias, *duplicates))
            }
            Place::EqualTo(value) => format!("EqualTo {}", self.value(*value)),
            Place::NotEqualTo(value) => format!("NotEqualTo {}", self.value(*value)),
            Place::EqualToColumn(other) => format!("EqualToColumn {}", of(other)),
            Place::NotEqualToColumn(other) => format!("NotEqualToColumn {}", of(other)),
            Place::InList { values, negated } => {
                let values: Vec<String> = values.iter().map(|value| self.value(*value)).collect();
                let not = if *negated { "Not" } else { "" };
                format!("{not}InList {}", values.join(" "))
            }
            Place::Between { low, high } => {
                format!("Between {} {}", self.value(*low), self.value(*high))
            }
            Place::Ordered { op, value } => format!("Ordered {op:?} {}", self.value(*value)),
            Place::Like { operator, pattern } => {
                format!("Like {operator} {}", self.value(*pattern))
            }
            Place::Aggregate { function, distinct } => {
                format!("Aggregate {function}{}", if *distinct { " distinct" } else { "" })
            }
            Place::InsertColumn { at, rows } => format!("InsertColumn {at} {}", self.rows(rows)),
            Place::Assigned(given) => format!("Assigned {}", self.given(given)),
            Place::AssignedTo { into } => {
                format!("AssignedTo {}", into.as_ref().map_or("plain".to_owned(), of))
            }
            Place::Field { at } => format!("Field {at}"),
            Place::Definition(Definition::Column { type_span }) => {
                format!("Definition {}", self.text(*type_span))
            }
            Place::Definition(part) => format!("Definition {part:?}"),
            Place::Inside { around } => format!("Inside {}", self.text(*around)),
            Place::NullTest
            | Place::GroupKey
            | Place::OrderKey
            | Place::DistinctKey
            | Place::ConflictTarget => format!("{place:?}"),
        }
    }

    fn item(&self, alias: Option<Span>, duplicates: Duplicates) -> String {
        let alias = alias.map_or(String::new(), |span| format!(" as {}", self.text(span)));
        let compared = if duplicates == Duplicates::Compared { " compared" } else { "" };
        format!("{alias}{compared}")
    }

    fn value(&self, value: Value) -> String {
        match value {
            Value::Literal(span) => self.text(span).to_owned(),
            Value::Parameter { index, span } => format!("{}#{index}", self.text(span)),
            Value::Cast { whole, to } => format!("{} to {}", self.text(whole), self.text(to)),
        }
    }

    fn given(&self, given: &Given) -> String {
        match given {
            Given::Value(value) => self.value(*value),
            Given::Default(span) => self.text(*span).to_owned(),
            Given::Column(other) => format!("column {}", of(other)),
            Given::Expression(span) => format!("expression {}", self.text(*span)),
        }
    }

    fn rows(&self, rows: &Rows) -> String {
        match rows {
            Rows::Values(list) => {
                list.iter().map(|given| self.given(given)).collect::<Vec<_>>().join(" | ")
            }
            Rows::Query { at, from } => {
                format!("query {at} {}", from.as_ref().map_or("plain".to_owned(), of))
            }
            Rows::Default => "default".to_owned(),
        }
    }

    fn star(&self, star: &Star) -> String {
        let columns = star.columns.iter().map(|one| {
            let source = one.source.map_or("-", |span| self.text(span));
            let mark = one.of.as_ref().map_or(String::new(), |of_it| format!("={}", of(of_it)));
            let by = if one.by == Reference::Column { "" } else { "'" };
            format!("{source}.{}{by}{mark}", one.name.as_deref().unwrap_or("?"))
        });
        let columns = columns.collect::<Vec<_>>().join(" ");
        let (at, text, first) = (star.span.start, self.text(star.span), star.at);
        let compared = self.item(None, star.duplicates);
        let place = match &star.place {
            StarPlace::Stored(into) => {
                let into = into.iter().map(|into| into.as_ref().map_or("plain".to_owned(), of));
                format!("Stored into {}", into.collect::<Vec<_>>().join(" "))
            }
            StarPlace::Result | StarPlace::Returning | StarPlace::Inner => {
                format!("{:?}", star.place)
            }
        };
        format!("{at} {text} {place} from {first}{compared}: {columns}")
    }
}

fn of(origin: &Origin) -> String {
    format!("{}.{}", origin.table.trim_start_matches("t_"), origin.column)
}
