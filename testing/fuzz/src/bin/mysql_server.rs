//! What a MySQL or MariaDB server may send before and between rows, and the answers to a login.
#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use pando_fuzz::Choices;
use pando_kernel::Format;
use pando_mysql::auth::{ClientLogin, Privacy};
use pando_mysql::codec::{
    AuthMoreData, AuthSwitch, Capabilities, ColumnDefinition, Eof, ErrPacket, Handshake,
    LocalInfile, OkPacket, PrepareOk, SessionChanges,
};
use pando_mysql::types::{column_of, definition_of};

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices(data);
    let (common, form) = (choices.number(), choices.byte());
    let capabilities = Capabilities::from_halves(common, u32::from(form & 8));
    let bytes = choices.rest();
    let _ = Handshake::decode(bytes, &mut Vec::new());
    let _ = AuthSwitch::decode(bytes);
    let _ = AuthMoreData::decode(bytes);
    let _ = LocalInfile::decode(bytes);
    let _ = PrepareOk::decode(bytes);
    let _ = Eof::is_one(bytes).then(|| Eof::decode(bytes));
    if let Ok(error) = ErrPacket::decode(bytes) {
        let mut out = BytesMut::new();
        error.encode(&mut out);
        assert_eq!(ErrPacket::decode(&out), Ok(error));
    }
    if let Ok(ok) = OkPacket::decode(bytes, capabilities) {
        assert!(SessionChanges::new(ok.session_state).count() <= bytes.len());
    }
    if let Ok(definition) = ColumnDefinition::decode(bytes, capabilities) {
        let mut out = BytesMut::new();
        definition.encode(capabilities, &mut out);
        let again = ColumnDefinition::decode(&out, capabilities)
            .expect("a definition just written reads");
        assert_eq!(again.name, definition.name);
        let format = if form & 1 == 0 { Format::Text } else { Format::Binary };
        let _ = definition_of(&column_of(&definition, format));
    }
    let plugins: [&[u8]; 4] =
        [b"caching_sha2_password", b"mysql_native_password", b"mysql_clear_password", b"?"];
    let privacy = if form & 2 == 0 { Privacy::Private } else { Privacy::Open };
    let mut auth = ClientLogin::new("secret".to_owned(), privacy);
    auth.begin(plugins[usize::from(form >> 6)], &bytes[..bytes.len().min(21)]);
    for packet in bytes.chunks(usize::from(form & 60) + 1).take(4) {
        let _ = auth.read(&Bytes::copy_from_slice(packet));
    }
});
