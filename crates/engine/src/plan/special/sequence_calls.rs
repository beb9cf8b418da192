//! Numbers of sequences. Each sequence has one home, a storage unit whose sequence gives out the numbers for all: what a statement is to have of them is asked
//! there before it is planned, and stands in its text as literals then.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::{GeneratedKeys, Need, UnitName};
use pando_sql::ast::{
    Expr, Function, Insert, InsertRow, InsertSource, Kind, Literal, Node, Query, QueryBody,
    SelectItem, Statement,
};
use pando_sql::{Edits, Span, visit};

use crate::plan::about::writer_of;
use crate::plan::clock::default_values;
use crate::plan::{labels, rewrite};

use super::catalogue::tables;
use super::counted_rows;

/// Names the sequence of a column.
const SERIAL: &str = "pg_get_serial_sequence";

/// What a call does with its sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Takes the next number.
    Next,
    /// Tells the number that the session was told last.
    Current,
    /// Sets the sequence.
    Set,
}

/// A sequence that a statement names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// What it is looked up by.
    pub(crate) key: String,
    /// How the statement writes it.
    pub(crate) written: String,
    /// Its home.
    pub(crate) home: UnitName,
    /// The server knows it by another name than the statement's: it is the first shard's, and counts for the table.
    pub(crate) is_renamed: bool,
}

/// A call in a statement.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) span: Span,
    pub(crate) verb: Verb,
    /// What names the sequence.
    pub(crate) argument: Option<Span>,
    /// `None` in `lastval()`, which speaks of whichever was last.
    pub(crate) sequence: Option<Named>,
    /// It is evaluated once, and not for each row of a query.
    pub(crate) once: bool,
    /// It is in a column of a query, whose type hangs on its own.
    pub(crate) shown: bool,
    /// What [`Verb::Set`] leaves as the session's current number; `None` where that is not written there.
    pub(crate) sets: Option<i64>,
}

/// The calls of a statement that are about sequences Pando knows of, in the order of the text.
pub(crate) fn calls(
    ctx: &Context<'_>,
    stmt: &Statement,
) -> Result<std::result::Result<Vec<Call>, Need>> {
    let Some(words) = ctx.dialect.sequences().filter(|_| stmt.counts) else {
        return Ok(Ok(Vec::new()));
    };
    // What defaults take of sequences in one place is noted of counted columns alone.
    if ctx.database.units.len() < 2 && words.of_columns().is_none() {
        return Ok(Ok(Vec::new()));
    }
    let mut found = Vec::new();
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Node::Function(call) = &expr.node
            && let Some(verb) = verb(call)
        {
            found.push((expr.span, verb, &**call));
        }
    });
    if found.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    let Some(known) = ctx.catalog.sequences() else { return Ok(Err(Need::Tables)) };
    let places = Places::of(ctx, stmt);
    let mut list = Vec::new();
    for (span, verb, call) in found {
        let sequence = match call.arguments.first() {
            None => None,
            Some(argument) => match named(ctx, &known, stmt, argument)? {
                // The server says that there is none.
                None => continue,
                named => named,
            },
        };
        let inside = |scope: &Span| scope.start <= span.start && span.end <= scope.end;
        let once = !places.per_row.iter().any(inside);
        let shown = places.items.iter().any(inside);
        let argument = call.arguments.first().map(|argument| argument.span);
        let sets = set_to(call);
        list.push(Call { span, verb, argument, sequence, once, shown, sets });
    }
    list.sort_by_key(|call| call.span.start);
    Ok(Ok(list))
}

fn verb(call: &Function) -> Option<Verb> {
    let [.., name] = &call.name.parts[..] else { return None };
    match name.value.to_ascii_lowercase().as_str() {
        "nextval" if call.arguments.len() == 1 => Some(Verb::Next),
        "currval" if call.arguments.len() == 1 => Some(Verb::Current),
        "lastval" if call.arguments.len() <= 1 => Some(Verb::Current),
        "setval" if call.arguments.len() > 1 => Some(Verb::Set),
        _ => None,
    }
}

/// The number that a call of setval gives the session, where it is written there.
fn set_to(call: &Function) -> Option<i64> {
    let [_, value, rest @ ..] = &call.arguments[..] else { return None };
    let Node::Literal(Literal::Integer(number)) = value.node else { return None };
    match rest.first().map(|called| &called.node) {
        None | Some(Node::Literal(Literal::Boolean(true) | Literal::Integer(1))) => Some(number),
        Some(_) => None,
    }
}

