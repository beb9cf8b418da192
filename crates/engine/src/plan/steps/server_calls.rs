//! Statements that call a whole server's functions, as those that take or free locks of applications:
//! `SELECT pg_advisory_xact_lock(99), id FROM t WHERE user_id = 3`. Each lock has one home among all units, where it is
//! taken first; the rest of the statement then runs with what that gave in the place of the call.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::{LockHold, ServerAct, ServerFunction, Value};
use pando_sql::ast::{
    BinaryOp, Expr, Function, Ident, Kind, Literal, Node, Query, QueryBody, Select, SelectItem,
    Statement, TableFactor,
};
use pando_sql::visit;
use pando_sql::{Edits, Fold, Span, TokenKind, tokenize};

use crate::plan::assemble::conjuncts;
use crate::plan::numbering;
use crate::plan::parse::{parsed, unread};

/// Such a statement, taken apart.
#[derive(Debug, Clone)]
pub struct ServerCalls {
    /// The calls, in the order of the text; never empty.
    pub(crate) calls: Vec<ServerCall>,
    /// Nobody asks what they give: there is no rest.
    pub(crate) is_silent: bool,
    /// Which of the statement's parameters the rest takes.
    pub(crate) rest_parameters: Vec<u32>,
    text: Arc<str>,
}

/// A call.
#[derive(Debug, Clone)]
pub(crate) struct ServerCall {
    /// What is called.
    pub(crate) function: &'static ServerFunction,
    /// Those that say which lock, then those that say how.
    pub(crate) arguments: Vec<ServerArgument>,
    /// What is replaced by what it gives.
    place: Span,
    stands: Stands,
}

/// What an argument is.
#[derive(Debug, Clone)]
pub(crate) enum ServerArgument {
    /// Known.
    Value(Value),
    /// One of the statement's parameters.
    Parameter(u32),
    /// The one value of a query, with the parameters that this takes.
    Computed(Arc<str>, Vec<u32>),
}

/// Where a call stands.
#[derive(Debug, Clone)]
enum Stands {
    /// Inside of an expression that has its own name, or none.
    Inside,
    /// It gives an item of the select list its name: this one, which is written behind the item.
    Named(String, u32),
    /// It is the one thing behind FROM, under this name.
    From(String, Option<String>),
}

impl ServerCalls {
    /// The rest of the statement, with these values in the places of the calls.
    pub(crate) fn rest(&self, values: &[String]) -> Arc<str> {
        let mut edits = Edits::default();
        for (call, value) in self.calls.iter().zip(values) {
            match &call.stands {
                Stands::Inside => edits.replace(call.place, value.as_str()),
                Stands::Named(name, at) => {
                    edits.replace(call.place, value.as_str());
                    edits.replace(Span::at(*at), format!(" AS {name}"));
                }
                Stands::From(name, alias) => {
                    let behind = alias.as_ref().map(|alias| format!(" AS {alias}"));
                    let behind = behind.unwrap_or_default();
                    edits.replace(call.place, format!("(SELECT {value} AS {name}){behind}"));
                }
            }
        }
        edits.apply(&self.text).into()
    }
}

/// The function that a call's name means, if it is one of those.
pub(in crate::plan) fn function_of(
    ctx: &Context<'_>,
    call: &Function,
) -> Option<&'static ServerFunction> {
    let (name, schema) = call.name.parts.split_last()?;
    let is_the_servers = match schema {
        [] => true,
        [schema] => schema.value.eq_ignore_ascii_case("pg_catalog"),
        _ => false,
    };
    named(ctx, &name.value).filter(|_| is_the_servers)
}

/// The same by a word.
pub(in crate::plan) fn named(ctx: &Context<'_>, name: &str) -> Option<&'static ServerFunction> {
    let functions = ctx.dialect.waits()?.server_functions();
    functions.iter().find(|function| function.name.eq_ignore_ascii_case(name))
}

/// Takes the statement apart.
///
/// # Errors
/// `Refused` where nobody can tell before its rows are read whether a call is made, and how often.
pub(in crate::plan) fn take_apart(ctx: &Context<'_>, stmt: &Statement) -> Result<ServerCalls> {
    if let Some(alone) = listed(ctx, stmt)? {
        return Ok(ServerCalls { is_silent: true, ..of_query(ctx, &alone)? });
    }
    of_query(ctx, stmt)
}

/// Whether it is `DO a, b`.
pub(in crate::plan) fn lists_items(ctx: &Context<'_>, stmt: &Statement) -> bool {
    ctx.dialect.syntax().fold == Fold::Keep
        && matches!(&stmt.kind, Kind::Utility { verb, .. } if verb == "DO")
}

/// `DO a, b` as a query of the same items, where each is such a call.
fn listed(ctx: &Context<'_>, stmt: &Statement) -> Result<Option<Statement>> {
    if !lists_items(ctx, stmt) {
        return Ok(None);
    }
    let tokens = tokenize(&stmt.text, ctx.dialect.syntax()).map_err(unread)?;
    let mut edits = Edits::default();
    if let Some(verb) = tokens.list.iter().find(|token| token.kind == TokenKind::Word) {
        edits.replace(verb.span, "SELECT");
    }
    let query = parsed(ctx, &edits.apply(&stmt.text))?;
    let Kind::Select(inner) = &query.kind else { return Ok(None) };
    let QueryBody::Select(select) = &inner.body else { return Ok(None) };
    let is_call = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => matches!(&unwrapped(expr).node, Node::Function(call)
            if function_of(ctx, call).is_some()),
        SelectItem::Star(_) | SelectItem::QualifiedStar(..) => false,
    };
    match select.items.iter().all(is_call) && gives_one_row(inner, select) {
        true => Ok(Some(query)),
        false => Err(misplaced("DO")),
    }
}

