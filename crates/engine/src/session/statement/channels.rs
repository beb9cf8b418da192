//! LISTEN, UNLISTEN and NOTIFY: noted, and done when the transaction commits.
//! <https://www.postgresql.org/docs/current/sql-notify.html>

use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::notifications::{Notice, cut};
use pando_kernel::{Dialect, Value};
use pando_sql::ast::{Kind, Literal, Node, QueryBody, SelectItem, Statement};
use pando_sql::{Fold, Token, TokenKind, tokenize, visit};

use crate::plan;

use crate::session::Session;
use crate::session::connections::channels;
use crate::session::given::Given;
use crate::session::reply::made;
use crate::session::run::context;
use crate::session::transaction::channels::Change;

/// The function that lists a session's channels.
/// <https://www.postgresql.org/docs/current/functions-info.html>
const LISTING: &str = "pg_listening_channels";

/// Whether a statement is one of those that this session has.
pub(in crate::session) fn is_meant(session: &Session, stmt: &Statement) -> bool {
    let Kind::Utility { verb, .. } = &stmt.kind else { return false };
    matches!(verb.as_str(), "LISTEN" | "UNLISTEN" | "NOTIFY")
        && !plan::names_unit(stmt)
        && session
            .place
            .current()
            .is_some_and(|live| live.has_units() && live.database.dialect.notifications().is_some())
}

/// Runs it.
///
/// # Errors
/// `Syntax`; what the units say, where it does not wait for a commit.
pub(in crate::session) async fn channel_verb(
    session: &mut Session,
    stmt: &Statement,
) -> Result<()> {
    session.work.refuse_if_failed()?;
    let Kind::Utility { verb, .. } = &stmt.kind else { return Ok(()) };
    let change = change(session, stmt, verb)?;
    note(session, change).await?;
    made::complete(session, verb);
    Ok(())
}

/// Notes what is to be told when the transaction commits; outside of one it is told now.
///
/// # Errors
/// The server's own, for what cannot be told.
pub(in crate::session) async fn tell(session: &mut Session, notice: Notice) -> Result<()> {
    let live = session.place.live()?;
    if let Some(words) = live.database.dialect.notifications() {
        words.check(&notice)?;
    }
    note(session, Change::Tell(notice)).await
}

async fn note(session: &mut Session, change: Change) -> Result<()> {
    let depth = session.settings.depth();
    session.work.channels_mut().note(change, depth)?;
    match session.work.is_idle() {
        true => Box::pin(channels::commit_alone(session)).await,
        false => Ok(()),
    }
}

/// What a statement is to change.
fn change(session: &Session, stmt: &Statement, verb: &str) -> Result<Change> {
    let live = session.place.live()?;
    let syntax = live.database.dialect.syntax();
    let tokens = tokenize(&stmt.text, syntax).map_err(plan::unread)?;
    let words = tokens.list.into_iter().filter(|token| token.kind != TokenKind::End);
    let words: Vec<Token> = words.skip(1).collect();
    let text = &*stmt.text;
    if let ("UNLISTEN", [star]) = (verb, &words[..])
        && star.span.of(text) == "*"
    {
        return Ok(Change::UnlistenAll);
    }
    let Some((first, rest)) = words.split_first() else { return Err(unread(text, None)) };
    let Some(name) = first.name(text) else { return Err(unread(text, Some(first))) };
    let name = match first.kind == TokenKind::Word && syntax.fold == Fold::Lower {
        true => name.to_lowercase(),
        false => name.into_owned(),
    };
    let channel = cut(&name);
    match (verb, rest) {
        ("LISTEN", []) => Ok(Change::Listen(channel.into())),
        ("UNLISTEN", []) => Ok(Change::Unlisten(channel.into())),
        ("NOTIFY", _) => {
            let notice =
                Notice { channel: channel.to_owned(), payload: payload(stmt, rest, syntax)? };
            if let Some(words) = live.database.dialect.notifications() {
                words.check(&notice)?;
            }
            Ok(Change::Tell(notice))
        }
        _ => Err(unread(text, rest.first())),
    }
}

