//! A reply in another form: a query's rows as the bulk data of COPY (query) TO, lines of COPY TO as they are told.

use bytes::Bytes;
use pando_kernel::error::Result;
use pando_kernel::event::Event;

use crate::copy_rows::{Encoder, Retell};

use crate::session::reply::{Form, Outbox};

impl Outbox {
    /// A piece of the current reply, in the form in which it goes to the client.
    ///
    /// # Errors
    /// What a room says of a value that it cannot tell, and what keeps rows from being had as lines.
    pub(in crate::session) fn write(&mut self, event: Event) -> Result<()> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let is_last = matches!(event, Event::Complete(_));
        let written = match &mut writer.form {
            Form::Encoder(encoder) => encoded(encoder, event)?,
            Form::Retell(retell) => retold(retell, event)?,
        };
        writer.ready.extend(written);
        if is_last && let Some(writer) = self.writer.take() {
            writer.ready.into_iter().rev().for_each(|event| self.pending.push_front(event));
        }
        Ok(())
    }

    /// What is in that form already.
    pub(in crate::session) fn next_written(&mut self) -> Option<Event> {
        self.writer.as_mut()?.ready.pop_front()
    }
}

/// A piece of a query's reply, told as COPY TO.
#[expect(clippy::wildcard_enum_match_arm, reason = "other pieces are the same in both")]
fn encoded(encoder: &mut Encoder, event: Event) -> Result<Vec<Event>> {
    Ok(match event {
        Event::Columns(columns) => {
            let (form, head) = encoder.begin(columns)?;
            with_lines(Some(Event::CopyOut(form)), head, None)
        }
        Event::Rows(rows) => with_lines(None, encoder.rows(&rows)?, None),
        Event::Complete(mut done) => {
            done.tag = "COPY".into();
            with_lines(None, encoder.end(), Some(Event::Complete(done)))
        }
        other => vec![other],
    })
}

/// A piece of the reply to COPY TO, with its lines as they are told.
#[expect(clippy::wildcard_enum_match_arm, reason = "other pieces are the same in both")]
fn retold(retell: &mut Retell, event: Event) -> Result<Vec<Event>> {
    Ok(match event {
        Event::CopyOut(_) => with_lines(Some(event), retell.head(), None),
        Event::CopyData(data) => with_lines(None, retell.data(&data)?, None),
        Event::Complete(_) => with_lines(None, retell.end()?, Some(event)),
        other => vec![other],
    })
}

fn with_lines(
    before: Option<Event>,
    lines: impl IntoIterator<Item = Bytes>,
    behind: Option<Event>,
) -> Vec<Event> {
    let lines = lines.into_iter().map(Event::CopyData);
    before.into_iter().chain(lines).chain(behind).collect()
}
