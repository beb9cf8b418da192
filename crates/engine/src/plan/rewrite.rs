//! From targets to actual statements: edits of the rooms and of the engine, then the parameters that are left.

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::changes::{Changes, TurnedLiteral, write_literals};
use pando_kernel::effects::Leaves;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{GeneratedKeys, Target, Units};
use pando_sql::ast::{
    Expr, Ident, Insert, InsertRow, InsertSource, Kind, Literal, Node, Query, QueryBody,
    SelectItem, Statement, TableFactor,
};
use pando_sql::{Edits, Fold, Piece, Span, visit};

use super::merge_plan::unions::{self, Union};
use super::numbering::{Taken, parameters, taken};
use super::special::temporary;
use super::template::text_parts::{self, Part, Parts};
use super::{Plan, Told, Unit, clock, fields, labels, row_tables, writes};

/// So many targets are worth writing a statement for all of them at once.
const FEW: usize = 4;

/// A statement that is to be written for its targets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) stmt: &'a Statement,
    /// What of its text the engine has added.
    pub(super) added: &'a [Span],
}

impl<'a> Text<'a> {
    /// A statement as it came.
    pub(super) fn whole(stmt: &'a Statement) -> Self {
        Self { stmt, added: &[] }
    }
}

/// Makes the plan of routed targets.
pub(super) fn finish(
    ctx: &Context<'_>,
    text: Text<'_>,
    mut units: Units,
    (mut merge, mut base): (MergePlan, Edits),
) -> Result<Plan> {
    let stmt = text.stmt;
    merge.turns = turns(stmt, &units.targets);
    if let Some(hint) = stmt.hint_span {
        base.replace(hint, "");
    }
    session_functions(ctx, stmt, &mut base);
    row_tables::told(ctx, stmt, &units.targets, &mut base)?;
    let together = match unions::find(ctx, stmt, &units) {
        unions::Found::Some(union) => Some((union, unions::together(ctx, &units.targets))),
        unions::Found::Needs(_) | unions::Found::No => None,
    };
    let count = together.as_ref().map_or(units.targets.len(), |(_, groups)| groups.len());
    let timed = clock::written(ctx, stmt, count, &mut base);
    let keys = units.keys.take();
    if let (Some(keys), Kind::Insert(insert)) = (&keys, &stmt.kind) {
        generated_keys(ctx, (insert, &stmt.text), keys, &mut base)?;
    }
    let parameters = parameters(stmt);
    let labelled = labels::labelled(ctx, stmt);
    let (base, labelled, parameters) = (&base, &labelled[..], &parameters[..]);
    let work = Work { ctx, text, base, labelled, parameters };
    if let Some((union, groups)) = together {
        let out: Result<Vec<Unit>> =
            groups.into_iter().map(|group| work.united(&union, group)).collect();
        let (spread, writes) = (units.spread, writes(&stmt.kind));
        return Ok(Plan {
            units: out?,
            spread,
            merge,
            keys,
            fields: Vec::new(),
            writes,
            before: Vec::new(),
            timed,
            asks_catalogue: false,
            leaves: Leaves::Nothing,
            judged: None,
            assigns: None,
            told: Told::default(),
            read_here: Vec::new(),
        });
    }
    let fields = fields::turned(ctx, stmt, &units.targets)?;
    let common = work.common(&units.targets)?;
    let mut out = Vec::with_capacity(units.targets.len());
    for target in units.targets {
        let short = common.as_ref().and_then(|common| common.of(&target));
        let (sql, Taken { parameters, turns }) = match short {
            Some(short) => short,
            None => work.text(&target)?,
        };
        let (replaced, attributes) = (Vec::new(), Vec::new());
        out.push(Unit { target, sql, parameters, turns, replaced, attributes });
    }
    let before = Vec::new();
    Ok(Plan {
        units: out,
        spread: units.spread,
        merge,
        keys,
        fields,
        writes: writes(&stmt.kind),
        before,
        timed,
        asks_catalogue: false,
        leaves: Leaves::Nothing,
        judged: None,
        assigns: None,
        told: Told::default(),
        read_here: Vec::new(),
    })
}

