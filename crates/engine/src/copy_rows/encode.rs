//! Merged rows in the forms of COPY TO: <https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9>

use bytes::{Bytes, BytesMut};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::CopyForm;
use pando_kernel::row::Rows;
use pando_kernel::{Columns, Format, NeutralCodec, RowCodec};
use pando_sql::ast::Copy;

use super::binary;
use super::form::{self, Form};
use super::write::{Quoting, csv_field, text_field};

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
pub(super) enum Quoted {
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
                let quoting = Quoting { is_single: single, is_forced: false };
                let fields = names.iter().map(|name| (Some(name.as_bytes()), quoting));
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
                    let quoting = |forced: &bool| Quoting { is_single: single, is_forced: *forced };
                    let fields =
                        fields.zip(&forced).map(|(field, forced)| (field, quoting(forced)));
                    csv_line(form, fields, &mut out);
                }
                Kind::Binary => {
                    let count = i16::try_from(ranges.len())
                        .map_err(|_| ErrorKind::TooLarge("too many columns".into()))?;
                    out.extend_from_slice(&count.to_be_bytes());
                    for field in fields {
                        binary::put_field(field, &mut out)?;
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
            Kind::Csv(_, quoted) => quoted.has(column),
            Kind::Text(_) | Kind::Binary => false,
        }
    }
}

impl Quoted {
    pub(super) fn has(&self, column: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.iter().any(|name| name == column),
        }
    }
}

/// The columns of FORCE QUOTE.
pub(super) fn quoted(copy: &Copy) -> Result<Quoted> {
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

/// A line of PostgreSQL's text.
pub(super) fn text_line<'a>(
    form: &Form,
    fields: impl Iterator<Item = Option<&'a [u8]>>,
    out: &mut BytesMut,
) {
    for (i, field) in fields.enumerate() {
        if i > 0 {
            out.extend_from_slice(&form.field);
        }
        text_field(form, field, out);
    }
    out.extend_from_slice(b"\n");
}

/// A line of PostgreSQL's CSV.
pub(super) fn csv_line<'a>(
    form: &Form,
    fields: impl Iterator<Item = (Option<&'a [u8]>, Quoting)>,
    out: &mut BytesMut,
) {
    for (i, (field, quoting)) in fields.enumerate() {
        if i > 0 {
            out.extend_from_slice(&form.field);
        }
        csv_field(form, field, quoting, out);
    }
    out.extend_from_slice(b"\n");
}