fn of_query(ctx: &Context<'_>, stmt: &Statement) -> Result<ServerCalls> {
    let mut all = Vec::new();
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Node::Function(call) = &expr.node
            && let Some(function) = function_of(ctx, call)
        {
            all.push((expr.span, function.name));
        }
    });
    let mut found = found(ctx, stmt)?;
    let missed = all.iter().find(|(span, _)| !found.iter().any(|call| call.place == *span));
    if let Some((_, name)) = missed {
        return Err(misplaced(name));
    }
    if found.is_empty() {
        return Err(misplaced("a lock"));
    }
    found.sort_by_key(|call| call.place.start);
    let outside = |span: &Span| {
        !found.iter().any(|call| call.place.start <= span.start && span.end <= call.place.end)
    };
    let parameters = numbering::parameters(stmt);
    let rest = parameters.iter().filter(|(span, _)| outside(span)).map(|(_, index)| *index);
    Ok(ServerCalls {
        is_silent: false,
        rest_parameters: rest.collect(),
        text: Arc::clone(&stmt.text),
        calls: found,
    })
}

/// The calls that are made once, whatever the statement's rows are.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter: other statements make none")]
fn found(ctx: &Context<'_>, stmt: &Statement) -> Result<Vec<ServerCall>> {
    let mut found = Finder { ctx, stmt, calls: Vec::new() };
    let (filter, is_single) = match &stmt.kind {
        Kind::Select(query) => {
            let QueryBody::Select(select) = &query.body else { return Ok(Vec::new()) };
            found.of_from(&select.from)?;
            for item in &select.items {
                let SelectItem::Expr { expr, alias, .. } = item else { continue };
                found.of_item(expr, alias.as_ref())?;
            }
            (select.filter.as_ref(), gives_one_row(query, select))
        }
        Kind::Update(update) => (update.filter.as_ref(), false),
        Kind::Delete(delete) => (delete.filter.as_ref(), false),
        _ => return Ok(Vec::new()),
    };
    let mut narrowing = Vec::new();
    filter.iter().for_each(|filter| conjuncts(filter, &mut narrowing));
    for one in narrowing {
        found.inside(one)?;
    }
    // Of a transaction's lock nobody sees how often it was taken.
    let is_counted = |call: &&ServerCall| {
        call.function.hold != LockHold::Transaction || call.function.act != ServerAct::Take
    };
    match found.calls.iter().find(is_counted).filter(|_| !is_single) {
        Some(call) => Err(misplaced(call.function.name)),
        None => Ok(found.calls),
    }
}

/// Whether a query gives one row, whatever there is.
fn gives_one_row(query: &Query, select: &Select) -> bool {
    let is_plain = |factor: &TableFactor| matches!(factor, TableFactor::Function { .. });
    let from = match &select.from[..] {
        [] => true,
        [one] => is_plain(one),
        _ => false,
    };
    from && query.with.is_empty()
        && query.limit.is_none()
        && select.filter.is_none()
        && select.group_by.is_empty()
        && select.having.is_none()
}

/// Collects calls.
struct Finder<'a> {
    ctx: &'a Context<'a>,
    stmt: &'a Statement,
    calls: Vec<ServerCall>,
}

