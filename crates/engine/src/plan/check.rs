//! What may go to several targets, and where statements go that no room claims.

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::{Alone, Environment, Spread, Target, UnitName, Units};
use pando_sql::ast::{
    Cte, Distinct, InsertSource, Kind, Node, ObjectKind, ObjectName, Query, QueryBody, Select,
    SelectItem, Statement,
};
use pando_sql::visit;

use super::about::leaders;
use super::merge_plan::aggregate;
use super::{any_unit, fulltext, keeps_key, without_units};

/// Modifier of a query whose rows are counted as if it had no LIMIT.
const CALCULATED: &str = "SQL_CALC_FOUND_ROWS";

const NARROW: &str = "narrow it to one shard by an equality on the sharding key";

fn unmerged(what: &str) -> Error {
    Error::unmerged(30001, format!("{what} cannot be answered across shards yet"), NARROW)
}

fn spans_shards(what: &str) -> Error {
    Error::spans_shards(30001, format!("{what} cannot be answered across shards yet"), NARROW)
}

/// Refuses statements whose answers from several targets cannot be merged rightly.
pub(super) fn spreadable(stmt: &Statement, alone: Alone) -> Result<()> {
    let mut keeps = false;
    if matches!(stmt.kind, Kind::Insert(_) | Kind::Update(_)) {
        visit::exprs(&stmt.kind, &mut |expr| keeps |= keeps_key(expr));
    }
    if keeps {
        return Err(spans_shards("LAST_INSERT_ID with an argument"));
    }
    fulltext::refuse_scores(stmt)?;
    match &stmt.kind {
        Kind::Select(query) => query_spreadable(query, alone),
        Kind::Insert(insert) => match &insert.source {
            InsertSource::Values { .. } | InsertSource::Set(_) if insert.with.is_empty() => Ok(()),
            // Proven: each shard writes what it reads.
            InsertSource::Query(_) if alone.queries && insert.with.is_empty() => Ok(()),
            InsertSource::Values { .. }
            | InsertSource::Set(_)
            | InsertSource::Query(_)
            | InsertSource::Default => Err(spans_shards("this form of INSERT")),
        },
        Kind::Update(update) => {
            if update.limit.is_some() || !update.order_by.is_empty() {
                return Err(limited("UPDATE"));
            }
            if are_same_everywhere(&update.with) {
                Ok(())
            } else {
                Err(spans_shards("UPDATE with WITH"))
            }
        }
        Kind::Delete(delete) => {
            if delete.limit.is_some() || !delete.order_by.is_empty() {
                return Err(limited("DELETE"));
            }
            if are_same_everywhere(&delete.with) {
                Ok(())
            } else {
                Err(spans_shards("DELETE with WITH"))
            }
        }
        Kind::Copy(copy) => {
            copy.query.as_deref().map_or(Ok(()), |query| copy_spreadable(query, alone))
        }
        Kind::Explain { .. } | Kind::Load(_) => Ok(()),
        Kind::Define(_)
        | Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Show(_)
        | Kind::Use(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Cursor(_)
        | Kind::Lock(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Utility { .. }
        | Kind::Empty
        | Kind::Opaque => Err(Error::unsupported(
            30001,
            "this statement cannot be answered across shards yet",
            NARROW,
        )),
    }
}

/// Whether common table expressions read nothing but rows that each unit was given.
fn are_same_everywhere(with: &[Cte]) -> bool {
    let given = |name: &ObjectName| {
        name.parts.last().is_some_and(|name| name.value.starts_with(pando_kernel::relation::PREFIX))
    };
    with.iter().all(|cte| {
        matches!(*cte.body, Kind::Select(_))
            && visit::tables(&cte.body).iter().all(|table| given(table.name))
    })
}

fn limited(verb: &str) -> Error {
    Error::limited_change(
        20036,
        format!("{verb} … LIMIT cannot be routed to several data nodes"),
        NARROW,
    )
}

fn query_spreadable(query: &Query, alone: Alone) -> Result<()> {
    if !query.with.is_empty() && !alone.queries {
        return Err(unmerged("WITH"));
    }
    match &query.body {
        QueryBody::Select(select) => select_spreadable(query, select, alone),
        QueryBody::Set { .. } if counts_found(query) => Err(unmerged(CALCULATED)),
        QueryBody::Set { .. } if alone.queries => pages_spreadable(query),
        QueryBody::Set { .. } => Err(unmerged("UNION, INTERSECT and EXCEPT")),
        QueryBody::Values(_) => Err(unmerged("VALUES")),
    }
}

/// Whether a query asks for the number of rows it would have without its LIMIT. A union asks in its first part.
pub(crate) fn counts_found(query: &Query) -> bool {
    match &query.body {
        QueryBody::Select(select) => select.modifiers.iter().any(|word| word == CALCULATED),
        QueryBody::Set { left, .. } => counts_found(left),
        QueryBody::Values(_) => false,
    }
}

/// The lines of COPY are not looked into: the shards' lines follow each other as they are.
fn copy_spreadable(query: &Query, alone: Alone) -> Result<()> {
    query_spreadable(query, Alone { groups: false, rows: false, ..alone })?;
    let QueryBody::Select(select) = &query.body else { return Err(unmerged("this form of COPY")) };
    let items = select.items.iter().filter_map(|item| match item {
        SelectItem::Expr { expr, .. } => Some(expr),
        SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
    });
    let reasons = [
        (!select.group_by.is_empty() || aggregate::any_in(items), "COPY of groups and aggregates"),
        (matches!(select.distinct, Distinct::Yes(_)), "COPY of SELECT DISTINCT"),
        (!query.order_by.is_empty(), "COPY of a sorted query"),
        (query.limit.is_some(), "COPY of a query with LIMIT"),
    ];
    match reasons.iter().find(|(holds, _)| *holds) {
        Some((_, what)) => Err(unmerged(what)),
        None => Ok(()),
    }
}

pub(super) fn select_spreadable(query: &Query, select: &Select, alone: Alone) -> Result<()> {
    let grouped = alone.groups && !select.group_by.is_empty();
    let reasons = [
        (select.having.is_some() && !grouped, "HAVING"),
        (select.grouping_sets, "ROLLUP, CUBE and GROUPING SETS"),
        (select.window.is_some(), "WINDOW"),
        (select.into.is_some(), "SELECT … INTO"),
        (matches!(select.distinct, Distinct::On(..)) && !alone.groups, "DISTINCT ON"),
        (select.modifiers.iter().any(|word| word == CALCULATED), CALCULATED),
        (select.modifiers.iter().any(|word| word == "PROCEDURE"), "PROCEDURE"),
    ];
    match reasons.iter().find(|(holds, _)| *holds) {
        Some((_, what)) => Err(unmerged(what)),
        None => pages_spreadable(query),
    }
}

/// ORDER BY and LIMIT, which are always merged.
fn pages_spreadable(query: &Query) -> Result<()> {
    let reasons = [
        (query.limit.as_ref().is_some_and(|limit| limit.with_ties), "FETCH … WITH TIES"),
        (query.order_by.iter().any(|item| item.using.is_some()), "ORDER BY … USING"),
    ];
    match reasons.iter().find(|(holds, _)| *holds) {
        Some((_, what)) => Err(unmerged(what)),
        None => Ok(()),
    }
}

/// A statement with a beginning that nobody knows.
pub(crate) fn unknown(text: &str) -> Error {
    let first = text.split_whitespace().next().unwrap_or("");
    let first: String = first.chars().take(40).collect();
    let message = format!("`{first}` begins no statement that is known");
    ErrorKind::Syntax { message, at: 0 }.into()
}

/// The targets of a statement that names no table any room knows.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is refused")]
pub(super) fn unclaimed(ctx: &Context<'_>, stmt: &Statement) -> Result<Units> {
    let one = || {
        let unit = any_unit(ctx).ok_or_else(|| without_units(&ctx.database.name))?;
        Ok(Units::new(vec![Target::whole(unit)], Spread::Gather))
    };
    let several = ctx.database.units.len() > 1;
    match &stmt.kind {
        Kind::Opaque if several => Err(unknown(&stmt.text)),
        Kind::Show(show) if several && OF_ONE_LOG.contains(&show.what.as_str()) => {
            Err(Error::unsupported(
                30001,
                format!(
                    "`SHOW {}` tells of the log of one server, and there are several",
                    show.what
                ),
                "name one with the hint `/* SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=… */`",
            ))
        }
        Kind::Select(_) | Kind::Show(_) | Kind::Explain { .. } | Kind::Set(_) => one(),
        Kind::Utility { verb, .. } if verb == "HELP" => one(),
        Kind::Utility { verb, .. } if verb == "DO" && computes(ctx, stmt) => one(),
        Kind::Copy(copy) if copy.table.is_none() => one(),
        Kind::Define(define) if has_shadows(ctx) && define.object != ObjectKind::Database => {
            Ok(with_shadows(ctx))
        }
        _ if ctx.database.units.len() == 1 => one(),
        Kind::Utility { verb, tables, .. } => utility(verb, tables).map(|()| everywhere(ctx)),
        Kind::Define(define) => match define.object {
            ObjectKind::Database => Err(Error::unsupported(
                30001,
                "logical databases are made in the configuration",
                "add a `database-*.yaml` file and reload",
            )),
            _ => Ok(everywhere(ctx)),
        },
        _ => Err(Error::unsupported(
            30001,
            "it is not known which storage unit this statement belongs to",
            "name it with the hint `/* SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=… */`",
        )),
    }
}

/// Whether a DO is MySQL's, which computes expressions, and reads no table for them: some pools ask so whether a connection lives.
fn computes(ctx: &Context<'_>, stmt: &Statement) -> bool {
    let reads = |text: &str| text.eq_ignore_ascii_case("select");
    let is_block = ctx.dialect.error_fails_transaction();
    let tokens = pando_sql::tokenize(&stmt.text, ctx.dialect.syntax());
    !is_block
        && tokens.is_ok_and(|all| !all.list.iter().any(|token| reads(token.span.of(&stmt.text))))
}

/// Every storage unit, for what it has as all others have it; of a statement for shadows, these.
pub(super) fn everywhere(ctx: &Context<'_>) -> Units {
    match ctx.session.environment {
        Some(Environment::Shadow) => all(leaders(ctx.database.shadows())),
        Some(Environment::Production) | None => all(ctx.database.units.clone()),
    }
}

/// The same for what is defined: shadows have it as well.
fn with_shadows(ctx: &Context<'_>) -> Units {
    let mut units = everywhere(ctx);
    if ctx.session.environment != Some(Environment::Shadow) {
        let shadows = leaders(ctx.database.shadows());
        units.targets.extend(shadows.into_iter().map(Target::whole));
    }
    units
}

fn all(units: Vec<UnitName>) -> Units {
    Units::new(units.into_iter().map(Target::whole).collect(), Spread::Same)
}

fn has_shadows(ctx: &Context<'_>) -> bool {
    ctx.database.features.iter().any(|room| !room.groups().shadows.is_empty())
}

/// Verbs that may run on every storage unit alike.
fn utility(verb: &str, tables: &[ObjectName]) -> Result<()> {
    let first = verb.split(' ').next().unwrap_or("");
    let alike = matches!(
        first,
        "VACUUM"
            | "ANALYZE"
            | "CHECKPOINT"
            | "FLUSH"
            | "OPTIMIZE"
            | "REINDEX"
            | "CLUSTER"
            | "DISCARD"
    );
    let rights = matches!(first, "GRANT" | "REVOKE");
    if (alike && tables.is_empty()) || rights {
        return Ok(());
    }
    Err(not_spread(first))
}

fn not_spread(what: &str) -> Error {
    Error::unsupported(
        30001,
        format!("`{what}` cannot be spread over storage units"),
        "name one with the hint `/* SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=… */`",
    )
}

/// What SHOW tells of how one server writes its log, and who follows it.
const OF_ONE_LOG: [&str; 13] = [
    "ALL REPLICAS STATUS",
    "ALL SLAVES STATUS",
    "BINARY LOG STATUS",
    "BINARY LOGS",
    "BINLOG EVENTS",
    "BINLOG STATUS",
    "MASTER LOGS",
    "MASTER STATUS",
    "RELAYLOG EVENTS",
    "REPLICA STATUS",
    "REPLICAS",
    "SLAVE HOSTS",
    "SLAVE STATUS",
];

/// Functions whose effect only one server knows of: who takes up its snapshot or its large object was to meet it.
const BOUND_TO_ONE: [&str; 5] =
    ["lo_creat", "lo_create", "lo_from_bytea", "lo_import", "pg_export_snapshot"];

/// Refuses these where any server would do.
pub(super) fn bound_to_one(ctx: &Context<'_>, kind: &Kind) -> Result<()> {
    let is_anywhere = ctx.database.units.len() > 1 && matches!(kind, Kind::Select(_));
    if !is_anywhere || !visit::tables(kind).is_empty() {
        return Ok(());
    }
    let mut found = None;
    visit::exprs(kind, &mut |expr| {
        if let Node::Function(call) = &expr.node
            && let Some(name) = call.name.parts.last().map(|part| part.value.to_lowercase())
            && BOUND_TO_ONE.contains(&name.as_str())
        {
            found.get_or_insert(name);
        }
    });
    found.map_or(Ok(()), |name| match name.as_str() {
        "pg_export_snapshot" => Err(Error::unsupported(
            30001,
            "`pg_export_snapshot` tells a snapshot of one storage unit, which others do not know",
            "read over one connection: leave out `-j` of pg_dump",
        )),
        name => Err(not_spread(name)),
    })
}
