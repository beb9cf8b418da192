//! Replies that have come whole: one result, rows and all, or one OK, and nothing behind.

use std::ops::Range;
use std::sync::Arc;

use pando_kernel::{Column, Columns, Error, Format, Lists, Result, RowCodec, Rows, Whole};

use super::connection::Connection;
use super::job::{Stage, Work};
use super::lifted::{as_text, tells};
use super::reply::{MAX_COLUMNS, completion_of, row_end};
use crate::codec::{
    Capabilities, ColumnDefinition, Eof, HEADER_LEN, MAX_FRAME, OkPacket, Reader, Status,
    frame_payload_len,
};
use crate::error::malformed;
use crate::types::column_of;

/// Results whose columns a connection keeps, and how long their definitions are at most, in bytes.
const KEPT: usize = 32;
const LONGEST: usize = 4096;

/// Where the parts of a whole reply stand, headers included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts {
    /// The definitions of so many columns. Without any the reply is an OK.
    definitions: Range<usize>,
    columns: usize,
    /// So many rows.
    rows: Range<usize>,
    count: u32,
    /// The packet at the end.
    end: Range<usize>,
    /// Packets in all.
    packets: u8,
}

/// Goes over packets that follow each other.
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    sequence: u8,
    packets: u8,
}

impl<'a> Walk<'a> {
    /// The next packet's payload, if it is there, comes in one frame and carries the number that is due.
    fn peek(&self) -> Option<&'a [u8]> {
        let header = *self.bytes.get(self.at..)?.first_chunk::<HEADER_LEN>()?;
        let (start, len) = (self.at + HEADER_LEN, frame_payload_len(header));
        if header[3] != self.sequence || len == MAX_FRAME {
            return None;
        }
        self.bytes.get(start..start + len)
    }

    fn take(&mut self) -> Option<&'a [u8]> {
        let payload = self.peek()?;
        self.at += HEADER_LEN + payload.len();
        self.sequence = self.sequence.wrapping_add(1);
        // A reply of more packets than numbers is read piece by piece.
        self.packets = self.packets.checked_add(1)?;
        Some(payload)
    }
}

/// The parts of the reply at the front of these bytes, whose packets are counted from `sequence`, if all of it is there. What is wrong with one, or special, shows when
/// its pieces are read.
pub(super) fn begins(bytes: &[u8], sequence: u8, capabilities: Capabilities) -> Option<Parts> {
    let mut walk = Walk { bytes, at: 0, sequence, packets: 0 };
    let first = walk.take()?;
    if first.first() == Some(&0) {
        return Some(Parts {
            definitions: 0..0,
            columns: 0,
            rows: 0..0,
            count: 0,
            end: 0..walk.at,
            packets: walk.packets,
        });
    }
    let mut reader = Reader::new("result", first);
    let columns = reader.lenenc_int("number of columns").ok().filter(|_| reader.is_empty())?;
    let columns =
        usize::try_from(columns).ok().filter(|count| (1..=MAX_COLUMNS).contains(count))?;
    let definitions = walk.at;
    for _ in 0..columns {
        walk.take().filter(|payload| payload.first() != Some(&0xFF))?;
    }
    let definitions = definitions..walk.at;
    if !capabilities.has(Capabilities::DEPRECATE_EOF) {
        walk.take().filter(|payload| payload.first() == Some(&0xFE))?;
    }
    let (ends, rows, mut count) = (row_end(capabilities), walk.at, 0);
    loop {
        let payload = walk.peek()?;
        if payload.first().is_some_and(|first| ends(*first, payload.len())) {
            break;
        }
        walk.take()?;
        count += 1;
    }
    let rows = rows..walk.at;
    walk.take().filter(|payload| payload.first() == Some(&0xFE))?;
    let end = rows.end..walk.at;
    Some(Parts { definitions, columns, rows, count, end, packets: walk.packets })
}

/// Columns by the bytes they were defined with: the same statement is answered with the same ones nearly always, and reading them costs more than comparing.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// One that is met again moves halfway to the front.
    list: Vec<Defined>,
}

/// In this form, by these bytes.
type Defined = (Format, Box<[u8]>, Arc<[Column]>);

/// So many definitions of columns, of rows in this form, as a server with these capabilities sends them.
struct Definitions<'a> {
    bytes: &'a [u8],
    count: usize,
    format: Format,
    capabilities: Capabilities,
}

