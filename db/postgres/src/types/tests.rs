use super::*;

fn check(oid: u32, text: &str, binary: &[u8], value: Value) {
    assert_eq!(decode(oid, Format::Text, text.as_bytes()).unwrap(), value, "{text}");
    assert_eq!(decode(oid, Format::Binary, binary).unwrap(), value, "{text}");
    let mut out = BytesMut::new();
    encode(oid, Format::Text, &value, &mut out).unwrap();
    assert_eq!(std::str::from_utf8(&out).unwrap(), text);
    out.clear();
    encode(oid, Format::Binary, &value, &mut out).unwrap();
    assert_eq!(&out[..], binary, "{text}");
}

#[test]
fn values_have_these_two_forms() {
    check(oid::BOOL, "t", &[1], Value::Bool(true));
    check(oid::INT2, "-2", &[0xff, 0xfe], Value::Int(-2));
    check(oid::INT4, "7", &[0, 0, 0, 7], Value::Int(7));
    check(oid::INT8, "-1", &[0xff; 8], Value::Int(-1));
    check(oid::OID, "4294967295", &[0xff; 4], Value::Int(4_294_967_295));
    check(oid::FLOAT4, "1.5", &1.5_f32.to_be_bytes(), Value::Float(1.5));
    check(oid::FLOAT4, "0.1", &0.1_f32.to_be_bytes(), Value::Float(f64::from(0.1_f32)));
    check(oid::FLOAT8, "-0.1", &(-0.1_f64).to_be_bytes(), Value::Float(-0.1));
    let number = Value::Decimal("-1.50".parse().unwrap());
    check(oid::NUMERIC, "-1.50", &[0, 2, 0, 0, 0x40, 0, 0, 2, 0, 1, 0x13, 0x88], number);
    check(oid::VARCHAR, "héllo", "héllo".as_bytes(), Value::Text("héllo".into()));
    check(oid::CHAR, "a", b"a", Value::Text("a".into()));
    check(oid::CHAR, "\\310", &[0xc8], Value::Text("\\310".into()));
    check(oid::CHAR, "\\", b"\\", Value::Text("\\".into()));
    check(oid::CHAR, "", &[0], Value::Text(String::new()));
    check(oid::BYTEA, "\\x00ff41", &[0, 255, 65], Value::Bytes(vec![0, 255, 65].into()));
    check(oid::JSONB, "{}", b"\x01{}", Value::Text("{}".into()));
    check(oid::DATE, "2000-01-02", &[0, 0, 0, 1], Value::Text("2000-01-02".into()));
    let text = "2000-01-01 00:00:01";
    check(oid::TIMESTAMP, text, &1_000_000_i64.to_be_bytes(), Value::Text(text.into()));
    let text = "2000-01-01 00:00:01+00";
    check(oid::TIMESTAMPTZ, text, &1_000_000_i64.to_be_bytes(), Value::Text(text.into()));
    let text = "00112233-4455-6677-8899-aabbccddeeff";
    let raw = [
        0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
    ];
    check(oid::UUID, text, &raw, Value::Text(text.into()));
}

#[test]
fn a_glimpse_is_the_value_with_fewer_copies() {
    let texts: [&[u8]; 12] = [
        b"0",
        b"-1",
        b"007",
        b"32767",
        b"99999",
        b" 8",
        b"+8",
        b"-",
        b"",
        b"x",
        b"1.5",
        b"123456789012345678",
    ];
    let kinds = [oid::INT2, oid::INT4, oid::INT8, oid::TEXT, oid::BPCHAR, oid::NUMERIC, oid::BYTEA];
    for (oid, bytes) in kinds.iter().flat_map(|oid| texts.map(|bytes| (*oid, bytes))) {
        for format in [Format::Text, Format::Binary] {
            let (value, glimpse) = (decode(oid, format, bytes), glimpse(oid, format, bytes));
            let context = format!("{oid} {format:?} {bytes:?}");
            match (glimpse, value) {
                (Err(_), value) => assert!(value.is_err(), "{context}"),
                (Ok(Glimpse::Octets(octets)), Ok(Value::Text(text))) => {
                    assert_eq!(text.as_bytes(), octets, "{context}");
                }
                (Ok(glimpse), value) => {
                    let seen = match glimpse {
                        Glimpse::Int(number) => Value::Int(number),
                        Glimpse::Octets(octets) => Value::Bytes(octets.to_vec().into()),
                        Glimpse::Value(seen) => seen,
                    };
                    assert_eq!(value.unwrap(), seen, "{context}");
                }
            }
        }
    }
    assert_eq!(glimpse(oid::INT4, Format::Text, b"-12").unwrap(), Glimpse::Int(-12));
    assert_eq!(glimpse(oid::BPCHAR, Format::Text, b"ab ").unwrap(), Glimpse::Octets(b"ab "));
}

