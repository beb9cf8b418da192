//! INSERT and REPLACE where no statement tells its rows: they are found by the keys that are given, or that the server has generated; rows that are in their
//! way, by all unique keys.

use pando_kernel::Value;
use pando_kernel::error::{Error, Result};
use pando_sql::Span;
use pando_sql::ast::{Expr, Insert, InsertSource, Literal, Node};

use super::{About, After, Counted, Work, returning};
use crate::concern::refused;
use crate::text::Text;

/// A row that comes in: the value of each written column.
struct Given<'a> {
    columns: &'a [String],
    values: Vec<&'a Expr>,
}

pub(super) fn work(about: &About<'_>, insert: &Insert) -> Result<Work> {
    let columns = columns(about, insert)?;
    let rows = rows(insert, &columns)?;
    let counted = counted(insert);
    if counted == Counted::Updated && returning::sets_key(about, &insert.on_duplicate) {
        return Err(refused("ON DUPLICATE KEY UPDATE of a primary key"));
    }
    let generated = generated(about, &rows)?;
    let has_rivals = counted != Counted::Inserted
        && !(generated.is_some() && about.table.uniques.is_empty() && !about.table.has_odd_uniques);
    let reads = about.all_reads(&about.table.shape.path)?;
    let head = format!("SELECT {} FROM {} WHERE ", reads.join(", "), about.table.shape.path);
    let change = about.writer().copy(Span::new(0, about.stmt.text.len() as u32)).finish();
    let count = rows.len() as u64;
    if !has_rivals {
        let after = match generated {
            Some(at) => After::Generated { query: head, column: written(about, at) },
            None => After::Query(found(about, &head, &rows, &[&about.table.shape.key])?),
        };
        return Ok(Work::Insert {
            before: None,
            change,
            after,
            counted: Counted::Inserted,
            rows: count,
        });
    }
    if about.table.has_odd_uniques {
        return Err(refused(
            "an upsert into a table with a unique index of expressions or parts of columns",
        ));
    }
    let mut keys: Vec<&Vec<usize>> = about.table.uniques.iter().collect();
    if generated.is_none() {
        keys.push(&about.table.shape.key);
    }
    let query = found(about, &head, &rows, &keys)?;
    Ok(Work::Insert {
        before: Some(query.clone()),
        change,
        after: After::Query(query),
        counted,
        rows: count,
    })
}

fn counted(insert: &Insert) -> Counted {
    if insert.replace {
        Counted::Replaced
    } else if !insert.on_duplicate.is_empty() {
        Counted::Updated
    } else if insert.modifiers.iter().any(|word| word == "IGNORE") {
        Counted::Ignored
    } else {
        Counted::Inserted
    }
}

/// Names of the written columns.
fn columns(about: &About<'_>, insert: &Insert) -> Result<Vec<String>> {
    if let InsertSource::Set(assignments) = &insert.source {
        let name = |part: &pando_sql::ast::ObjectName| {
            part.parts.last().map(|part| part.value.clone()).unwrap_or_default()
        };
        return Ok(assignments.iter().map(|one| name(&one.column)).collect());
    }
    Ok(match &insert.columns {
        Some(list) if !list.is_empty() => list.iter().map(|column| column.value.clone()).collect(),
        _ => about.table.all.iter().map(|column| column.name.clone()).collect(),
    })
}

fn rows<'a>(insert: &'a Insert, columns: &'a [String]) -> Result<Vec<Given<'a>>> {
    match &insert.source {
        InsertSource::Values { rows, .. } => rows
            .iter()
            .map(|row| {
                let values = row.trees().ok_or_else(|| Error::internal("a row was not read"))?;
                // `VALUES ()` gives defaults, whatever the columns are.
                if values.is_empty() {
                    return Ok(Given { columns: &[], values: Vec::new() });
                }
                if values.len() != columns.len() {
                    return Err(Error::unsupported(
                        30001,
                        "in a BASE transaction INSERT must give a value for each column of the table",
                        "name the columns",
                    ));
                }
                Ok(Given { columns, values: values.iter().collect() })
            })
            .collect(),
        InsertSource::Set(assignments) => {
            Ok(vec![Given { columns, values: assignments.iter().map(|one| &one.value).collect() }])
        }
        InsertSource::Query(_) => Err(refused("INSERT … SELECT, whose keys nobody knows,")),
        InsertSource::Default => Err(refused("INSERT … DEFAULT VALUES")),
    }
}

