//! Execute: runs a portal, or goes on with it.

use std::sync::Arc;

use pando_kernel::session::Doorway;
use pando_kernel::{
    Column, Columns, Completion, Error, ErrorKind, Event, Execute as Run, Pipeline, Prepared,
    Request, Rows,
};

use pando_sql::ast::Kind;

use super::client::Client;
use super::end::{Halt, own};
use super::portals::Progress;
use super::shape::{self, Shape};
use crate::codec::backend::{encode_empty_query, encode_no_data, encode_portal_suspended};
use crate::codec::frontend::Execute;

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
                    self.aside(&event);
                }
                Event::CopyData(data) => self.copy_data(&data),
                event => {
                    self.no_data(&mut owed);
                    match event {
                        Event::Complete(all) => {
                            let affected = fetched.or(all.affected);
                            self.complete(&Completion { affected, ..all });
                        }
                        Event::Empty => encode_empty_query(self.wire.output.buffer()),
                        Event::CopyIn(form) => Box::pin(self.copy_in(form)).await?,
                        Event::CopyOut(form) => self.copy_out(form)?,
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
            shape.describe(self.wire.output.buffer())?;
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
            Some(shape) => Ok(shape.rows(&mut self.wire.output, rows)?),
            None => Err(Error::internal("rows came before their columns").into()),
        }
    }

    fn no_data(&mut self, owed: &mut Owed) {
        if std::mem::replace(owed, Owed::Nothing) == Owed::Description {
            encode_no_data(self.wire.output.buffer());
        }
    }

    fn suspend(&mut self, name: &str, cursor: Option<pando_kernel::CursorId>) -> Result<(), Halt> {
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

/// The columns that a client knows of a statement.
fn known(prepared: &Prepared) -> Option<&[Column]> {
    match prepared.description.get() {
        Some(told) => told.columns.as_ref().map(|told| &told.list[..]),
        None => prepared.told.get().map(|told| &told[..]),
    }
}
