//! Writing one field of a line, so that its server reads the same value.

use bytes::BytesMut;
use pando_kernel::Value;
use pando_kernel::error::{Error, ErrorKind, Result};

use super::form::{Form, Letters, Rules, refused};

/// Letters that are more than themselves behind an escape of LOAD DATA.
const ESCAPED_IN_LOAD: &[u8] = b"0bnrtZN";

/// What a field of CSV is quoted for besides what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quoting {
    /// It is the only one of its line.
    pub(super) is_single: bool,
    /// FORCE QUOTE.
    pub(super) is_forced: bool,
}

/// Refuses a form in which not all values can be written.
///
/// # Errors
/// `Refused`.
pub(super) fn check_writable(form: &Form) -> Result<()> {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(|byte| ESCAPED_IN_LOAD.contains(byte));
    let has_letter = is_letter(form.escape.as_ref())
        || form.quote.is_none() && (is_letter(form.field.first()) || is_letter(form.line.first()));
    match form.rules {
        Rules::Load if has_letter => Err(refused("LOAD DATA with letters for marks")),
        Rules::Text | Rules::Csv if form.keeps_skipped => {
            Err(refused("the COPY option `header` with the value `match`"))
        }
        Rules::Load | Rules::Text | Rules::Csv => Ok(()),
    }
}

/// A value as the text that a statement without types would have for it, in the file's letters; `None` is NULL.
///
/// # Errors
/// `Value` for a text that these letters do not have.
pub(super) fn text_of(form: &Form, value: &Value) -> Result<Option<Vec<u8>>> {
    let is_load = form.rules == Rules::Load;
    let text = match value {
        Value::Null => return Ok(None),
        Value::Bool(flag) if is_load => u8::from(*flag).to_string(),
        Value::Bool(flag) => if *flag { "t" } else { "f" }.to_owned(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Decimal(number) => number.to_plain_string(),
        Value::Text(text) => text.clone(),
        Value::Bytes(bytes) if !is_load => {
            let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
            format!("\\x{}", digits.collect::<String>())
        }
        Value::Bytes(bytes) => {
            // The server reads letters of several bytes as one, and could miss a mark behind half of one.
            let is_whole = form.letters == Letters::Latin1 || std::str::from_utf8(bytes).is_ok();
            return if is_whole { Ok(Some(bytes.to_vec())) } else { Err(unwritable()) };
        }
    };
    if form.letters == Letters::Utf8 {
        return Ok(Some(text.into_bytes()));
    }
    let bytes = pando_sql::write_latin1(&text);
    if pando_sql::read_latin1(&bytes) == text { Ok(Some(bytes)) } else { Err(unwritable()) }
}

fn unwritable() -> Error {
    ErrorKind::Value("a value cannot be written in the form of this bulk data".into()).into()
}

/// A field of a line that a server is to read.
///
/// # Errors
/// `Value` where the form has no way to write it.
pub(super) fn stored_field(
    form: &Form,
    field: Option<&[u8]>,
    quoting: Quoting,
    out: &mut BytesMut,
) -> Result<()> {
    match form.rules {
        Rules::Text => exact_text_field(form, field, out),
        Rules::Csv => {
            csv_field(form, field, quoting, out);
            Ok(())
        }
        Rules::Load => load_field(form, field, out),
    }
}

/// A field of a line that a client is to read, as its server writes it.
///
/// # Errors
/// `Internal` for a form in which servers write no lines.
pub(super) fn told_field(
    form: &Form,
    field: Option<&[u8]>,
    quoting: Quoting,
    out: &mut BytesMut,
) -> Result<()> {
    match form.rules {
        Rules::Text => text_field(form, field, out),
        Rules::Csv => csv_field(form, field, quoting, out),
        Rules::Load => return Err(Error::internal("LOAD DATA tells no lines")),
    }
    Ok(())
}

/// As a server writes text, and so that no value reads as NULL.
fn exact_text_field(form: &Form, field: Option<&[u8]>, out: &mut BytesMut) -> Result<()> {
    let start = out.len();
    text_field(form, field, out);
    let Some(field) = field.filter(|_| out.get(start..) == Some(&form.null[..])) else {
        return Ok(());
    };
    let Some((first, rest)) = field.split_first() else { return Err(unwritable()) };
    out.truncate(start);
    out.extend_from_slice(format!("\\{first:03o}").as_bytes());
    text_field(form, Some(rest), out);
    if out.get(start..) == Some(&form.null[..]) { Err(unwritable()) } else { Ok(()) }
}

/// A field of PostgreSQL's text.
pub(super) fn text_field(form: &Form, field: Option<&[u8]>, out: &mut BytesMut) {
    let Some(field) = field else {
        out.extend_from_slice(&form.null);
        return;
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

/// A field of PostgreSQL's CSV.
pub(super) fn csv_field(form: &Form, field: Option<&[u8]>, quoting: Quoting, out: &mut BytesMut) {
    let quote = form.quote.unwrap_or(b'"');
    let escape = form.escape.unwrap_or(quote);
    let Some(field) = field else {
        out.extend_from_slice(&form.null);
        return;
    };
    let special = |byte: &u8| [quote, b'\n', b'\r'].contains(byte) || form.field.contains(byte);
    let quotes = quoting.is_forced
        || field == form.null
        || quoting.is_single && field == b"\\."
        || field.iter().any(special);
    if !quotes {
        out.extend_from_slice(field);
        return;
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

/// A field of LOAD DATA: <https://dev.mysql.com/doc/refman/8.4/en/load-data.html#load-data-field-line-handling>
fn load_field(form: &Form, field: Option<&[u8]>, out: &mut BytesMut) -> Result<()> {
    // An escape that is the quote, too, only ever doubles it.
    let escape = form.escape.filter(|escape| Some(*escape) != form.quote);
    let Some(field) = field else {
        match (escape, form.quote) {
            (Some(escape), _) => out.extend_from_slice(&[escape, b'N']),
            (None, Some(_)) => out.extend_from_slice(b"NULL"),
            (None, None) => return Err(unwritable()),
        }
        return Ok(());
    };
    if let Some(quote) = form.quote {
        out.extend_from_slice(&[quote]);
        for &byte in field {
            if byte == quote {
                out.extend_from_slice(&[quote]);
            } else if Some(byte) == escape {
                out.extend_from_slice(&[byte]);
            }
            out.extend_from_slice(&[byte]);
        }
        out.extend_from_slice(&[quote]);
        return Ok(());
    }
    for &byte in field {
        let is_mark = [form.field.first(), form.line.first()].contains(&Some(&byte));
        match escape {
            Some(escape) if is_mark || byte == escape => out.extend_from_slice(&[escape, byte]),
            None if is_mark => return Err(unwritable()),
            Some(_) | None => out.extend_from_slice(&[byte]),
        }
    }
    Ok(())
}
