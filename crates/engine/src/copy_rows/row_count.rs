//! How many rows of COPY TO have come. A server sends each row as a piece by itself:
//! <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY>

use pando_sql::ast::Copy;

use super::binary;
use super::form;

/// The rows of all streams of a COPY TO.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowCount {
    framing: Framing,
    /// The next piece is the first of its stream.
    begins: bool,
    rows: u64,
}

/// What of a stream is no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Nothing,
    /// A line with the columns' names.
    Header,
    /// What the binary form begins and ends with.
    Binary,
}

impl RowCount {
    /// Of a COPY TO of which nothing has come yet. A form that no server takes has no rows.
    pub(crate) fn of(copy: &Copy) -> Self {
        let framing = match form::is_binary(copy) {
            true => Framing::Binary,
            false if form::has_header(copy).unwrap_or(false) => Framing::Header,
            false => Framing::Nothing,
        };
        Self { framing, begins: true, rows: 0 }
    }

    /// Another storage unit's stream begins.
    pub(crate) fn next_stream(&mut self) {
        self.begins = true;
    }

    /// Takes a piece of a stream as its server has sent it. Returns how many rows there have been with it.
    pub(crate) fn add(&mut self, piece: &[u8]) -> u64 {
        let is_first = std::mem::replace(&mut self.begins, false);
        let is_row = match self.framing {
            Framing::Nothing => true,
            Framing::Header => !is_first,
            Framing::Binary => {
                // It comes with the first row, or with the end where there is none.
                let header = if is_first { binary::HEADER } else { &[] };
                let rest = piece.strip_prefix(header).unwrap_or(piece);
                !rest.is_empty() && rest != binary::TRAILER
            }
        };
        self.rows += u64::from(is_row);
        self.rows
    }
}
