//! Bind: make a portal of a statement and values.

use bytes::{BufMut, BytesMut};

use crate::codec::{
    Fault, Format, Formats, Malformed, Reader, count, format, put_cstr, put_value, tagged,
};

/// Bind.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-BIND>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bind<'a> {
    /// The portal to make; empty is the unnamed one.
    pub portal: &'a str,
    /// The statement to run; empty is the unnamed one.
    pub statement: &'a str,
    /// The formats of the values.
    pub formats: Formats<'a>,
    /// The values, one per parameter.
    pub values: Values<'a>,
    /// The formats wanted for the columns of the result.
    pub results: Formats<'a>,
}

/// A borrowed list of values as a client sent them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Values<'a> {
    count: usize,
    bytes: &'a [u8],
}

impl<'a> Values<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The values in parameter order; `None` is NULL.
    pub fn iter(&self) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        let mut reader = Reader::new("Bind", self.bytes);
        // `decode` has walked the same bytes, so no value fails here.
        (0..self.count).map_while(move |_| reader.value().ok())
    }
}

impl<'a> Bind<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol; formats that do not fit the number of values.
    pub fn decode(body: &'a [u8]) -> Result<Bind<'a>, Malformed> {
        let mut reader = Reader::new("Bind", body);
        let portal = reader.text()?;
        let statement = reader.text()?;
        let formats = Formats::read(&mut reader)?;
        let values = Values::read(&mut reader)?;
        if !formats.fits(values.count) {
            return reader.fail(Fault::BadCount);
        }
        let results = Formats::read(&mut reader)?;
        reader.end().map(|()| Bind { portal, statement, formats, values, results })
    }
}

impl<'a> Values<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Values<'a>, Malformed> {
        let count = reader.count()?;
        let start = *reader;
        for _ in 0..count {
            reader.value()?;
        }
        let (mut before, mut after) = (start, *reader);
        let (before, after) = (before.rest(), after.rest());
        Ok(Values { count, bytes: &before[..before.len() - after.len()] })
    }
}

/// The parts of a Bind to send.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// The portal to make; empty is the unnamed one.
    pub portal: &'a str,
    /// The statement to run.
    pub statement: &'a str,
    /// None, one, or one per value.
    pub formats: &'a [Format],
    /// The number of values that `values` appends.
    pub count: usize,
    /// None, one, or one per column.
    pub results: &'a [Format],
}

impl Binding<'_> {
    /// Appends the frame; `value` appends value i with its length, see [`put`].
    ///
    /// # Errors
    /// More values or formats than a 16-bit count can say, or what `value` answers.
    pub fn encode<E: From<Malformed>>(
        &self,
        buf: &mut BytesMut,
        mut value: impl FnMut(usize, &mut BytesMut) -> Result<(), E>,
    ) -> Result<(), E> {
        let formats = count("Bind", self.formats.len())?;
        let values = count("Bind", self.count)?;
        let results = count("Bind", self.results.len())?;
        let start = buf.len();
        let mut outcome = Ok(());
        tagged(buf, b'B', |buf| {
            put_cstr(buf, self.portal.as_bytes());
            put_cstr(buf, self.statement.as_bytes());
            buf.put_u16(formats);
            self.formats.iter().for_each(|format| buf.put_i16(format::code(*format)));
            buf.put_u16(values);
            outcome = (0..self.count).try_for_each(|index| value(index, buf));
            buf.put_u16(results);
            self.results.iter().for_each(|format| buf.put_i16(format::code(*format)));
        });
        if outcome.is_err() {
            // A half-written frame must never reach the wire.
            buf.truncate(start);
        }
        outcome
    }
}

/// Appends one value with its length; `None` is NULL.
pub fn put(buf: &mut BytesMut, value: Option<&[u8]>) {
    put_value(buf, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"p\0s\0\0\x01\0\x01\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\x01\0\0";

    #[test]
    fn a_bind_has_these_bytes_and_comes_back() {
        let mut buf = BytesMut::new();
        let binding = Binding {
            portal: "p",
            statement: "s",
            formats: &[Format::Binary],
            count: 2,
            results: &[Format::Text],
        };
        let values = [Some(&b"ab"[..]), None];
        let put = |index: usize, buf: &mut BytesMut| {
            put(buf, values[index]);
            Ok::<(), Malformed>(())
        };
        binding.encode(&mut buf, put).unwrap();
        assert_eq!(&buf[5..], BODY);
        let bind = Bind::decode(&buf[5..]).unwrap();
        assert_eq!((bind.portal, bind.statement), ("p", "s"));
        assert_eq!(bind.values.iter().collect::<Vec<_>>(), values);
        assert_eq!(bind.formats.get(1), Format::Binary);
        assert_eq!(bind.results.len(), 1);
    }

    #[test]
    fn every_truncation_is_refused() {
        for len in 0..BODY.len() {
            assert!(Bind::decode(&BODY[..len]).is_err(), "{len} bytes were taken for a Bind");
        }
    }

    #[test]
    fn formats_must_fit_the_values() {
        let fault = |body| Bind::decode(body).map_err(|error| error.fault);
        // Two formats for one value.
        assert_eq!(fault(b"\0\0\0\x02\0\0\0\0\0\x01\xff\xff\xff\xff\0\0"), Err(Fault::BadCount));
        // 65,535 values announced, none sent.
        assert_eq!(fault(b"\0\0\0\0\xff\xff"), Err(Fault::Truncated));
        // A value of 2 GiB announced.
        assert_eq!(fault(b"\0\0\0\0\0\x01\x7f\xff\xff\xff"), Err(Fault::Truncated));
    }

    #[test]
    fn a_value_that_fails_leaves_no_half_frame() {
        let mut buf = BytesMut::new();
        let binding = Binding { portal: "", statement: "", formats: &[], count: 1, results: &[] };
        let bad = Malformed::new("Bind", Fault::BadCode);
        assert_eq!(binding.encode(&mut buf, |_, _| Err(bad)), Err(bad));
        assert!(buf.is_empty());
    }
}
