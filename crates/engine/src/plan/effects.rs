//! Which statements may leave something on the connections they run on: those then forget everything before they serve others. Decided when a plan is made, and kept with
//! its template.

use pando_kernel::Effectful;
use pando_kernel::effects::{Access, Effects};
use pando_kernel::feature::Context;
use pando_kernel::route::{Target, UnitName};
use pando_sql::ast::{Function, Kind, Node, Query, QueryBody, Statement};
use pando_sql::{Token, TokenKind, tokenize, visit};

use super::{Leaves, Plan, leftovers};

/// Words behind which a name with a parenthesis is a table, an alias or a type.
const NAMING: &[&str] =
    &["as", "ignore", "insert", "into", "ordinality", "recursive", "table", "with"];

/// Words of statements that write.
const WRITING: [&str; 6] = ["insert", "update", "delete", "merge", "replace", "into"];

/// Words that stand in front of a parenthesis and call nothing. Sorted.
const UNCALLED: &[&str] = &[
    "all",
    "and",
    "any",
    "as",
    "bernoulli",
    "between",
    "binary",
    "bit",
    "by",
    "case",
    "character",
    "columns",
    "conflict",
    "constraint",
    "cube",
    "dec",
    "decimal",
    "distinct",
    "double",
    "else",
    "escape",
    "except",
    "exists",
    "fields",
    "filter",
    "from",
    "group",
    "having",
    "ignore",
    "ilike",
    "in",
    "index",
    "inner",
    "insert",
    "int2",
    "int4",
    "int8",
    "integer",
    "intersect",
    "into",
    "is",
    "join",
    "key",
    "lateral",
    "like",
    "limit",
    "lines",
    "materialized",
    "nchar",
    "not",
    "numeric",
    "of",
    "offset",
    "on",
    "or",
    "order",
    "over",
    "partition",
    "precision",
    "returning",
    "rollup",
    "select",
    "set",
    "sets",
    "signed",
    "similar",
    "smallint",
    "some",
    "system",
    "tablesample",
    "then",
    "tinyint",
    "to",
    "union",
    "unsigned",
    "update",
    "using",
    "value",
    "values",
    "varbinary",
    "varying",
    "when",
    "where",
    "with",
    "within",
    "xor",
];

/// What a plan may leave on its connections.
pub(super) fn leaves(ctx: &Context<'_>, stmt: &Statement, plan: &Plan) -> Leaves {
    if leftovers::is_unread(&stmt.kind) {
        return Leaves::Anything;
    }
    let Some(effects) = ctx.dialect.effects() else { return Leaves::Nothing };
    if defines(&stmt.kind) {
        return Leaves::Anything;
    }
    let mut units: Vec<&UnitName> = plan.units.iter().map(|unit| &unit.target.unit).collect();
    units.dedup();
    let mut known = units.iter().map(|unit| ctx.catalog.effectful(unit));
    // All units' names are in each answer.
    let Some(Some(effectful)) = known.next().filter(|_| known.all(|one| one.is_some())) else {
        return Leaves::Anything;
    };
    let access = access(ctx, stmt);
    let of = |target: &Target| in_tables(&effectful, target, access);
    let in_text = || in_text(ctx, stmt, (effects, &effectful));
    match plan.units.iter().any(|unit| of(&unit.target)) || in_text() {
        true => left(&effectful),
        false => Leaves::Nothing,
    }
}

/// What something with effects may leave.
fn left(effectful: &Effectful) -> Leaves {
    if effectful.prepares { Leaves::Anything } else { Leaves::State }
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
    /// It has effects, whatever the target.
    leaves: bool,
    access: Access,
}

