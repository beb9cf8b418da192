//! Merged rows in the forms of COPY TO: <https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9>

use bytes::{Bytes, BytesMut};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::CopyForm;
use pando_kernel::row::Rows;
use pando_kernel::{Columns, Format, NeutralCodec, RowCodec};
use pando_sql::ast::Copy;

use super::binary;
use super::form::{self, Form};

/// Turns rows into what a COPY asks for.
#[derive(Debug)]
pub(crate) struct Encoder {
    kind: Kind,
    columns: Option<Columns>,
    /// What the first row has in front of it: the header of the binary form is not told alone.
    front: BytesMut,
}

#[derive(Debug)]
enum Kind {
    Text(Form),
    Csv(Form, Quoted),
    Binary,
}

/// Which columns are quoted whatever they hold.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Quoted {
    All,
    Named(Vec<String>),
}

impl Encoder {
    /// For a COPY TO.
    ///
    /// # Errors
    /// `Refused` and `Value` for a form that is not known.
    pub(crate) fn new(copy: &Copy) -> Result<Self> {
        let kind = if form::is_binary(copy) {
            Kind::Binary
        } else {
            let form = Form::of_copy(copy)?;
            match form.quote {
                Some(_) => Kind::Csv(form, quoted(copy)?),
                None => Kind::Text(form),
            }
        };
        Ok(Self { kind, columns: None, front: BytesMut::new() })
    }

    /// The format the rows must come in.
    pub(crate) fn format(&self) -> Format {
        match self.kind {
            Kind::Text(_) | Kind::Csv(..) => Format::Text,
            Kind::Binary => Format::Binary,
        }
    }

    /// The columns are known: the reply's form, and what comes before the first row.
    ///
    /// # Errors
    /// `Refused` when rows come in a form that is not the server's own.
    pub(crate) fn begin(&mut self, columns: Columns) -> Result<(CopyForm, Option<Bytes>)> {
        let format = self.format();
        let own = columns.codec.form() != NeutralCodec.form();
        if !own || columns.list.iter().any(|column| column.format != format) {
            return Err(Error::unsupported(30001, "these rows cannot be had as bulk data", ""));
        }
        let names: Vec<&str> = columns.list.iter().map(|column| &*column.name).collect();
        let mut out = BytesMut::new();
        match &self.kind {
            Kind::Text(form) if form.skip > 0 => {
                text_line(form, names.iter().map(|name| Some(name.as_bytes())), &mut out);
            }
            Kind::Csv(form, _) if form.skip > 0 => {
                let single = names.len() == 1;
                let fields = names.iter().map(|name| (Some(name.as_bytes()), single, false));
                csv_line(form, fields, &mut out);
            }
            Kind::Text(_) | Kind::Csv(..) => {}
            Kind::Binary => self.front.extend_from_slice(binary::HEADER),
        }
        let form = CopyForm { format, columns: vec![format; columns.list.len()] };
        self.columns = Some(columns);
        Ok((form, (!out.is_empty()).then(|| out.freeze())))
    }

    /// Some rows, one piece each.
    ///
    /// # Errors
    /// `Protocol` when they are broken, `TooLarge` when a row has more columns than the form can count.
    pub(crate) fn rows(&mut self, rows: &Rows) -> Result<Vec<Bytes>> {
        let missing = || Error::internal("rows came before their columns");
        let columns = self.columns.as_ref().ok_or_else(missing)?;
        let mut out = std::mem::take(&mut self.front);
        out.reserve(rows.bytes.len());
        let mut lines = Vec::with_capacity(rows.count as usize);
        let mut ranges = Vec::new();
        let forced: Vec<bool> =
            columns.list.iter().map(|column| self.quotes(&column.name)).collect();
        rows.for_each(columns, |body| {
            columns.codec.fields(&columns.list, body, &mut ranges)?;
            let single = ranges.len() == 1;
            let fields = ranges.iter().map(|range| body.get(range.clone()?));
            match &self.kind {
                Kind::Text(form) => text_line(form, fields, &mut out),
                Kind::Csv(form, _) => {
                    let fields =
                        fields.zip(&forced).map(|(field, forced)| (field, single, *forced));
                    csv_line(form, fields, &mut out);
                }
                Kind::Binary => {
                    let count = i16::try_from(ranges.len())
                        .map_err(|_| ErrorKind::TooLarge("too many columns".into()))?;
                    out.extend_from_slice(&count.to_be_bytes());
                    for field in fields {
                        let length = field.map_or(Ok(-1), |field| i32::try_from(field.len()));
                        let length = length
                            .map_err(|_| ErrorKind::TooLarge("a field is too long".into()))?;
                        out.extend_from_slice(&length.to_be_bytes());
                        out.extend_from_slice(field.unwrap_or_default());
                    }
                }
            }
            lines.push(out.split().freeze());
            Ok(())
        })?;
        self.front = out;
        Ok(lines)
    }

