//! What the engine asks of a family that shows catalogues.

use pando_kernel::dialect::Facts;
use pando_kernel::presentation::{
    Asked, Figured, Holding, Presentation, Presented, Retold, Telling, View, tells_stored_columns,
};
use pando_kernel::{Error, Parameter, Result, Value};
use pando_sql::ast::{Expr, Ident, Kind, Literal, Node, ObjectName, QueryBody, Show, Statement};
use pando_sql::visit::{self, Refers};
use pando_sql::{Edits, Release, Span, TokenKind, tokenize};

use super::base::{self, STEP};
use super::relation::Relation;
use super::{LOGIN, MYSQLS, calls, find, show, vendors};
use crate::dialect::SqliteDialect;
use crate::tongue::Tongue;

impl Figured for SqliteDialect {}

impl Presentation for SqliteDialect {
    fn database_part<'a>(&self, parts: &'a [Ident]) -> Option<&'a Ident> {
        match (self.tongue(), parts) {
            (Tongue::MySql, [database, _])
                if !MYSQLS.iter().any(|own| own.eq_ignore_ascii_case(&database.value)) =>
            {
                Some(database)
            }
            (Tongue::Postgres, [database, _, _]) => Some(database),
            _ => None,
        }
    }

    fn holding(&self, name: &ObjectName) -> Option<Holding> {
        if let (Tongue::MySql, [only]) = (self.tongue(), &name.parts[..])
            && only.value.eq_ignore_ascii_case("dual")
        {
            return Some(Holding::Shared);
        }
        let (schema, name) = vendors(name, self.tongue())?;
        Some(find(schema, name, self.tongue()).map_or(Holding::Shared, |known| known.holding))
    }

    fn asked(&self, stmt: &Statement, parameters: &[Parameter]) -> Asked {
        let mut asked = Asked::Anyone;
        if self.tongue() != Tongue::Postgres {
            return asked;
        }
        visit::exprs(&stmt.kind, &mut |expr| {
            if let Asked::Table(_) = asked {
            } else if let Some(table) = calls::looked_up(expr, &stmt.text) {
                asked = Asked::Table(table);
            } else if let Some(unit) = number(expr, parameters).map(|number| number / STEP)
                && unit > 0
            {
                asked = Asked::Number(usize::try_from(unit).unwrap_or(usize::MAX));
            }
        });
        asked
    }

    fn present(&self, stmt: &Statement, view: &View<'_>) -> Result<Presented> {
        let tongue = self.tongue();
        let mut edits = Edits::default();
        let mut used: Vec<&Relation> = Vec::new();
        let mut replaced: Vec<Span> = Vec::new();
        for occurrence in visit::tables(&stmt.kind) {
            let Some((schema, name)) = vendors(occurrence.name, tongue) else { continue };
            let relation = find(schema, name, tongue).ok_or_else(|| unknown(schema, name))?;
            if !view.columns.is_empty() && relation.columns().any(|column| tells(column.name)) {
                return Err(tells_stored_columns(name));
            }
            let Some(table) = occurrence.table else { continue };
            let alias = match table.alias {
                Some(_) => String::new(),
                None => format!(" AS {name}"),
            };
            edits.replace(occurrence.name.span, format!("{}{alias}", relation.stand_in()));
            replaced.push(occurrence.name.span);
            if !used.iter().any(|known| known.stand_in() == relation.stand_in()) {
                used.push(relation);
            }
        }
        for owner in visit::column_owners(&stmt.kind) {
            if let (Refers::Table(name), [_, .., last]) = (owner.refers, owner.parts)
                && replaced.contains(&name.span)
            {
                edits.replace(Span::new(owner.span.start, last.span.start), "");
            }
        }
        if tongue == Tongue::MySql && !edits.is_empty() {
            set_apart(stmt, &mut edits);
        }
        if tongue == Tongue::Postgres {
            calls::edit(stmt, &view.facts.user, &mut edits);
        }
        if !edits.is_empty() {
            let facts = Facts { database: Some(view.database.to_owned()), ..view.facts.clone() };
            put_in_front(stmt, &expressions(view, &facts, &used, tongue), tongue, &mut edits);
        }
        Ok(Presented::Edits(edits))
    }

    fn restate(&self, text: &str, show: &Show, facts: &Facts) -> Result<Option<String>> {
        match self.tongue() {
            Tongue::MySql => show::mysql(text, show, facts),
            Tongue::Postgres => show::postgres(show).map(Some),
            Tongue::Any => Ok(None),
        }
    }

    /// As the MySQL that its door says it is.
    fn own_release(&self) -> Option<Release> {
        (self.tongue() == Tongue::MySql).then_some(Release { version: 80_036, is_fork: false })
    }

    fn own_database(&self, name: &str) -> Option<&'static str> {
        match self.tongue() {
            Tongue::MySql => MYSQLS.into_iter().find(|own| own.eq_ignore_ascii_case(name)),
            Tongue::Postgres => Some(LOGIN).filter(|own| *own == name),
            Tongue::Any => None,
        }
    }
}