/// Which target gives each row of an INSERT's RETURNING, in the order of VALUES: SQL promises none, but each server keeps that one, and mappers pair
/// the rows with their objects by it.
fn turns(stmt: &Statement, targets: &[Target]) -> Option<Arc<[u32]>> {
    let Kind::Insert(insert) = &stmt.kind else { return None };
    insert.returning.as_ref()?;
    if targets.len() < 2 {
        return None;
    }
    let mut turns: Vec<(u32, u32)> = Vec::new();
    for (target, number) in targets.iter().zip(0..) {
        turns.extend(target.rows.as_ref()?.iter().map(|row| (*row, number)));
    }
    turns.sort_unstable();
    Some(turns.into_iter().map(|(_, target)| target).collect())
}

/// A statement to be written for each of its targets.
struct Work<'a> {
    ctx: &'a Context<'a>,
    text: Text<'a>,
    base: &'a Edits,
    labelled: &'a [&'a Expr],
    parameters: &'a [(Span, u32)],
}

/// What is sent to all targets of a statement but for their tables' names.
struct Common {
    parts: Vec<Part>,
    taken: Taken,
}

impl Common {
    fn of(&self, target: &Target) -> Option<(Arc<str>, Taken)> {
        Some((text_parts::named(&self.parts, target)?, self.taken.clone()))
    }
}

/// What the rooms change for one target.
///
/// # Errors
/// What they refuse.
pub(super) fn by_rooms(
    ctx: &Context<'_>,
    stmt: &Statement,
    target: &Target,
    mut changes: Changes,
) -> Result<Changes> {
    if temporary::concerned(ctx, stmt).is_none() {
        for feature in &ctx.database.features {
            changes.begin(feature.name());
            feature.rewrite(ctx, stmt, target, &mut changes)?;
        }
    }
    fields::check(stmt, &changes)?;
    Ok(changes)
}

impl Work<'_> {
    /// What the rooms and the engine change for one target, behind the engine's own edits for all of them.
    fn targeted(&self, target: &Target) -> Result<(Edits, Changes)> {
        let (ctx, stmt) = (self.ctx, self.text.stmt);
        let changes = Changes::beside(self.text.added);
        let changes = by_rooms(ctx, stmt, target, changes)?;
        let mut behind = Edits::default();
        rows(stmt, target, &mut behind);
        let mut edits = changes.edits(self.base, &behind)?;
        labels::refuse_values(self.labelled, changes.literals())?;
        labels::keep(ctx, stmt, self.labelled, &mut edits);
        Ok((edits, changes))
    }

    fn edits(&self, target: &Target) -> Result<(Edits, Taken)> {
        let (mut edits, changes) = self.targeted(target)?;
        write_literals(changes.literals(), self.ctx.dialect, &mut edits)?;
        let placeholder = self.ctx.dialect.syntax().placeholder;
        let taken = taken(placeholder, self.parameters, changes.parameters(), &mut edits);
        Ok((edits, taken))
    }

    fn text(&self, target: &Target) -> Result<(Arc<str>, Taken)> {
        let (edits, taken) = self.edits(target)?;
        let text = &self.text.stmt.text;
        let sql = if edits.is_empty() { text.clone() } else { edits.apply(text).into() };
        Ok((sql, taken))
    }

    /// The statement that reads the tables of several targets of one unit.
    fn united(&self, union: &Union, group: Vec<Target>) -> Result<Unit> {
        let replaced = Vec::new();
        let first = group.first().ok_or_else(|| Error::internal("no target is to be read"))?;
        if group.len() == 1 {
            let (sql, Taken { parameters, turns }) = self.text(first)?;
            let (target, attributes) = (first.clone(), Vec::new());
            return Ok(Unit { target, sql, parameters, turns, replaced, attributes });
        }
        let mut target = Target::whole(Arc::clone(&first.unit));
        let (mut edits, Taken { parameters, turns }) = self.edits(&target)?;
        union.edit(self.ctx, &group, &mut edits);
        target.tables = group.into_iter().flat_map(|target| target.tables).collect();
        let sql = edits.apply(&self.text.stmt.text).into();
        let attributes = union.attributes.clone();
        Ok(Unit { target, sql, parameters, turns, replaced, attributes })
    }

    /// Writes the statement once for many targets, if nothing but plain names tells them apart. The first and the last target show whether that is so.
    fn common(&self, targets: &[Target]) -> Result<Option<Common>> {
        let [first, .., last] = targets else { return Ok(None) };
        let is_plain = |target: &Target| {
            target.rows.is_none()
                && target.tables.len() == first.tables.len()
                && target.tables.iter().zip(&first.tables).all(|(a, b)| a.logic == b.logic)
                && target.tables.iter().all(|name| text_parts::is_plain_name(&name.actual))
        };
        let fits = targets.len() >= FEW
            && matches!(self.text.stmt.kind, Kind::Select(_) | Kind::Update(_) | Kind::Delete(_))
            && targets.iter().all(is_plain)
            && !text_parts::is_marked(&self.text.stmt.text);
        if !fits {
            return Ok(None);
        }
        let (edits, taken) = self.edits(&text_parts::marked(first))?;
        let mut found = Parts::default();
        for piece in edits.pieces(&self.text.stmt.text) {
            match piece {
                Piece::Kept(span) => found.text(span.of(&self.text.stmt.text)),
                Piece::New(text) if found.marked(text).is_some() => {}
                Piece::New(_) => return Ok(None),
            }
        }
        let common = Common { parts: found.done(), taken };
        for target in [first, last] {
            if common.of(target) != Some(self.text(target)?) {
                return Ok(None);
            }
        }
        Ok(Some(common))
    }
}