/// `, 'payload'`, or nothing.
fn payload(stmt: &Statement, rest: &[Token], syntax: &pando_sql::Syntax) -> Result<String> {
    let text = &*stmt.text;
    let Some((comma, literal)) = rest.split_first() else { return Ok(String::new()) };
    let is_text = |token: &Token| {
        matches!(
            token.kind,
            TokenKind::String
                | TokenKind::EscapeString
                | TokenKind::UnicodeString
                | TokenKind::DollarString
        )
    };
    let (Some(first), Some(last)) = (literal.first(), literal.last()) else {
        return Err(unread(text, rest.first()));
    };
    if comma.span.of(text) != "," || !literal.iter().all(is_text) {
        return Err(unread(text, Some(comma)));
    }
    let written = text.get(first.span.start as usize..last.span.end as usize).unwrap_or_default();
    let query = pando_sql::parse(&format!("SELECT {written}"), syntax).map_err(plan::unread)?;
    match read(&query.kind) {
        Some(payload) => Ok(payload),
        None => Err(unread(text, Some(first))),
    }
}

/// The one text that a query gives.
fn read(kind: &Kind) -> Option<String> {
    let Kind::Select(query) = kind else { return None };
    let QueryBody::Select(select) = &query.body else { return None };
    let [SelectItem::Expr { expr, .. }] = &select.items[..] else { return None };
    let Node::Literal(Literal::Text(text)) = &expr.node else { return None };
    Some(text.clone())
}

fn unread(text: &str, token: Option<&Token>) -> pando_kernel::Error {
    let (message, at) = match token {
        Some(token) => {
            (format!("syntax error at or near \"{}\"", token.span.of(text)), token.span.start)
        }
        None => ("syntax error at end of input".to_owned(), 0),
    };
    ErrorKind::Syntax { message, at }.into()
}

/// A statement with the session's channels in the place of the function that lists them: a storage unit would tell of
/// its connection's. `None` where it asks for nothing of the kind.
///
/// # Errors
/// `Syntax`, should its text not be read as before.
pub(in crate::session) fn listed(
    session: &Session,
    stmt: &Statement,
    given: &Given,
) -> Result<Option<(Statement, Given)>> {
    let Some(live) = session.place.current() else { return Ok(None) };
    let dialect = &live.database.dialect;
    let is_asked = dialect.notifications().is_some()
        && stmt
            .text
            .as_bytes()
            .windows(LISTING.len())
            .any(|part| part.eq_ignore_ascii_case(LISTING.as_bytes()));
    if !is_asked {
        return Ok(None);
    }
    let mut put = Vec::new();
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Node::Function(call) = &expr.node
            && let Some(name) = call.name.parts.last()
            && name.value.eq_ignore_ascii_case(LISTING)
            && call.arguments.is_empty()
        {
            put.push((expr.span, channels_of(session, dialect.as_ref())));
        }
    });
    if put.is_empty() {
        return Ok(None);
    }
    let text = context::in_context(session, live, Some(given), |ctx| {
        plan::sequence_calls::written(ctx, stmt, &put)
    });
    let stmt = pando_sql::parse(&text, dialect.syntax()).map_err(plan::unread)?;
    let given = given.for_another_text();
    Ok(Some((stmt, given)))
}

/// A session's channels as an expression that gives each in a row.
fn channels_of(session: &Session, dialect: &dyn Dialect) -> String {
    let names = session.work.channels().names().into_iter();
    let names: Vec<String> =
        names.map(|name| dialect.literal(&Value::Text(name.to_owned()))).collect();
    format!("pg_catalog.unnest(ARRAY[{}]::pg_catalog.text[])", names.join(", "))
}
