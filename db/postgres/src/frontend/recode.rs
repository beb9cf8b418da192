//! Messages in the client's encoding: what comes is made UTF-8 before it is read, what goes is turned last of all.
//! <https://www.postgresql.org/docs/current/multibyte.html#MULTIBYTE-AUTOMATIC-CONVERSION>

use bytes::{BufMut, Bytes, BytesMut};
use pando_kernel::{Error, Format, Result};

use super::wire::Frame;
use crate::codec::frame::{HEADER, LARGE_LIMIT, header};
use crate::codec::{Reader, put_cstr, put_value};
use crate::encoding::{Encoding, not_utf8};
use crate::types::oid;

/// How a value's bytes hold text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// They are text.
    Text,
    /// They are text behind one byte that tells a version.
    TextBehindVersion,
    /// None.
    Nothing,
    /// They may hold texts among other things.
    Unknown,
}

/// What the values of a type hold in a format.
pub(super) fn holds(type_id: u32, format: Format) -> Holds {
    match (format, type_id) {
        (Format::Text, _) => Holds::Text,
        (Format::Binary, oid::JSONB) => Holds::TextBehindVersion,
        (Format::Binary, type_id) if TEXTS.contains(&type_id) => Holds::Text,
        (Format::Binary, type_id) if is_plain(type_id) => Holds::Nothing,
        (Format::Binary, _) => Holds::Unknown,
    }
}

/// `name`, `text`, `json`, `unknown`, `bpchar`, `varchar`, `cstring`.
const TEXTS: [u32; 7] = [19, 25, 114, 705, 1042, 1043, 2275];

/// Types whose binary form has no text in it: numbers, times, shapes, addresses, bits, `bytea`, `"char"`, `uuid`, and
/// arrays of the commonest.
/// <https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat>
const PLAIN: [u32; 48] = [
    16, 17, 18, 20, 21, 22, 23, 24, 26, 27, 28, 29, 30, 600, 601, 602, 603, 604, 628, 650, 700,
    701, 718, 774, 790, 829, 869, 1000, 1001, 1005, 1007, 1016, 1021, 1022, 1028, 1082, 1083, 1114,
    1115, 1182, 1184, 1185, 1186, 1231, 1266, 1560, 1562, 1700,
];
/// `uuid` and its arrays, and what stands beyond the oldest types.
const PLAIN_TOO: [u32; 4] = [2205, 2950, 2951, 3220];

fn is_plain(type_id: u32) -> bool {
    PLAIN.contains(&type_id) || PLAIN_TOO.contains(&type_id)
}

fn refused(type_id: u32, encoding: Encoding) -> Error {
    Error::unsupported(
        30001,
        format!(
            "binary values of type {type_id} are not known to be free of text, and the client's encoding is {}",
            encoding.name()
        ),
        "have them sent as text, or set client_encoding to UTF8",
    )
}

/// A client's value as UTF-8; `None` when it is so already.
///
/// # Errors
/// As [`Encoding::decode`]; `Refused` for binary values that may hold texts.
pub(super) fn value(
    encoding: Encoding,
    type_id: u32,
    format: Format,
    raw: &Bytes,
) -> Result<Option<Bytes>> {
    if encoding.is_plain() {
        return Ok(None);
    }
    let behind = match holds(type_id, format) {
        Holds::Text => 0,
        Holds::TextBehindVersion => 1,
        Holds::Nothing => return Ok(None),
        Holds::Unknown => return Err(refused(type_id, encoding)),
    };
    let (front, text) = raw.split_at(behind.min(raw.len()));
    let text = encoding.decode(text)?;
    Ok(Some(Bytes::from([front, &text].concat())))
}

/// A client's message with its texts as UTF-8. Values of a Bind are left, as what they hold is known by their types.
///
/// # Errors
/// As [`Encoding::decode`]. What is no such message is left to its decoder.
pub(super) fn incoming(encoding: Encoding, frame: &Frame) -> Result<Option<Frame>> {
    let strings = strings_of(frame.tag);
    if strings == 0 || frame.body.is_ascii() {
        return Ok(None);
    }
    let mut reader = Reader::new("message", &frame.body);
    let mut body = BytesMut::with_capacity(frame.body.len() + frame.body.len() / 2);
    for _ in 0..strings {
        // Its decoder says what is wrong with it.
        let Ok(text) = reader.cstr() else { return Ok(None) };
        put_cstr(&mut body, &encoding.decode(text)?);
    }
    body.extend_from_slice(reader.rest());
    Ok(Some(Frame { tag: frame.tag, body: body.freeze() }))
}

/// What a server says to a message with a text that is no UTF-8; `None` when there is none.
pub(super) fn invalid(frame: &Frame) -> Option<Error> {
    let mut reader = Reader::new("message", &frame.body);
    let mut texts = (0..strings_of(frame.tag)).map_while(|_| reader.cstr().ok());
    texts.find_map(|text| std::str::from_utf8(text).err().map(|_| not_utf8(text)))
}