/// The edits for one target of a statement that is not merged and has no generated keys. Of session functions only those of time are looked at.
///
/// # Errors
/// What the rooms refuse.
pub(super) fn edits(ctx: &Context<'_>, stmt: &Statement, target: &Target) -> Result<Edits> {
    let (mut edits, literals) = open_edits(ctx, stmt, target)?;
    write_literals(&literals, ctx.dialect, &mut edits)?;
    Ok(edits)
}

/// As [`edits`], without those of literals that go as other values, which are given instead.
///
/// # Errors
/// What the rooms refuse.
pub(super) fn open_edits(
    ctx: &Context<'_>,
    stmt: &Statement,
    target: &Target,
) -> Result<(Edits, Vec<TurnedLiteral>)> {
    let labelled = labels::labelled(ctx, stmt);
    let (mut base, parameters) = (Edits::default(), parameters(stmt));
    clock::written(ctx, stmt, 1, &mut base);
    let text = Text::whole(stmt);
    let work = Work { ctx, text, base: &base, labelled: &labelled, parameters: &parameters };
    let (mut edits, changes) = work.targeted(target)?;
    let placeholder = ctx.dialect.syntax().placeholder;
    taken(placeholder, &parameters, changes.parameters(), &mut edits);
    Ok((edits, changes.literals().to_vec()))
}

/// Keeps only the target's rows of VALUES.
fn rows(stmt: &Statement, target: &Target, edits: &mut Edits) {
    let Some(kept) = &target.rows else { return };
    let Kind::Insert(insert) = &stmt.kind else { return };
    let InsertSource::Values { rows, span } = &insert.source else { return };
    let kept: Vec<&InsertRow> = kept.iter().filter_map(|i| rows.get(*i as usize)).collect();
    let (Some(first), Some(last)) = (kept.first(), kept.last()) else { return };
    if kept.len() == rows.len() {
        return;
    }
    if span.start < first.span.start {
        edits.replace(Span::new(span.start, first.span.start), "");
    }
    for pair in kept.windows(2) {
        if let [a, b] = pair {
            edits.replace_by(Span::new(a.span.end, b.span.start), ", ");
        }
    }
    if last.span.end < span.end {
        edits.replace(Span::new(last.span.end, span.end), "");
    }
}

