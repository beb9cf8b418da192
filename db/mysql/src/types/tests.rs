use bytes::BytesMut;
use pando_kernel::{Column, Format, Glimpse, Kind, Native, Parameter, Value};

use super::*;
use crate::codec::ParameterType;

fn column(column_type: ColumnType, flags: u16, charset: u16) -> Column {
    let mut column = Column::computed("c", column_type.kind(flags, charset));
    column.native = Native {
        family: FAMILY,
        type_id: column_type as u32,
        flags,
        charset,
        length: 64,
        ..Native::default()
    };
    column
}

fn strip(column_type: ColumnType, out: &[u8]) -> &[u8] {
    let mut reader = crate::codec::Reader::new("test", out);
    let len = crate::codec::binary_value_len(column_type as u8, &mut reader).unwrap();
    reader.bytes("field", len).unwrap()
}

/// What a glimpse has seen must be what the whole value is.
fn check(glimpse: Glimpse<'_>, value: &Value, context: &str) {
    match (glimpse, value) {
        (Glimpse::Int(number), value) => assert_eq!(*value, Value::Int(number), "{context}"),
        (Glimpse::Octets(octets), Value::Text(text)) => {
            assert_eq!(text.as_bytes(), octets, "{context}");
        }
        (Glimpse::Octets(octets), value) => {
            assert_eq!(*value, Value::Bytes(octets.to_vec().into()), "{context}");
        }
        (Glimpse::Value(seen), value) => assert_eq!(*value, seen, "{context}"),
    }
}

#[test]
fn values_survive_both_forms() {
    use ColumnType as T;
    let cases = [
        (T::Tiny, 0, 63, Value::Int(-128)),
        (T::Tiny, flag::UNSIGNED, 63, Value::UInt(255)),
        (T::Short, 0, 63, Value::Int(-32_768)),
        (T::Int24, 0, 63, Value::Int(-8_388_608)),
        (T::Long, flag::UNSIGNED, 63, Value::UInt(4_294_967_295)),
        (T::LongLong, 0, 63, Value::Int(i64::MIN)),
        (T::LongLong, flag::UNSIGNED, 63, Value::UInt(u64::MAX)),
        (T::Float, 0, 63, Value::Float(0.1)),
        (T::Double, 0, 63, Value::Float(-1.5e300)),
        (T::NewDecimal, 0, 63, Value::Decimal("-12345678901234567890.1230".parse().unwrap())),
        (T::Date, 0, 63, Value::Text("2026-01-31".into())),
        (T::DateTime, 0, 63, Value::Text("2026-01-31 00:00:00".into())),
        (T::Timestamp, 0, 63, Value::Text("2026-01-31 13:45:01".into())),
        (T::Time, 0, 63, Value::Text("-838:59:59".into())),
        (T::Year, flag::UNSIGNED, 63, Value::UInt(2026)),
        (T::Bit, flag::UNSIGNED, 63, Value::UInt(1 << 63)),
        (T::VarString, 0, 45, Value::Text("héllo".into())),
        (T::Blob, 0, 63, Value::Bytes(vec![0, 255].into())),
        (T::Blob, 0, 45, Value::Text(String::new())),
        (T::Json, 0, 63, Value::Text("{\"a\": 1}".into())),
        (T::String, flag::ENUM, 45, Value::Text("red".into())),
    ];
    for (column_type, flags, charset, value) in cases {
        let column = column(column_type, flags, charset);
        let mut out = BytesMut::new();
        write_binary(&column, &value, &mut out).unwrap();
        let field = strip(column_type, &out);
        let context = format!("{column_type:?}");
        assert_eq!(read_binary(&column, field).unwrap(), value, "binary {context}");
        check(glimpse_binary(&column, field).unwrap(), &value, &context);
        let mut out = BytesMut::new();
        write_text(&column, &value, &mut out).unwrap();
        let field = strip(T::VarString, &out);
        assert_eq!(read_text(&column, field).unwrap(), value, "text {context}");
        check(glimpse_text(&column, field).unwrap(), &value, &context);
    }
}

#[test]
fn numbers_out_of_a_types_range_are_refused() {
    let mut out = BytesMut::new();
    let tiny = column(ColumnType::Tiny, 0, 63);
    assert!(write_binary(&tiny, &Value::Int(128), &mut out).is_err());
    let unsigned = column(ColumnType::LongLong, flag::UNSIGNED, 63);
    assert!(write_binary(&unsigned, &Value::Int(-1), &mut out).is_err());
    assert!(write_binary(&unsigned, &Value::Text("x".into()), &mut out).is_err());
    assert!(out.is_empty());
}

#[test]
fn doubles_print_as_the_server_prints_them() {
    let cases = [
        (1e15, "1e15"),
        (1e14, "100000000000000"),
        (0.1, "0.1"),
        (-2.5, "-2.5"),
        (1e-16, "1e-16"),
        (0.0, "0"),
        (3.0, "3"),
    ];
    for (number, expected) in cases {
        assert_eq!(float_text(number), expected);
    }
}

#[test]
fn a_parameter_of_this_protocol_keeps_its_type_and_bytes() {
    let parameter = Parameter {
        value: Value::Int(7),
        native: Native { family: FAMILY, type_id: 3, ..Native::default() },
        format: Format::Binary,
        raw: Some(vec![7, 0, 0, 0].into()),
    };
    let mut out = BytesMut::new();
    let sent = put_parameter(&parameter, &mut out);
    assert_eq!(sent, ParameterType { type_id: 3, unsigned: false });
    assert_eq!(out[..], [7, 0, 0, 0]);
    let mut out = BytesMut::new();
    let sent = put_parameter(&Parameter::made(Value::Text("ab".into())), &mut out);
    assert_eq!((sent.type_id, &out[..]), (253, &[2, b'a', b'b'][..]));
}

#[test]
fn a_columns_kind_decides_how_text_is_read() {
    let column = Column::computed("n", Kind::Int);
    assert_eq!(read_text(&column, b"12").unwrap(), Value::Int(12));
    assert!(read_text(&column, b"x").is_err());
    assert!(read_text(&Column::computed("t", Kind::Text), &[0xFF]).is_err());
}

#[test]
fn every_type_byte_finds_its_type() {
    let known = (0..=255u8).filter_map(|byte| ColumnType::from_byte(byte).map(|t| (byte, t)));
    let mut count = 0;
    for (byte, column_type) in known {
        assert_eq!(column_type as u8, byte);
        count += 1;
    }
    assert_eq!(count, 33);
}

#[test]
fn kinds_follow_flags_and_character_set() {
    use ColumnType as T;
    let cases = [
        (T::LongLong, flag::UNSIGNED, 63, Kind::UInt),
        (T::LongLong, 0, 63, Kind::Int),
        (T::VarString, 0, 63, Kind::Bytes),
        (T::VarString, 0, 45, Kind::Text),
        (T::String, flag::ENUM, 45, Kind::Other),
        (T::Blob, 0, 45, Kind::Text),
        (T::Json, 0, 63, Kind::Other),
        (T::NewDecimal, 0, 63, Kind::Decimal),
    ];
    for (column_type, flags, charset, kind) in cases {
        assert_eq!(column_type.kind(flags, charset), kind, "{column_type:?}");
    }
}
