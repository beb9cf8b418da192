//! Cutting a byte stream into lines, and a line into fields.

use bytes::{Bytes, BytesMut};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::{Format, Value};

use super::change::{Changed, FieldChanges, Standing, bounded};
use super::form::{Form, Letters, Rules, letters_of};
use super::step::{Place, Reader, Step};
use super::write::{Quoting, stored_field, text_of, told_field};
use super::{MAX_RECORD, malformed, write};

/// Lines out of chunks that may end anywhere.
#[derive(Debug)]
pub(crate) struct Lines {
    reader: Reader,
    rest: BytesMut,
    /// How far the rest has been looked at, and how it stood there.
    seen: usize,
    place: Place,
    /// An end mark stands at the line's beginning.
    marked: bool,
    skip: u64,
    /// The lines that were skipped, or others in their place.
    skipped: BytesMut,
    ended: bool,
}

impl Lines {
    pub(crate) fn new(form: Form) -> Self {
        let mut lines = Self {
            skip: form.skip,
            reader: Reader::new(form),
            rest: BytesMut::new(),
            seen: 0,
            place: Place::Begin,
            marked: false,
            skipped: BytesMut::new(),
            ended: false,
        };
        lines.place = lines.beginning();
        lines
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
    /// `TooLarge` when a line is longer than 64 MiB, 22P04 where the server cannot read on.
    pub(crate) fn next(&mut self, last: bool) -> Result<Option<Bytes>> {
        loop {
            let marked = std::mem::take(&mut self.marked);
            let Some(line) = self.cut(last)? else {
                self.marked |= marked;
                return Ok(None);
            };
            if self.form().rules != Rules::Load && is_end_mark(&line) {
                self.ended = true;
                self.rest.clear();
                self.seen = 0;
                return Ok(None);
            }
            if std::mem::take(&mut self.marked) || marked {
                return Err(malformed("end-of-copy marker corrupt", None));
            }
            if self.skip > 0 {
                self.skip -= 1;
                self.place = self.beginning();
                let stays =
                    if self.form().keeps_skipped { &line[..] } else { self.reader.line_end() };
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

    fn form(&self) -> &Form {
        &self.reader.form
    }

    /// How the next line begins.
    fn beginning(&self) -> Place {
        match (self.form().rules, self.skip) {
            (Rules::Load, 1..) => Place::Skipped,
            (Rules::Load, 0) if !self.form().starting.is_empty() => Place::Before,
            (Rules::Load | Rules::Text | Rules::Csv, _) => Place::Begin,
        }
    }

    fn cut(&mut self, last: bool) -> Result<Option<Bytes>> {
        if self.place == Place::Before && !self.pass_over() {
            return Ok(None);
        }
        while self.seen < self.rest.len() {
            match self.reader.step(&self.rest[self.seen..], self.place, last)? {
                Step::Wait => break,
                Step::Byte { take, .. } | Step::Escaped { take, .. } => {
                    self.seen += take;
                    if self.place == Place::Begin {
                        self.place = Place::Plain;
                    }
                }
                // Whatever is put behind it would become a part of it.
                Step::Broken { .. } => {
                    self.place = Place::Quoted;
                    break;
                }
                Step::Mark { .. } if self.seen > 0 => {
                    let message = "end-of-copy marker is not alone on its line";
                    return Err(malformed(message, None));
                }
                Step::Mark { take } => {
                    self.seen += take;
                    self.marked = true;
                    self.place = Place::Plain;
                }
                Step::Open { take } => {
                    self.seen += take;
                    self.place = Place::Quoted;
                }
                Step::Close { take } => {
                    self.seen += take;
                    self.place = Place::Plain;
                }
                Step::Field { take, .. } => {
                    self.seen += take;
                    self.place = Place::Begin;
                }
                Step::Line { take, .. } => {
                    let line = self.rest.split_to(self.seen + take).freeze();
                    self.reader.learn(&line);
                    self.seen = 0;
                    self.place = self.beginning();
                    return Ok(Some(line));
                }
            }
        }
        if self.rest.len() > MAX_RECORD {
            return Err(ErrorKind::TooLarge("a line of bulk data exceeds 64 MiB".into()).into());
        }
        // A prefix with nothing behind it is no line.
        if !last || self.rest.len() <= self.form().starting.len() {
            return Ok(None);
        }
        let mut line = self.rest.split();
        if self.place != Place::Quoted {
            line.extend_from_slice(self.reader.line_end());
        }
        self.seen = 0;
        self.place = self.beginning();
        Ok(Some(line.freeze()))
    }

    /// Drops what stands before the line's prefix, other lines included; false where it is still to come.
    fn pass_over(&mut self) -> bool {
        let starting = &self.reader.form.starting;
        let length = starting.len();
        match self.rest.windows(length).position(|window| window == starting) {
            Some(at) => {
                drop(self.rest.split_to(at));
                self.seen = length;
                self.place = Place::Begin;
                true
            }
            None => {
                let passed = self.rest.len().saturating_sub(length - 1);
                drop(self.rest.split_to(passed));
                false
            }
        }
    }

    /// The fields of a line.
    ///
    /// # Errors
    /// `Value` when a field is not UTF-8, 22P04 for quotes that do not end.
    pub(crate) fn fields(&self, line: &[u8]) -> Result<Vec<Value>> {
        let starting = &self.form().starting;
        let mut line = line.strip_prefix(&starting[..]).unwrap_or(line);
        let mut fields = Vec::new();
        loop {
            let (field, behind) = self.field(line)?;
            fields.push(field.value(self.form())?);
            match behind {
                Some(behind) => line = behind,
                None => return Ok(fields),
            }
        }
    }

    /// As [`super::Records::reads_as`].
    pub(super) fn reads_as(&mut self, charset: &str) -> Result<()> {
        self.reader.form.letters = letters_of(Some(charset))?;
        Ok(())
    }

    /// As [`write::check_writable`].
    pub(super) fn check_writable(&self) -> Result<()> {
        write::check_writable(self.form())
    }

    /// A line with some of its fields written anew; all others, and what stands around them, keep their bytes.
    ///
    /// # Errors
    /// As [`Lines::fields`], `Value` for a field that cannot be turned or written, `TooLarge` for a line over 64 MiB.
    pub(super) fn changed(&self, line: &[u8], changes: &FieldChanges) -> Result<Changed> {
        let starting = &self.form().starting;
        let prefix = if line.starts_with(starting) { starting.len() } else { 0 };
        let mut out = BytesMut::with_capacity(line.len() + line.len() / 2);
        out.extend_from_slice(&line[..prefix]);
        let mut rest = &line[prefix..];
        for at in 0.. {
            let (field, behind) = self.field(rest)?;
            let (raw, mark) = rest.split_at(field.length);
            let mark = &mark[..mark.len() - behind.map_or(0, <[u8]>::len)];
            let standing = changes.at(at);
            match standing {
                None => out.extend_from_slice(raw),
                Some(standing) => {
                    let came = Came { raw, field };
                    self.write_changed(changes, standing, came, &mut out)?;
                }
            }
            match behind {
                Some(behind) => {
                    out.extend_from_slice(mark);
                    rest = behind;
                }
                // It ended with the data only, perhaps inside of quotes that are closed by now.
                None if standing.is_some() && mark.is_empty() => {
                    out.extend_from_slice(self.reader.line_end());
                    return counted(changes, at + 1, out);
                }
                None => {
                    out.extend_from_slice(mark);
                    return counted(changes, at + 1, out);
                }
            }
        }
        Err(Error::internal("a line without an end"))
    }

    /// The line with a further field in front.
    ///
    /// # Errors
    /// `Value` for a value that the form has no way to write.
    pub(super) fn led(&self, line: &[u8], value: &Value) -> Result<Bytes> {
        let form = self.form();
        let prefix = if line.starts_with(&form.starting) { form.starting.len() } else { 0 };
        let mut out = BytesMut::with_capacity(line.len() + 24);
        out.extend_from_slice(&line[..prefix]);
        let text = text_of(form, value)?;
        let quoting = Quoting { is_single: false, is_forced: false };
        stored_field(form, text.as_deref(), quoting, &mut out)?;
        out.extend_from_slice(&form.field);
        out.extend_from_slice(&line[prefix..]);
        bounded(out)
    }

    /// The line with another value in one of its fields.
    ///
    /// # Errors
    /// As [`Lines::fields`], `Value` for a value that the form has no way to write.
    pub(super) fn with(&self, line: &[u8], at: usize, value: &Value) -> Result<Bytes> {
        let form = self.form();
        let prefix = if line.starts_with(&form.starting) { form.starting.len() } else { 0 };
        let (front, mut rest) = line.split_at(prefix);
        let mut out = BytesMut::with_capacity(line.len() + 24);
        out.extend_from_slice(front);
        for _ in 0..at {
            let (_, behind) = self.field(rest)?;
            let behind = behind.ok_or_else(|| Error::internal("a line without that field"))?;
            out.extend_from_slice(&rest[..rest.len() - behind.len()]);
            rest = behind;
        }
        let (field, _) = self.field(rest)?;
        let text = text_of(form, value)?;
        let quoting = Quoting { is_single: false, is_forced: false };
        stored_field(form, text.as_deref(), quoting, &mut out)?;
        // It may have ended with the data only.
        out.extend_from_slice(match &rest[field.length..] {
            [] => self.reader.line_end(),
            end => end,
        });
        bounded(out)
    }

    /// What a field becomes, with marks between.
    fn write_changed(
        &self,
        changes: &FieldChanges,
        standing: Standing<'_>,
        came: Came<'_>,
        out: &mut BytesMut,
    ) -> Result<()> {
        let (form, change) = (self.form(), standing.change);
        let Came { raw, field } = came;
        let value = match (field.is_null(form), changes.is_typed()) {
            (true, _) => Value::Null,
            (false, true) => changes.value(change, &field.bytes, Format::Text)?,
            (false, false) => field.value(form).map_err(|error| changes.named(change, error))?,
        };
        let values = changes.values(change, &value)?;
        let kept = change.keeps.then_some(None);
        for (n, turned) in kept.into_iter().chain(values.iter().map(Some)).enumerate() {
            if n > 0 {
                out.extend_from_slice(&form.field);
            }
            match turned {
                Some(turned) if !value.is_null() => {
                    let into = standing.into + n;
                    self.write_value(changes, Standing { into, change }, turned, out)?;
                }
                // The field that stays, and NULL, which is written already.
                Some(_) | None => out.extend_from_slice(raw),
            }
        }
        Ok(())
    }

    fn write_value(
        &self,
        changes: &FieldChanges,
        standing: Standing<'_>,
        value: &Value,
        out: &mut BytesMut,
    ) -> Result<()> {
        let form = self.form();
        let is_forced = changes.forced.get(standing.into).copied().unwrap_or(false);
        let quoting = Quoting { is_single: changes.go() == 1, is_forced };
        if changes.is_typed() {
            let raw = changes.raw(standing, value, Format::Text)?;
            return told_field(form, raw.as_deref(), quoting, out);
        }
        let written = text_of(form, value)
            .and_then(|field| stored_field(form, field.as_deref(), quoting, out));
        written.map_err(|error| changes.named(standing.change, error))
    }

    /// The field at a line's beginning, and what stands behind its terminator; `None` where the line ends.
    fn field<'a>(&self, line: &'a [u8]) -> Result<(Field<'a>, Option<&'a [u8]>)> {
        let mut field = Field::default();
        let (mut at, mut place) = (0, Place::Begin);
        while let Some(data) = line.get(at..).filter(|data| !data.is_empty()) {
            field.raw = &line[..at];
            field.length = at;
            let step = self.reader.step(data, place, true)?;
            match step {
                Step::Byte { take, byte } | Step::Escaped { take, byte } => {
                    field.has_escaped_n |= byte == b'N' && matches!(step, Step::Escaped { .. });
                    field.bytes.push(byte);
                    at += take;
                    if place == Place::Begin {
                        place = Place::Plain;
                    }
                }
                Step::Broken { .. } | Step::Wait if self.form().rules == Rules::Text => {
                    field.length = line.len();
                    return Ok((field, None));
                }
                // MySQL keeps it.
                Step::Broken { take } => {
                    field.bytes.extend_from_slice(&data[..take]);
                    at += take;
                }
                Step::Mark { take } => {
                    field.bytes.push(b'.');
                    at += take;
                    place = Place::Plain;
                }
                Step::Open { take } => {
                    field.quoted = true;
                    at += take;
                    place = Place::Quoted;
                }
                Step::Close { take } => {
                    at += take;
                    place = Place::Plain;
                }
                Step::Field { take, quoted } => {
                    field.length = at + usize::from(quoted);
                    return Ok((field, line.get(at + take..)));
                }
                Step::Line { quoted, .. } => {
                    field.length = at + usize::from(quoted);
                    return Ok((field, None));
                }
                Step::Wait => return Ok((field, None)),
            }
        }
        field.raw = line;
        field.length = line.len();
        if place == Place::Quoted {
            if self.form().rules == Rules::Csv {
                return Err(malformed("unterminated CSV quoted field", None));
            }
            // To MySQL these were no quotes then.
            field.quoted = false;
            field.bytes.splice(0..0, self.form().quote);
        }
        Ok((field, None))
    }
}

/// What was read of a field.
#[derive(Debug, Default)]
struct Field<'a> {
    bytes: Vec<u8>,
    /// As it stands in the line.
    raw: &'a [u8],
    /// What it takes of the line, its quotes included.
    length: usize,
    quoted: bool,
    has_escaped_n: bool,
}

/// A field with all that it takes of the line, its quotes included.
struct Came<'a> {
    raw: &'a [u8],
    field: Field<'a>,
}

impl Field<'_> {
    fn is_null(&self, form: &Form) -> bool {
        match form.rules {
            Rules::Text => self.raw == form.null,
            Rules::Csv => !self.quoted && self.raw == form.null,
            // <https://dev.mysql.com/doc/refman/8.4/en/load-data.html#load-data-field-line-handling>
            Rules::Load => {
                self.has_escaped_n && self.bytes.len() == 1
                    || form.quote.is_some() && !self.quoted && self.bytes == b"NULL"
            }
        }
    }

    fn value(self, form: &Form) -> Result<Value> {
        if self.is_null(form) {
            return Ok(Value::Null);
        }
        if form.letters == Letters::Latin1 {
            return Ok(Value::Text(pando_sql::read_latin1(&self.bytes)));
        }
        let text = String::from_utf8(self.bytes);
        Ok(Value::Text(text.map_err(|_| ErrorKind::Value("bulk data is not UTF-8".into()))?))
    }
}

/// A line with so many fields, if that is their number.
fn counted(changes: &FieldChanges, fields: usize, line: BytesMut) -> Result<Changed> {
    match fields == changes.come() {
        true => bounded(line).map(Changed::Record),
        false => Ok(Changed::Miscounted(fields)),
    }
}

fn is_end_mark(line: &[u8]) -> bool {
    matches!(line, b"\\.\n" | b"\\.\r\n" | b"\\.\r" | b"\\.")
}