impl OfText {
    /// Of a statement that was planned for this unit.
    pub(super) fn of(ctx: &Context<'_>, stmt: &Statement, unit: &UnitName) -> Self {
        let leaves = match (ctx.dialect.effects(), ctx.catalog.effectful(unit)) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(effects), Some(effectful)) => in_text(ctx, stmt, (effects, &effectful)),
        };
        Self { leaves, access: access(ctx, stmt) }
    }

    /// What a statement leaves at this target; `None` where its unit was not asked yet.
    pub(super) fn leaves_at(self, ctx: &Context<'_>, target: &Target) -> Option<Leaves> {
        if ctx.dialect.effects().is_none() {
            return Some(Leaves::Nothing);
        }
        let effectful = ctx.catalog.effectful(&target.unit)?;
        Some(match self.leaves || in_tables(&effectful, target, self.access) {
            true => left(&effectful),
            false => Leaves::Nothing,
        })
    }
}

fn in_tables(effectful: &Effectful, target: &Target, access: Access) -> bool {
    target.tables.iter().any(|table| effectful.has(&table.actual.to_lowercase(), access))
}

/// Whether a statement may write, seen by its words: a query may do so in its WITH, and one that locks rows is counted among them.
fn access(ctx: &Context<'_>, stmt: &Statement) -> Access {
    let writes = |token: &Token| {
        let word = token.span.of(&stmt.text);
        token.kind == TokenKind::Word && WRITING.iter().any(|one| word.eq_ignore_ascii_case(one))
    };
    let tokens = tokenize(&stmt.text, ctx.dialect.syntax());
    let is_query = matches!(stmt.kind, Kind::Select(_));
    match tokens.is_ok_and(|tokens| is_query && !tokens.list.iter().any(writes)) {
        true => Access::Reads,
        false => Access::Writes,
    }
}

/// Statements that make, change or look after what stands on a unit: they run what indexes, columns and checks are made of.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over statements")]
fn defines(kind: &Kind) -> bool {
    match kind {
        Kind::Define(_) | Kind::Lock(_) | Kind::Prepare { .. } | Kind::Execute { .. } => true,
        Kind::Utility { verb, .. } => !matches!(verb.as_str(), "NOTIFY" | "MERGE"),
        Kind::Explain { inner, .. } => defines(inner),
        _ => false,
    }
}

/// Whether a text names something that may have effects, or calls what is not known to have none. By its words, wherever they stand: a function may be called without
/// parentheses (`t.f`), and a table may be named where no table was expected.
fn in_text(ctx: &Context<'_>, stmt: &Statement, known: (&dyn Effects, &Effectful)) -> bool {
    let (effects, effectful) = known;
    if effectful.everything {
        return true;
    }
    let Ok(tokens) = tokenize(&stmt.text, ctx.dialect.syntax()) else { return true };
    let (list, access) = (&tokens.list[..], access(ctx, stmt));
    list.iter().enumerate().any(|(at, token)| {
        let Some(name) = token.name(&stmt.text).map(|name| name.to_lowercase()) else {
            return token.kind == TokenKind::UnicodeIdentifier;
        };
        if effectful.has(&name, access) {
            return true;
        }
        let is_call = list.get(at + 1).is_some_and(|next| next.span.of(&stmt.text) == "(");
        if is_call && effectful.has_call(&name) {
            return true;
        }
        let is_keyword = token.kind == TokenKind::Word && UNCALLED.binary_search(&&*name).is_ok();
        is_call && !is_keyword && !effects.is_harmless(&name) && !is_named(list, at, &stmt.text)
    })
}

/// Whether the name here, with a parenthesis behind it, is that of a table, an alias or a type.
fn is_named(list: &[Token], at: usize, text: &str) -> bool {
    let said = |at: usize| list.get(at).map_or("", |token| token.span.of(text));
    let mut at = at;
    while at >= 2 && said(at - 1) == "." {
        at -= 2;
    }
    let Some(before) = at.checked_sub(1) else { return false };
    said(before) == ")" || NAMING.contains(&&*said(before).to_lowercase())
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
    use super::{PLAIN_FUNCTIONS, UNCALLED};

    #[test]
    fn the_lists_are_sorted() {
        assert!(UNCALLED.is_sorted());
        assert!(PLAIN_FUNCTIONS.is_sorted());
    }
}
