//! Appends frames and fields to a buffer.

use bytes::{BufMut, BytesMut};

use super::{Fault, Malformed};

/// Appends a frame: the tag, the length of what `fill` writes, and that.
pub(crate) fn tagged(buf: &mut BytesMut, tag: u8, fill: impl FnOnce(&mut BytesMut)) {
    buf.put_u8(tag);
    body(buf, fill);
}

/// Appends a length and what `fill` writes; the length counts itself.
pub(crate) fn body(buf: &mut BytesMut, fill: impl FnOnce(&mut BytesMut)) {
    let start = buf.len();
    buf.put_u32(0);
    fill(buf);
    // A body above 4 GiB cannot come about: every payload is bounded by the frame limit it came in with.
    let len = u32::try_from(buf.len() - start).unwrap_or(u32::MAX);
    buf[start..start + 4].copy_from_slice(&len.to_be_bytes());
}

/// Appends a string and its zero byte. A zero byte inside would forge a field, so the string ends there.
pub(crate) fn put_cstr(buf: &mut BytesMut, text: &[u8]) {
    let end = memchr::memchr(0, text).unwrap_or(text.len());
    buf.put_slice(&text[..end]);
    buf.put_u8(0);
}

/// Appends a length and the bytes, or −1 for NULL.
pub(crate) fn put_value(buf: &mut BytesMut, value: Option<&[u8]>) {
    match value {
        None => buf.put_i32(-1),
        Some(bytes) => {
            // As in `body`: a field is part of a bounded frame.
            buf.put_i32(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
            buf.put_slice(bytes);
        }
    }
}

/// A 16-bit count, or an error that names the message when the list is longer than the protocol can say.
pub(crate) fn count(message: &'static str, len: usize) -> Result<u16, Malformed> {
    u16::try_from(len).map_err(|_| Malformed::new(message, Fault::TooLong))
}
