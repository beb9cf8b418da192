//! Encodings in which each character is one byte.

use super::unconvertible::Unconvertible;

/// The bytes from 0x80 on, as characters; 0 is none.
type Upper = [u16; 128];

/// An encoding of one byte a character. Those below 0x80 are ASCII's in all of them.
#[derive(Debug)]
pub(crate) struct SingleByte {
    name: &'static str,
    upper: &'static Upper,
    /// Characters with their bytes, in the order of the characters.
    bytes: [(u16, u8); 128],
}

impl SingleByte {
    /// The encoding of this table.
    pub(super) const fn new(name: &'static str, upper: &'static Upper) -> SingleByte {
        SingleByte { name, upper, bytes: inverse(upper) }
    }

    /// Its name as the server spells it.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// The characters that the bytes mean.
    ///
    /// # Errors
    /// A byte that means none.
    pub(super) fn decode(&self, bytes: &[u8]) -> Result<String, Unconvertible> {
        let mut text = String::with_capacity(bytes.len() + bytes.len() / 2);
        for byte in bytes {
            match byte.checked_sub(0x80) {
                None => text.push(char::from(*byte)),
                Some(at) => match self.upper.get(usize::from(at)).copied() {
                    Some(code @ 1..) => text.extend(char::from_u32(code.into())),
                    Some(0) | None => return Err(Unconvertible::from_client(self.name, *byte)),
                },
            }
        }
        Ok(text)
    }

    /// The bytes of these characters.
    ///
    /// # Errors
    /// A character that has none.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u8>, Unconvertible> {
        let mut bytes = Vec::with_capacity(text.len());
        for character in text.chars() {
            match u8::try_from(character).ok().filter(u8::is_ascii) {
                Some(byte) => bytes.push(byte),
                None => bytes.push(self.byte(character)?),
            }
        }
        Ok(bytes)
    }

    fn byte(&self, character: char) -> Result<u8, Unconvertible> {
        let none = || Unconvertible::to_client(self.name, character);
        let code = u16::try_from(u32::from(character)).map_err(|_| none())?;
        let at = self.bytes.binary_search_by_key(&code, |(known, _)| *known);
        let found = at.ok().and_then(|at| self.bytes.get(at));
        found.map(|(_, byte)| *byte).ok_or_else(none)
    }
}

/// Sorted while it is compiled, by insertion. Places without a character come first, and are none's.
const fn inverse(upper: &Upper) -> [(u16, u8); 128] {
    let mut bytes = [(0, 0); 128];
    let mut count = 0;
    while count < 128 {
        let own = (upper[count], count as u8 + 0x80);
        let mut at = count;
        while at > 0 && bytes[at - 1].0 > own.0 {
            bytes[at] = bytes[at - 1];
            at -= 1;
        }
        bytes[at] = own;
        count += 1;
    }
    bytes
}
