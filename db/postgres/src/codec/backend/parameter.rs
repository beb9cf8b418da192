//! ParameterStatus and ParameterDescription.

use bytes::{BufMut, BytesMut};

use crate::codec::{Malformed, Reader, count, put_cstr, tagged};

/// ParameterStatus: a setting the client is told about.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-PARAMETERSTATUS>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterStatus<'a> {
    /// The setting's name.
    pub name: &'a str,
    /// Its value now.
    pub value: &'a [u8],
}

impl<'a> ParameterStatus<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &'a [u8]) -> Result<ParameterStatus<'a>, Malformed> {
        let mut reader = Reader::new("ParameterStatus", body);
        let name = reader.text()?;
        let value = reader.cstr()?;
        reader.end().map(|()| ParameterStatus { name, value })
    }

    /// Appends the frame.
    pub fn encode(&self, buf: &mut BytesMut) {
        tagged(buf, b'S', |buf| {
            put_cstr(buf, self.name.as_bytes());
            put_cstr(buf, self.value);
        });
    }
}

/// ParameterDescription: the types of a statement's parameters.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-PARAMETERDESCRIPTION>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterDescription<'a>(&'a [u8]);

impl<'a> ParameterDescription<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &'a [u8]) -> Result<ParameterDescription<'a>, Malformed> {
        let mut reader = Reader::new("ParameterDescription", body);
        let count = reader.count()?;
        let oids = reader.bytes(count * 4)?;
        reader.end().map(|()| ParameterDescription(oids))
    }

    /// The oids in parameter order.
    pub fn types(&self) -> impl ExactSizeIterator<Item = u32> + 'a {
        self.0.as_chunks::<4>().0.iter().map(|oid| u32::from_be_bytes(*oid))
    }

    /// Appends a frame with these oids.
    ///
    /// # Errors
    /// More parameters than a 16-bit count can say.
    pub fn encode(buf: &mut BytesMut, types: &[u32]) -> Result<(), Malformed> {
        let len = count("ParameterDescription", types.len())?;
        tagged(buf, b't', |buf| {
            buf.put_u16(len);
            types.iter().for_each(|oid| buf.put_u32(*oid));
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_these_bytes_and_comes_back() {
        let status = ParameterStatus { name: "TimeZone", value: b"UTC" };
        let mut buf = BytesMut::new();
        status.encode(&mut buf);
        assert_eq!(&buf[..], b"S\0\0\0\x11TimeZone\0UTC\0");
        assert_eq!(ParameterStatus::decode(&buf[5..]), Ok(status));
        for len in 5..buf.len() {
            assert!(ParameterStatus::decode(&buf[5..len]).is_err());
        }
    }

    #[test]
    fn a_description_has_these_bytes_and_comes_back() {
        let mut buf = BytesMut::new();
        ParameterDescription::encode(&mut buf, &[23, 25]).unwrap();
        assert_eq!(&buf[..], b"t\0\0\0\x0e\0\x02\0\0\0\x17\0\0\0\x19");
        let description = ParameterDescription::decode(&buf[5..]).unwrap();
        assert_eq!(description.types().collect::<Vec<_>>(), [23, 25]);
        for len in 5..buf.len() {
            assert!(ParameterDescription::decode(&buf[5..len]).is_err());
        }
    }
}