/// Writes generated keys into an INSERT: in place of NULL and DEFAULT when the column is listed, else as a further column.
pub(in crate::plan) fn generated_keys(
    ctx: &Context<'_>,
    (insert, text): (&Insert, &str),
    keys: &GeneratedKeys,
    edits: &mut Edits,
) -> Result<()> {
    let logic = ctx.catalog.logic(&insert.table.name.key());
    if logic.is_some_and(|logic| logic.turns(&keys.column)) {
        // What is written here comes behind the rooms.
        return Err(Error::unsupported(
            30001,
            format!("keys cannot be made for column `{}`, which is stored as another", keys.column),
            "give its values in the INSERT",
        ));
    }
    // NULL stands for a row that brings its own.
    let made = |i: usize| keys.values.get(i).filter(|value| !value.is_null());
    let literal = |i: usize| made(i).map(|value| ctx.dialect.literal(value));
    let listed = match &insert.columns {
        Some(columns) => columns.iter().position(|c| c.value.eq_ignore_ascii_case(&keys.column)),
        // Without a list; a row may end before the key's place. The room that made the keys writes the list.
        None => Some(column_number(ctx, insert, &keys.column)?),
    };
    match &insert.source {
        InsertSource::Values { rows, .. } => {
            for (i, row) in rows.iter().enumerate() {
                let Some(value) = literal(i) else { continue };
                match listed.and_then(|at| row.value(at, text, ctx.dialect.syntax())) {
                    Some(expr) => edits.replace(expr.span, value),
                    None => {
                        let comma = if row.width() == 0 { "" } else { ", " };
                        let end = Span::at(row.span.end.saturating_sub(1));
                        edits.replace(end, format!("{comma}{value}"));
                    }
                }
            }
        }
        InsertSource::Set(assignments) => {
            let same = assignments.iter().find(|a| {
                a.column.parts.last().is_some_and(|p| p.value.eq_ignore_ascii_case(&keys.column))
            });
            match (literal(0), same, assignments.last()) {
                (Some(value), Some(assignment), _) => edits.replace(assignment.value.span, value),
                (Some(value), None, Some(last)) => {
                    let name = ctx.dialect.quote(&keys.column);
                    edits.replace(Span::at(last.span.end), format!(", {name} = {value}"));
                }
                _ => {}
            }
            return Ok(());
        }
        InsertSource::Query(_) | InsertSource::Default => {
            return Err(Error::internal("keys were generated for an INSERT without rows"));
        }
    }
    if let (None, Some(columns)) = (listed, &insert.columns) {
        let name = ctx.dialect.quote(&keys.column);
        let comma = if columns.is_empty() { "" } else { ", " };
        let end = Span::at(insert.columns_span.end.saturating_sub(1));
        edits.replace(end, format!("{comma}{name}"));
    }
    Ok(())
}

fn column_number(ctx: &Context<'_>, insert: &Insert, column: &str) -> Result<usize> {
    let table = insert.table.name.key();
    ctx.catalog
        .columns(&table)
        .and_then(|all| all.iter().position(|c| c.name.eq_ignore_ascii_case(column)))
        .ok_or_else(|| Error::internal("the key column's place is not known"))
}

/// Puts what the session knows about itself (`DATABASE()`, `current_database()`, …) into the text: a storage unit would answer with its own.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn session_functions(ctx: &Context<'_>, stmt: &Statement, edits: &mut Edits) {
    if ctx.session.probes {
        return;
    }
    let mut found: Vec<(Span, String)> = Vec::new();
    let mut put = |span: Span, name: &str, value: &Value| {
        let typed = ctx.dialect.session_literal(name, value);
        let literal = typed.unwrap_or_else(|| ctx.dialect.literal(value));
        found.push((span, labelled(ctx, stmt, (span, name), literal)));
    };
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Some((name, value)) = asked_setting(ctx, expr) {
            return put(expr.span, &name, &value);
        }
        let name = match &expr.node {
            Node::Function(call)
                if call.arguments.is_empty() && !call.star && call.over.is_none() =>
            {
                call.name.parts.last().map(|part| part.value.to_lowercase())
            }
            Node::Column(name) => match &name.parts[..] {
                [single] if !single.quoted => Some(single.value.to_lowercase()),
                _ => None,
            },
            Node::Variable(name) => Some(name.to_lowercase()),
            _ => None,
        };
        let Some(name) = name else { return };
        let lower = ctx.dialect.syntax().fold == Fold::Lower;
        let bare = matches!(expr.node, Node::Column(_)) && !is_keyword_function(&name, lower);
        if bare {
            return;
        }
        if let Some(value) = ctx.dialect.session_function(&name, &ctx.session.facts) {
            put(expr.span, &name, &value);
        }
    });
    for (span, text) in found {
        edits.replace(span, text);
    }
}