/// The sequence that an argument names; `None` for one that no unit has, or that is the session's own.
///
/// # Errors
/// `Refused` for one whose name is not written there.
fn named(
    ctx: &Context<'_>,
    known: &HashMap<String, Vec<UnitName>>,
    stmt: &Statement,
    argument: &Expr,
) -> Result<Option<Named>> {
    let written = argument.span.of(&stmt.text);
    if let Some(serial) = Serial::of(argument)
        && let Some(named) = serial.sequence(ctx, known, written)
    {
        return Ok(Some(named));
    }
    let dotted = text(argument).or_else(|| bound(ctx, argument));
    let name = match dotted {
        Some(text) => last_part(text),
        None if is_unbound(ctx, argument) => return Ok(None),
        None if ctx.dialect.error_fails_transaction() => {
            return Err(Error::unsupported(
                30001,
                "a sequence whose name is not written in the statement as a string is not found",
                "write it: nextval('name')",
            ));
        }
        None => last_part(written),
    };
    let key = ctx.dialect.syntax().table_key(&name);
    let own = ctx.session.temporaries.as_deref();
    if own.is_some_and(|own| own.names.contains(&key)) {
        return Ok(None);
    }
    let home = known.get(&key).and_then(|units| units.first());
    let home = home.map(|unit| writer_of(ctx.database, Arc::clone(unit)));
    let written = match (text(argument), dotted) {
        (None, Some(bound)) => ctx.dialect.literal(&Value::Text(bound.to_owned())),
        (Some(_) | None, _) => written.to_owned(),
    };
    Ok(match home {
        Some(home) => Some(Named { key, written, home, is_renamed: false }),
        None => of_first_shard(ctx, known, schema(dotted.unwrap_or_default()), key),
    })
}

/// What a parameter names.
fn bound<'a>(ctx: &Context<'a>, argument: &Expr) -> Option<&'a str> {
    let Node::Parameter(at) = unwrapped(argument).node else { return None };
    match ctx.parameters?.get(at as usize).map(|parameter| &parameter.value) {
        Some(Value::Text(name)) => Some(name),
        _ => None,
    }
}

/// A statement that is only described goes to whichever server.
fn is_unbound(ctx: &Context<'_>, argument: &Expr) -> bool {
    ctx.parameters.is_none() && matches!(unwrapped(argument).node, Node::Parameter(_))
}

/// `pg_get_serial_sequence('table', 'column')`.
struct Serial<'a> {
    table: &'a str,
    column: &'a str,
}

impl<'a> Serial<'a> {
    fn of(argument: &'a Expr) -> Option<Self> {
        let Node::Function(call) = &unwrapped(argument).node else { return None };
        let [table, column] = &call.arguments[..] else { return None };
        (call.plain_name() == SERIAL).then_some(Self { table: text(table)?, column: text(column)? })
    }

    /// The sequence that counts the column, by the name that servers give it, or that stands with its table under
    /// another.
    fn sequence(
        &self,
        ctx: &Context<'_>,
        known: &HashMap<String, Vec<UnitName>>,
        written: &str,
    ) -> Option<Named> {
        let table = ctx.dialect.syntax().table_key(&last_part(self.table));
        let key = format!("{table}_{}_seq", self.column);
        if let Some(named) = of_first_shard(ctx, known, schema(self.table), key.clone()) {
            return Some(named);
        }
        let tables = ctx.catalog.tables()?;
        let home = known.get(&key).or_else(|| tables.get(&table))?.first()?;
        let home = writer_of(ctx.database, Arc::clone(home));
        Some(Named { key, written: written.to_owned(), home, is_renamed: false })
    }
}

/// What is in parentheses and casts.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn unwrapped(expr: &Expr) -> &Expr {
    match &expr.node {
        Node::Nested(inner) | Node::Cast { operand: inner, .. } => unwrapped(inner),
        _ => expr,
    }
}

/// The sequence of a table's first shard that is known under a name of the table's own; `None` where no table has one
/// of that name.
pub(crate) fn actual(ctx: &Context<'_>, key: &str) -> std::result::Result<Option<Actual>, Need> {
    let known = ctx.catalog.sequences().ok_or(Need::Tables)?;
    if known.contains_key(key) {
        return Ok(None);
    }
    Ok(shard_of(ctx, &known, key))
}