impl Retold for SqliteDialect {
    fn retell(
        &self,
        show: &Show,
        label: &str,
        field: &str,
        telling: &Telling<'_>,
    ) -> Option<String> {
        show::retell(show, label, field, telling.tables)
    }
}

/// HAVING of a query without groups, which is a WHERE on its columns: the query, with its order, becomes a sub-query, and that the condition behind it.
fn set_apart(stmt: &Statement, edits: &mut Edits) {
    let Kind::Select(query) = &stmt.kind else { return };
    let QueryBody::Select(select) = &query.body else { return };
    let Some(having) = select.having.as_ref() else { return };
    if !select.group_by.is_empty() || query.limit.is_some() {
        return;
    }
    let before = stmt.text.get(..having.span.start as usize).map(str::trim_end);
    let Some(start) = before.and_then(|before| before.len().checked_sub("having".len())) else {
        return;
    };
    edits.replace(Span::at(select.keyword.start), "SELECT * FROM (");
    edits.replace(Span::new(start as u32, having.span.end), "");
    edits.replace(Span::at(query.span.end), format!(") WHERE {}", having.span.of(&stmt.text)));
}

fn unknown(schema: &str, name: &str) -> Error {
    Error::unsupported(
        30001,
        format!(
            "`{schema}.{name}` is not available: the storage units are SQLite, which has no such relation"
        ),
        "",
    )
}

fn expressions(view: &View<'_>, facts: &Facts, used: &[&Relation], tongue: Tongue) -> String {
    let mut text = base::text(view.tables, view.number, tongue);
    for relation in used {
        text.push_str(", ");
        text.push_str(&relation.expression(facts));
    }
    text
}

/// Puts the expressions in front of the statement's own.
fn put_in_front(stmt: &Statement, expressions: &str, tongue: Tongue, edits: &mut Edits) {
    let Ok(tokens) = tokenize(&stmt.text, tongue.syntax()) else { return };
    let mut list = tokens.list.iter();
    let is = |token: &pando_sql::Token, word: &str| {
        token.kind == TokenKind::Word && token.span.of(&stmt.text).eq_ignore_ascii_case(word)
    };
    let query = |token: &&pando_sql::Token| {
        ["SELECT", "WITH", "VALUES", "TABLE"].iter().any(|word| is(token, word))
    };
    let Some(first) = list.by_ref().find(query) else { return };
    if !is(first, "WITH") {
        edits.replace(Span::at(first.span.start), format!("WITH {expressions} "));
        return;
    }
    let recursive = list.next().filter(|token| is(token, "RECURSIVE"));
    let behind = recursive.unwrap_or(first).span.end;
    edits.replace(Span::at(behind), format!(" {expressions},"));
}

/// A literal or parameter that can be an object's number.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other node is not what is looked for"
)]
fn number(expr: &Expr, parameters: &[Parameter]) -> Option<u64> {
    match &expr.node {
        Node::Literal(Literal::Integer(number)) => u64::try_from(*number).ok(),
        Node::Literal(Literal::Text(text)) => text.trim().parse().ok(),
        Node::Parameter(at) => match &parameters.get(*at as usize)?.value {
            Value::Int(number) => u64::try_from(*number).ok(),
            Value::UInt(number) => Some(*number),
            Value::Text(text) => text.trim().parse().ok(),
            Value::Null
            | Value::Bool(_)
            | Value::Float(_)
            | Value::Decimal(_)
            | Value::Bytes(_) => None,
        },
        _ => None,
    }
    .filter(|number| *number < STEP << 12)
}

/// Whether what a relation's column of this name holds tells columns of tables.
fn tells(column: &str) -> bool {
    const TELLING: [&str; 8] = [
        "attname",
        "check_clause",
        "column_name",
        "definition",
        "indexdef",
        "referenced_column_name",
        "sql",
        "view_definition",
    ];
    TELLING.contains(&column.to_lowercase().as_str())
}
