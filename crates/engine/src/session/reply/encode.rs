//! A query's reply as bulk data: COPY (query) TO.

use pando_kernel::error::Result;
use pando_kernel::event::Event;

use crate::session::reply::Outbox;

impl Outbox {
    /// A piece of a query's reply, told as COPY TO.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other pieces are the same in both")]
    pub(in crate::session) fn encode(&mut self, event: Event) -> Result<Event> {
        let Some(encoder) = &mut self.encoder else { return Ok(event) };
        match event {
            Event::Columns(columns) => {
                let (form, head) = encoder.begin(columns)?;
                if let Some(head) = head {
                    self.pending.push_front(Event::CopyData(head));
                }
                Ok(Event::CopyOut(form))
            }
            Event::Rows(rows) => {
                let mut lines = encoder.rows(&rows)?.into_iter();
                let first = lines.next().unwrap_or_default();
                lines.rev().for_each(|line| self.pending.push_front(Event::CopyData(line)));
                Ok(Event::CopyData(first))
            }
            Event::Complete(mut done) => {
                let tail = encoder.end();
                self.encoder = None;
                done.tag = "COPY".into();
                match tail {
                    None => Ok(Event::Complete(done)),
                    Some(tail) => {
                        self.pending.push_front(Event::Complete(done));
                        Ok(Event::CopyData(tail))
                    }
                }
            }
            other => Ok(other),
        }
    }
}
