//! The replies of several storage units to one COPY TO, made one stream: one header, one trailer.

use bytes::{Bytes, BytesMut};
use pando_kernel::error::Result;
use pando_sql::ast::Copy;

use super::binary::{self, Tuples};
use super::form::{self, Form};
use super::line::Lines;

/// Where the stream under way stands.
#[derive(Debug)]
pub(crate) struct Splice {
    kind: Kind,
    /// The stream under way is the first.
    is_first: bool,
    /// Its header is behind us.
    begun: bool,
    /// What is passed on as it came.
    lines: Option<Bytes>,
}

#[derive(Debug)]
enum Kind {
    /// Lines, with nothing before and behind them.
    Lines,
    /// A line with the columns' names comes first.
    Header { form: Box<Form>, head: Box<Lines> },
    /// The binary form, and its header while that has not been passed on.
    Binary { tuples: Box<Tuples>, head: BytesMut },
}

impl Splice {
    /// For a COPY TO.
    ///
    /// # Errors
    /// `Refused`, `Value` for a form that is none.
    pub(crate) fn new(copy: &Copy) -> Result<Self> {
        let kind = if form::is_binary(copy) {
            Kind::Binary { tuples: Box::default(), head: binary::HEADER.into() }
        } else if form::has_header(copy)? {
            let form = Form { skip: 0, ..Form::of_copy(copy)? };
            Kind::Header { head: Box::new(Lines::new(form.clone())), form: Box::new(form) }
        } else {
            Kind::Lines
        };
        Ok(Self { kind, is_first: true, begun: false, lines: None })
    }

    /// The next unit's stream begins.
    pub(crate) fn next_stream(&mut self) {
        self.is_first = false;
        self.begun = false;
        match &mut self.kind {
            Kind::Lines => {}
            Kind::Header { form, head } => **head = Lines::new((**form).clone()),
            Kind::Binary { tuples, .. } => **tuples = Tuples::default(),
        }
    }

    /// Takes a piece of a stream; [`Splice::next`] gives what the client gets of it.
    pub(crate) fn push(&mut self, data: Bytes) {
        match &mut self.kind {
            Kind::Lines => self.lines = Some(data),
            Kind::Header { .. } if self.is_first || self.begun => self.lines = Some(data),
            Kind::Header { head, .. } => head.push(&data),
            Kind::Binary { tuples, .. } => tuples.push(&data),
        }
    }

    /// The next piece for the client: a row, where each piece of a stream is one.
    ///
    /// # Errors
    /// `TooLarge` for a header that does not end, 22P04 for what is no binary form.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>> {
        match &mut self.kind {
            Kind::Header { head, .. } if !self.is_first && !self.begun => {
                self.begun = head.next(false)?.is_some();
                Ok(self.begun.then(|| head.rest()).filter(|rest| !rest.is_empty()))
            }
            Kind::Lines | Kind::Header { .. } => Ok(self.lines.take()),
            Kind::Binary { tuples, head } => {
                let Some(tuple) = tuples.next(false)? else { return Ok(None) };
                Ok(Some(if head.is_empty() { tuple } else { behind(head, &tuple) }))
            }
        }
    }

    /// What comes behind all streams.
    pub(crate) fn end(&mut self) -> Option<Bytes> {
        match &mut self.kind {
            Kind::Binary { head, .. } => Some(behind(head, binary::TRAILER)),
            Kind::Lines | Kind::Header { .. } => None,
        }
    }
}

/// As a server does it, the header goes with what comes first.
fn behind(head: &mut BytesMut, data: &[u8]) -> Bytes {
    head.extend_from_slice(data);
    head.split().freeze()
}

#[cfg(test)]
mod tests {
    use pando_sql::ast::{Copy, CopyDirection};

    use super::*;

    fn copy(options: &[(&str, &str)]) -> Copy {
        Copy {
            table: None,
            columns: None,
            query: None,
            change: None,
            direction: CopyDirection::ToClient,
            options: options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            columns_at: 0,
            filter: None,
        }
    }

    fn joined(options: &[(&str, &str)], streams: &[&[&[u8]]]) -> Vec<Bytes> {
        let mut splice = Splice::new(&copy(options)).unwrap();
        let mut out = Vec::new();
        for (i, stream) in streams.iter().enumerate() {
            if i > 0 {
                splice.next_stream();
            }
            for piece in *stream {
                splice.push(Bytes::copy_from_slice(piece));
                while let Some(own) = splice.next().unwrap() {
                    out.push(own);
                }
            }
        }
        out.extend(splice.end());
        out
    }

    #[test]
    fn a_header_comes_once_whatever_it_holds() {
        let streams: [&[&[u8]]; 3] = [
            &[b"id,\"a\nb\"\n", b"1,x\n"],
            &[b"id,\"a", b"\nb\"\n2,y\n", b"3,z\n"],
            &[b"id,\"a\nb\"\n"],
        ];
        let out = joined(&[("format", "csv"), ("header", "true")], &streams);
        assert_eq!(out, [&b"id,\"a\nb\"\n"[..], b"1,x\n", b"2,y\n", b"3,z\n"]);
    }

    #[test]
    fn a_binary_stream_has_one_header_and_one_trailer() {
        let header = binary::HEADER;
        let streams: [&[&[u8]]; 3] = [
            &[header, b"\0\x01\0\0\0\x01a", binary::TRAILER],
            &[&header[..5], &header[5..], b"\0\x01\0\0\0\x01b\xff", b"\xff"],
            &[header, binary::TRAILER],
        ];
        let first = [header, b"\0\x01\0\0\0\x01a"].concat();
        let expected = [&first[..], b"\0\x01\0\0\0\x01b", binary::TRAILER];
        assert_eq!(joined(&[("format", "binary")], &streams), expected);
        let empty = [header, binary::TRAILER].concat();
        assert_eq!(joined(&[("format", "binary")], &[&[&empty], &[&empty]]), [empty]);
        for value in ["no", "2", ""] {
            assert!(Splice::new(&copy(&[("header", value)])).is_err(), "{value}");
        }
    }
}
