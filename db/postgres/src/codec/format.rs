//! Text or binary: how a value stands on the wire.

use pando_kernel::Format;

use super::{Fault, Malformed, Reader};

/// The code of a format on the wire.
/// <https://www.postgresql.org/docs/current/protocol-overview.html#PROTOCOL-FORMAT-CODES>
pub fn code(format: Format) -> i16 {
    match format {
        Format::Text => 0,
        Format::Binary => 1,
    }
}

/// The format a code stands for; `None` when the protocol does not define it.
pub fn from_code(code: i16) -> Option<Format> {
    match code {
        0 => Some(Format::Text),
        1 => Some(Format::Binary),
        _ => None,
    }
}

/// A borrowed list of format codes: none (all text), one (for all), or one per value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Formats<'a> {
    codes: &'a [u8],
}

impl<'a> Formats<'a> {
    /// The empty list: everything is text.
    pub const TEXT: Formats<'static> = Formats { codes: &[] };

    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Formats<'a>, Malformed> {
        let count = reader.count()?;
        let codes = reader.bytes(count * 2)?;
        let formats = Formats { codes };
        if formats.iter().any(|format| format.is_none()) {
            return reader.fail(Fault::BadCode);
        }
        Ok(formats)
    }

    fn iter(&self) -> impl Iterator<Item = Option<Format>> + 'a {
        self.codes.as_chunks::<2>().0.iter().map(|code| from_code(i16::from_be_bytes(*code)))
    }

    /// How many codes were sent (0, 1, or the number of values).
    pub fn len(&self) -> usize {
        self.codes.len() / 2
    }

    /// Whether no code was sent.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Whether the list can describe `values` values.
    pub fn fits(&self, values: usize) -> bool {
        self.len() <= 1 || self.len() == values
    }

    /// The format of value `index`, after the rules for none and one.
    pub fn get(&self, index: usize) -> Format {
        let index = if self.len() == 1 { 0 } else { index };
        self.iter().nth(index).flatten().unwrap_or_default()
    }

    /// The codes as they were sent.
    pub fn to_vec(&self) -> Vec<Format> {
        self.iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Formats<'_>, Fault> {
        Formats::read(&mut Reader::new("X", bytes)).map_err(|error| error.fault)
    }

    #[test]
    fn one_code_stands_for_all() {
        let formats = read(&[0, 1, 0, 1]).unwrap();
        assert_eq!(formats.get(0), Format::Binary);
        assert_eq!(formats.get(9), Format::Binary);
        assert!(formats.fits(0) && formats.fits(5));
    }

    #[test]
    fn no_code_means_text() {
        assert_eq!(read(&[0, 0]).unwrap().get(3), Format::Text);
    }

    #[test]
    fn several_codes_stand_one_for_each() {
        let formats = read(&[0, 2, 0, 0, 0, 1]).unwrap();
        assert_eq!((formats.get(0), formats.get(1)), (Format::Text, Format::Binary));
        assert!(formats.fits(2) && !formats.fits(3));
    }

    #[test]
    fn undefined_codes_and_lying_counts_are_refused() {
        assert_eq!(read(&[0, 1, 0, 2]), Err(Fault::BadCode));
        assert_eq!(read(&[0xff, 0xff, 0, 0]), Err(Fault::Truncated));
    }
}