/// A sequence of a table's first shard.
#[derive(Debug, Clone)]
pub(crate) struct Actual {
    /// Its name there.
    pub(crate) name: String,
    pub(crate) home: UnitName,
}

/// The sequence of a table's first shard, named as one server would name the table's, behind its schema as it is
/// written.
fn of_first_shard(
    ctx: &Context<'_>,
    known: &HashMap<String, Vec<UnitName>>,
    schema: &str,
    key: String,
) -> Option<Named> {
    let Actual { name, home } = shard_of(ctx, known, &key)?;
    let written = format!("{schema}{}", ctx.dialect.quote(&name));
    let written = ctx.dialect.literal(&Value::Text(written));
    Some(Named { key, written, home, is_renamed: true })
}

fn shard_of(
    ctx: &Context<'_>,
    known: &HashMap<String, Vec<UnitName>>,
    key: &str,
) -> Option<Actual> {
    let syntax = ctx.dialect.syntax();
    tables(ctx.database).find_map(|table| {
        let rest = key.strip_prefix(&syntax.table_key(&table.name))?;
        let node = table.nodes.first().filter(|_| rest.starts_with('_'))?;
        let name = syntax.table_key(&format!("{}{rest}", node.table));
        let home = writer_of(ctx.database, Arc::clone(&node.unit));
        known.get(&name)?.contains(&node.unit).then_some(Actual { name, home })
    })
}

/// The sequence that counts a column of a table in several shards: the first shard's own. `None` where columns are not counted by sequences.
pub(crate) fn counter(ctx: &Context<'_>, filled: &Filled) -> Option<Named> {
    let words = ctx.dialect.sequences()?.of_columns()?;
    let key = |name: &str| ctx.dialect.syntax().table_key(name);
    let table = tables(ctx.database).find(|table| key(&table.name) == filled.table)?;
    let node = table.nodes.first()?;
    let quoted = |name: &str| format!("{}{}", filled.schema, ctx.dialect.quote(name));
    let names = [&*node.table, &node.table.to_lowercase()].map(quoted);
    Some(Named {
        key: format!("{}_{}_seq", filled.table, filled.column),
        written: words.counter(&names, &filled.column),
        home: writer_of(ctx.database, Arc::clone(&node.unit)),
        is_renamed: true,
    })
}

/// The string that names a sequence, whatever it is cast to.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn text(expr: &Expr) -> Option<&str> {
    match &expr.node {
        Node::Nested(inner) | Node::Cast { operand: inner, .. } => text(inner),
        Node::Literal(Literal::Text(text) | Literal::Typed(_, text)) => Some(text),
        _ => None,
    }
}

/// The last name of a dotted one, as it is looked up.
pub(super) fn last_part(dotted: &str) -> String {
    let (mut part, mut quote) = (String::new(), None);
    for letter in dotted.trim().chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '`') => quote = Some(letter),
            (None, '.') => part.clear(),
            (None, _) => part.extend(letter.to_lowercase()),
            (Some(_), _) => part.push(letter),
        }
    }
    part.trim().to_owned()
}

/// The name before the last one of a dotted one, as it is written and with its dot; empty where there is none.
pub(super) fn schema(dotted: &str) -> &str {
    let mut is_quoted = false;
    let mut dots = [0, 0];
    for (at, letter) in dotted.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '.' if !is_quoted => dots = [dots[1], at + 1],
            _ => {}
        }
    }
    dotted.get(dots[0]..dots[1]).unwrap_or_default()
}

/// Where a statement evaluates what.
#[derive(Default)]
struct Places {
    /// The parts that are evaluated for each of several rows.
    per_row: Vec<Span>,
    /// Columns of queries.
    items: Vec<Span>,
    /// Calls that may give several rows where one would be.
    giving_rows: Vec<Span>,
}

