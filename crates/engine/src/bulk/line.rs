//! Cutting a byte stream into lines, and a line into fields.

use bytes::{Buf, Bytes, BytesMut};
use pando_kernel::Value;
use pando_kernel::error::{ErrorKind, Result};

use super::MAX_RECORD;
use super::form::Form;

/// Lines out of chunks that may end anywhere.
#[derive(Debug)]
pub(crate) struct Lines {
    form: Form,
    rest: BytesMut,
    /// How far the rest has been looked at, and how it stood there.
    seen: usize,
    inside: bool,
    escaped: bool,
    skip: u64,
    /// The lines that were skipped, or others in their place.
    skipped: BytesMut,
    ended: bool,
}

impl Lines {
    pub(crate) fn new(form: Form) -> Self {
        let skip = form.skip;
        Self {
            form,
            rest: BytesMut::new(),
            seen: 0,
            inside: false,
            escaped: false,
            skip,
            skipped: BytesMut::new(),
            ended: false,
        }
    }

    /// Adds data from the client.
    pub(crate) fn push(&mut self, data: &Bytes) {
        if !self.ended {
            self.rest.extend_from_slice(data);
        }
    }

    /// The next whole line with its terminator; at the end of the data (`last`) also a line without one.
    ///
    /// # Errors
    /// `TooLarge` when a line is longer than 64 MiB.
    pub(crate) fn next(&mut self, last: bool) -> Result<Option<Bytes>> {
        loop {
            let Some(line) = self.cut(last)? else { return Ok(None) };
            if self.form.end_mark && matches!(&line[..], b"\\.\n" | b"\\.\r\n" | b"\\.") {
                self.ended = true;
                self.rest.clear();
                self.seen = 0;
                return Ok(None);
            }
            if self.skip > 0 {
                self.skip -= 1;
                let stays = if self.form.keeps_skipped { &line[..] } else { &self.form.line[..] };
                self.skipped.extend_from_slice(stays);
                continue;
            }
            return Ok(Some(line));
        }
    }

    /// Lines every batch begins with, because the statement says that they are skipped.
    pub(crate) fn skipped(&self) -> Bytes {
        self.skipped.clone().freeze()
    }

    /// What stands behind the lines taken so far.
    pub(crate) fn rest(&mut self) -> Bytes {
        self.seen = 0;
        self.rest.split().freeze()
    }

    fn cut(&mut self, last: bool) -> Result<Option<Bytes>> {
        let mark = *self.form.line.last().unwrap_or(&b'\n');
        while let Some(&byte) = self.rest.get(self.seen) {
            self.seen += 1;
            if std::mem::take(&mut self.escaped) {
                continue;
            }
            if self.form.quote == Some(byte) {
                self.inside = !self.inside;
            } else if self.form.escape == Some(byte) && (self.inside || !self.form.csv_escape()) {
                self.escaped = true;
            } else if byte == mark
                && !self.inside
                && self.rest[..self.seen].ends_with(&self.form.line)
            {
                let line = self.rest.split_to(self.seen).freeze();
                self.seen = 0;
                return Ok(Some(line));
            }
        }
        if self.rest.len() > MAX_RECORD {
            return Err(ErrorKind::TooLarge("a line of bulk data exceeds 64 MiB".into()).into());
        }
        if last && self.rest.has_remaining() {
            self.seen = 0;
            self.inside = false;
            let mut line = self.rest.split();
            line.extend_from_slice(&self.form.line);
            return Ok(Some(line.freeze()));
        }
        Ok(None)
    }

    /// The fields of a line.
    ///
    /// # Errors
    /// `Value` when a field is not UTF-8.
    pub(crate) fn fields(&self, line: &[u8]) -> Result<Vec<Value>> {
        let form = &self.form;
        let mut line = line.strip_suffix(&form.line[..]).unwrap_or(line);
        if form.line == b"\n" {
            line = line.strip_suffix(b"\r").unwrap_or(line);
        }
        if !form.starting.is_empty() {
            let at = line.windows(form.starting.len()).position(|w| w == form.starting);
            line = at.map_or(&[][..], |at| &line[at + form.starting.len()..]);
        }
        let mut fields = Vec::new();
        let mut at = 0;
        loop {
            let (value, end) = self.field(line, at)?;
            fields.push(value);
            if end >= line.len() {
                return Ok(fields);
            }
            at = end + form.field.len();
        }
    }