/// A function that asks for one of the session's settings by name, and what it comes to.
fn asked_setting(ctx: &Context<'_>, expr: &Expr) -> Option<(String, Value)> {
    let Node::Function(call) = &expr.node else { return None };
    let Node::Literal(Literal::Text(setting)) = &call.arguments.first()?.node else { return None };
    let name = call.name.parts.last()?.value.to_lowercase();
    let value = ctx.dialect.session_setting(&name, setting, &ctx.session.facts)?;
    Some((name, value))
}

/// Session functions that are written without parentheses; any other bare word is a column.
fn is_keyword_function(name: &str, folds_lower: bool) -> bool {
    name == "current_user"
        || folds_lower
            && matches!(name, "session_user" | "user" | "current_catalog" | "current_role")
}

/// A literal in the place of a function, under the label that PostgreSQL would have given this, in sub-queries of FROM too; where the text is the label it is kept with
/// all others'. A function that stands for a table is one of one row.
pub(in crate::plan) fn labelled(
    ctx: &Context<'_>,
    stmt: &Statement,
    (span, name): (Span, &str),
    literal: String,
) -> String {
    let Kind::Select(query) = &stmt.kind else { return literal };
    if ctx.dialect.syntax().fold != Fold::Lower {
        return literal;
    }
    let name = ctx.dialect.quote(name);
    match standing(query, span) {
        Standing::Inside => literal,
        Standing::Item => format!("{literal} AS {name}"),
        Standing::Table(None) => format!("(SELECT {literal} AS {name}) AS {name}"),
        Standing::Table(Some(alias)) => {
            format!("(SELECT {literal} AS {})", ctx.dialect.quote(&alias.value))
        }
    }
}

/// Where an expression stands in a query.
enum Standing<'a> {
    /// In another expression, or under an alias.
    Inside,
    /// As a whole select item without an alias.
    Item,
    /// As a table of FROM, with its alias.
    Table(Option<&'a Ident>),
}

/// Where an expression stands, at the top or in a sub-query of FROM, WITH or a set operation.
fn standing(query: &Query, span: Span) -> Standing<'_> {
    let mut queries = vec![query];
    while let Some(query) = queries.pop() {
        for cte in &query.with {
            if let Kind::Select(inner) = &*cte.body {
                queries.push(inner);
            }
        }
        let select = match &query.body {
            QueryBody::Select(select) => select,
            QueryBody::Set { left, right, .. } => {
                queries.extend([&**left, &**right]);
                continue;
            }
            QueryBody::Values(_) => continue,
        };
        let whole = |item: &SelectItem| matches!(item, SelectItem::Expr { expr, alias: None, .. } if expr.span == span);
        if select.items.iter().any(whole) {
            return Standing::Item;
        }
        let mut factors: Vec<&TableFactor> = select.from.iter().collect();
        while let Some(factor) = factors.pop() {
            match factor {
                TableFactor::Derived { query, .. } => queries.push(query),
                TableFactor::Join(join) => factors.extend([&join.left, &join.right]),
                TableFactor::Function { expr, alias, .. } if expr.span == span => {
                    return Standing::Table(alias.as_ref());
                }
                TableFactor::Table(_) | TableFactor::Function { .. } => {}
            }
        }
    }
    Standing::Inside
}
