//! A session's reply to packets.

use bytes::BytesMut;
use pando_kernel::session::{Doorway, Session, State, TransactionState};
use pando_kernel::{Columns, Completion, Error, ErrorKind, Event, Request, Rows, Whole};

use super::client::Client;
use super::end::End;
use super::shape::Shape;
use crate::codec::{Capabilities, Eof, OkHeader, OkPacket, SessionChange, Status, put_lenenc_int};
use crate::error::ClientError;
use crate::modes;

/// The form a client expects rows in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Of COM_QUERY.
    Text,
    /// Of prepared statements.
    Binary,
}

/// How a reply went.
#[derive(Debug)]
pub(super) enum Outcome {
    /// To its end, well or with an error.
    Over,
    /// Its rows wait in a cursor.
    Waiting(Shape),
}

/// What a reply is for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// The whole of it, now.
    Whole(Form),
    /// Columns now, rows by COM_STMT_FETCH.
    Cursor,
    /// Rows of a cursor of this shape.
    Fetch(Shape),
}

/// What one statement's reply has come to.
struct Progress {
    purpose: Purpose,
    /// The result whose rows are coming.
    shape: Option<Shape>,
    /// Variables the client is to be told with the next OK.
    variables: Vec<(String, String)>,
    notices: u16,
    /// Something was sent that still needs its end.
    open: bool,
}

impl Progress {
    fn new(purpose: Purpose) -> Self {
        let open = !matches!(purpose, Purpose::Fetch(_));
        Self { purpose, shape: None, variables: Vec::new(), notices: 0, open }
    }
}

impl<D: Doorway> Client<D> {
    /// Runs a request and sends its whole reply.
    pub(super) async fn run(&mut self, request: Request, form: Form) -> Result<(), End> {
        match self.begin(request).await {
            Ok(Some(whole)) => self.whole(Purpose::Whole(form), whole).await,
            Ok(None) => self.reply(Purpose::Whole(form)).await.map(drop),
            Err(error) => self.fail_with(error).await,
        }
    }

    /// Sends a reply that the session has given in one piece.
    pub(super) async fn whole(&mut self, purpose: Purpose, whole: Whole) -> Result<(), End> {
        match self.put_whole(purpose, whole) {
            Ok(()) => Ok(()),
            Err(error) => self.fail_with(error).await,
        }
    }

    fn put_whole(&mut self, purpose: Purpose, whole: Whole) -> Result<(), Error> {
        let mut progress = Progress::new(purpose);
        if let Some(columns) = whole.columns {
            self.columns(&mut progress, columns);
        }
        if let Some(rows) = whole.rows {
            self.rows(&mut progress, &rows)?;
        }
        self.complete(&mut progress, &whole.completion);
        Ok(())
    }

    /// Sends the reply that the session has begun. Stops pulling rows while the client does not take them.
    pub(super) async fn reply(&mut self, purpose: Purpose) -> Result<Outcome, End> {
        let mut progress = Progress::new(purpose);
        loop {
            match self.piece().await {
                Ok(Some(Event::SendFile(file))) => {
                    if let Some(error) = self.send_file(&file).await? {
                        self.fail_with(error).await?;
                        return Ok(Outcome::Over);
                    }
                }
                Ok(Some(Event::Suspended)) => return Ok(self.suspended(progress)),
                Ok(Some(event)) => {
                    if let Err(error) = self.event(&mut progress, event) {
                        self.fail_with(error).await?;
                        return Ok(Outcome::Over);
                    }
                }
                Ok(None) => {
                    if progress.open {
                        self.ok()?;
                    }
                    return Ok(Outcome::Over);
                }
                Err(error) => {
                    self.fail_with(error).await?;
                    return Ok(Outcome::Over);
                }
            }
            if self.wire.output.len() >= self.settings.flush_bytes {
                self.wire.flush().await?;
            }
        }
    }