    /// The field that begins at `at`, and where it ends (at the terminator or the line's end).
    fn field(&self, line: &[u8], at: usize) -> Result<(Value, usize)> {
        let form = &self.form;
        let mut out = Vec::new();
        let mut i = at;
        let mut quoted = false;
        let mut inside = false;
        while i < line.len() {
            let byte = line[i];
            if inside {
                let next = line.get(i + 1).copied();
                if form.escape == Some(byte) && form.escape != form.quote && next.is_some() {
                    out.push(
                        next.map_or(
                            byte,
                            |next| if form.csv_escape() { next } else { special(next) },
                        ),
                    );
                    i += 2;
                } else if form.quote == Some(byte) && form.doubled && next == form.quote {
                    out.push(byte);
                    i += 2;
                } else if form.quote == Some(byte) {
                    inside = false;
                    i += 1;
                } else {
                    out.push(byte);
                    i += 1;
                }
                continue;
            }
            if line[i..].starts_with(&form.field) {
                break;
            }
            if form.quote == Some(byte) && (i == at || form.csv_escape()) {
                inside = true;
                quoted = true;
                i += 1;
            } else if form.escape == Some(byte) && !form.csv_escape() && i + 1 < line.len() {
                out.push(special(line[i + 1]));
                i += 2;
            } else {
                out.push(byte);
                i += 1;
            }
        }
        if !quoted && line.get(at..i) == Some(&form.null[..]) {
            return Ok((Value::Null, i));
        }
        let text = String::from_utf8(out)
            .map_err(|_| ErrorKind::Value("bulk data is not UTF-8".into()))?;
        Ok((Value::Text(text), i))
    }
}

impl Form {
    /// CSV: the escape counts only inside quotes.
    fn csv_escape(&self) -> bool {
        self.quote.is_some() && self.end_mark
    }
}

/// The character an escaped letter stands for.
fn special(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        b'0' => 0,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> Form {
        Form {
            field: b"\t".to_vec(),
            line: b"\n".to_vec(),
            starting: Vec::new(),
            quote: None,
            escape: Some(b'\\'),
            null: b"\\N".to_vec(),
            doubled: false,
            skip: 0,
            keeps_skipped: false,
            end_mark: true,
        }
    }

    fn csv() -> Form {
        Form {
            field: b",".to_vec(),
            quote: Some(b'"'),
            escape: Some(b'"'),
            null: Vec::new(),
            doubled: true,
            ..text()
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    fn check(form: Form, chunks: &[&str], expected: &[&[&str]]) {
        let mut lines = Lines::new(form);
        let mut seen: Vec<Vec<String>> = Vec::new();
        let mut take = |lines: &mut Lines, last| {
            while let Some(line) = lines.next(last).unwrap() {
                let fields = lines.fields(&line).unwrap();
                let show = |value: Value| match value {
                    Value::Null => "NULL".to_owned(),
                    Value::Text(text) => text,
                    other => format!("{other:?}"),
                };
                seen.push(fields.into_iter().map(show).collect());
            }
        };
        for chunk in chunks {
            lines.push(&Bytes::copy_from_slice(chunk.as_bytes()));
            take(&mut lines, false);
        }
        take(&mut lines, true);
        assert_eq!(seen, expected);
    }

    #[test]
    fn lines_may_be_cut_anywhere() {
        check(text(), &["1\ta", "b\n2", "\t\\N\n"], &[&["1", "ab"], &["2", "NULL"]]);
    }

    #[test]
    fn an_escaped_line_end_belongs_to_its_field() {
        check(text(), &["1\ta\\\nb\\tc\n"], &[&["1", "a\nb\tc"]]);
    }

    #[test]
    fn the_end_mark_ends_the_data() {
        check(text(), &["1\n\\.\nrubbish\n"], &[&["1"]]);
    }

    #[test]
    fn csv_quotes_hold_commas_line_ends_and_doubled_quotes() {
        check(csv(), &["1,\"a,\"\"b\n", "c\",\n"], &[&["1", "a,\"b\nc", "NULL"]]);
    }

    #[test]
    fn a_quoted_empty_csv_field_is_not_null() {
        check(csv(), &["\"\",x\n"], &[&["", "x"]]);
    }

    #[test]
    fn the_last_line_needs_no_terminator() {
        check(text(), &["1\t2"], &[&["1", "2"]]);
    }
}
