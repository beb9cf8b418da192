//! The simple protocol: a text of any number of statements.
//! <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SIMPLE-QUERY>

use std::sync::Arc;

use pando_kernel::session::Doorway;
use pando_kernel::{Error, ErrorKind, Event, Request};

use super::client::Client;
use super::end::{End, Halt};
use super::shape::Shape;
use crate::codec::backend::encode_empty_query;
use crate::dialect::SYNTAX;
use crate::position::{MAX_BYTES, Sent};

impl<D: Doorway> Client<D> {
    /// Runs a text and answers, ReadyForQuery included.
    pub(super) async fn query(&mut self, text: &str) -> Result<(), End> {
        let text: Arc<str> = text.into();
        let mut done = 0;
        if let Err(halt) = self.answer(&text, &mut done).await {
            let place = place(&halt, &text, done);
            self.fail(halt, place).await?;
        }
        self.rest().await
    }

    async fn answer(&mut self, text: &Arc<str>, done: &mut usize) -> Result<(), Halt> {
        self.unnamed = None;
        if let Some(cursor) = self.portals.remove("") {
            self.run_quietly(Request::CloseCursor(cursor)).await?;
        }
        // What a pipeline did before it is one transaction with the text, whose end ends both.
        (self.executed, self.opened) = (false, false);
        if self.portals.have_names()
            && let Some(walk) = self.walk_of(text)?
        {
            return Box::pin(self.walk(walk)).await;
        }
        if let Some(whole) = self.begin(Request::Query(Arc::clone(text))).await? {
            if let Some(columns) = whole.columns {
                let shape = Shape::simple(columns);
                self.wire.tell(|buf| shape.describe(buf))?;
                whole.rows.map_or(Ok(()), |rows| self.wire.rows(&shape, rows))?;
            }
            self.complete(&whole.completion);
            *done = 1;
            return Ok(());
        }
        let mut shape = None;
        while let Some(event) = self.next().await? {
            match event {
                Event::Columns(columns) => {
                    let found = Shape::simple(columns);
                    self.wire.tell(|buf| found.describe(buf))?;
                    shape = Some(found);
                }
                Event::Rows(rows) => match &shape {
                    Some(shape) => self.wire.rows(shape, rows)?,
                    None => return Err(Error::internal("rows came before their columns").into()),
                },
                Event::Complete(completion) => {
                    self.complete(&completion);
                    *done += 1;
                    shape = None;
                }
                Event::Empty => encode_empty_query(self.wire.output.buffer()),
                Event::CopyIn(form) => {
                    let data = self.data_of_text(text, *done);
                    Box::pin(self.copy_in(form, data)).await?;
                }
                Event::CopyOut(form) => {
                    let data = self.data_of_text(text, *done);
                    self.copy_out(form, data)?;
                }
                Event::CopyData(data) => self.copy_data(&data)?,
                Event::SendFile(_) => self.refuse_file().await?,
                Event::Notice(_) | Event::Parameter { .. } => {
                    self.aside(&event)?;
                }
                Event::Suspended | Event::Described(_) | Event::Done => {}
            }
        }
        Ok(())
    }
}

/// Where the statement stands that failed: the one behind those that are done.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
fn place<'a>(halt: &Halt, text: &'a str, done: usize) -> Option<(&'a str, u32)> {
    let Halt::Failed(error) = halt else { return None };
    // Most errors of units name no place, and a long text is not read again for one.
    let is_placed = match error.kind() {
        ErrorKind::Syntax { .. } => true,
        ErrorKind::UnknownTable(_) => text.len() <= MAX_BYTES,
        _ => text.len() <= MAX_BYTES && Sent::of(error).is_some(),
    };
    if !is_placed {
        return None;
    }
    match pando_sql::split(text, &SYNTAX) {
        Ok(spans) => spans.get(done).map(|span| {
            let own = span.of(text);
            let blank = u32::try_from(own.len() - own.trim_start().len()).unwrap_or(0);
            (text, span.start + blank)
        }),
        // The text cannot even be cut: the position counts from its start.
        Err(_) => Some((text, 0)),
    }
}
