//! A session that stands where there are no storage units: what it answers by itself, and what it refuses.

use std::sync::Arc;

use pando_kernel::dialect::{Facts, MODE};
use pando_kernel::error::Result;
use pando_kernel::{Columns, Description, Native, NeutralCodec, Parameter};
use pando_sql::ast::{CopyDirection, Cursor, Kind, Statement};

use crate::evaluate::{Answer, Source};
use crate::plan::{unread as syntax_error, without_units};

use crate::session::Session;
use crate::session::given::Given;
use crate::session::place::Place;
use crate::session::reply::command_tag::tag;
use crate::session::reply::made;

impl Place {
    /// Whether there is no storage unit to ask where the session stands.
    pub(in crate::session) fn is_alone(&self) -> bool {
        self.current().is_some_and(|live| !live.has_units())
    }

    /// Refuses what is done here, and yet not without a storage unit.
    pub(in crate::session) fn refuse_alone(&self, kind: &Kind) -> Result<()> {
        let Some(live) = self.current().filter(|_| self.is_alone()) else {
            return Ok(());
        };
        let asks_units = match kind {
            Kind::Copy(copy) => copy.direction != CopyDirection::ServerFile,
            Kind::Cursor(cursor) => matches!(**cursor, Cursor::Declare { .. }),
            Kind::Lock(tables) => !tables.is_empty(),
            Kind::Utility { tables, .. } => !tables.is_empty(),
            Kind::Load(_) | Kind::Preview(_) => true,
            Kind::Select(_)
            | Kind::Insert(_)
            | Kind::Update(_)
            | Kind::Delete(_)
            | Kind::Define(_)
            | Kind::Transaction(_)
            | Kind::Set(_)
            | Kind::Show(_)
            | Kind::Use(_)
            | Kind::Explain { .. }
            | Kind::Prepare { .. }
            | Kind::Execute { .. }
            | Kind::Deallocate(_)
            | Kind::Kill { .. }
            | Kind::Administration
            | Kind::Empty
            | Kind::Opaque => false,
        };
        if asks_units { Err(without_units(&live.database.name)) } else { Ok(()) }
    }
}

/// Answers a statement that no storage unit can be asked for.
pub(in crate::session) fn answer_alone(
    session: &mut Session,
    stmt: &Statement,
    given: &Given,
) -> Result<()> {
    let Answer { columns, rows } = alone(session, stmt, Some(&given.parameters))?;
    session.place.facts_mut().found_rows = rows.len() as u64;
    made::typed_rows(session, tag(&stmt.kind), columns, &rows)
}

/// The columns of such an answer.
pub(in crate::session) fn describe_alone(
    session: &Session,
    stmt: &Statement,
) -> Result<Description> {
    let list = alone(session, stmt, None)?.columns;
    let columns = Columns { list: list.into(), codec: Arc::new(NeutralCodec) };
    let parameters = vec![Native::default(); stmt.parameters as usize];
    Ok(Description { parameters, columns: Some(columns) })
}

/// The value of an expression as a literal.
pub(in crate::session) fn compute_alone(session: &Session, text: &str) -> Result<String> {
    let live = session.place.live()?;
    let dialect = &live.database.dialect;
    let stmt =
        pando_sql::parse(&format!("SELECT {text}"), dialect.syntax()).map_err(syntax_error)?;
    let answer = alone(session, &stmt, Some(&[]))?;
    let value = answer.rows.first().and_then(|row| row.first());
    value.map(|value| dialect.literal(value)).ok_or_else(|| without_units(&live.database.name))
}

fn alone(session: &Session, stmt: &Statement, parameters: Option<&[Parameter]>) -> Result<Answer> {
    let live = session.place.live()?;
    let facts = Facts { settings: told_settings(session), ..(**session.place.facts()).clone() };
    let source = Source::new(live.database.dialect.as_ref(), &facts, parameters);
    let answer = source.and_then(|source| source.answer(stmt));
    answer.ok_or_else(|| without_units(&live.database.name))
}

/// The session's variables, and the modes of the open transaction as such.
fn told_settings(session: &Session) -> Arc<[(String, String)]> {
    let shared = session.settings.variables().shared();
    if session.work.is_idle() {
        return shared;
    }
    let modes = session.work.transaction().modes().iter().map(|mode| {
        let kind = mode.split(' ').next().unwrap_or_default().to_lowercase();
        (format!("{MODE}{kind}"), mode.clone())
    });
    shared.iter().cloned().chain(modes).collect()
}