impl Finder<'_> {
    /// `SELECT * FROM pg_try_advisory_lock(1) AS got`.
    fn of_from(&mut self, from: &[TableFactor]) -> Result<()> {
        let [TableFactor::Function { expr, alias, span }] = from else { return Ok(()) };
        let Node::Function(call) = &expr.node else { return Ok(()) };
        let Some(function) = function_of(self.ctx, call) else { return Ok(()) };
        let end = alias.as_ref().map_or(expr.span.end, |alias| alias.span.end);
        if span.start != expr.span.start || span.end != end {
            return Err(misplaced(function.name));
        }
        let quoted = |name: &Ident| self.ctx.dialect.quote(&name.value);
        let own = call.name.parts.last().map(quoted).unwrap_or_default();
        let stands = match alias {
            Some(alias) => Stands::From(quoted(alias), None),
            None => Stands::From(own.clone(), Some(own)),
        };
        self.note(function, expr, call, stands)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    fn of_item(&mut self, expr: &Expr, alias: Option<&Ident>) -> Result<()> {
        let is_call = match &unwrapped(expr).node {
            Node::Function(call) => function_of(self.ctx, call).is_some(),
            _ => false,
        };
        let by_text = self.ctx.dialect.syntax().fold == Fold::Keep;
        let before = self.calls.len();
        self.inside(expr)?;
        if alias.is_some() || self.calls.len() == before || !(is_call || by_text) {
            return Ok(());
        }
        let label = match &unwrapped(expr).node {
            Node::Function(call) if !by_text => {
                call.name.parts.last().map(|name| name.value.clone()).unwrap_or_default()
            }
            _ => expr.span.of(&self.stmt.text).to_owned(),
        };
        let stands = Stands::Named(self.ctx.dialect.quote(&label), expr.span.end);
        if let Some(call) = self.calls.get_mut(before) {
            call.stands = stands;
        }
        Ok(())
    }

    /// The calls of an expression that are made whenever it is computed.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    fn inside(&mut self, expr: &Expr) -> Result<()> {
        match &expr.node {
            Node::Nested(inner) | Node::Cast { operand: inner, .. } => self.inside(inner),
            Node::Unary { operand, .. } | Node::IsNull { operand, .. } => self.inside(operand),
            Node::Binary { op, left, right } if computes_both(op) => {
                self.inside(left)?;
                self.inside(right)
            }
            Node::Function(call) => match function_of(self.ctx, call) {
                Some(function) => self.note(function, expr, call, Stands::Inside),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn note(
        &mut self,
        function: &'static ServerFunction,
        expr: &Expr,
        call: &Function,
        stands: Stands,
    ) -> Result<()> {
        let has_more = call.star || call.distinct.is_some() || call.over.is_some();
        if has_more || call.filter.is_some() {
            return Err(misplaced(function.name));
        }
        let arguments = call.arguments.iter().map(|argument| self.argument(function, argument));
        let arguments = arguments.collect::<Result<_>>()?;
        self.calls.push(ServerCall { function, arguments, place: expr.span, stands });
        Ok(())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    fn argument(&self, function: &ServerFunction, expr: &Expr) -> Result<ServerArgument> {
        Ok(match &whole(expr, &self.stmt.text).node {
            Node::Parameter(index) => ServerArgument::Parameter(*index),
            Node::Literal(Literal::Integer(number)) => ServerArgument::Value(Value::Int(*number)),
            Node::Literal(Literal::Text(text)) => ServerArgument::Value(Value::Text(text.clone())),
            Node::Literal(Literal::Null) => ServerArgument::Value(Value::Null),
            Node::Unary { op, operand } if op == "-" => match &operand.node {
                Node::Literal(Literal::Integer(number)) => {
                    ServerArgument::Value(Value::Int(number.saturating_neg()))
                }
                _ => self.computed(function, expr)?,
            },
            _ => self.computed(function, expr)?,
        })
    }

    /// An expression that is asked for, where it is the same whenever it is computed.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    fn computed(&self, function: &ServerFunction, expr: &Expr) -> Result<ServerArgument> {
        let mut is_fixed = true;
        let mut parameters = Vec::new();
        visit::exprs_in(expr, &mut |inner| match &inner.node {
            Node::Parameter(index) => parameters.push((inner.span, *index)),
            Node::Column(_) | Node::Subquery(_) | Node::Exists(_) | Node::InQuery { .. } => {
                is_fixed = false;
            }
            Node::Function(call) => is_fixed &= function_of(self.ctx, call).is_none(),
            _ => {}
        });
        if !is_fixed {
            return Err(Error::unsupported(
                30001,
                format!(
                    "`{}` of what only rows tell cannot be called over several storage units",
                    function.name
                ),
                "read the value first, then call it with that",
            ));
        }
        parameters.sort_unstable();
        let query = format!("SELECT {}", expr.span.of(&self.stmt.text));
        let parameters = parameters.into_iter().map(|(_, index)| index).collect();
        Ok(ServerArgument::Computed(query.into(), parameters))
    }
}

/// What a cast of a whole number to a whole number is: the number.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn whole<'a>(expr: &'a Expr, text: &str) -> &'a Expr {
    match &expr.node {
        Node::Nested(inner) => whole(inner, text),
        Node::Cast { operand, to } => {
            let to = to.of(text).trim().to_ascii_lowercase();
            let is_whole = ["int", "integer", "bigint", "int4", "int8"].contains(&&*to);
            let inner = whole(operand, text);
            match &inner.node {
                Node::Parameter(_) | Node::Literal(Literal::Integer(_)) if is_whole => inner,
                _ => expr,
            }
        }
        _ => expr,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn unwrapped(expr: &Expr) -> &Expr {
    match &expr.node {
        Node::Nested(inner) | Node::Cast { operand: inner, .. } => unwrapped(inner),
        _ => expr,
    }
}

fn computes_both(op: &BinaryOp) -> bool {
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Other(_) => false,
        BinaryOp::Equal
        | BinaryOp::NullSafeEqual
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessOrEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterOrEqual
        | BinaryOp::Plus
        | BinaryOp::Minus
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Modulo => true,
    }
}

fn misplaced(name: &str) -> Error {
    Error::unsupported(
        30001,
        format!(
            "`{name}` is called before its statement runs, and here only the rows tell whether and how often it is"
        ),
        "call it in a statement of its own",
    )
}
