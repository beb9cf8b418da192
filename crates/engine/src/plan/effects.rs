//! Which statements may leave something on the connections they run on: those then forget everything before they serve
//! others. Decided when a plan is made, and kept with its template.

use pando_kernel::Effectful;
use pando_kernel::effects::{Access, Effects, Leaves, Said, Stands, said};
use pando_kernel::feature::Context;
use pando_kernel::route::{Target, UnitName};
use pando_sql::ast::{
    Define, DefineAction, Function, Kind, Node, ObjectKind, Query, QueryBody, Statement,
};
use pando_sql::{Token, TokenKind, tokenize, visit};

use super::{Plan, Planned, Unit, leftovers};

/// Words of statements that write.
const WRITING: [&str; 6] = ["insert", "update", "delete", "merge", "replace", "into"];

/// What was planned, and what it may leave on its connections.
pub(super) fn all_judged(ctx: &Context<'_>, stmt: &Statement, planned: Planned) -> Planned {
    let mut planned = planned;
    if let Planned::Run(plan) = &mut planned {
        judge(ctx, stmt, plan);
    }
    planned
}

/// Judges what a plan may leave on its connections.
pub(super) fn judge(ctx: &Context<'_>, stmt: &Statement, plan: &mut Plan) {
    // First: what is forgotten meanwhile is not what it rests on.
    plan.judged = judged(ctx);
    plan.leaves = leaves(ctx, stmt, plan);
}

/// When a plan is judged that is made now.
fn judged(ctx: &Context<'_>) -> Option<u64> {
    ctx.dialect.effects().map(|_| ctx.catalog.epoch())
}

fn leaves(ctx: &Context<'_>, stmt: &Statement, plan: &Plan) -> Leaves {
    let is_unread = leftovers::is_unread(&stmt.kind);
    let Some(effects) = ctx.dialect.effects() else {
        return if is_unread { Leaves::Anything } else { Leaves::Nothing };
    };
    if is_unread {
        return Leaves::Definitions;
    }
    let mut units: Vec<&UnitName> = plan.units.iter().map(|unit| &unit.target.unit).collect();
    units.dedup();
    let mut known = units.iter().map(|unit| ctx.catalog.effectful(unit));
    // All units' names are in each answer.
    let Some(Some(effectful)) = known.next().filter(|_| known.all(|one| one.is_some())) else {
        return Leaves::Definitions;
    };
    if defines(&stmt.kind) {
        return defined(ctx, stmt, &stmt.kind, effects, &effectful);
    }
    let read = Read::of(ctx, stmt);
    let of = |unit: &Unit| in_tables(&effectful, &unit.target, read.access);
    let tables = plan.units.iter().map(of).max();
    tables.unwrap_or_default().max(read.leaves(effects, &effectful))
}

/// A unit of a plan of which it is not known what may have effects there, and somebody should ask.
pub(crate) fn unknown(ctx: &Context<'_>, plan: &Plan) -> Option<UnitName> {
    ctx.dialect.effects()?;
    let mut units = plan.units.iter().map(|unit| &unit.target.unit);
    units.find(|unit| ctx.catalog.effectful(unit).is_none()).cloned()
}

/// What a template knows of its statements' effects.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfText {
    /// What it leaves, whatever the target.
    leaves: Leaves,
    /// As [`Plan::judged`].
    pub(super) judged: Option<u64>,
    access: Access,
}

impl OfText {
    /// Of a statement that was planned for this unit.
    pub(super) fn of(ctx: &Context<'_>, stmt: &Statement, unit: &UnitName) -> Self {
        let judged = judged(ctx);
        let read = Read::of(ctx, stmt);
        let leaves = match (ctx.dialect.effects(), ctx.catalog.effectful(unit)) {
            (None, _) => Leaves::Nothing,
            (Some(_), None) => Leaves::Definitions,
            (Some(effects), Some(effectful)) => read.leaves(effects, &effectful),
        };
        Self { leaves, judged, access: read.access }
    }

    /// What a statement leaves at this target; `None` where its unit was not asked yet.
    pub(super) fn leaves_at(self, ctx: &Context<'_>, target: &Target) -> Option<Leaves> {
        if ctx.dialect.effects().is_none() {
            return Some(Leaves::Nothing);
        }
        let effectful = ctx.catalog.effectful(&target.unit)?;
        Some(self.leaves.max(in_tables(&effectful, target, self.access)))
    }
}

fn in_tables(effectful: &Effectful, target: &Target, access: Access) -> Leaves {
    let tables = target.tables.iter();
    let all = tables.map(|table| effectful.of_name(&table.actual.to_lowercase(), access));
    all.max().unwrap_or_default()
}

/// A statement's words, cut once.
struct Read<'a> {
    text: &'a str,
    /// `None` where they cannot be told.
    tokens: Option<Vec<Token>>,
    access: Access,
}

impl<'a> Read<'a> {
    fn of(ctx: &Context<'_>, stmt: &'a Statement) -> Self {
        let tokens = tokenize(&stmt.text, ctx.dialect.syntax()).ok().map(|tokens| tokens.list);
        let access = access(stmt, tokens.as_deref());
        Self { text: &stmt.text, tokens, access }
    }

    /// What the names in it may leave, wherever they stand, and the calls of what is not known to leave nothing.
    fn leaves(&self, effects: &dyn Effects, effectful: &Effectful) -> Leaves {
        let names = self.tokens.as_deref().and_then(|tokens| said(self.text, tokens, &[]));
        let of = |said: &Said| effectful.of(said, self.access, effects);
        let all = names.map(|names| names.iter().map(of).max().unwrap_or_default());
        effectful.everything.max(all.unwrap_or(effectful.unknown))
    }
}