impl Places {
    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    fn of(ctx: &Context<'_>, stmt: &Statement) -> Self {
        let mut places = Self::default();
        visit::exprs(&stmt.kind, &mut |expr| {
            if let Node::Function(call) = &expr.node
                && let Some(effects) = ctx.dialect.effects()
                && call.plain_name() != SERIAL
                && effects.may_give_rows(&call.plain_name())
            {
                places.giving_rows.push(expr.span);
            }
        });
        places.of_kind(&stmt.kind, Span::new(0, u32::MAX));
        visit::exprs(&stmt.kind, &mut |expr| match &expr.node {
            Node::Subquery(query) | Node::InQuery { query, .. } | Node::Exists(query) => {
                places.of_query(query);
            }
            _ => {}
        });
        places
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "others may evaluate anything for each row")]
    fn of_kind(&mut self, kind: &Kind, span: Span) {
        match kind {
            Kind::Select(query) => self.of_query(query),
            Kind::Insert(insert) => self.of_insert(insert, span),
            Kind::Explain { inner, .. } => self.of_kind(inner, span),
            _ => self.per_row.push(span),
        }
    }

    fn of_query(&mut self, query: &Query) {
        for cte in &query.with {
            self.of_kind(&cte.body, cte.span);
        }
        match &query.body {
            QueryBody::Select(select) => {
                if !select.from.is_empty() || self.gives_rows(query.span) {
                    self.per_row.push(query.span);
                }
                self.items.extend(select.items.iter().filter_map(|item| match item {
                    SelectItem::Expr { expr, .. } => Some(expr.span),
                    SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
                }));
            }
            QueryBody::Set { left, right, .. } => {
                self.of_query(left);
                self.of_query(right);
            }
            QueryBody::Values(_) => {}
        }
    }

    fn gives_rows(&self, part: Span) -> bool {
        self.giving_rows.iter().any(|call| part.start <= call.start && call.end <= part.end)
    }

    /// Rows of VALUES have each their own calls; what stands behind them may be evaluated for any of them.
    fn of_insert(&mut self, insert: &Insert, span: Span) {
        for cte in &insert.with {
            self.of_kind(&cte.body, cte.span);
        }
        match &insert.source {
            InsertSource::Values { rows, span: values } => {
                // Servers take such calls in one row alone, and write it as often as they say.
                let begin = match rows.len() == 1 && self.gives_rows(*values) {
                    true => values.start,
                    false => values.end,
                };
                self.per_row.push(Span::new(begin, span.end));
            }
            InsertSource::Query(query) => {
                self.of_query(query);
                self.per_row.push(Span::new(query.span.end, span.end));
            }
            InsertSource::Set(_) | InsertSource::Default => {}
        }
    }
}

/// The units that have a sequence.
pub(crate) fn standing(ctx: &Context<'_>, key: &str) -> std::result::Result<Vec<UnitName>, Need> {
    let known = ctx.catalog.sequences().ok_or(Need::Tables)?;
    Ok(known.get(key).cloned().unwrap_or_default())
}

/// The unit of a query without tables that is about one sequence.
pub(in crate::plan) fn home(
    ctx: &Context<'_>,
    stmt: &Statement,
) -> Result<std::result::Result<Option<UnitName>, Need>> {
    if !matches!(stmt.kind, Kind::Select(_)) {
        return Ok(Ok(None));
    }
    let calls = match calls(ctx, stmt)? {
        Ok(calls) => calls,
        Err(need) => return Ok(Err(need)),
    };
    Ok(Ok(calls.into_iter().find_map(|call| call.sequence).map(|sequence| sequence.home)))
}

/// The statement's text with these in the places of calls, under the labels that those have.
pub(crate) fn written(ctx: &Context<'_>, stmt: &Statement, put: &[(Span, String)]) -> String {
    let labelled = labels::labelled(ctx, stmt);
    let mut edits = Edits::default();
    for (span, literal) in put {
        let called = span.of(&stmt.text).split('(').next().unwrap_or_default();
        let name = last_part(called);
        edits.replace(*span, rewrite::labelled(ctx, stmt, (*span, &name), literal.clone()));
    }
    labels::keep(ctx, stmt, &labelled, &mut edits);
    edits.apply(&stmt.text)
}

/// A column of an INSERT that is left to be counted.
#[derive(Debug, Clone)]
pub(crate) struct Filled {
    /// The logic table's key.
    pub(crate) table: String,
    pub(crate) column: String,
    /// The table's schema as it is written, with its dot; empty where none is.
    pub(crate) schema: String,
    /// By rows, whether they leave it.
    pub(crate) rows: Vec<bool>,
    /// One for each row that leaves it.
    pub(crate) numbers: Vec<i64>,
}