    fn event(&mut self, progress: &mut Progress, event: Event) -> Result<(), Error> {
        match event {
            Event::Columns(columns) => self.columns(progress, columns),
            Event::Rows(rows) => return self.rows(progress, &rows),
            Event::Complete(completion) => self.complete(progress, &completion),
            Event::Empty => {
                if !self.says_something {
                    self.wire.error(&ClientError::new(1065, b"42000", "Query was empty"));
                    progress.open = false;
                }
            }
            Event::Notice(_) => progress.notices = progress.notices.saturating_add(1),
            Event::Parameter { name, value } => {
                self.wire.charsets.note(&name, &value);
                // Servers tell of the modes by flags alone.
                if name != modes::VARIABLE {
                    progress.variables.push((name, value));
                }
            }
            Event::CopyIn(_) | Event::CopyOut(_) | Event::CopyData(_) => {
                let error = Error::unsupported(30001, "COPY has no form in this protocol", "");
                return Err(error);
            }
            Event::Described(_) | Event::Done | Event::Suspended | Event::SendFile(_) => {
                return Err(Error::internal("an event came at the wrong place"));
            }
        }
        Ok(())
    }

    fn rows(&mut self, progress: &mut Progress, rows: &Rows) -> Result<(), Error> {
        if matches!(progress.purpose, Purpose::Cursor) {
            // Rows that do not wait for a fetch: a result like any other.
            self.end_of_columns();
            progress.purpose = Purpose::Whole(Form::Binary);
        }
        let shape = match &mut progress.purpose {
            Purpose::Fetch(shape) => Some(shape),
            Purpose::Whole(_) | Purpose::Cursor => progress.shape.as_mut(),
        };
        let shape = shape.ok_or_else(|| Error::internal("rows came before columns"))?;
        shape.rows(rows, &mut self.wire.output)
    }

    fn columns(&mut self, progress: &mut Progress, columns: Columns) {
        let form = match &progress.purpose {
            Purpose::Whole(form) => *form,
            Purpose::Cursor => Form::Binary,
            // A fetch continues a result whose columns the client has.
            Purpose::Fetch(_) => return,
        };
        let shape = Shape::new(columns, form, self.wire.charsets.results);
        self.wire.output.packet(|out| put_lenenc_int(out, shape.len() as u64));
        shape.define(self.facts.capabilities, &mut self.wire.output);
        if matches!(progress.purpose, Purpose::Whole(_)) {
            self.end_of_columns();
        }
        progress.shape = Some(shape);
        progress.open = true;
    }

    /// The EOF between columns and rows, for clients that want it.
    pub(super) fn end_of_columns(&mut self) {
        if !self.facts.capabilities.has(Capabilities::DEPRECATE_EOF) {
            let eof = Eof { warnings: 0, status: self.status() };
            self.wire.output.packet(|out| eof.encode(out));
        }
    }

    fn complete(&mut self, progress: &mut Progress, completion: &Completion) {
        let state = self.session.state();
        let mut status = status_of(state) | completion.more.then_some(Status::MORE_RESULTS);
        let warnings = completion.warnings.max(std::mem::take(&mut progress.notices));
        let changes = self.changes(state, std::mem::take(&mut progress.variables));
        self.told.update(state);
        let info = match completion.matched {
            Some(matched) if completion.info.is_empty() && completion.tag != "INSERT" => {
                let changed = completion.affected.unwrap_or(0);
                format!("Rows matched: {matched}  Changed: {changed}  Warnings: {warnings}")
            }
            _ => completion.info.clone(),
        };
        let mut ok = OkPacket { warnings, session_state: &changes, ..OkPacket::default() };
        let header = match (&progress.purpose, progress.shape.take()) {
            (Purpose::Fetch(_), _) => {
                status = status | Status::LAST_ROW_SENT;
                OkHeader::EndOfRows
            }
            (Purpose::Cursor, Some(_)) => {
                // No cursor is left, so this is a result like any other and its (no) rows follow.
                self.end_of_columns();
                OkHeader::EndOfRows
            }
            (Purpose::Whole(_), Some(_)) => OkHeader::EndOfRows,
            (Purpose::Whole(_) | Purpose::Cursor, None) => {
                ok.affected = match completion.matched {
                    Some(matched) if self.facts.capabilities.has(Capabilities::FOUND_ROWS) => {
                        matched
                    }
                    _ => completion.affected.unwrap_or(0),
                };
                ok.last_insert_id = completion.last_insert_id;
                ok.info = info.as_bytes();
                OkHeader::Ok
            }
        };
        ok.status = status;
        self.put_ok(header, &ok);
        progress.open = false;
    }