/// How many strings a message begins with, a Describe's and a Close's name with the kind in front of it.
fn strings_of(tag: u8) -> usize {
    match tag {
        b'Q' | b'D' | b'C' | b'f' | b'E' => 1,
        b'P' | b'B' => 2,
        _ => 0,
    }
}

/// Appends messages without rows, which stand in UTF-8, in the client's encoding.
///
/// # Errors
/// As [`Encoding::encode`].
pub(super) fn messages(encoding: Encoding, all: &[u8], buf: &mut BytesMut) -> Result<()> {
    each(all, buf, &mut |tag, body, buf| {
        let mut reader = Reader::new("message", body);
        match tag {
            b'T' => description(encoding, &mut reader, buf),
            b'E' | b'N' => fields(encoding, &mut reader, buf),
            b'A' => {
                buf.put_u32(reader.u32()?);
                strings(encoding, &mut reader, buf)
            }
            b'S' => strings(encoding, &mut reader, buf),
            b'd' => {
                buf.extend_from_slice(&encoding.encode(body)?);
                Ok(())
            }
            _ => {
                buf.extend_from_slice(body);
                Ok(())
            }
        }
    })
}

/// Appends rows in the client's encoding; `columns` are their types and formats.
///
/// # Errors
/// As [`Encoding::encode`]; `Refused` for binary values that may hold texts. The rows in front stay appended.
pub(super) fn rows(
    encoding: Encoding,
    columns: &[(u32, Format)],
    all: &[u8],
    buf: &mut BytesMut,
) -> Result<()> {
    each(all, buf, &mut |_, body, buf| {
        let mut reader = Reader::new("DataRow", body);
        let count = reader.count()?;
        buf.put_u16(u16::try_from(count).unwrap_or(u16::MAX));
        for index in 0..count {
            let value = reader.value()?;
            let (type_id, format) = columns.get(index).copied().unwrap_or_default();
            let Some(value) = value else {
                put_value(buf, None);
                continue;
            };
            let behind = match holds(type_id, format) {
                Holds::Nothing => {
                    put_value(buf, Some(value));
                    continue;
                }
                Holds::Text => 0,
                Holds::TextBehindVersion => 1,
                Holds::Unknown => return Err(refused(type_id, encoding)),
            };
            let (front, text) = value.split_at(behind.min(value.len()));
            let text = encoding.encode(text)?;
            put_value(buf, Some(&[front, &text].concat()));
        }
        Ok(())
    })
}

/// Appends each message with its body written anew; of one that fails nothing is left.
fn each(
    all: &[u8],
    buf: &mut BytesMut,
    write: &mut impl FnMut(u8, &[u8], &mut BytesMut) -> Result<()>,
) -> Result<()> {
    let mut rest = all;
    while let Some(head) = header(rest, LARGE_LIMIT)? {
        let Some((message, behind)) = rest.split_at_checked(head.total) else { break };
        rest = behind;
        let start = buf.len();
        buf.put_u8(head.tag);
        buf.put_u32(0);
        if let Err(error) = write(head.tag, message.get(HEADER..).unwrap_or_default(), buf) {
            buf.truncate(start);
            return Err(error);
        }
        // An encoding of a client's makes nothing longer.
        let length = u32::try_from(buf.len() - start - 1).unwrap_or(u32::MAX);
        if let Some(field) = buf.get_mut(start + 1..start + HEADER) {
            field.copy_from_slice(&length.to_be_bytes());
        }
    }
    Ok(())
}

fn description(encoding: Encoding, reader: &mut Reader<'_>, buf: &mut BytesMut) -> Result<()> {
    let count = reader.count()?;
    buf.put_u16(u16::try_from(count).unwrap_or(u16::MAX));
    for _ in 0..count {
        put_cstr(buf, &encoding.encode(reader.cstr()?)?);
        buf.extend_from_slice(reader.bytes(COLUMN)?);
    }
    Ok(())
}

/// Bytes of a column's description behind its name.
const COLUMN: usize = 18;

/// Codes, each with a string, up to a zero.
fn fields(encoding: Encoding, reader: &mut Reader<'_>, buf: &mut BytesMut) -> Result<()> {
    loop {
        let code = reader.u8()?;
        buf.put_u8(code);
        if code == 0 {
            return Ok(());
        }
        put_cstr(buf, &encoding.encode(reader.cstr()?)?);
    }
}

fn strings(encoding: Encoding, reader: &mut Reader<'_>, buf: &mut BytesMut) -> Result<()> {
    while !reader.is_empty() {
        put_cstr(buf, &encoding.encode(reader.cstr()?)?);
    }
    Ok(())
}
