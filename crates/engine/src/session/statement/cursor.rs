//! Statements about cursors: DECLARE, FETCH, MOVE and CLOSE.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Event};
use pando_kernel::request::CursorId;
use pando_kernel::{Columns, Rows};
use pando_sql::ast::{Cursor as SqlCursor, Kind, Statement};
use pando_sql::{Span, Syntax, tokenize, visit};

use crate::plan;

use crate::session::Session;
use crate::session::cursors::declared::{Declaration, Declared, Hold};
use crate::session::cursors::portals::MAX_CURSORS;
use crate::session::cursors::{close, fetch, settle};
use crate::session::errors::{no_transaction, server_error};
use crate::session::given::Given;
use crate::session::reply::made;
use crate::session::reply::pull::piece;
use crate::session::statement::instead::Instead;

/// Runs a statement about cursors. DECLARE gives its query, which runs in its place.
pub(in crate::session) async fn sql_cursor(
    session: &mut Session,
    stmt: &Statement,
    cursor: &SqlCursor,
    given: &Given,
) -> Result<Option<Instead>> {
    match cursor {
        SqlCursor::Declare { name, hold, body, .. } => {
            let hold = if *hold { Hold::FromCommit } else { Hold::Without };
            let id = CursorId(u64::MAX - session.place.ticket());
            let (name, text) = (name.value.clone(), Arc::clone(&stmt.text));
            let is_alone = session.work.is_idle();
            let declaration = Declaration { id, name, hold, text, is_alone, tables: Vec::new() };
            return query_of(session, declaration, *body, given).map(Some);
        }
        SqlCursor::Fetch { name, direction, moves } => {
            match moves {
                true => move_over(session, &name.value, direction).await?,
                false => fetch_rows(session, &name.value, direction).await?,
            };
        }
        SqlCursor::Close(name) => match name {
            None => {
                close::close_cursors(session).await;
                made::complete(session, "CLOSE CURSOR ALL");
            }
            Some(name) => {
                let known = session.cursors.forget_declared(&name.value);
                let known = known.ok_or_else(|| unknown_cursor(&name.value))?;
                close::close_cursor(session, known.id()).await;
                made::complete(session, "CLOSE CURSOR");
            }
        },
    }
    Ok(None)
}

/// The query of a DECLARE, whose reply is to wait in the cursor before its first row.
fn query_of(
    session: &mut Session,
    declaration: Declaration,
    body: Span,
    given: &Given,
) -> Result<Instead> {
    let Declaration { id, ref name, hold, ref text, is_alone, .. } = declaration;
    let live = session.place.live()?;
    if hold == Hold::FromCommit && !live.database.dialect.error_fails_transaction() {
        return Err(Error::unsupported(
            30001,
            "WITH HOLD cursors are not supported",
            "fetch inside the transaction",
        ));
    }
    if is_alone && hold == Hold::Without {
        return Err(no_transaction("DECLARE CURSOR"));
    }
    if is_binary(text, body, live.database.dialect.syntax()) {
        return Err(Error::unsupported(
            30001,
            "a BINARY cursor is not supported",
            "ask for binary results in the protocol",
        ));
    }
    if session.cursors.has_declared(name) {
        return Err(server_error(0, "42P03", &format!("cursor \"{name}\" already exists")));
    }
    // One that has given all its rows keeps its name until it is closed.
    if session.cursors.count_declared() >= MAX_CURSORS {
        return Err(ErrorKind::TooLarge(format!("more than {MAX_CURSORS} open cursors")).into());
    }
    let inner = pando_sql::parse(body.of(text), live.database.dialect.syntax())
        .map_err(crate::plan::unread)?;
    if hold == Hold::FromCommit {
        may_be_held(&inner.kind)?;
    }
    if matches!(inner.kind, Kind::Cursor(_) | Kind::Execute { .. }) {
        return Err(asks_no_unit());
    }
    session.outbox.limit_rows(Some(0), Some(id));
    let tables = visit::tables(&inner.kind).iter().map(|table| table.name.key()).collect();
    let cursor = Some(Declaration { tables, ..declaration });
    Ok(Instead { stmt: Arc::new(inner), given: given.clone(), settings: Vec::new(), cursor })
}

