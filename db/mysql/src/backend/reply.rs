//! Reading replies: packets to events.

use std::sync::Arc;

use bytes::Bytes;
use pando_kernel::{
    Columns, Completion, Error, ErrorKind, Event, Format, Result, RowCodec, Rows, ServerError,
};

use super::connection::{Connection, DEADLOCK};
use super::describe::Definitions;
use super::job::{Stage, Work, may_ask_for_file};
use super::lifted::{as_text, may_fare_better, tells};
use super::old_names::{NOT_UNDERSTOOD, UNKNOWN_VARIABLE, is_new_name};
use crate::codec::{
    Capabilities, ColumnDefinition, CommandCode, Eof, ErrPacket, LocalInfile, MAX_FRAME, OkPacket,
    PrepareOk, Reader, Run, SessionChange, SessionChanges, Status,
};
use crate::error::{malformed, server_error};
use crate::types::column_of;

/// Columns of one result: the server's own bound is 4096.
pub(super) const MAX_COLUMNS: usize = 65_535;

/// Errors that say the server has forgotten a prepared statement.
const FORGOTTEN: [u32; 2] = [1243, 1615];

/// `ER_UNSUPPORTED_PS`: the statement runs as text only.
const TEXT_ONLY: u32 = 1295;

/// `ER_MAX_PREPARED_STMT_COUNT_REACHED`.
const TOO_MANY_STATEMENTS: u32 = 1461;

/// Leaves the transaction as it is, and is what applications meet every day: the server is not asked how the transaction stands.
const DUPLICATE: u32 = 1062;

