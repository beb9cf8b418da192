//! The replies of several storage units to one COPY TO, made one stream: one header, one trailer.

use bytes::{Bytes, BytesMut};
use pando_kernel::error::Result;
use pando_sql::ast::Copy;

use super::binary;
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
}

#[derive(Debug)]
enum Kind {
    /// Lines, with nothing before and behind them.
    Lines,
    /// A line with the columns' names comes first.
    Header { form: Box<Form>, head: Box<Lines> },
    /// What has come of the binary form and is not passed on yet: the header, or the last bytes, which may be the trailer.
    Binary(BytesMut),
}

impl Splice {
    /// For a COPY TO.
    ///
    /// # Errors
    /// `Refused`, `Value` for a form that is none.
    pub(crate) fn new(copy: &Copy) -> Result<Self> {
        let kind = if form::is_binary(copy) {
            Kind::Binary(BytesMut::new())
        } else if form::has_header(copy) {
            let form = Form { skip: 0, ..Form::of_copy(copy)? };
            Kind::Header { head: Box::new(Lines::new(form.clone())), form: Box::new(form) }
        } else {
            Kind::Lines
        };
        Ok(Self { kind, is_first: true, begun: false })
    }

    /// The next unit's stream begins.
    pub(crate) fn next_stream(&mut self) {
        self.is_first = false;
        self.begun = false;
        match &mut self.kind {
            Kind::Lines => {}
            Kind::Header { form, head } => **head = Lines::new((**form).clone()),
            Kind::Binary(waiting) => waiting.clear(),
        }
    }

    /// What the client gets of a piece of a stream; `None` when nothing yet.
    ///
    /// # Errors
    /// `TooLarge` for a header that does not end.
    pub(crate) fn data(&mut self, data: Bytes) -> Result<Option<Bytes>> {
        match &mut self.kind {
            Kind::Header { head, .. } if !self.is_first && !self.begun => {
                head.push(&data);
                self.begun = head.next(false)?.is_some();
                Ok(self.begun.then(|| head.rest()).filter(|rest| !rest.is_empty()))
            }
            Kind::Lines | Kind::Header { .. } => Ok(Some(data)),
            Kind::Binary(waiting) => {
                waiting.extend_from_slice(&data);
                let mut out = BytesMut::new();
                if !self.begun {
                    let Some(length) = binary::header_length(waiting)? else { return Ok(None) };
                    let header = waiting.split_to(length);
                    if self.is_first {
                        out = header;
                    }
                    self.begun = true;
                }
                let whole = waiting.len().saturating_sub(binary::TRAILER.len());
                out.extend_from_slice(&waiting.split_to(whole));
                Ok((!out.is_empty()).then(|| out.freeze()))
            }
        }
    }

    /// What comes behind all streams.
    pub(crate) fn end(&self) -> Option<Bytes> {
        matches!(self.kind, Kind::Binary(_)).then(|| Bytes::from_static(binary::TRAILER))
    }
}

#[cfg(test)]
mod tests {
    use pando_sql::ast::{Copy, CopyDirection};

    use super::*;

    fn joined(options: &[(&str, &str)], streams: &[&[&[u8]]]) -> Vec<u8> {
        let copy = Copy {
            table: None,
            columns: None,
            query: None,
            direction: CopyDirection::ToClient,
            options: options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            columns_at: 0,
            filter: None,
        };
        let mut splice = Splice::new(&copy).unwrap();
        let mut out = Vec::new();
        for (i, stream) in streams.iter().enumerate() {
            if i > 0 {
                splice.next_stream();
            }
            for piece in *stream {
                out.extend(splice.data(Bytes::copy_from_slice(piece)).unwrap().unwrap_or_default());
            }
        }
        out.extend(splice.end().unwrap_or_default());
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
        assert_eq!(out, b"id,\"a\nb\"\n1,x\n2,y\n3,z\n");
    }

    #[test]
    fn a_binary_stream_has_one_header_and_one_trailer() {
        let header = binary::HEADER;
        let streams: [&[&[u8]]; 3] = [
            &[header, b"\0\x01\0\0\0\x01a", binary::TRAILER],
            &[&header[..5], &header[5..], b"\0\x01\0\0\0\x01b\xff", b"\xff"],
            &[header, binary::TRAILER],
        ];
        let expected = [header, b"\0\x01\0\0\0\x01a\0\x01\0\0\0\x01b", binary::TRAILER].concat();
        assert_eq!(joined(&[("format", "binary")], &streams), expected);
    }
}