#[test]
fn floats_print_as_postgresql_prints_them() {
    let print = |oid, number: f64| {
        let mut out = BytesMut::new();
        encode(oid, Format::Text, &Value::Float(number), &mut out).unwrap();
        String::from_utf8(out.to_vec()).unwrap()
    };
    for (number, text) in [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (123_456_789_012_345.0, "123456789012345"),
        (1e15, "1e+15"),
        (1.5e300, "1.5e+300"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
    ] {
        assert_eq!(print(oid::FLOAT8, number), text);
    }
    assert_eq!(print(oid::FLOAT4, f64::from(0.1_f32)), "0.1");
    assert_eq!(print(oid::FLOAT4, 1_000_000.0), "1e+06");
}

#[test]
fn numbers_without_a_value_are_floats() {
    let value = decode(oid::NUMERIC, Format::Text, b"NaN").unwrap();
    assert!(matches!(value, Value::Float(number) if number.is_nan()));
    let mut out = BytesMut::new();
    encode(oid::NUMERIC, Format::Binary, &value, &mut out).unwrap();
    assert_eq!(&out[..], [0, 0, 0, 0, 0xc0, 0, 0, 0]);
    assert!(decode(oid::NUMERIC, Format::Text, b"abc").is_err());
    assert!(decode(oid::NUMERIC, Format::Text, b"1e999999999").is_err());
}

#[test]
fn octal_escapes_of_bytea_are_read() {
    let value = decode(oid::BYTEA, Format::Text, b"a\\\\b\\001").unwrap();
    assert_eq!(value, Value::Bytes(vec![b'a', b'\\', b'b', 1].into()));
    for text in ["\\", "\\9", "\\400", "\\x0", "\\xzz"] {
        assert!(decode(oid::BYTEA, Format::Text, text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn wrong_lengths_and_ranges_are_refused() {
    for (oid, bytes) in [
        (oid::BOOL, &[][..]),
        (oid::INT4, &[1, 2, 3]),
        (oid::INT8, &[1, 2, 3, 4]),
        (oid::DATE, &[0; 8]),
        (oid::TIMESTAMP, &[0; 4]),
        (oid::INTERVAL, &[0; 8]),
        (oid::UUID, &[0; 15]),
        (oid::JSONB, b"{}"),
        (oid::TEXT, &[0xff]),
    ] {
        assert!(decode(oid, Format::Binary, bytes).is_err(), "{oid}");
    }
    assert!(decode(oid::INT2, Format::Text, b"40000").is_err());
    assert!(decode(oid::INT4, Format::Text, b"abc").is_err());
    let mut out = BytesMut::new();
    assert!(encode(oid::INT2, Format::Binary, &Value::Int(40_000), &mut out).is_err());
    assert!(encode(oid::INT4, Format::Binary, &Value::Float(1.5), &mut out).is_err());
    assert!(encode(oid::DATE, Format::Binary, &Value::Text("soon".into()), &mut out).is_err());
}

#[test]
fn values_of_another_family_fit_the_type_that_stands_for_their_kind() {
    let mut out = BytesMut::new();
    encode(of_kind(Kind::UInt), Format::Binary, &Value::UInt(u64::MAX), &mut out).unwrap();
    let expected = Value::Decimal(u64::MAX.into());
    assert_eq!(decode(oid::NUMERIC, Format::Binary, &out).unwrap(), expected);
    let native = Native { family: "mysql", type_id: 3, ..Native::default() };
    assert_eq!(oid_of(&native, Kind::Int), oid::INT8);
}

#[test]
fn opaque_types_stay_as_they_are() {
    let array = 1007;
    assert_eq!(decode(array, Format::Text, b"{1,2}").unwrap(), Value::Text("{1,2}".into()));
    let raw = Value::Bytes(vec![0, 1].into());
    assert_eq!(decode(array, Format::Binary, &[0, 1]).unwrap(), raw);
    let mut out = BytesMut::new();
    assert!(encode(array, Format::Binary, &Value::Text("{1}".into()), &mut out).is_err());
}

#[test]
fn a_value_that_fails_leaves_no_length_behind() {
    let mut out = BytesMut::new();
    assert!(encode_sized(oid::INT2, Format::Binary, &Value::Int(40_000), &mut out).is_err());
    assert!(out.is_empty());
    encode_sized(oid::INT2, Format::Binary, &Value::Null, &mut out).unwrap();
    encode_sized(oid::INT2, Format::Binary, &Value::Int(1), &mut out).unwrap();
    assert_eq!(&out[..], [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2, 0, 1]);
}
