//! Writers of the protocol's basic types.

use bytes::{BufMut, BytesMut};

/// Appends `int<lenenc>` in its shortest form.
pub fn put_lenenc_int(out: &mut BytesMut, value: u64) {
    match value {
        0..=0xFA => out.put_u8(value as u8),
        0xFB..=0xFFFF => {
            out.put_u8(0xFC);
            out.put_u16_le(value as u16);
        }
        0x1_0000..=0xFF_FFFF => {
            out.put_u8(0xFD);
            out.put_uint_le(value, 3);
        }
        _ => {
            out.put_u8(0xFE);
            out.put_u64_le(value);
        }
    }
}

/// Appends `string<lenenc>`.
pub fn put_lenenc_bytes(out: &mut BytesMut, bytes: &[u8]) {
    put_lenenc_int(out, bytes.len() as u64);
    out.put_slice(bytes);
}

/// Appends `string<NUL>`. A zero byte inside `bytes` ends the string early for the reader.
pub fn put_nul(out: &mut BytesMut, bytes: &[u8]) {
    out.put_slice(bytes);
    out.put_u8(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Reader;

    #[test]
    fn numbers_at_each_edge_come_back() {
        for value in [0, 250, 251, 252, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000, u64::MAX] {
            let mut out = BytesMut::new();
            put_lenenc_int(&mut out, value);
            let mut reader = Reader::new("test", &out);
            assert_eq!(reader.lenenc_int("n").unwrap(), value);
            assert!(reader.is_empty());
        }
    }
}
