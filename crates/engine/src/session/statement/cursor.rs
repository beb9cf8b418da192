//! Statements about cursors: DECLARE, FETCH, MOVE and CLOSE.

use std::sync::Arc;

use pando_kernel::Format;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::request::CursorId;
use pando_sql::ast::{Cursor as SqlCursor, Kind, Scroll, Statement};
use pando_sql::{Span, visit};

use crate::plan;

use crate::session::Session;
use crate::session::cursors::declared::{Declaration, Declared, Hold, Reads};
use crate::session::cursors::portals::MAX_CURSORS;
use crate::session::cursors::{close, settle};
use crate::session::errors::{no_transaction, server_error};
use crate::session::given::Given;
use crate::session::reply::made;
use crate::session::reply::pull::piece;
use crate::session::statement::fetch;
use crate::session::statement::fetch::unknown_cursor;
use crate::session::statement::instead::{Becomes, Instead};

/// Runs a statement about cursors. DECLARE gives its query, which runs in its place.
pub(in crate::session) async fn sql_cursor(
    session: &mut Session,
    stmt: &Statement,
    cursor: &SqlCursor,
    given: &Given,
) -> Result<Option<Instead>> {
    match cursor {
        SqlCursor::Declare { name, hold, scroll, binary, body, .. } => {
            let hold = if *hold { Hold::FromCommit } else { Hold::Without };
            // What is fetched is given the form that its FETCH asks for, where the cursor is not BINARY.
            let formats = if *binary { vec![Format::Binary] } else { Vec::new() };
            let given = Given { formats, prepared: given.prepared || *binary, ..given.clone() };
            let id = CursorId(u64::MAX - session.place.ticket());
            let (name, text) = (name.value.clone(), Arc::clone(&stmt.text));
            let is_alone = session.work.is_idle();
            let reads = Reads { tables: Vec::new(), scroll: *scroll, body: *body };
            let declaration = Declaration { id, name, hold, text, is_alone, reads };
            return query_of(session, declaration, *body, given).map(Some);
        }
        SqlCursor::Fetch { name, direction, moves } => {
            let verb = if *moves { fetch::Verb::Move } else { fetch::Verb::Fetch };
            fetch::fetch(session, &name.value, *direction, verb).await?;
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
    given: Given,
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
    if session.cursors.has_declared(name) {
        return Err(server_error(0, "42P03", &format!("cursor \"{name}\" already exists")));
    }
    // One that has given all its rows keeps its name until it is closed.
    if session.cursors.count_declared() >= MAX_CURSORS {
        return Err(ErrorKind::TooLarge(format!("more than {MAX_CURSORS} open cursors")).into());
    }
    let inner = pando_sql::parse(body.of(text), live.database.dialect.syntax())
        .map_err(crate::plan::unread)?;
    may_be_declared(&inner.kind, hold, declaration.reads.scroll)?;
    if matches!(inner.kind, Kind::Cursor(_) | Kind::Execute { .. }) {
        return Err(asks_no_unit());
    }
    session.outbox.limit_rows(Some(0), Some(id));
    let tables = visit::tables(&inner.kind).iter().map(|table| table.name.key()).collect();
    let reads = Reads { tables, scroll: scroll_of(&inner.kind, declaration.reads.scroll), body };
    let reply = Becomes::Cursor(Declaration { reads, ..declaration });
    Ok(Instead { stmt: Arc::new(inner), given: given.clone(), settings: Vec::new(), reply })
}

/// The query of a DECLARE has been started: its reply waits, and has a name from here on. Outside a transaction the
/// declaration is one of its own: what a cursor WITH HOLD finds is read at once then, as the server itself does at a
/// commit.
/// <https://www.postgresql.org/docs/current/sql-declare.html>
pub(in crate::session) async fn declare(
    session: &mut Session,
    declaration: Declaration,
) -> Result<()> {
    let Declaration { id, name, hold, text, is_alone, reads } = declaration;
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
    session.cursors.declare(&name, Declared::new(id, columns, hold, text, reads));
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

/// What a server says of cursors for which their query is not made.
fn may_be_declared(kind: &Kind, hold: Hold, scroll: Scroll) -> Result<()> {
    if plan::changes_in_with(kind) {
        let what = "DECLARE CURSOR must not contain data-modifying statements in WITH";
        return Err(server_error(0, "0A000", what));
    }
    if !locks(kind) {
        return Ok(());
    }
    let what = match (hold, scroll) {
        (Hold::FromCommit, _) => "DECLARE CURSOR WITH HOLD ... FOR UPDATE is not supported",
        (_, Scroll::Wanted) => "DECLARE SCROLL CURSOR ... FOR UPDATE is not supported",
        _ => return Ok(()),
    };
    Err(server_error(0, "0A000", what))
}

fn locks(kind: &Kind) -> bool {
    matches!(kind, Kind::Select(query) if query.lock.is_some())
}

/// Rows that are locked as they come are not gone back over, where nothing is said of it.
fn scroll_of(kind: &Kind, written: Scroll) -> Scroll {
    if written == Scroll::Unsaid && locks(kind) { Scroll::Refused } else { written }
}
