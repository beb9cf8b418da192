//! Appends frames and fields to a buffer.

use std::ops::Deref;

use bytes::{BufMut, BytesMut};

use super::{Fault, Malformed};

/// Appends a frame: the tag, the length of what `fill` writes, and that.
pub(crate) fn tagged(buf: &mut BytesMut, tag: u8, fill: impl FnOnce(&mut BytesMut)) {
    // One piece: each piece is a call that may have to make room.
    buf.put_slice(&[tag, 0, 0, 0, 0]);
    filled(buf, buf.len() - 4, fill);
}

/// Appends a length and what `fill` writes; the length counts itself.
pub(crate) fn body(buf: &mut BytesMut, fill: impl FnOnce(&mut BytesMut)) {
    let start = buf.len();
    buf.put_u32(0);
    filled(buf, start, fill);
}

fn filled(buf: &mut BytesMut, start: usize, fill: impl FnOnce(&mut BytesMut)) {
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

/// Appends a number's digits.
pub(crate) fn put_number(buf: &mut BytesMut, number: u64) {
    let (digits, start) = digits(number);
    buf.put_slice(&digits[start..]);
}

/// A number's digits, and where they start. (`format!` costs four times as much, and this is done for every statement.)
fn digits(number: u64) -> ([u8; 20], usize) {
    let mut digits = [0; 20];
    let (mut start, mut left) = (digits.len(), number);
    loop {
        start -= 1;
        digits[start] = b'0' + u8::try_from(left % 10).unwrap_or(0);
        left /= 10;
        if left == 0 {
            return (digits, start);
        }
    }
}

/// A short text with a number behind it, made for every statement and therefore without memory of its own.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Numbered {
    bytes: [u8; 32],
    length: usize,
}

/// A text of at most 12 bytes and a number behind it.
pub(crate) fn numbered(text: &'static str, number: u64) -> Numbered {
    let (digits, start) = digits(number);
    let (digits, mut numbered) = (&digits[start..], Numbered::default());
    if let Some(bytes) = numbered.bytes.get_mut(..text.len() + digits.len()) {
        let (before, behind) = bytes.split_at_mut(text.len());
        before.copy_from_slice(text.as_bytes());
        behind.copy_from_slice(digits);
        numbered.length = bytes.len();
    }
    numbered
}

impl Deref for Numbered {
    type Target = str;

    fn deref(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

/// What stands before the first space.
pub(crate) fn first_word(text: &str) -> &str {
    let end = text.bytes().position(|byte| byte == b' ');
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{first_word, numbered};

    #[test]
    fn numbers_are_written_as_everywhere() {
        for number in [0, 7, 10, 99, 100, 12_345, u64::MAX] {
            assert_eq!(*numbered("SELECT ", number), format!("SELECT {number}"));
        }
        assert_eq!(&*numbered("twelve_bytes", u64::MAX), "twelve_bytes18446744073709551615");
    }

    #[test]
    fn the_first_word_ends_at_a_space() {
        for (text, word) in [("INSERT 0 5", "INSERT"), ("BEGIN", "BEGIN"), ("", ""), (" x", "")] {
            assert_eq!(first_word(text), word);
        }
    }
}