impl<'a> Given<'a> {
    /// The value given for a column; `None` when it gets its default.
    fn value(&self, name: &str) -> Option<&'a Expr> {
        let at = self.columns.iter().position(|column| column.eq_ignore_ascii_case(name))?;
        self.values.get(at).copied().filter(|value| !matches!(value.node, Node::Default))
    }
}

/// The key column that the server fills in for every row.
fn generated(about: &About<'_>, rows: &[Given<'_>]) -> Result<Option<usize>> {
    let Some(at) = about.table.generated_key() else { return Ok(None) };
    let Some(column) = about.table.shape.columns.get(at) else { return Ok(None) };
    let is_open =
        |row: &&Given<'_>| row.value(&column.name).is_none_or(|value| asks_for_a_key(value, about));
    match rows.iter().filter(is_open).count() {
        0 => Ok(None),
        open if open == rows.len() => Ok(Some(at)),
        _ => Err(refused("INSERT of rows some of which have generated keys")),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn asks_for_a_key(value: &Expr, about: &About<'_>) -> bool {
    match &value.node {
        Node::Nested(inner) => asks_for_a_key(inner, about),
        Node::Literal(Literal::Null | Literal::Integer(0)) => true,
        Node::Parameter(at) => {
            let value = about.parameters.get(*at as usize).map(|parameter| &parameter.value);
            matches!(value, Some(Value::Null | Value::Int(0) | Value::UInt(0)))
        }
        _ => false,
    }
}

fn written(about: &About<'_>, at: usize) -> String {
    let name = about.table.shape.columns.get(at).map(|column| column.name.as_str());
    about.column(&about.table.shape.path, name.unwrap_or_default())
}

/// The query for every row that has one of these keys of the given rows. The last parenthesis is left open.
fn found(about: &About<'_>, head: &str, rows: &[Given<'_>], keys: &[&Vec<usize>]) -> Result<Text> {
    let mut writer = about.writer();
    writer.add(head).add("(");
    let mut lead = "";
    for row in rows {
        for key in keys {
            writer.add(lead).add("(");
            lead = " OR ";
            for (number, at) in key.iter().enumerate() {
                let Some(column) = about.table.shape.columns.get(*at) else { continue };
                let own = written(about, *at);
                writer.add(if number == 0 { "" } else { " AND " }).add(&own).add(" = ");
                match row.value(&column.name) {
                    None => {
                        writer.add(&format!("DEFAULT({own})"));
                    }
                    Some(value) if is_constant(value) => {
                        writer.add("(").copy(value.span).add(")");
                    }
                    Some(_) => {
                        return Err(Error::unsupported(
                            30001,
                            format!(
                                "in a BASE transaction the key `{}` must be a constant or a parameter",
                                column.name
                            ),
                            "compute it before",
                        ));
                    }
                }
            }
            writer.add(")");
        }
    }
    Ok(writer.finish())
}

/// Whether it has the same value whenever it is asked.
#[expect(clippy::wildcard_enum_match_arm, reason = "everything else may change")]
fn is_constant(expr: &Expr) -> bool {
    match &expr.node {
        Node::Literal(_) | Node::Parameter(_) => true,
        Node::Nested(inner) => is_constant(inner),
        Node::Unary { operand, .. } | Node::Cast { operand, .. } => is_constant(operand),
        Node::Binary { left, right, .. } => is_constant(left) && is_constant(right),
        _ => false,
    }
}
