//! Statements about the configuration: handed to whoever administers it, and answered with what comes back.

use std::sync::Arc;

use pando_kernel::administration::{Administration, Answer, Caller, Order, Unless};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::{Column, Columns, Kind as ValueKind, NeutralCodec, Value};
use pando_sql::Modes;
use pando_sql::ast::{Kind, Statement};

use crate::plan::{names_unit, unknown, unread as syntax_error};

use crate::session::Session;
use crate::session::place::Place;
use crate::session::reply::made;
use crate::session::settings::modes;
use crate::session::statement::inquiry;
use crate::session::transaction::Opened;

/// Longest statement about the configuration that may be prepared, in bytes.
const MOST_PREPARED: usize = 128 << 10;

/// What a reply with rows is called where protocols name the verb.
const SHOWN: &str = "SHOW";

/// An order that may outlive its statement.
enum Own {
    Statement(String),
    CreateDatabase(String, Unless),
    DropDatabase(String, Unless),
}

/// A statement's text as other sessions may see it. What stands in brackets or quotes of one about the configuration
/// may be a password, or a whole configuration.
pub(in crate::session) fn told(stmt: &Statement) -> Arc<str> {
    if !matches!(stmt.kind, Kind::Administration) {
        return Arc::clone(&stmt.text);
    }
    let end = stmt.text.find(['(', '\'', '"']);
    match end.and_then(|end| Some((stmt.text.get(..end)?, stmt.text.get(end..)?))) {
        Some((before, rest)) if rest.starts_with('(') => format!("{before}(…)").into(),
        Some((before, _)) => format!("{before}'…'").into(),
        None => Arc::clone(&stmt.text),
    }
}

impl Place {
    /// Refuses what begins as no statement does, where a server reads it: before anything is made of it. A single unit
    /// may know statements that are not known here, and so may one that a hint names.
    pub(in crate::session) fn refuse_unreadable(&self, stmt: &Statement) -> Result<()> {
        let several = || self.current().is_some_and(|live| live.database.units.len() > 1);
        if matches!(stmt.kind, Kind::Opaque) && several() && !names_unit(stmt) {
            return Err(unknown(&stmt.text));
        }
        Ok(())
    }

    fn administration(&self) -> Result<Arc<dyn Administration>> {
        let administration = self.engine().administration().cloned();
        administration.ok_or_else(|| Error::internal("nobody administers the configuration"))
    }
}

/// The tree of one statement of the client's; only its text where it is about the configuration.
pub(in crate::session) fn read(session: &Session, text: &Arc<str>) -> Result<Statement> {
    read_by(session, text, By::Modes)
}

/// The tree of a part of a text that has been read, or of one that no client has written: the session's modes say
/// nothing of it.
pub(in crate::session) fn read_inner(session: &Session, text: &Arc<str>) -> Result<Statement> {
    read_by(session, text, By::Default)
}

/// How a text is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// As the session's modes say.
    Modes,
    Default,
}

fn read_by(session: &Session, text: &Arc<str>, by: By) -> Result<Statement> {
    let syntax = session.place.syntax()?;
    let modes = if by == By::Modes { modes::modes(session) } else { Modes::default() };
    let text = &session.place.settled(text, modes)?;
    if let Some(administration) = session.place.engine().administration()
        && administration.takes(text, syntax)
    {
        let alone = text.trim_end_matches(|end: char| end == ';' || end.is_whitespace());
        let alone = if alone.len() == text.len() { Arc::clone(text) } else { Arc::from(alone) };
        return Ok(Statement::of_administration(alone));
    }
    let text = match by {
        By::Modes => modes::spelled_out(session, text)?,
        By::Default => Arc::clone(text),
    };
    let statement = pando_sql::parse(&text, syntax).map_err(syntax_error)?;
    session.place.refuse_unreadable(&statement)?;
    let statement = session.place.placed(statement)?;
    session.place.guard(&statement)?;
    Ok(statement)
}