/// Whether a statement may write, seen by its words: a query may do so in its WITH, and one that locks rows is counted
/// among them.
fn access(stmt: &Statement, tokens: Option<&[Token]>) -> Access {
    let writes = |token: &Token| {
        let word = token.span.of(&stmt.text);
        token.kind == TokenKind::Word && WRITING.iter().any(|one| word.eq_ignore_ascii_case(one))
    };
    let is_query = matches!(stmt.kind, Kind::Select(_));
    match tokens.is_some_and(|tokens| is_query && !tokens.iter().any(writes)) {
        true => Access::Reads,
        false => Access::Writes,
    }
}

/// Statements that make, change or look after what stands on a unit: they run what indexes, columns and checks are made
/// of.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over statements")]
fn defines(kind: &Kind) -> bool {
    match kind {
        Kind::Define(_) | Kind::Lock(_) | Kind::Prepare { .. } | Kind::Execute { .. } => true,
        Kind::Utility { verb, .. } => !matches!(verb.as_str(), "NOTIFY" | "MERGE"),
        Kind::Explain { inner, .. } => defines(inner),
        _ => false,
    }
}

/// What a definition may leave. Others rely on what was read of names, so it counts which definitions cannot change
/// that: some of them take hours.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over statements")]
fn defined(
    ctx: &Context<'_>,
    stmt: &Statement,
    kind: &Kind,
    effects: &dyn Effects,
    effectful: &Effectful,
) -> Leaves {
    match kind {
        Kind::Explain { inner, .. } => defined(ctx, stmt, inner, effects, effectful),
        Kind::Lock(_) => Leaves::Anything,
        Kind::Utility { verb, .. } if verb.split(' ').next().is_some_and(maintains) => {
            effectful.unknown.max(Leaves::Anything)
        }
        Kind::Define(define) if brings_only_names(define) => {
            let on = define.on.as_ref().and_then(|on| on.parts.last());
            let on = on.map(|name| name.value.to_lowercase());
            // The table of an index stands before a parenthesis, too.
            let of = |said: &Said| match said.stands {
                Stands::Called if on.as_deref() == Some(&said.name) => {
                    let before = Said { name: said.name.clone(), stands: Stands::Before };
                    effectful.of(&before, Access::Writes, effects)
                }
                Stands::Called | Stands::Before | Stands::Alone => {
                    effectful.of(said, Access::Writes, effects)
                }
            };
            let tokens = tokenize(&stmt.text, ctx.dialect.syntax()).ok();
            let names = tokens.and_then(|tokens| said(&stmt.text, &tokens.list, &[]));
            let is_nothing = |names: Vec<Said>| names.iter().all(|one| of(one) == Leaves::Nothing);
            match effectful.everything == Leaves::Nothing && names.is_some_and(is_nothing) {
                true => Leaves::Anything,
                false => Leaves::Definitions,
            }
        }
        _ => Leaves::Definitions,
    }
}

/// Whether a statement of this first word looks after what is there.
fn maintains(verb: &str) -> bool {
    ["ANALYZE", "CHECK", "CHECKPOINT", "CLUSTER", "OPTIMIZE", "REINDEX", "VACUUM"].contains(&verb)
}

/// Whether what a definition makes can run no more than what it names.
fn brings_only_names(define: &Define) -> bool {
    let makes = define.action == DefineAction::Create && define.object == ObjectKind::Table;
    let takes = matches!(
        define.action,
        DefineAction::Drop | DefineAction::Truncate | DefineAction::Comment
    );
    makes || takes || define.object == ObjectKind::Index
}

/// Whether a statement may change rows, if only by a function of the user's own.
pub(crate) fn may_write(kind: &Kind) -> bool {
    let mut writes =
        super::writes(kind) || !matches!(kind, Kind::Select(query) if !has_into(query));
    visit::exprs(kind, &mut |expr| {
        writes |= matches!(&expr.node, Node::Function(call) if !is_plain_function(call));
    });
    writes
}

/// Whether a query makes a table of its rows.
fn has_into(query: &Query) -> bool {
    match &query.body {
        QueryBody::Select(select) => select.into.is_some(),
        QueryBody::Set { left, right, .. } => has_into(left) || has_into(right),
        QueryBody::Values(_) => false,
    }
}

/// Functions that give the same for every session, and leave nothing behind. Sorted.
const PLAIN_FUNCTIONS: &[&str] = &[
    "abs",
    "avg",
    "ceil",
    "char_length",
    "coalesce",
    "concat",
    "count",
    "floor",
    "greatest",
    "ifnull",
    "least",
    "left",
    "length",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "nullif",
    "replace",
    "right",
    "round",
    "rtrim",
    "substr",
    "substring",
    "sum",
    "trim",
    "upper",
];

/// Whether it is on the list of functions that give the same for every session.
pub(super) fn is_plain_function(call: &Function) -> bool {
    let [name] = &call.name.parts[..] else { return false };
    let name = name.value.to_lowercase();
    call.over.is_none() && PLAIN_FUNCTIONS.binary_search(&name.as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::PLAIN_FUNCTIONS;

    #[test]
    fn the_list_is_sorted() {
        assert!(PLAIN_FUNCTIONS.is_sorted());
    }
}