    /// What comes behind the last row.
    pub(crate) fn end(&mut self) -> Option<Bytes> {
        matches!(self.kind, Kind::Binary).then(|| {
            self.front.extend_from_slice(binary::TRAILER);
            self.front.split().freeze()
        })
    }

    fn quotes(&self, column: &str) -> bool {
        match &self.kind {
            Kind::Csv(_, Quoted::All) => true,
            Kind::Csv(_, Quoted::Named(names)) => names.iter().any(|name| name == column),
            Kind::Text(_) | Kind::Binary => false,
        }
    }
}

/// The columns of FORCE QUOTE.
fn quoted(copy: &Copy) -> Result<Quoted> {
    let Some((_, list)) = copy.options.iter().find(|(name, _)| name == "force_quote") else {
        return Ok(Quoted::Named(Vec::new()));
    };
    if list.trim() == "*" {
        return Ok(Quoted::All);
    }
    let list = list.trim().trim_start_matches('(').trim_end_matches(')');
    let mut names = Vec::new();
    for name in list.split(',').map(str::trim) {
        let plain = match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
            Some(quoted) => quoted.replace("\"\"", "\""),
            None => name.to_lowercase(),
        };
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        // A comment beside it, or `U&"…"`.
        let is_odd = !name.starts_with('"') && !plain.chars().all(is_word);
        if plain.is_empty() || plain.contains('"') || is_odd {
            return Err(form::refused("this FORCE QUOTE"));
        }
        names.push(plain);
    }
    Ok(Quoted::Named(names))
}

fn text_line<'a>(form: &Form, fields: impl Iterator<Item = Option<&'a [u8]>>, out: &mut BytesMut) {
    for (i, field) in fields.enumerate() {
        if i > 0 {
            out.extend_from_slice(&form.field);
        }
        let Some(field) = field else {
            out.extend_from_slice(&form.null);
            continue;
        };
        for &byte in field {
            let letter = match byte {
                8 => Some(b'b'),
                12 => Some(b'f'),
                b'\n' => Some(b'n'),
                b'\r' => Some(b'r'),
                b'\t' => Some(b't'),
                11 => Some(b'v'),
                b'\\' => Some(b'\\'),
                other => form.field.contains(&other).then_some(other),
            };
            match letter {
                Some(letter) => out.extend_from_slice(&[b'\\', letter]),
                None => out.extend_from_slice(&[byte]),
            }
        }
    }
    out.extend_from_slice(b"\n");
}

/// Fields come with whether each is its line's only one, and whether it is quoted in any case.
fn csv_line<'a>(
    form: &Form,
    fields: impl Iterator<Item = (Option<&'a [u8]>, bool, bool)>,
    out: &mut BytesMut,
) {
    let quote = form.quote.unwrap_or(b'"');
    let escape = form.escape.unwrap_or(quote);
    for (i, (field, single, forced)) in fields.enumerate() {
        if i > 0 {
            out.extend_from_slice(&form.field);
        }
        let Some(field) = field else {
            out.extend_from_slice(&form.null);
            continue;
        };
        let special = |byte: &u8| [quote, b'\n', b'\r'].contains(byte) || form.field.contains(byte);
        let quotes =
            forced || field == form.null || single && field == b"\\." || field.iter().any(special);
        if !quotes {
            out.extend_from_slice(field);
            continue;
        }
        out.extend_from_slice(&[quote]);
        for &byte in field {
            if byte == quote || byte == escape {
                out.extend_from_slice(&[escape]);
            }
            out.extend_from_slice(&[byte]);
        }
        out.extend_from_slice(&[quote]);
    }
    out.extend_from_slice(b"\n");
}
