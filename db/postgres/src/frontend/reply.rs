//! The pieces of a session's reply as messages.

use pando_kernel::session::{Doorway, Session, TransactionState};
use pando_kernel::{Completion, CopyForm, Error, ErrorKind, Event, Notification, Request};

use super::client::Client;
use super::copy::{self, Data};
use super::end::{End, Halt};
use crate::codec::backend::{
    Notification as Told, ParameterStatus, ReadyForQuery, Status, encode_command_complete,
    encode_counted,
};
use crate::codec::copy::{CopyResponse, Direction, encode_data, encode_done};
use crate::dialect::variables::ENCODING;
use crate::encoding::{Encoding, Named};
use crate::error::{self, Severity};

/// Copied data goes out in messages of at most so many bytes.
const COPY_CHUNK: usize = 1024 * 1024;

impl<D: Doorway> Client<D> {
    /// Runs a request whose reply holds nothing but warnings.
    pub(super) async fn run_quietly(&mut self, request: Request) -> Result<(), Halt> {
        self.run(request).await?;
        while let Some(event) = self.next().await? {
            self.aside(&event)?;
        }
        Ok(())
    }

    /// Appends what may come anywhere in a reply.
    ///
    /// # Errors
    /// SQLSTATE 22P05 for what the client's encoding cannot say.
    pub(super) fn aside(&mut self, event: &Event) -> Result<(), Error> {
        match event {
            Event::Notice(notice) => self.wire.tell(|buf| {
                error::encode_warning(buf, notice);
                Ok(())
            }),
            Event::Parameter { name, value } => self.wire.tell(|buf| {
                ParameterStatus { name, value: value.as_bytes() }.encode(buf);
                Ok(())
            }),
            Event::Columns(_)
            | Event::Rows(_)
            | Event::Complete(_)
            | Event::Empty
            | Event::Suspended
            | Event::Described(_)
            | Event::CopyIn(_)
            | Event::CopyOut(_)
            | Event::CopyData(_)
            | Event::SendFile(_)
            | Event::Done => Ok(()),
        }
    }

    /// Appends what a channel has told.
    pub(super) fn notify(&mut self, told: &Notification) {
        let sent = self.wire.tell(|buf| {
            Told { process: told.process, channel: &told.channel, payload: &told.payload }
                .encode(buf);
            Ok(())
        });
        if let Err(error) = sent {
            self.wire.tell_error(Severity::Error, &error, None);
        }
    }

    /// Notes settings that have changed: from here on the client may speak another encoding. It hears of them later.
    fn hear(&mut self) {
        for (name, value) in self.session.changed_parameters() {
            if name == ENCODING
                && let Named::Spoken(encoding) = Encoding::named(&value)
            {
                self.wire.encoding = encoding;
            }
            self.news.retain(|(known, _)| *known != name);
            self.news.push((name, value));
        }
    }

    /// Appends CommandComplete, and CopyDone before it when data went out.
    pub(super) fn complete(&mut self, completion: &Completion) {
        if std::mem::take(&mut self.copying_out) {
            encode_done(self.wire.output.buffer());
        }
        self.hear();
        let (words, rows) = tag(completion);
        // What a transaction has opened ends with it.
        let outside = || self.session.state().transaction == TransactionState::Idle;
        if words == "COMMIT" || words == "ROLLBACK" && outside() {
            self.ended.extend(self.portals.take_all());
        }
        let buf = self.wire.output.buffer();
        match rows {
            Some(rows) => encode_counted(buf, words, rows),
            None => encode_command_complete(buf, words),
        }
    }

    pub(super) fn copy_out(&mut self, form: CopyForm, data: Data) -> Result<(), Halt> {
        copy::refuse_unturned(self.wire.encoding, &form, data)?;
        self.copying_out = true;
        response(form).encode(self.wire.output.buffer(), Direction::Out)?;
        Ok(())
    }

    pub(super) fn copy_data(&mut self, data: &[u8]) -> Result<(), Halt> {
        let data = self.wire.encoding.encode(data)?;
        let buf = self.wire.output.buffer();
        data.chunks(COPY_CHUNK).for_each(|chunk| encode_data(buf, chunk));
        Ok(())
    }

    /// Tells the client what went wrong; some errors end the conversation. `text` and `at` say where
    /// a statement's text stands that an error's position belongs to.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a filter: every other variant is not what is looked for"
    )]
    pub(super) async fn fail(&mut self, halt: Halt, text: Option<(&str, u32)>) -> Result<(), End> {
        self.copying_out = false;
        let error = match halt {
            Halt::End(end) => return Err(end),
            Halt::Failed(error) => error,
        };
        match error.kind() {
            ErrorKind::Closed => Err(End::Quit),
            ErrorKind::Shutdown | ErrorKind::Internal(_) => {
                tracing::debug!(%error, "a session ends with an error");
                Err(self.wire.last_words(&error).await)
            }
            _ => {
                self.wire.tell_error(Severity::Error, &error, text);
                // An error of this door's own fails what is open, too, and a reply that is under way.
                let _ = Box::pin(self.run_quietly(Request::Fail)).await;
                Ok(())
            }
        }
    }

    /// Appends what has become of settings meanwhile and ReadyForQuery, and sends everything.
    pub(super) async fn ready(&mut self) -> Result<(), End> {
        self.hear();
        for (name, value) in std::mem::take(&mut self.news) {
            let sent = self.wire.tell(|buf| {
                ParameterStatus { name: &name, value: value.as_bytes() }.encode(buf);
                Ok(())
            });
            if let Err(error) = sent {
                self.wire.tell_error(Severity::Error, &error, None);
            }
        }
        match self.session.notified().await {
            Ok(told) => told.iter().for_each(|told| self.notify(told)),
            Err(error) => return Err(self.wire.last_words(&error).await),
        }
        self.is_ready = true;
        let status = match self.session.state().transaction {
            TransactionState::Idle => Status::Idle,
            TransactionState::Open => Status::Transaction,
            TransactionState::Failed => Status::Failed,
        };
        ReadyForQuery(status).encode(self.wire.output.buffer());
        self.wire.flush().await
    }
}

/// The formats of a copy as a message.
pub(super) fn response(form: CopyForm) -> CopyResponse {
    CopyResponse { format: form.format, columns: form.columns }
}

/// The words of the command tag and its count, as PostgreSQL writes them.
fn tag(completion: &Completion) -> (&str, Option<u64>) {
    let tag = &*completion.tag;
    match (tag, completion.affected) {
        ("INSERT", Some(rows)) => ("INSERT 0", Some(rows)),
        ("SELECT" | "UPDATE" | "DELETE" | "MERGE" | "MOVE" | "FETCH" | "COPY", Some(rows)) => {
            (tag, Some(rows))
        }
        // A result without a name of its own is one of rows.
        ("", Some(rows)) => ("SELECT", Some(rows)),
        ("", None) => ("OK", None),
        _ => (tag, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_written_as_postgresql_writes_them() {
        let of = |tag: &str, affected| {
            let tag = tag.to_owned().into();
            let completion = Completion { tag, affected, ..Completion::default() };
            let (words, rows) = super::tag(&completion);
            rows.map_or(words.to_owned(), |rows| format!("{words} {rows}"))
        };
        assert_eq!(of("INSERT", Some(3)), "INSERT 0 3");
        assert_eq!(of("SELECT", Some(0)), "SELECT 0");
        assert_eq!(of("", Some(2)), "SELECT 2");
        assert_eq!(of("CREATE TABLE", Some(0)), "CREATE TABLE");
        assert_eq!(of("BEGIN", None), "BEGIN");
    }
}
