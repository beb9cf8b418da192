//! Properties of the codec: what is written is read, and no bytes make a decoder panic.
#![allow(clippy::unwrap_used, reason = "tests only")]

use bytes::BytesMut;
use pando_kernel::{Cell, Column, Native, RowCodec, Value};
use pando_mysql::codec::{
    AuthSwitch, Capabilities, ChangeUser, Column as Fixed, ColumnDefinition, Command, Eof,
    ErrPacket, Execute, ExecuteHead, Handshake, HandshakeResponse, Inbound, OkHeader, OkPacket,
    Outbound, ParameterType, PrepareOk, Query, Reader, SessionChanges, SslRequest, Status,
    put_lenenc_bytes, put_lenenc_int,
};
use pando_mysql::row::{BinaryRows, TextRows};
use pando_mysql::types::{ColumnType, FAMILY};
use proptest::collection::vec;
use proptest::prelude::*;

fn name() -> impl Strategy<Value = Vec<u8>> {
    vec(1u8..=255, 0..300)
}

proptest! {
    #[test]
    fn numbers_and_texts_come_back(number: u64, text in vec(any::<u8>(), 0..70_000)) {
        let mut out = BytesMut::new();
        put_lenenc_int(&mut out, number);
        put_lenenc_bytes(&mut out, &text);
        let mut reader = Reader::new("test", &out);
        prop_assert_eq!(reader.lenenc_int("number").unwrap(), number);
        prop_assert_eq!(reader.lenenc_bytes("text").unwrap(), &text[..]);
        prop_assert!(reader.is_empty());
    }

    #[test]
    fn packets_come_back_however_the_stream_is_cut(
        payloads in vec(vec(any::<u8>(), 0..200), 1..10),
        cuts in vec(1usize..50, 1..100),
    ) {
        let mut out = Outbound::new();
        for payload in &payloads {
            out.payload(payload);
        }
        let mut rest = &out.buffer_mut()[..];
        let mut inbound = Inbound::new(200);
        let mut got = Vec::new();
        for cut in cuts.iter().cycle() {
            let (now, later) = rest.split_at((*cut).min(rest.len()));
            inbound.buffer_mut().extend_from_slice(now);
            while let Some(packet) = inbound.next_packet().unwrap() {
                got.push(packet.payload.to_vec());
            }
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(got, payloads);
    }

    #[test]
    fn logins_come_back(
        user in name(), database in name(), plugin in name(),
        answer in vec(any::<u8>(), 0..250), charset: u8,
    ) {
        let capabilities = Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION
            | Capabilities::PLUGIN_AUTH | Capabilities::CONNECT_WITH_DB;
        let login = HandshakeResponse {
            head: SslRequest { capabilities, max_packet: 7, charset },
            user: &user, auth: &answer, database: &database, plugin: &plugin, attributes: &[],
        };
        let mut out = BytesMut::new();
        login.encode(&mut out);
        prop_assert_eq!(HandshakeResponse::decode(&out).unwrap(), login);
    }

    #[test]
    fn results_of_commands_come_back(
        affected: u64, last_insert_id: u64, status: u16, warnings: u16,
        info in vec(any::<u8>(), 0..300), state in vec(any::<u8>(), 1..300), tracked: bool,
    ) {
        let capabilities = if tracked { Capabilities::SESSION_TRACK } else { Capabilities::default() };
        let status = Status(status).without(Status::SESSION_CHANGED);
        let ok = OkPacket { affected, last_insert_id, status, warnings, info: &info, session_state: &state };
        let mut out = BytesMut::new();
        ok.encode(OkHeader::Ok, capabilities, &mut out);
        let read = OkPacket::decode(&out, capabilities).unwrap();
        prop_assert_eq!(read.affected, affected);
        prop_assert_eq!(read.last_insert_id, last_insert_id);
        prop_assert_eq!(read.warnings, warnings);
        prop_assert_eq!(read.info, &info[..]);
        prop_assert_eq!(read.session_state, if tracked { &state[..] } else { &[][..] });
    }

    #[test]
    fn column_definitions_come_back(
        schema in name(), table in name(), label in name(),
        charset: u16, length: u32, type_id: u8, flags: u16, decimals: u8,
        extended in vec(any::<u8>(), 0..300),
    ) {
        let column = Fixed { charset, length, type_id, flags, decimals };
        let definition = ColumnDefinition {
            schema: &schema, table: &table, org_table: &table, name: &label, org_name: &label,
            extended: &extended, column, default: None,
        };
        let capabilities = Capabilities::EXTENDED_METADATA;
        let mut out = BytesMut::new();
        definition.encode(capabilities, &mut out);
        prop_assert_eq!(ColumnDefinition::decode(&out, capabilities).unwrap(), definition);
    }

    #[test]
    fn parameters_come_back(texts in vec(proptest::option::of(vec(any::<u8>(), 0..300)), 1..40)) {
        let kind = ParameterType { type_id: 253, unsigned: false };
        let framed: Vec<_> = texts.iter().map(|text| text.as_ref().map(|text| {
            let mut out = BytesMut::new();
            put_lenenc_bytes(&mut out, text);
            out
        })).collect();
        let parameters: Vec<_> = framed.iter().map(|text| (kind, text.as_deref())).collect();
        let mut out = BytesMut::new();
        Execute::encode(9, &parameters, &mut out);
        let capabilities = Capabilities::default();
        let head = ExecuteHead::decode(&out[1..], capabilities).unwrap();
        let execute = Execute::decode(head, capabilities, texts.len(), &[], |_| false).unwrap();
        let values: Vec<_> = execute.parameters.iter().map(|p| p.value.map(<[u8]>::to_vec)).collect();
        prop_assert_eq!(values, texts);
    }

    #[test]
    fn rows_come_back_in_both_forms(
        numbers in vec(proptest::option::of(any::<i64>()), 1..20),
        texts in vec(proptest::option::of(".{0,300}"), 1..20),
    ) {
        let column = |column_type: ColumnType, charset| {
            let mut column = Column::computed("c", column_type.kind(0, charset));
            column.native =
                Native { family: FAMILY, type_id: column_type as u32, charset, ..Native::default() };
            column
        };
        let mut columns = vec![column(ColumnType::LongLong, 63); numbers.len()];
        columns.extend(vec![column(ColumnType::VarString, 45); texts.len()]);
        let numbers = numbers.into_iter().map(|number| number.map_or(Value::Null, Value::Int));
        let texts = texts.into_iter().map(|text| text.map_or(Value::Null, Value::Text));
        let values: Vec<_> = numbers.chain(texts).collect();
        let cells: Vec<_> = values.iter().map(Cell::Value).collect();
        for codec in [&TextRows as &dyn RowCodec, &BinaryRows] {
            let mut out = BytesMut::new();
            codec.write(&columns, &cells, &mut out).unwrap();
            let (length, body) = codec.next(&out).unwrap();
            prop_assert_eq!(length, out.len());
            let mut fields = Vec::new();
            codec.fields(&columns, &body, &mut fields).unwrap();
            let read = fields.iter().zip(&columns).map(|(range, column)| {
                codec.value(column, range.clone().map(|range| &body[range])).unwrap()
            });
            prop_assert_eq!(read.collect::<Vec<_>>(), values.clone());
        }
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in vec(any::<u8>(), 0..200), flags: u64) {
        let capabilities = Capabilities(flags);
        let _ = Handshake::decode(&bytes, &mut Vec::new());
        let _ = HandshakeResponse::decode(&bytes);
        let _ = SslRequest::is_one(&bytes);
        let _ = AuthSwitch::decode(&bytes);
        let _ = ChangeUser::decode(&bytes, capabilities);
        let _ = Query::decode(&bytes, capabilities);
        let _ = OkPacket::decode(&bytes, capabilities);
        let _ = ErrPacket::decode(&bytes);
        let _ = Eof::decode(&bytes);
        let _ = PrepareOk::decode(&bytes);
        let _ = ColumnDefinition::decode(&bytes, capabilities);
        let _ = SessionChanges::new(&bytes).count();
        if let Ok(Command::Execute(head)) = Command::decode(&bytes, capabilities) {
            let _ = Execute::decode(head, capabilities, bytes.len() % 9, &[], |i| i == 3);
        }
        let mut fields = Vec::new();
        let columns = vec![Column::computed("c", pando_kernel::Kind::Text); bytes.len() % 5];
        for codec in [&TextRows as &dyn RowCodec, &BinaryRows] {
            let _ = codec.next(&bytes);
            let _ = codec.fields(&columns, &bytes, &mut fields);
        }
    }

    #[test]
    fn no_bytes_make_a_value_panic(bytes in vec(any::<u8>(), 0..16), type_id: u8, unsigned: bool) {
        let kind = ParameterType { type_id, unsigned };
        let _ = pando_mysql::types::parameter_value(kind, &bytes);
        if let Some(column_type) = ColumnType::from_byte(type_id) {
            let mut column = Column::computed("c", column_type.kind(0, 63));
            column.native = Native { family: FAMILY, type_id: type_id.into(), ..Native::default() };
            let _ = pando_mysql::types::read_text(&column, &bytes);
            let _ = pando_mysql::types::read_binary(&column, &bytes);
        }
    }
}

#[test]
fn a_decimal_parameter_cannot_grow_into_gigabytes() {
    let kind = ParameterType { type_id: 246, unsigned: false };
    assert!(pando_mysql::types::parameter_value(kind, b"12.50").is_ok());
    for text in ["1e999999999", "1e-999999999"] {
        assert!(pando_mysql::types::parameter_value(kind, text.as_bytes()).is_err(), "{text}");
    }
}