/// The columns that rows of an INSERT leave to be counted, yet without numbers.
pub(crate) fn wanting(
    ctx: &Context<'_>,
    insert: &Insert,
    text: &str,
) -> std::result::Result<Vec<Filled>, Need> {
    let table = insert.table.name.key();
    let known = ctx.catalog.columns(&table).ok_or_else(|| Need::Columns(table.clone()))?;
    let is_one_of_defaults = matches!(insert.source, InsertSource::Default);
    let written: &[InsertRow] = match &insert.source {
        InsertSource::Values { rows, .. } => rows,
        InsertSource::Default => &[],
        InsertSource::Query(_) | InsertSource::Set(_) => return Ok(Vec::new()),
    };
    let mut wanting = Vec::new();
    for (place, column) in known.iter().enumerate().filter(|(_, column)| column.auto_increment) {
        let at = match &insert.columns {
            Some(listed) => {
                listed.iter().position(|name| name.value.eq_ignore_ascii_case(&column.name))
            }
            None => Some(place),
        };
        let is_left = |row: &InsertRow| {
            let value = at.and_then(|at| row.value(at, text, ctx.dialect.syntax()));
            value.is_none_or(|value| matches!(value.node, Node::Default))
        };
        let rows: Vec<bool> = match is_one_of_defaults {
            true => vec![true],
            false => written.iter().map(is_left).collect(),
        };
        if rows.contains(&true) {
            let (table, column) = (table.clone(), column.name.clone());
            let schema = schema(insert.table.name.span.of(text)).to_owned();
            wanting.push(Filled { table, column, schema, rows, numbers: Vec::new() });
        }
    }
    Ok(wanting)
}

/// The text of an INSERT with numbers in these columns; `None` where it says itself which values count.
///
/// # Errors
/// `Internal` where its columns are no longer known.
pub(crate) fn filled(
    ctx: &Context<'_>,
    stmt: &Statement,
    columns: &[Filled],
) -> Result<std::result::Result<Option<String>, Need>> {
    let Kind::Insert(insert) = &stmt.kind else { return Ok(Ok(None)) };
    if let InsertSource::Default = insert.source {
        return Ok(Ok(one_of_defaults(ctx, stmt, columns)));
    }
    let InsertSource::Values { rows, span } = &insert.source else { return Ok(Ok(None)) };
    let table = insert.table.name.key();
    let Some(known) = ctx.catalog.columns(&table) else { return Ok(Err(Need::Columns(table))) };
    let before = Span::new(insert.columns_span.end, span.start).of(&stmt.text);
    if columns.is_empty() || before.to_ascii_uppercase().contains("OVERRIDING") {
        return Ok(Ok(None));
    }
    let mut edits = Edits::default();
    for column in columns {
        let mut numbers = column.numbers.iter();
        let values = column.rows.iter().map(|is_left| match is_left {
            true => numbers.next().map_or(Value::Null, |number| Value::Int(*number)),
            false => Value::Null,
        });
        let keys = GeneratedKeys { column: column.column.clone(), values: values.collect() };
        rewrite::generated_keys(ctx, (insert, &stmt.text), &keys, &mut edits)?;
    }
    let mut head = String::new();
    if insert.columns.is_none() {
        let others: Vec<&str> = columns.iter().map(|column| &*column.column).collect();
        head = counted_rows::listed(ctx, rows, &known, &others);
    }
    // A server takes no value for a column that it always counts, unless it is told that this is its own.
    if columns.iter().all(|column| !column.rows.contains(&false)) {
        head.push_str(" OVERRIDING SYSTEM VALUE");
    }
    edits.replace(Span::at(insert.columns_span.end), head);
    Ok(Ok(Some(edits.apply(&stmt.text))))
}

/// The same of `DEFAULT VALUES`, which is one row.
fn one_of_defaults(ctx: &Context<'_>, stmt: &Statement, columns: &[Filled]) -> Option<String> {
    let span = default_values(ctx, &stmt.text).filter(|_| !columns.is_empty())?;
    let names: Vec<String> = columns.iter().map(|one| ctx.dialect.quote(&one.column)).collect();
    let numbers: Vec<String> =
        columns.iter().filter_map(|one| one.numbers.first().map(i64::to_string)).collect();
    let mut edits = Edits::default();
    let (names, numbers) = (names.join(", "), numbers.join(", "));
    edits.replace(span, format!("({names}) OVERRIDING SYSTEM VALUE VALUES ({numbers})"));
    Some(edits.apply(&stmt.text))
}
