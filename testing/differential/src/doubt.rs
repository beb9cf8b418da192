//! Asking the straight server once more. MariaDB 10.11 has plans that give wrong answers; where another plan of it gives Pando's, the server
//! contradicts itself and nothing is learnt about Pando.

use crate::arena::Arena;
use crate::case::{Case, promise};
use crate::compare::{Verdict, compare};
use crate::render;
use crate::schema::{SEEN, Server, Table};
use crate::tree::Statement;
use crate::wire::{Call, Fault, Mode, Reply};

/// What the optimizer may leave out without any answer being another.
const PLAIN: &str = "set session join_cache_level = 0, optimizer_switch = 'derived_merge=off,materialization=off,semijoin=off,\
                     condition_pushdown_for_derived=off,not_null_range_scan=off,index_condition_pushdown=off'";
const USUAL: &str = "set session join_cache_level = default, optimizer_switch = default";

/// True if the straight server gives `ours` to the case's last statement when it has to answer it in another way: with its constants
/// written out, with fewer of its optimizations, or from copies of its tables without keys. Only SELECT, and not on PostgreSQL.
pub(crate) fn answers_both(
    arena: &mut Arena,
    case: &Case,
    call: &Call,
    ours: &Reply,
) -> Result<bool, Fault> {
    let server = case.server;
    let Some(statement @ Statement::Select(_)) = case.steps.last().map(|step| &step.statement)
    else {
        return Ok(false);
    };
    if server.is_postgres() || !matches!(ours, Reply::Rows { .. }) {
        return Ok(false);
    }
    let written =
        Call { sql: render::text(server, statement), parameters: Vec::new(), mode: call.mode };
    let promise = promise(statement);
    // MySQL 8.0 sorts joins with views by less than they say.
    let over_tables = Call { sql: written.sql.replace(SEEN, ""), ..written.clone() };
    let agrees = |arena: &mut Arena| -> Result<bool, Fault> {
        for call in [call, &written, &over_tables] {
            let again = arena.straight.ask(call)?;
            if compare(server, &again, ours, &promise) == Verdict::Same {
                return Ok(true);
            }
        }
        Ok(false)
    };
    if agrees(arena)? {
        return Ok(true);
    }
    arena.straight.ask(&Call::text(PLAIN))?;
    let is_plain = agrees(arena)?;
    arena.straight.ask(&Call::text(USUAL))?;
    if is_plain {
        return Ok(true);
    }
    if other_rows_unordered(arena, (server, statement), call.mode)? {
        return Ok(true);
    }
    // A temporary table hides the one of its name.
    for Table { name, .. } in &case.tables {
        let copies = [
            format!("create temporary table {name}_copy as select * from {name}"),
            format!("alter table {name}_copy rename to {name}"),
        ];
        for sql in copies {
            arena.straight.ask(&Call::text(sql))?;
        }
    }
    let has_other = agrees(arena)?;
    for Table { name, .. } in &case.tables {
        arena
            .straight
            .ask(&Call::text(format!("drop temporary table if exists {name}, {name}_copy")))?;
    }
    Ok(has_other)
}

/// True if the straight server gives other rows with ORDER BY than without, all of them asked for: 10.11 takes `(2020, NULL)` for `(2020, 6)`
/// in `select distinct year(d), nullif(c, 1) … order by 1, 2`. The units do so with their parts of the rows, so Pando's answer is a third one.
fn other_rows_unordered(
    arena: &mut Arena,
    (server, statement): (Server, &Statement),
    mode: Mode,
) -> Result<bool, Fault> {
    let Statement::Select(query) = statement else { return Ok(false) };
    if query.order.is_empty() {
        return Ok(false);
    }
    let mut query = query.clone();
    (query.limit, query.offset) = (None, None);
    let ordered = Statement::Select(query.clone());
    query.order.clear();
    let unordered = Statement::Select(query);
    let mut ask = |statement: &Statement| {
        let sql = render::text(server, statement);
        arena.straight.ask(&Call { sql, parameters: Vec::new(), mode })
    };
    let (ordered, alone) = (ask(&ordered)?, ask(&unordered)?);
    let are_rows = [&ordered, &alone].iter().all(|reply| matches!(reply, Reply::Rows { .. }));
    let agree = compare(server, &alone, &ordered, &promise(&unordered)) == Verdict::Same;
    Ok(are_rows && !agree)
}
