//! Execute: runs a portal, or goes on with it.

use std::sync::Arc;

use pando_kernel::dialect::Language;
use pando_kernel::session::{Doorway, Session, TransactionState};
use pando_kernel::{
    Column, Columns, Completion, CursorId, Error, ErrorKind, Event, Execute as Run, Format,
    Pipeline, Prepared, Request, Rows,
};

use pando_sql::ast::{Cursor, Direction, Kind};

use super::client::Client;
use super::copy::Data;
use super::end::{Halt, own};
use super::portals::Progress;
use super::shape::{self, Shape};
use crate::codec::backend::{encode_empty_query, encode_no_data, encode_portal_suspended};
use crate::codec::frontend::Execute;
use crate::dialect::Postgres;

/// Whether RowDescription or NoData is still owed for a Describe just before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owed {
    Nothing,
    Description,
}

impl<D: Doorway> Client<D> {
    /// Runs a portal and answers up to its end or its row limit.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a filter: every other variant is not what is looked for"
    )]
    pub(super) async fn execute(&mut self, execute: Execute<'_>, owed: Owed) -> Result<(), Halt> {
        let name = execute.portal;
        let limit = u32::try_from(execute.max_rows).ok().filter(|rows| *rows > 0);
        let portal = self.portals.get_mut(name)?;
        let progress = portal.progress;
        let request = match progress {
            Progress::Done => return self.run_out(name),
            Progress::Suspended(cursor) => Request::Fetch { cursor, limit },
            Progress::New => self.first(name, limit)?,
        };
        // Whatever happens from here on, it does not run again.
        let cursor = match &request {
            Request::Fetch { cursor, .. } => Some(*cursor),
            Request::Execute(run) => run.cursor,
            _ => None,
        };
        self.portals.get_mut(name)?.progress = Progress::Done;
        let mut owed = owed;
        // The tag counts the rows of this Execute, not those of the ones before.
        let mut fetched = matches!(request, Request::Fetch { .. }).then_some(0);
        let begun = self.begin(request).await;
        if let Some(whole) = self.revalidated(name, begun)? {
            if let Some(columns) = whole.columns {
                self.columns(name, columns, &mut owed)?;
            }
            if let Some(rows) = whole.rows {
                self.rows(name, rows)?;
            }
            self.no_data(&mut owed);
            self.complete(&whole.completion);
            return Ok(());
        }
        loop {
            let next = self.next().await;
            let Some(event) = self.revalidated(name, next)? else { break };
            match event {
                Event::Columns(columns) => self.columns(name, columns, &mut owed)?,
                Event::Rows(rows) => {
                    fetched = fetched.map(|before| before + u64::from(rows.count));
                    self.rows(name, rows)?;
                }
                Event::Notice(_) | Event::Parameter { .. } => {
                    self.aside(&event)?;
                }
                Event::CopyData(data) => self.copy_data(&data)?,
                event => {
                    self.no_data(&mut owed);
                    match event {
                        Event::Complete(all) => {
                            let affected = fetched.or(all.affected);
                            self.complete(&Completion { affected, ..all });
                        }
                        Event::Empty => encode_empty_query(self.wire.output.buffer()),
                        Event::CopyIn(form) => {
                            let data = Data::of(&self.portals.get_mut(name)?.prepared.statement);
                            Box::pin(self.copy_in(form, data)).await?;
                        }
                        Event::CopyOut(form) => {
                            let data = Data::of(&self.portals.get_mut(name)?.prepared.statement);
                            self.copy_out(form, data)?;
                        }
                        Event::SendFile(_) => self.refuse_file().await?,
                        Event::Suspended => self.suspend(name, cursor)?,
                        Event::Columns(_)
                        | Event::Rows(_)
                        | Event::Notice(_)
                        | Event::Parameter { .. }
                        | Event::CopyData(_)
                        | Event::Described(_)
                        | Event::Done => {}
                    }
                }
            }
        }
        Ok(())
    }

    fn first(&mut self, name: &str, limit: Option<u32>) -> Result<Request, Halt> {
        let cursor = limit.map(|_| self.portals.next_cursor());
        let alone = !self.executed && self.wire.sync_is_next();
        let pipeline = if alone { Pipeline::Alone } else { Pipeline::More };
        self.executed = true;
        self.opened |= pipeline == Pipeline::More;
        let portal = self.portals.get_mut(name)?;
        Ok(Request::Execute(Run {
            prepared: portal.prepared.clone(),
            parameters: std::mem::take(&mut portal.parameters),
            result_formats: portal.formats.clone(),
            limit,
            cursor,
            pipeline,
        }))
    }

    fn columns(&mut self, name: &str, columns: Columns, owed: &mut Owed) -> Result<(), Halt> {
        let portal = self.portals.get_mut(name)?;
        let prepared = Arc::clone(&portal.prepared);
        let known = known(&prepared);
        let shape = if *owed == Owed::Description {
            let list = Arc::clone(&columns.list);
            let shape = Shape::asked(columns, &portal.formats, None)?;
            // pgjdbc asks once for what a portal gives, and runs others of its statement by that.
            let _ = prepared.told.set(list);
            self.wire.tell(|buf| shape.describe(buf))?;
            *owed = Owed::Nothing;
            shape
        } else {
            // The client may know the columns from an earlier description.
            Shape::asked(columns, &portal.formats, known)?
        };
        portal.shape = Some(shape);
        Ok(())
    }

    /// A server counts the formats of a Bind behind asking whether the columns are still those of the Parse. Pando has prepared the statement anew on the
    /// storage unit by then, so that the unit counts formats of columns that the client knew.
    fn revalidated<T>(&mut self, name: &str, result: Result<T, Halt>) -> Result<T, Halt> {
        if let Err(Halt::Failed(error)) = &result
            && let ErrorKind::Server(said) = error.kind()
            && said.fields.contains(&(b'R', "PortalSetResultFormat".to_owned()))
            && let Ok(portal) = self.portals.get_mut(name)
            && known(&portal.prepared).is_some_and(|known| known.len() == portal.formats.len())
        {
            return Err(shape::changed().into());
        }
        result
    }

    fn rows(&mut self, name: &str, rows: Rows) -> Result<(), Halt> {
        match &self.portals.get_mut(name)?.shape {
            Some(shape) => Ok(self.wire.rows(shape, rows)?),
            None => Err(Error::internal("rows came before their columns").into()),
        }
    }

    fn no_data(&mut self, owed: &mut Owed) {
        if std::mem::replace(owed, Owed::Nothing) == Owed::Description {
            encode_no_data(self.wire.output.buffer());
        }
    }

    fn suspend(&mut self, name: &str, cursor: Option<CursorId>) -> Result<(), Halt> {
        let Some(cursor) = cursor else {
            return Err(Error::internal("a reply without a limit was suspended").into());
        };
        self.portals.get_mut(name)?.progress = Progress::Suspended(cursor);
        encode_portal_suspended(self.wire.output.buffer());
        Ok(())
    }

    /// A portal that has run to its end gives no more rows; one that gave none cannot run twice.
    fn run_out(&mut self, name: &str) -> Result<(), Halt> {
        let portal = self.portals.get_mut(name)?;
        if matches!(portal.prepared.statement.kind, Kind::Empty) {
            encode_empty_query(self.wire.output.buffer());
            return Ok(());
        }
        if portal.shape.is_none() {
            return Err(own("55000", format!("portal \"{name}\" cannot be run")).into());
        }
        let tag = "SELECT".into();
        let completion = Completion { tag, affected: Some(0), ..Completion::default() };
        self.complete(&completion);
        Ok(())
    }
}

