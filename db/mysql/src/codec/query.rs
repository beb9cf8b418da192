//! COM_QUERY with its attributes, and the named attributes of executions.

use bytes::{BufMut, BytesMut};

use super::capabilities::Capabilities;
use super::execute::{BoundParameter, Names, ParameterType, read_types, read_values};
use super::malformed::{Fault, Malformed};
use super::reader::Reader;
use super::writer::put_lenenc_int;

/// COM_QUERY.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query.html>
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query<'a> {
    /// The statement text, or several.
    pub text: &'a [u8],
    /// The attributes sent along.
    pub attributes: Attributes<'a>,
}

/// Named values a client sends along with a statement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attributes<'a> {
    /// In the order sent.
    pub list: Vec<BoundParameter<'a>>,
}

impl<'a> Query<'a> {
    /// Reads a payload after its command byte.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn decode(body: &'a [u8], capabilities: Capabilities) -> Result<Self, Malformed> {
        let mut reader = Reader::new("query", body);
        let mut attributes = Attributes::default();
        if capabilities.has(Capabilities::QUERY_ATTRIBUTES) {
            let count = reader.lenenc_int("number of attributes")?;
            let sets = reader.lenenc_int("number of attribute sets")?;
            if sets != 1 {
                return Err(reader.fault("number of attribute sets", Fault::Value(sets)));
            }
            if count > 0 {
                attributes.list = read_attributes(&mut reader, count)?;
            }
        }
        Ok(Self { text: reader.take_rest(), attributes })
    }

    /// Appends the whole payload of a query without attributes.
    pub fn encode(text: &[u8], capabilities: Capabilities, out: &mut BytesMut) {
        out.put_u8(0x03);
        if capabilities.has(Capabilities::QUERY_ATTRIBUTES) {
            put_lenenc_int(out, 0);
            put_lenenc_int(out, 1);
        }
        out.put_slice(text);
    }
}

fn read_attributes<'a>(
    reader: &mut Reader<'a>,
    count: u64,
) -> Result<Vec<BoundParameter<'a>>, Malformed> {
    // Each attribute takes a type and a name of three bytes together, so a larger count is a lie.
    let count = usize::try_from(count)
        .ok()
        .filter(|count| *count <= reader.remaining() / 3)
        .ok_or_else(|| reader.fault("number of attributes", Fault::Value(count)))?;
    let nulls = reader.bytes("null bitmap", count.div_ceil(8))?;
    let bound = reader.u8("new types flag")?;
    if bound != 1 {
        return Err(reader.fault("new types flag", Fault::Value(u64::from(bound))));
    }
    let types: Vec<(ParameterType, &[u8])> = read_types(reader, count, Names::Sent)?;
    read_values(reader, nulls, types.into_iter(), |_| false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_without_attributes_is_its_text() {
        let mut out = BytesMut::new();
        Query::encode(b"SELECT 1", Capabilities::PROTOCOL_41, &mut out);
        let query = Query::decode(&out[1..], Capabilities::PROTOCOL_41).unwrap();
        assert_eq!(query.text, b"SELECT 1");
    }

    #[test]
    fn attributes_are_read_before_the_text() {
        let body = b"\x02\x01\x02\x01\x03\x00\x01a\xFE\x00\x01b\x2A\0\0\0SELECT 1";
        let query = Query::decode(body, Capabilities::QUERY_ATTRIBUTES).unwrap();
        assert_eq!(query.text, b"SELECT 1");
        let [a, b] = query.attributes.list.as_slice() else { panic!("two attributes") };
        assert_eq!((a.name, a.value), (&b"a"[..], Some(&[0x2A, 0, 0, 0][..])));
        assert_eq!((b.name, b.value), (&b"b"[..], None));
        for cut in 0..body.len() - 8 {
            assert!(
                Query::decode(&body[..cut], Capabilities::QUERY_ATTRIBUTES).is_err(),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn a_lying_number_of_attributes_is_refused() {
        let body = b"\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F\x01SELECT 1";
        assert!(Query::decode(body, Capabilities::QUERY_ATTRIBUTES).is_err());
    }
}
