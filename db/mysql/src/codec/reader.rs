//! A cursor over one payload.

use super::malformed::{Fault, Malformed};

/// Reads the protocol's basic types from a payload, front to back.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_data_types.html>
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    message: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A cursor at the start of `payload`; `message` names it in errors.
    pub fn new(message: &'static str, payload: &'a [u8]) -> Self {
        Self { message, rest: payload }
    }

    /// The error of this message for one of its parts.
    pub fn fault(&self, part: &'static str, fault: Fault) -> Malformed {
        Malformed { message: self.message, part, fault }
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// True when everything was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// `Truncated` when fewer are left.
    pub fn bytes(&mut self, part: &'static str, len: usize) -> Result<&'a [u8], Malformed> {
        match self.rest.split_at_checked(len) {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(head)
            }
            None => Err(self.fault(part, Fault::Truncated)),
        }
    }

    /// Everything that is left.
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// The next byte without moving.
    pub fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn array<const N: usize>(&mut self, part: &'static str) -> Result<[u8; N], Malformed> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(*head)
            }
            None => Err(self.fault(part, Fault::Truncated)),
        }
    }

    /// `int<1>`.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn u8(&mut self, part: &'static str) -> Result<u8, Malformed> {
        self.array::<1>(part).map(|[byte]| byte)
    }

    /// `int<2>`.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn u16(&mut self, part: &'static str) -> Result<u16, Malformed> {
        self.array(part).map(u16::from_le_bytes)
    }

    /// `int<4>`.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn u32(&mut self, part: &'static str) -> Result<u32, Malformed> {
        self.array(part).map(u32::from_le_bytes)
    }

    /// `int<8>`.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn u64(&mut self, part: &'static str) -> Result<u64, Malformed> {
        self.array(part).map(u64::from_le_bytes)
    }

    /// `int<lenenc>`.
    ///
    /// # Errors
    /// `Truncated`, or `Value` for the lead bytes 0xFB and 0xFF, which are no numbers.
    pub fn lenenc_int(&mut self, part: &'static str) -> Result<u64, Malformed> {
        match self.u8(part)? {
            lead @ 0..=0xFA => Ok(u64::from(lead)),
            0xFC => self.u16(part).map(u64::from),
            0xFD => {
                let [a, b, c] = self.array::<3>(part)?;
                Ok(u64::from(u32::from_le_bytes([a, b, c, 0])))
            }
            0xFE => self.u64(part),
            lead => Err(self.fault(part, Fault::Value(u64::from(lead)))),
        }
    }

    /// `string<lenenc>`.
    ///
    /// # Errors
    /// As [`Self::lenenc_int`]; `Truncated` when the length reaches past the end.
    pub fn lenenc_bytes(&mut self, part: &'static str) -> Result<&'a [u8], Malformed> {
        let len = self.lenenc_int(part)?;
        let len = usize::try_from(len).map_err(|_| self.fault(part, Fault::Truncated))?;
        self.bytes(part, len)
    }

    /// `string<lenenc>` or the NULL mark 0xFB of a text row.
    ///
    /// # Errors
    /// As [`Self::lenenc_bytes`].
    pub fn nullable_bytes(&mut self, part: &'static str) -> Result<Option<&'a [u8]>, Malformed> {
        if self.peek() == Some(0xFB) {
            self.u8(part)?;
            return Ok(None);
        }
        self.lenenc_bytes(part).map(Some)
    }

    /// `string<NUL>`, without the zero byte.
    ///
    /// # Errors
    /// `Unterminated`.
    pub fn nul_bytes(&mut self, part: &'static str) -> Result<&'a [u8], Malformed> {
        let Some(end) = memchr::memchr(0, self.rest) else {
            return Err(self.fault(part, Fault::Unterminated));
        };
        let text = self.bytes(part, end)?;
        self.bytes(part, 1)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_encoded_integers_of_every_width_are_read() {
        let cases: &[(&[u8], u64)] = &[
            (&[0xFA], 250),
            (&[0xFC, 0xFB, 0x00], 251),
            (&[0xFD, 0, 0, 1], 65_536),
            (&[0xFE, 0, 0, 0, 1, 0, 0, 0, 0], 16_777_216),
        ];
        for (bytes, expected) in cases {
            assert_eq!(Reader::new("test", bytes).lenenc_int("n").unwrap(), *expected);
            for cut in 0..bytes.len() {
                let fault = Reader::new("test", &bytes[..cut]).lenenc_int("n").unwrap_err();
                assert_eq!(fault.fault, Fault::Truncated);
            }
        }
    }

    #[test]
    fn the_lead_bytes_of_null_and_error_are_no_length() {
        for lead in [0xFB, 0xFF] {
            let fault = Reader::new("test", &[lead, 1, 2]).lenenc_int("n").unwrap_err();
            assert_eq!(fault.fault, Fault::Value(u64::from(lead)));
        }
    }

    #[test]
    fn a_length_of_exabytes_is_refused_without_an_allocation() {
        let lying = [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, b'x'];
        let fault = Reader::new("test", &lying).lenenc_bytes("text").unwrap_err();
        assert_eq!(fault.fault, Fault::Truncated);
    }

    #[test]
    fn a_string_without_its_zero_byte_is_refused() {
        let fault = Reader::new("test", b"root").nul_bytes("user").unwrap_err();
        assert_eq!(fault.fault, Fault::Unterminated);
    }
}