/// The query of a DECLARE has been started: its reply waits, and has a name from here on. Outside a transaction the
/// declaration is one of its own: what a cursor WITH HOLD finds is read at once then, as the server itself does at a
/// commit.
/// <https://www.postgresql.org/docs/current/sql-declare.html>
pub(in crate::session) async fn declare(
    session: &mut Session,
    declaration: Declaration,
) -> Result<()> {
    let Declaration { id, name, hold, text, is_alone, tables } = declaration;
    while piece::next_of_reply(session).await?.is_some() {}
    if !session.cursors.has_cursor(id) {
        return Err(asks_no_unit());
    }
    let columns = session.cursors.cursor_columns(id);
    let mut hold = hold;
    if is_alone {
        settle::settle_cursor(session, id).await?;
        hold = Hold::Held;
    }
    session.cursors.declare(&name, Declared::new(id, columns, hold, text, tables));
    made::complete(session, "DECLARE CURSOR");
    Ok(())
}

fn asks_no_unit() -> Error {
    Error::unsupported(
        30001,
        "a cursor for a query that no storage unit answers is not supported",
        "send the query itself",
    )
}

/// MOVE: the rows are passed over.
async fn move_over(session: &mut Session, name: &str, direction: &str) -> Result<()> {
    let mut count = 0;
    go_forward(session, name, direction, &mut |rows| count += u64::from(rows.count)).await?;
    complete(session, "MOVE", count);
    Ok(())
}

async fn fetch_rows(session: &mut Session, name: &str, direction: &str) -> Result<()> {
    let (mut collected, mut count) = (Vec::new(), 0);
    let mut take = |rows: Rows| {
        count += u64::from(rows.count);
        collected.push(Event::Rows(rows));
    };
    let columns = go_forward(session, name, direction, &mut take).await?;
    session.outbox.tell_all(columns.map(Event::Columns));
    session.outbox.tell_all(collected);
    complete(session, "FETCH", count);
    Ok(())
}

fn complete(session: &mut Session, tag: &'static str, count: u64) {
    let affected = Some(count);
    session.outbox.complete(Completion { tag: tag.into(), affected, ..Completion::default() });
}

/// Takes the rows that a direction leads over. Returns the cursor's columns.
async fn go_forward(
    session: &mut Session,
    name: &str,
    direction: &str,
    take: &mut (dyn FnMut(Rows) + Send),
) -> Result<Option<Columns>> {
    let known = session.cursors.declared(name).ok_or_else(|| unknown_cursor(name))?;
    let (id, columns, begun) = (known.id(), known.columns(), known.has_begun());
    let limit = forward(direction).ok_or_else(|| {
        Error::unsupported(
            30001,
            format!("FETCH {direction} is not supported across shards"),
            "cursors go forward only",
        )
    })?;
    if limit == Some(0) && begun {
        return Err(Error::unsupported(
            30001,
            "FETCH 0 is not supported: a cursor keeps no row that it has given",
            "keep the row, or FETCH 1 for the next",
        ));
    }
    if limit != Some(0) {
        session.cursors.begin_declared(name);
    }
    if session.cursors.has_cursor(id) {
        fetch::fetch(session, id, limit)?;
        while let Some(event) = piece::next_of_reply(session).await? {
            if let Event::Rows(rows) = event {
                take(rows);
            }
        }
    }
    Ok(columns)
}

/// How many rows a FETCH direction asks for: outer `None` when it does not go forward, inner `None` for all.
fn forward(direction: &str) -> Option<Option<u32>> {
    let words: Vec<&str> = direction
        .split_whitespace()
        .filter(|word| !matches!(*word, "FORWARD" | "FROM" | "IN"))
        .collect();
    match words[..] {
        [] | ["NEXT"] => Some(Some(1)),
        ["ALL"] => Some(None),
        [count] => count.parse().ok().map(Some),
        _ => None,
    }
}

/// What a server says of cursors that cannot outlive their transaction.
fn may_be_held(kind: &Kind) -> Result<()> {
    if plan::changes_in_with(kind) {
        let what = "DECLARE CURSOR must not contain data-modifying statements in WITH";
        return Err(server_error(0, "0A000", what));
    }
    if matches!(kind, Kind::Select(query) if query.lock.is_some()) {
        let what = "DECLARE CURSOR WITH HOLD ... FOR UPDATE is not supported";
        return Err(server_error(0, "0A000", what));
    }
    Ok(())
}

fn unknown_cursor(name: &str) -> Error {
    server_error(0, "34000", &format!("cursor \"{name}\" does not exist"))
}

/// Whether the rows of `DECLARE name BINARY … CURSOR FOR` are to come in the binary form.
fn is_binary(text: &str, body: Span, syntax: &Syntax) -> bool {
    let head = text.get(..body.start as usize).unwrap_or(text);
    let tokens = tokenize(head, syntax).map(|tokens| tokens.list).unwrap_or_default();
    let mut options = tokens.iter().skip(2).map(|token| token.span.of(head));
    options.any(|option| option.eq_ignore_ascii_case("binary"))
}