/// The columns of the rows that will answer such a statement.
///
/// # Errors
/// `TooLarge` for a long text, which would be read here, on the event loop: it need not be prepared. What is wrong with
/// the statement.
pub(in crate::session) fn administration_columns(
    session: &Session,
    text: &str,
) -> Result<Option<Columns>> {
    if text.len() > MOST_PREPARED {
        let message = format!("a prepared statement of DistSQL of more than {MOST_PREPARED} bytes");
        return Err(ErrorKind::TooLarge(message).into());
    }
    let labels = session.place.administration()?.labels(&caller(session), text)?;
    Ok(labels.map(|labels| Columns {
        list: labels.into_iter().map(|label| Column::computed(label, ValueKind::Text)).collect(),
        codec: Arc::new(NeutralCodec),
    }))
}

/// Runs a statement about the configuration.
pub(in crate::session) async fn administer(session: &mut Session, text: &str) -> Result<()> {
    session.work.refuse_if_failed()?;
    match ordered(session, Order::Statement(text)).await? {
        Answer::Done(verb) => {
            made::complete(session, &verb);
            Ok(())
        }
        Answer::Rows { labels, rows } => {
            let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
            let row = |row: Vec<Option<String>>| -> Vec<Value> {
                row.into_iter().map(|field| field.map_or(Value::Null, Value::Text)).collect()
            };
            let rows: Vec<Vec<Value>> = rows.into_iter().map(row).collect();
            made::rows(session, SHOWN, &labels, &rows)
        }
        Answer::Errand(errand) => inquiry::run_errand(session, errand).await,
    }
}

/// Has an order carried out, beside the event loops: it may have to build a whole configuration anew. A cancel ends the
/// wait for it. What it changed is seen by the session's next statement.
pub(in crate::session) async fn ordered(session: &mut Session, order: Order<'_>) -> Result<Answer> {
    let administration = session.place.administration()?;
    let caller = caller(session);
    let (own, size) = match order {
        Order::Statement(text) => (Own::Statement(text.to_owned()), text.len()),
        Order::CreateDatabase { name, present } => {
            (Own::CreateDatabase(name.to_owned(), present), 0)
        }
        Order::DropDatabase { name, missing } => (Own::DropDatabase(name.to_owned(), missing), 0),
    };
    let work = async move {
        let order = match &own {
            Own::Statement(text) => Order::Statement(text),
            Own::CreateDatabase(name, present) => Order::CreateDatabase { name, present: *present },
            Own::DropDatabase(name, missing) => Order::DropDatabase { name, missing: *missing },
        };
        administration.carry_out(&caller, order).await
    };
    let inner = Arc::clone(&session.place.engine().inner);
    session.place.handle().taken(inner.aside.run(&inner.runtime, size, work)).await?
}

fn caller(session: &Session) -> Caller {
    // What a request opens around its statements is a transaction only once a unit is in it.
    let inside = match session.work.opened() {
        Opened::Client => !session.work.is_idle(),
        Opened::Statement | Opened::Steps | Opened::Pipeline => !session.work.has_reached_none(),
    };
    Caller {
        user: session.place.login().user.clone(),
        database: session.place.facts().database.clone(),
        databases: session.place.login().databases.clone(),
        is_administrator: session.place.login().is_administrator,
        family: session.place.login().family,
        in_transaction: inside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_seen_by_others() {
        let text = "REGISTER STORAGE UNIT a(URL='x', PASSWORD='secret'), b(PASSWORD='too')";
        let statement = Statement::of_administration(text.into());
        assert_eq!(&*told(&statement), "REGISTER STORAGE UNIT a(…)");
        let statement = Statement::of_administration("IMPORT METADATA 'c2VjcmV0'".into());
        assert_eq!(&*told(&statement), "IMPORT METADATA '…'");
        let plain = pando_sql::parse("SELECT f(1)", &pando_fake::STANDARD).unwrap();
        assert_eq!(&*told(&plain), "SELECT f(1)");
    }
}