/// FETCH or MOVE, by a statement, over a portal of the protocol.
#[derive(Debug)]
pub(super) struct Walk {
    portal: String,
    /// So many rows; `None` for all.
    limit: Option<u32>,
    /// It is MOVE.
    moves: bool,
}

impl<D: Doorway> Client<D> {
    /// What a text asks of a portal, where it is a FETCH or MOVE of one. Portals go forward only.
    /// <https://www.postgresql.org/docs/current/sql-fetch.html>
    ///
    /// # Errors
    /// As a server's where it would go back; `Refused` where it goes forward otherwise than by a number of rows, or the
    /// portal gives rows in another form.
    pub(super) fn walk_of(&mut self, text: &str) -> Result<Option<Walk>, Error> {
        let word = text.trim_start().get(..5).unwrap_or_default().to_ascii_lowercase();
        let may_walk = word == "fetch" || word.starts_with("move");
        if !may_walk || self.session.state().transaction != TransactionState::Open {
            return Ok(None);
        }
        let Ok(stmt) = pando_sql::parse(text, Postgres.syntax()) else { return Ok(None) };
        let Kind::Cursor(cursor) = &stmt.kind else { return Ok(None) };
        let Cursor::Fetch { name, direction, moves } = &**cursor else { return Ok(None) };
        let Ok(portal) = self.portals.get_mut(&name.value) else { return Ok(None) };
        if !matches!(portal.prepared.statement.kind, Kind::Select(_)) {
            return Ok(None);
        }
        let limit = match direction {
            Direction::Forward(None) => None,
            Direction::Forward(Some(count @ 1..)) => u32::try_from(*count).ok(),
            Direction::Backward(_) | Direction::Forward(Some(..0)) | Direction::Relative(..0) => {
                return Err(own("55000", "cursor can only scan forward".into()));
            }
            Direction::Forward(Some(0)) | Direction::Absolute(_) | Direction::Relative(_) => {
                return Err(Error::unsupported(
                    30001,
                    "a portal of the protocol goes forward by a number of rows",
                    "use FETCH FORWARD or MOVE FORWARD, or DECLARE a cursor",
                ));
            }
        };
        if !moves && portal.formats.iter().any(|format| *format != Format::Text) {
            return Err(Error::unsupported(
                30001,
                "a portal whose rows were asked for in binary form gives them to its protocol only",
                "bind it with results in text form, or DECLARE a cursor",
            ));
        }
        Ok(Some(Walk { portal: name.value.clone(), limit, moves: *moves }))
    }

