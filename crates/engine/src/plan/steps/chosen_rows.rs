//! UPDATE and DELETE whose rows are chosen by a query with a LIMIT or a lock: that query is asked first, of all shards together, and its answer stands in the
//! change as literals. `WHERE id IN (SELECT id FROM t ORDER BY at LIMIT 2)` becomes `WHERE id IN (7, 3)`, which is routed like any other list.

mod alone;
mod fit;
mod hidden;
mod item;
mod place;
mod write;

use std::sync::Arc;

use pando_kernel::dialect::Dialect;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::{Kind, Statement};
use pando_sql::visit;
use pando_sql::{Edits, Span};

use super::Apart;
use crate::plan::parse::parsed;
use crate::plan::{leftovers, numbering};
use item::Item;
use place::Found;
pub(crate) use write::Answer;

/// Such a statement, taken apart.
#[derive(Debug, Clone)]
pub struct ChosenRows {
    /// The queries to be asked first, in the order of their places; never empty.
    pub(crate) choices: Vec<Choice>,
    /// Which of the statement's parameters the change takes.
    pub(crate) change_parameters: Vec<u32>,
    /// It gives rows back.
    pub(crate) returns: bool,
    text: Arc<str>,
}

/// A query whose answer is written into the change.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    /// The query.
    pub(crate) read: Arc<str>,
    /// Which of the statement's parameters it takes.
    pub(crate) read_parameters: Vec<u32>,
    /// What its answer becomes.
    form: Form,
    /// What is replaced.
    place: Span,
    /// By item of its select list; empty where that does not matter.
    items: Vec<Item>,
}

/// What an answer becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The list of IN. `narrows`: where it is not true the row does not matter.
    List { narrows: bool },
    /// One value, or NULL.
    Value,
    /// Whether there is a row.
    Existence,
    /// An array, in parentheses behind ANY and its like.
    Array { quantified: bool },
    /// A query of constants, in WITH or FROM.
    Table,
}

impl ChosenRows {
    /// The change with these texts in the places of the queries.
    pub(crate) fn change(&self, answers: &[String]) -> Arc<str> {
        let mut edits = Edits::default();
        for (choice, answer) in self.choices.iter().zip(answers) {
            edits.replace(choice.place, answer.as_str());
        }
        edits.apply(&self.text).into()
    }
}

/// Takes the statement apart; `None` when no query of it can be asked by itself, or it needs none to be.
///
/// # Errors
/// `Refused` for what no statement may do.
pub(in crate::plan) fn take_apart(
    ctx: &Context<'_>,
    stmt: &Statement,
) -> Result<Apart<ChosenRows>> {
    if ctx.dialect.transfer().is_none() || ctx.dialect.relations().is_none() {
        return Ok(Ok(None));
    }
    let keyed = match hidden::by_key(ctx, stmt)? {
        Ok(keyed) => keyed,
        Err(need) => return Ok(Err(need)),
    };
    let stmt = keyed.as_ref().unwrap_or(stmt);
    let found = place::find(stmt);
    if found.is_empty() || visit::renames_joins(&stmt.kind) {
        return Ok(Ok(None));
    }
    leftovers::check(ctx, stmt)?;
    let mut choices = Vec::new();
    for one in &found {
        match choice(ctx, stmt, one)? {
            Ok(found) => choices.extend(found),
            Err(need) => return Ok(Err(need)),
        }
    }
    if choices.is_empty() {
        return Ok(Ok(None));
    }
    choices.sort_by_key(|choice| choice.place.start);
    let outside = |span: &Span| {
        let within = |place: &Span| place.start <= span.start && span.end <= place.end;
        !choices.iter().any(|choice| within(&choice.place))
    };
    let parameters = numbering::parameters(stmt);
    let change_parameters = parameters.iter().filter(|(span, _)| outside(span));
    let change_parameters = change_parameters.map(|(_, index)| *index).collect();
    Ok(Ok(Some(ChosenRows {
        choices,
        change_parameters,
        returns: returns(&stmt.kind),
        text: Arc::clone(&stmt.text),
    })))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only two statements change rows in place")]
fn returns(kind: &Kind) -> bool {
    match kind {
        Kind::Update(update) => update.returning.is_some(),
        Kind::Delete(delete) => delete.returning.is_some(),
        _ => false,
    }
}

/// How one query is asked by itself; `None` where it may mean something else then.
fn choice(ctx: &Context<'_>, stmt: &Statement, found: &Found<'_>) -> Result<Apart<Choice>> {
    let locks_what_it_reads = !ctx.dialect.error_fails_transaction();
    let query = found.query;
    if locks_what_it_reads && (!found.form.is_for_all() || found.is_limited_list()) {
        return Ok(Ok(None));
    }
    let hint = stmt.hint_span.map_or("", |span| span.of(&stmt.text));
    let mut read = format!("{hint}{}", query.span.of(&stmt.text));
    let sub = parsed(ctx, &read)?;
    match alone::is_alone(ctx, stmt, &sub) {
        Ok(true) => {}
        Ok(false) => return Ok(Ok(None)),
        Err(need) => return Ok(Err(need)),
    }
    let items = match found.items(ctx, stmt) {
        Ok(Some(items)) => items,
        Ok(None) => return Ok(Ok(None)),
        Err(need) => return Ok(Err(need)),
    };
    if locks_what_it_reads && query.lock.is_none() {
        // A server of this family reads what is there now, under lock, and not what a snapshot shows.
        let Some(lock) = place::lock_for(stmt, &sub) else { return Ok(Ok(None)) };
        read.push_str(lock);
    }
    let parameters = numbering::parameters(stmt);
    let inside = |span: &Span| query.span.start <= span.start && span.end <= query.span.end;
    let own = parameters.iter().filter(|(span, _)| inside(span)).map(|(_, index)| *index);
    Ok(Ok(Some(Choice {
        read: read.into(),
        read_parameters: own.collect(),
        form: found.form,
        place: found.place,
        items,
    })))
}

/// The error of a change that a refusal stands for.
pub(crate) fn too_many_rows(dialect: &dyn Dialect) -> Error {
    let message = match dialect.error_fails_transaction() {
        true => "more than one row returned by a subquery used as an expression",
        false => "Subquery returns more than 1 row",
    };
    ErrorKind::Server(Box::new(pando_kernel::error::ServerError {
        number: 1242,
        sqlstate: "21000".into(),
        message: message.into(),
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into()
}
