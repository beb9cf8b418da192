//! Takes fields off the front of a message body.

use super::{Fault, Malformed};

/// What is left of a body. Every method fails instead of reading past the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    message: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(message: &'static str, body: &'a [u8]) -> Reader<'a> {
        Reader { message, rest: body }
    }

    pub(crate) fn fail<T>(&self, fault: Fault) -> Result<T, Malformed> {
        Err(Malformed::new(self.message, fault))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let Some((taken, rest)) = self.rest.split_at_checked(len) else {
            return self.fail(Fault::Truncated);
        };
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let Some((taken, rest)) = self.rest.split_first_chunk::<N>() else {
            return self.fail(Fault::Truncated);
        };
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn i16(&mut self) -> Result<i16, Malformed> {
        self.array().map(i16::from_be_bytes)
    }

    pub(crate) fn i32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    /// A 16-bit number of things that follow.
    ///
    /// PostgreSQL itself reads it without a sign, so 65,535 parameters are possible.
    pub(crate) fn count(&mut self) -> Result<usize, Malformed> {
        self.array().map(u16::from_be_bytes).map(usize::from)
    }

    /// A string up to its zero byte, without it.
    pub(crate) fn cstr(&mut self) -> Result<&'a [u8], Malformed> {
        let Some(end) = memchr::memchr(0, self.rest) else {
            return self.fail(Fault::Unterminated);
        };
        let text = self.bytes(end)?;
        self.u8()?;
        Ok(text)
    }

    /// A zero-terminated string that must be UTF-8.
    pub(crate) fn text(&mut self) -> Result<&'a str, Malformed> {
        let bytes = self.cstr()?;
        std::str::from_utf8(bytes).or_else(|_| self.fail(Fault::NotUtf8))
    }

    /// A length and as many bytes; length −1 is NULL.
    pub(crate) fn value(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        match self.i32()? {
            -1 => Ok(None),
            len => match usize::try_from(len) {
                Ok(len) => self.bytes(len).map(Some),
                Err(_) => self.fail(Fault::BadCount),
            },
        }
    }

    /// Everything that is left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Succeeds when nothing is left.
    pub(crate) fn end(self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { self.fail(Fault::Trailing) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_past_the_end_is_truncated() {
        let fault = |result: Result<i32, Malformed>| result.map_err(|error| error.fault);
        assert_eq!(fault(Reader::new("X", &[0, 0, 0]).i32()), Err(Fault::Truncated));
        assert_eq!(fault(Reader::new("X", &[0, 0, 0, 7]).i32()), Ok(7));
    }

    #[test]
    fn a_value_with_a_lying_length_is_refused() {
        let value = |bytes: &'static [u8]| Reader::new("X", bytes).value().map_err(|e| e.fault);
        assert_eq!(value(&[0x7f, 0xff, 0xff, 0xff, 1]), Err(Fault::Truncated));
        assert_eq!(value(&[0xff, 0xff, 0xff, 0xfe]), Err(Fault::BadCount));
        assert_eq!(value(&[0xff, 0xff, 0xff, 0xff]), Ok(None));
        assert_eq!(value(&[0, 0, 0, 1, 9]), Ok(Some(&[9][..])));
    }

    #[test]
    fn a_string_needs_its_zero_byte() {
        assert_eq!(Reader::new("X", b"abc").cstr().map_err(|e| e.fault), Err(Fault::Unterminated));
        let mut reader = Reader::new("X", b"abc\0d");
        assert_eq!(reader.text(), Ok("abc"));
        assert_eq!(reader.end().map_err(|e| e.fault), Err(Fault::Trailing));
    }
}
