//! Messages of the authentication after the first login packet.

use bytes::{BufMut, BytesMut};

use super::malformed::{Fault, Malformed};
use super::reader::Reader;
use super::writer::put_nul;

/// Authentication switch request: the server wants another plugin. The client answers with the plugin's bytes alone.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_auth_switch_request.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthSwitch<'a> {
    /// The plugin to use.
    pub plugin: &'a [u8],
    /// Its random bytes, without a closing zero.
    pub scramble: &'a [u8],
}

impl<'a> AuthSwitch<'a> {
    /// Reads a payload that starts with 0xFE.
    ///
    /// # Errors
    /// `Malformed`; the one byte form that asks for the password hash of before 4.1 is refused too.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new("authentication switch", payload);
        let header = reader.u8("header")?;
        if header != 0xFE {
            return Err(reader.fault("header", Fault::Value(u64::from(header))));
        }
        let plugin = reader.nul_bytes("plugin name")?;
        let rest = reader.take_rest();
        Ok(Self { plugin, scramble: rest.strip_suffix(&[0]).unwrap_or(rest) })
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut BytesMut) {
        out.put_u8(0xFE);
        put_nul(out, self.plugin);
        put_nul(out, self.scramble);
    }
}

/// More data of the plugin, from the server.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_auth_more_data.html>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthMoreData<'a>(pub &'a [u8]);

impl<'a> AuthMoreData<'a> {
    /// Reads a payload that starts with 0x01.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new("authentication data", payload);
        let header = reader.u8("header")?;
        if header != 1 {
            return Err(reader.fault("header", Fault::Value(u64::from(header))));
        }
        Ok(Self(reader.take_rest()))
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut BytesMut) {
        out.put_u8(1);
        out.put_slice(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_comes_back_and_cuts_are_refused() {
        let switch =
            AuthSwitch { plugin: b"mysql_native_password", scramble: b"abcdefghijklmnopqrst" };
        let mut out = BytesMut::new();
        switch.encode(&mut out);
        assert_eq!(AuthSwitch::decode(&out).unwrap(), switch);
        for cut in 0..22 {
            assert!(AuthSwitch::decode(&out[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn more_data_comes_back() {
        let mut out = BytesMut::new();
        AuthMoreData(&[4]).encode(&mut out);
        assert_eq!(out[..], [1, 4]);
        assert_eq!(AuthMoreData::decode(&out).unwrap().0, [4]);
        assert!(AuthMoreData::decode(&[]).is_err());
        assert!(AuthMoreData::decode(&[2]).is_err());
    }
}
