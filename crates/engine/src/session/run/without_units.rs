//! A session that stands where there are no storage units: what it answers by itself, and what it refuses.

use std::sync::Arc;

use pando_kernel::error::Result;
use pando_kernel::{Columns, Description, Native, NeutralCodec};
use pando_sql::ast::{CopyDirection, Cursor, Kind, Statement};

use crate::evaluate::Answer;
use crate::plan::without_units;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::place::Place;
use crate::session::reply::command_tag::tag;
use crate::session::reply::made;
use crate::session::settings::alone::alone;

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
            Kind::Load(_) | Kind::Preview(_) | Kind::SetFor(_) | Kind::Immediate(_) => true,
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