impl Seen {
    fn columns(&mut self, definitions: Definitions<'_>, lists: &Lists) -> Result<Arc<[Column]>> {
        let Definitions { bytes, count, format, capabilities } = definitions;
        let known = self.list.iter().position(|(kept, definitions, _)| {
            *kept == format && definitions.len() == bytes.len() && **definitions == *bytes
        });
        if let Some(at) = known {
            self.list.swap(at, at / 2);
            let found = self.list.get(at / 2).map(|(.., columns)| Arc::clone(columns));
            return found.ok_or_else(|| Error::internal("columns are lost"));
        }
        let mut walk =
            Walk { bytes, at: 0, sequence: bytes.get(3).copied().unwrap_or(0), packets: 0 };
        let mut list = Vec::with_capacity(count);
        while let Some(payload) = walk.take() {
            let definition = ColumnDefinition::decode(payload, capabilities).map_err(malformed)?;
            list.push(column_of(&definition, format));
        }
        let columns = lists.shared(list.into());
        if bytes.len() <= LONGEST {
            self.list.truncate(KEPT - 1);
            // In the middle, so that newcomers that take turns are still there when they come again.
            let middle = self.list.len() / 2;
            self.list.insert(middle, (format, bytes.into(), Arc::clone(&columns)));
        }
        Ok(columns)
    }
}

impl Connection {
    /// The reply to the oldest job, if it is one statement's and has come whole.
    ///
    /// # Errors
    /// `Protocol` when it cannot be read.
    pub(super) fn take_whole(&mut self) -> Result<Option<Whole>> {
        let capabilities = self.agreement.capabilities;
        let (bytes, sequence) = (self.wire.input.buffered(), self.wire.input.expected());
        let Some(parts) = begins(bytes, sequence, capabilities) else { return Ok(None) };
        let end = bytes.get(parts.end.start + HEADER_LEN..parts.end.end).unwrap_or_default();
        let is_eof = parts.columns > 0 && !capabilities.has(Capabilities::DEPRECATE_EOF);
        let ok = if is_eof {
            let eof = Eof::decode(end).map_err(malformed)?;
            OkPacket { status: eof.status, warnings: eof.warnings, ..OkPacket::default() }
        } else {
            OkPacket::decode(end, capabilities).map_err(malformed)?
        };
        if ok.status.has(Status::MORE_RESULTS) || !ok.session_state.is_empty() {
            return Ok(None);
        }
        let (status, rows) = (ok.status, (parts.columns > 0).then(|| u64::from(parts.count)));
        let mut lifted = false;
        let mut whole = Whole { columns: None, rows: None, completion: completion_of(&ok, rows) };
        if parts.columns > 0 {
            let work = self.jobs.front().map(|job| &job.work);
            let binary = matches!(work, Some(Work::Prepared { .. }));
            lifted = matches!(work, Some(Work::Lifted { .. }));
            let format = if binary { Format::Binary } else { Format::Text };
            let definitions = Definitions {
                bytes: bytes.get(parts.definitions.clone()).unwrap_or_default(),
                count: parts.columns,
                format,
                capabilities,
            };
            let list = self.seen.columns(definitions, &self.options.lists)?;
            if lifted && !tells(&list) {
                return Ok(None);
            }
            let codec: Arc<dyn RowCodec> =
                if binary { self.binary_rows.clone() } else { self.text_rows.clone() };
            whole.columns = Some(Columns { list, codec });
        }
        let mut bytes = self.wire.input.cut(parts.rows, parts.end.end, parts.packets);
        if let Some(columns) = whole.columns.as_ref().filter(|_| lifted) {
            bytes = as_text(&columns.list, &bytes)?;
        }
        whole.rows = (parts.count > 0).then_some(Rows { bytes, count: parts.count });
        self.stands(status)?;
        self.finish();
        self.pump();
        Ok(Some(whole))
    }

    /// Whether the oldest job is a statement that has been sent and not been answered yet, and may be answered whole.
    pub(super) fn may_come_whole(&self) -> bool {
        let is_statement = self.jobs.front().is_some_and(|job| {
            matches!(job.stage, Stage::Answer)
                && matches!(job.work, Work::Text(_) | Work::Prepared { .. } | Work::Lifted { .. })
        });
        is_statement && self.ready.is_empty() && self.no_file.is_none()
    }
}

#[cfg(test)]
mod tests;