impl Connection {
    /// The next event that the bytes at hand give; `None` when more must be read first.
    pub(super) fn advance(&mut self) -> Result<Option<Event>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some(job) = self.jobs.front_mut() else { return Ok(None) };
            match &mut job.stage {
                Stage::Queued | Stage::File { .. } => return Ok(None),
                Stage::Failed(error) => {
                    let error = error.take();
                    return Err(error.unwrap_or_else(|| Error::internal("an error is lost")));
                }
                Stage::Described(found) => {
                    let found = found.clone();
                    self.describe(&found);
                    continue;
                }
                Stage::Untold => {
                    let ends = row_end(self.agreement.capabilities);
                    match self.wire.input.run(ends).map_err(malformed)? {
                        Run::Packets(..) => continue,
                        Run::Incomplete => return Ok(None),
                        Run::Ended => {}
                    }
                }
                Stage::Rows { count, told } => {
                    let ends = row_end(self.agreement.capabilities);
                    match self.wire.input.run(ends).map_err(malformed)? {
                        Run::Packets(bytes, rows) => {
                            *count += u64::from(rows);
                            let bytes = match told {
                                Some(columns) => as_text(columns, &bytes)?,
                                None => bytes,
                            };
                            return Ok(Some(Event::Rows(Rows { bytes, count: rows })));
                        }
                        Run::Incomplete => return Ok(None),
                        Run::Ended => {}
                    }
                }
                Stage::Answer
                | Stage::Columns { .. }
                | Stage::ColumnsEnd { .. }
                | Stage::PrepareAnswer
                | Stage::Definitions(_)
                | Stage::Reset(_)
                | Stage::Standing(_)
                | Stage::Pong => {}
            }
            let Some(packet) = self.wire.input.next_packet().map_err(malformed)? else {
                return Ok(None);
            };
            self.take(&packet.payload)?;
        }
    }

    /// Takes one packet of the oldest job's reply.
    fn take(&mut self, payload: &Bytes) -> Result<()> {
        let Some(job) = self.jobs.front_mut() else {
            return Err(Error::protocol("the server spoke without being asked"));
        };
        let stage = std::mem::replace(&mut job.stage, Stage::Queued);
        let next = match stage {
            Stage::Reset(reset) => self.read_reset(reset, payload)?.map(Stage::Reset),
            Stage::Standing(error) => {
                let ok = OkPacket::decode(payload, self.agreement.capabilities);
                self.status = ok.map_err(malformed)?.status;
                return Err(error);
            }
            _ if payload.first() == Some(&0xFF) => self.refused(&stage, payload)?,
            Stage::Answer => self.answer(payload)?,
            Stage::Columns { list, left } => Some(self.column(list, left, payload)?),
            Stage::ColumnsEnd { told, untold } => {
                Eof::decode(payload).map_err(malformed)?;
                Some(if untold { Stage::Untold } else { Stage::Rows { count: 0, told } })
            }
            Stage::Rows { count, .. } => self.rows_end(count, payload)?,
            Stage::Untold => self.text_instead(),
            Stage::PrepareAnswer => {
                let ok = PrepareOk::decode(payload).map_err(malformed)?;
                self.prepared(Definitions::new(ok))?
            }
            Stage::Definitions(definitions) => self.definition(definitions, payload)?,
            Stage::Pong => {
                let ok = OkPacket::decode(payload, self.agreement.capabilities);
                self.status = ok.map_err(malformed)?.status;
                None
            }
            Stage::Queued | Stage::File { .. } | Stage::Described(_) | Stage::Failed(_) => {
                return Err(Error::protocol("the server spoke without being asked"));
            }
        };
        match next {
            Some(stage) => {
                if let Some(job) = self.jobs.front_mut() {
                    job.stage = stage;
                }
            }
            None => self.done(),
        }
        Ok(())
    }

    pub(super) fn done(&mut self) {
        self.ready.push_back(Event::Done);
        self.finish();
        self.pump();
    }

    /// An ERR packet: fails the job, unless there is another way to do it.
    fn refused(&mut self, stage: &Stage, payload: &Bytes) -> Result<Option<Stage>> {
        let error = server_error(&ErrPacket::decode(payload).map_err(malformed)?);
        let ErrorKind::Server(server) = error.kind() else { return Err(error) };
        if let Some(stage) = self.another_way(stage, server) {
            return Ok(Some(stage));
        }
        // Behind other jobs the next reply tells it.
        let asks = self.sent == 1 && self.status.has(Status::IN_TRANSACTION);
        if !asks || server.number == DEADLOCK || server.number == DUPLICATE {
            return Err(error);
        }
        self.command(|out| CommandCode::Ping.encode(&[], out));
        self.held = true;
        self.wire.input.expect(self.answered_from);
        Ok(Some(Stage::Standing(error)))
    }

    /// Tries a job that the server has refused in another form, or once more.
    fn another_way(&mut self, stage: &Stage, server: &ServerError) -> Option<Stage> {
        // Nothing may have been written behind the job, or the order would be lost.
        let alone = self.sent == 1;
        let number = server.number;
        let job = self.jobs.front_mut()?;
        let renamed = number == UNKNOWN_VARIABLE && is_new_name(&server.message);
        if renamed && alone && job.work.use_old_names() {
            return Some(self.again());
        }
        if number == NOT_UNDERSTOOD && alone && job.work.use_values() {
            return Some(self.again());
        }
        let preparing = matches!(stage, Stage::PrepareAnswer);
        if let Work::Lifted { sql, .. } = &job.work {
            let sql = Arc::clone(sql);
            if preparing && may_fare_better(number) {
                self.counts.give_up(&sql);
            } else if !preparing && FORGOTTEN.contains(&number) {
                let closed = self.statements.forget(&sql);
                if let Some(id) = closed.filter(|_| number == 1615) {
                    self.write_close(id);
                }
            } else {
                return None;
            }
            return self.text_instead();
        }
        if preparing && number == TOO_MANY_STATEMENTS && alone {
            return self.with_nothing_kept();
        }
        let Work::Prepared { sql, parameters } = &job.work else { return None };
        if preparing && number == TEXT_ONLY && parameters.is_empty() {
            job.work = Work::Text(sql.clone());
            return Some(self.again());
        }
        if preparing || !FORGOTTEN.contains(&number) {
            return None;
        }
        let sql = sql.clone();
        let retry = alone && !std::mem::replace(&mut job.retried, true);
        let closed = self.statements.forget(&sql);
        if let Some(id) = closed.filter(|_| number == 1615) {
            self.write_close(id);
        }
        retry.then(|| self.again())
    }

    /// Tries the oldest job once more when the statements that are kept have made room for it: others may keep as many as the server has.
    fn with_nothing_kept(&mut self) -> Option<Stage> {
        let retried =
            self.jobs.front_mut().is_none_or(|job| std::mem::replace(&mut job.retried, true));
        if retried {
            return None;
        }
        self.statements.take_all().into_iter().for_each(|id| self.write_close(id));
        Some(self.again())
    }

    /// Runs the text of the oldest job instead of its prepared form. Nothing is written behind one that has such a form.
    pub(super) fn text_instead(&mut self) -> Option<Stage> {
        let job = self.jobs.front_mut()?;
        if let Work::Lifted { text, .. } = &job.work {
            job.work = Work::Text(Arc::clone(text));
        }
        Some(self.again())
    }

    /// Writes the first command of the oldest job once more; nothing may be written behind it yet.
    fn again(&mut self) -> Stage {
        let Some(mut job) = self.jobs.front_mut().map(std::mem::take) else { return Stage::Queued };
        job.stage = self.write(&job.work);
        self.held = job.holds_line();
        let stage = std::mem::replace(&mut job.stage, Stage::Queued);
        if let Some(slot) = self.jobs.front_mut() {
            *slot = job;
        }
        self.wire.input.expect(self.answered_from);
        stage
    }

    /// The first packet of a result.
    fn answer(&mut self, payload: &Bytes) -> Result<Option<Stage>> {
        match payload.first() {
            Some(0x00) => self.complete(payload, None),
            Some(0xFB) => {
                let request = LocalInfile::decode(payload).map_err(malformed)?;
                let asked = match self.jobs.front().map(|job| &job.work) {
                    Some(Work::Text(sql)) => may_ask_for_file(sql),
                    _ => false,
                };
                if !asked {
                    return Err(Error::protocol("the server asks for a file no statement names"));
                }
                let file = String::from_utf8_lossy(request.file).into_owned();
                self.ready.push_back(Event::SendFile(file));
                self.wire.output.restart(self.wire.input.expected());
                Ok(Some(Stage::File { begun: false }))
            }
            _ => {
                let mut reader = Reader::new("result", payload);
                let left = reader.lenenc_int("number of columns").map_err(malformed)?;
                if left == 0 || left > MAX_COLUMNS as u64 {
                    return Err(Error::protocol(format!("a result cannot have {left} columns")));
                }
                Ok(Some(Stage::Columns { list: Vec::new(), left }))
            }
        }
    }

    fn column(
        &mut self,
        mut list: Vec<pando_kernel::Column>,
        left: u64,
        payload: &Bytes,
    ) -> Result<Stage> {
        let work = self.jobs.front().map(|job| &job.work);
        let prepared = matches!(work, Some(Work::Prepared { .. }));
        let lifted = matches!(work, Some(Work::Lifted { .. }));
        let format = if prepared { Format::Binary } else { Format::Text };
        let capabilities = self.agreement.capabilities;
        let definition = ColumnDefinition::decode(payload, capabilities).map_err(malformed)?;
        list.push(column_of(&definition, format));
        if left > 1 {
            return Ok(Stage::Columns { list, left: left - 1 });
        }
        let codec: Arc<dyn RowCodec> =
            if prepared { self.binary_rows.clone() } else { self.text_rows.clone() };
        let untold = lifted && !tells(&list);
        let list: Arc<[pando_kernel::Column]> = list.into();
        let told = lifted.then(|| Arc::clone(&list));
        if !untold {
            self.ready.push_back(Event::Columns(Columns { list, codec }));
        }
        if !self.agreement.capabilities.has(Capabilities::DEPRECATE_EOF) {
            return Ok(Stage::ColumnsEnd { told, untold });
        }
        Ok(if untold { Stage::Untold } else { Stage::Rows { count: 0, told } })
    }

    fn rows_end(&mut self, count: u64, payload: &Bytes) -> Result<Option<Stage>> {
        if self.agreement.capabilities.has(Capabilities::DEPRECATE_EOF) {
            return self.complete(payload, Some(count));
        }
        let eof = Eof::decode(payload).map_err(malformed)?;
        let ok = OkPacket { status: eof.status, warnings: eof.warnings, ..OkPacket::default() };
        self.completed(&ok, Some(count))
    }

    fn complete(&mut self, payload: &Bytes, rows: Option<u64>) -> Result<Option<Stage>> {
        let ok = OkPacket::decode(payload, self.agreement.capabilities).map_err(malformed)?;
        self.completed(&ok, rows)
    }

    fn completed(&mut self, ok: &OkPacket<'_>, rows: Option<u64>) -> Result<Option<Stage>> {
        self.stands(ok.status)?;
        for change in SessionChanges::new(ok.session_state) {
            match change.map_err(malformed)? {
                SessionChange::Variable { name, value } => {
                    self.ready.push_back(Event::Parameter {
                        name: String::from_utf8_lossy(name).into_owned(),
                        value: String::from_utf8_lossy(value).into_owned(),
                    });
                }
                SessionChange::Schema(_)
                | SessionChange::StateChanged(_)
                | SessionChange::Gtids(_)
                | SessionChange::TransactionCharacteristics(_)
                | SessionChange::TransactionState(_)
                | SessionChange::Unknown(..) => {}
            }
        }
        if let Some(why) = self.no_file.take() {
            return Err(Error::new(ErrorKind::Value(why)));
        }
        let more = ok.status.has(Status::MORE_RESULTS);
        self.ready.push_back(Event::Complete(completion_of(ok, rows)));
        Ok(more.then_some(Stage::Answer))
    }
}

/// What an OK packet, or the end of so many rows, says.
pub(super) fn completion_of(ok: &OkPacket<'_>, rows: Option<u64>) -> Completion {
    Completion {
        tag: "".into(),
        affected: Some(rows.unwrap_or(ok.affected)),
        matched: matched(ok.info),
        last_insert_id: ok.last_insert_id,
        warnings: ok.warnings,
        info: String::from_utf8_lossy(ok.info).into_owned(),
        more: ok.status.has(Status::MORE_RESULTS),
    }
}

/// Tells the packet behind the last row from a row: see [`Eof::is_one`].
pub(super) fn row_end(capabilities: Capabilities) -> impl Fn(u8, usize) -> bool {
    let longest = if capabilities.has(Capabilities::DEPRECATE_EOF) { MAX_FRAME } else { 9 };
    move |first, len| first == 0xFF || (first == 0xFE && len < longest)
}

/// The number behind `Rows matched: ` in the information an UPDATE ends with.
fn matched(info: &[u8]) -> Option<u64> {
    let rest = info.strip_prefix(b"Rows matched: ")?;
    let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    std::str::from_utf8(rest.get(..end)?).ok()?.parse().ok()
}