    fn suspended(&mut self, progress: Progress) -> Outcome {
        self.end_of_rows_with(Status::CURSOR_EXISTS, progress.notices);
        match (progress.purpose, progress.shape) {
            (Purpose::Fetch(shape), _) | (Purpose::Cursor | Purpose::Whole(_), Some(shape)) => {
                Outcome::Waiting(shape)
            }
            (Purpose::Cursor | Purpose::Whole(_), None) => Outcome::Over,
        }
    }

    /// An OK packet, or for the end of rows an EOF packet where the client wants that.
    fn put_ok(&mut self, header: OkHeader, ok: &OkPacket<'_>) {
        let capabilities = self.facts.capabilities;
        let classic = !capabilities.has(Capabilities::DEPRECATE_EOF);
        if header == OkHeader::EndOfRows && classic {
            let eof = Eof { warnings: ok.warnings, status: ok.status };
            self.wire.output.packet(|out| eof.encode(out));
            return;
        }
        self.wire.output.packet(|out| ok.encode(header, capabilities, out));
    }

    /// A plain OK.
    pub(super) fn ok(&mut self) -> Result<(), End> {
        let state = self.session.state();
        let changes = self.changes(state, Vec::new());
        self.told.update(state);
        let ok =
            OkPacket { status: status_of(state), session_state: &changes, ..OkPacket::default() };
        self.put_ok(OkHeader::Ok, &ok);
        Ok(())
    }

    /// The end of rows or definitions with the session's status.
    pub(super) fn end_of_rows(&mut self, warnings: u16) {
        self.end_of_rows_with(Status::default(), warnings);
    }

    fn end_of_rows_with(&mut self, extra: Status, warnings: u16) {
        let status = self.status() | extra;
        self.put_ok(OkHeader::EndOfRows, &OkPacket { status, warnings, ..OkPacket::default() });
    }

    pub(super) fn status(&self) -> Status {
        status_of(self.session.state())
    }

    /// The session's changes since the client was last told, for an OK packet.
    fn changes(&self, state: State<'_>, variables: Vec<(String, String)>) -> BytesMut {
        let mut block = BytesMut::new();
        if !self.facts.capabilities.has(Capabilities::SESSION_TRACK) {
            return block;
        }
        for (name, value) in &variables {
            SessionChange::Variable { name: name.as_bytes(), value: value.as_bytes() }
                .encode(&mut block);
        }
        if state.autocommit != self.told.autocommit {
            let value: &[u8] = if state.autocommit { b"ON" } else { b"OFF" };
            SessionChange::Variable { name: b"autocommit", value }.encode(&mut block);
        }
        if state.database != self.told.database.as_deref() {
            let name = state.database.unwrap_or_default();
            SessionChange::Schema(name.as_bytes()).encode(&mut block);
        }
        block
    }

    /// An error for a statement the client should not have sent.
    pub(super) fn unknown_statement(&mut self, id: u32, command: &str) -> Result<(), End> {
        let text = format!("Unknown prepared statement handler ({id}) given to {command}");
        self.fail(&ClientError::new(1243, b"HY000", text))
    }
}

fn status_of(state: State<'_>) -> Status {
    let open = matches!(state.transaction, TransactionState::Open | TransactionState::Failed);
    Status::default()
        | open.then_some(Status::IN_TRANSACTION)
        | state.autocommit.then_some(Status::AUTOCOMMIT)
        | modes::told_modes(state.told).plain_backslashes.then_some(Status::NO_BACKSLASH_ESCAPES)
}

/// The error for texts longer than the door's bound.
pub(super) fn too_large(what: &str) -> Error {
    Error::new(ErrorKind::TooLarge(what.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_hear_whether_backslashes_are_characters() {
        for (modes, expected) in
            [("NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES", true), ("ANSI_QUOTES", false), ("", false)]
        {
            let told = [("sql_mode".to_owned(), modes.to_owned())];
            let transaction = TransactionState::Idle;
            let state = State { transaction, autocommit: true, database: None, told: &told };
            assert_eq!(status_of(state).has(Status::NO_BACKSLASH_ESCAPES), expected, "{modes}");
        }
    }
}