    /// Goes over rows of a portal for a statement: sends or counts them.
    pub(super) async fn walk(&mut self, walk: Walk) -> Result<(), Halt> {
        let (name, limit, moves) = (walk.portal.clone(), walk.limit, walk.moves);
        let mut owed = if moves { Owed::Nothing } else { Owed::Description };
        let portal = self.portals.get_mut(&name)?;
        let (request, cursor) = match portal.progress {
            Progress::Done => (None, None),
            Progress::Suspended(cursor) => (Some(Request::Fetch { cursor, limit }), Some(cursor)),
            Progress::New => {
                let first = self.first(&name, limit)?;
                let cursor = if let Request::Execute(run) = &first { run.cursor } else { None };
                (Some(first), cursor)
            }
        };
        let portal = self.portals.get_mut(&name)?;
        portal.progress = Progress::Done;
        if let Some(shape) = portal.shape.as_ref().filter(|_| owed == Owed::Description) {
            self.wire.tell(|buf| shape.describe(buf))?;
            owed = Owed::Nothing;
        }
        let count = match request {
            Some(request) => self.walked(&walk, request, cursor, &mut owed).await?,
            None => 0,
        };
        let tag = if moves { "MOVE" } else { "FETCH" };
        let done = Completion { tag: tag.into(), affected: Some(count), ..Completion::default() };
        self.complete(&done);
        Ok(())
    }

    /// Runs a portal, or goes on with it, and gives how many rows there were.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a filter: every other variant is not what is looked for"
    )]
    async fn walked(
        &mut self,
        walk: &Walk,
        request: Request,
        cursor: Option<CursorId>,
        owed: &mut Owed,
    ) -> Result<u64, Halt> {
        let name = &walk.portal;
        let mut count = 0;
        let begun = self.begin(request).await;
        if let Some(whole) = self.revalidated(name, begun)? {
            if let Some(columns) = whole.columns {
                self.columns(name, columns, owed)?;
            }
            return whole.rows.map_or(Ok(0), |rows| self.passed(walk, rows));
        }
        loop {
            let next = self.next().await;
            let Some(event) = self.revalidated(name, next)? else { return Ok(count) };
            match event {
                Event::Columns(columns) => self.columns(name, columns, owed)?,
                Event::Rows(rows) => count += self.passed(walk, rows)?,
                Event::Suspended => {
                    let waits = cursor.map_or(Progress::Done, Progress::Suspended);
                    self.portals.get_mut(name)?.progress = waits;
                }
                Event::Notice(_) | Event::Parameter { .. } => {
                    self.aside(&event)?;
                }
                _ => {}
            }
        }
    }

    fn passed(&mut self, walk: &Walk, rows: Rows) -> Result<u64, Halt> {
        let count = u64::from(rows.count);
        if !walk.moves {
            self.rows(&walk.portal, rows)?;
        }
        Ok(count)
    }
}

/// The columns that a client knows of a statement.
fn known(prepared: &Prepared) -> Option<&[Column]> {
    match prepared.description.get() {
        Some(told) => told.columns.as_ref().map(|told| &told.list[..]),
        None => prepared.told.get().map(|told| &told[..]),
    }
}
