//! Properties: what is written is read, and no bytes make a decoder panic.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests only")]

use bytes::BytesMut;
use pando_kernel::{Column, Format, Kind, Native, RowCodec, Value};
use pando_postgres::auth::scram;
use pando_postgres::codec::backend::{Backend, DataRow, Notice, encode_error};
use pando_postgres::codec::frontend::{Bind, Binding, Frontend, Parse, put};
use pando_postgres::codec::{Malformed, frame, startup};
use pando_postgres::row::DataRows;
use pando_postgres::types::{self, FAMILY, oid};
use proptest::prelude::*;

const OIDS: [u32; 22] = [
    oid::BOOL,
    oid::BYTEA,
    oid::CHAR,
    oid::NAME,
    oid::INT8,
    oid::INT2,
    oid::INT4,
    oid::TEXT,
    oid::OID,
    oid::JSON,
    oid::FLOAT4,
    oid::FLOAT8,
    oid::BPCHAR,
    oid::VARCHAR,
    oid::DATE,
    oid::TIME,
    oid::TIMESTAMP,
    oid::TIMESTAMPTZ,
    oid::INTERVAL,
    oid::TIMETZ,
    oid::NUMERIC,
    oid::UUID,
];

fn values() -> impl Strategy<Value = Vec<Option<Vec<u8>>>> {
    let value = proptest::option::of(proptest::collection::vec(any::<u8>(), 0..40));
    proptest::collection::vec(value, 0..12)
}

fn name() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_é ]{0,20}"
}

proptest! {
    #[test]
    fn any_bytes_are_decoded_or_refused(tag in any::<u8>(), body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Frontend::decode(tag, &body);
        if let Ok(Backend::DataRow(row)) = Backend::decode(tag, &body) {
            let _: Vec<_> = row.fields().collect();
        }
        let _ = startup::decode(&body);
        let _ = frame::header(&body, 100);
        let _ = frame::run(&body, b'D', 100);
    }

    #[test]
    fn any_bytes_are_a_value_or_refused(at in 0..OIDS.len(), bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        for format in [Format::Text, Format::Binary] {
            let Ok(value) = types::decode(OIDS[at], format, &bytes) else { continue };
            let mut out = BytesMut::new();
            let _ = types::encode(OIDS[at], Format::Binary, &value, &mut out);
            let _ = types::encode(OIDS[at], Format::Text, &value, &mut out);
        }
    }

    #[test]
    fn rows_come_back_as_they_were_written(fields in values()) {
        let mut out = BytesMut::new();
        DataRow::encode(&mut out, fields.iter().map(|field| field.as_deref())).unwrap();
        let (header, body) = frame::frame(&out, 1 << 20).unwrap().unwrap();
        prop_assert_eq!(header.total, out.len());
        let read: Result<Vec<_>, Malformed> = DataRow::decode(body).unwrap().fields().collect();
        let expected: Vec<_> = fields.iter().map(|field| field.as_deref()).collect();
        prop_assert_eq!(read.unwrap(), expected);
    }

    #[test]
    fn the_row_codec_agrees_with_the_message(fields in values()) {
        let native = Native { family: FAMILY, type_id: oid::BYTEA, ..Native::default() };
        let column =
            Column { native, format: Format::Binary, ..Column::computed("c", Kind::Bytes) };
        let columns = vec![column; fields.len()];
        let mut out = BytesMut::new();
        DataRow::encode(&mut out, fields.iter().map(|field| field.as_deref())).unwrap();
        let (length, body) = DataRows.next(&out).unwrap();
        prop_assert_eq!(length, out.len());
        let mut ranges = Vec::new();
        DataRows.fields(&columns, &body, &mut ranges).unwrap();
        let read: Vec<Option<Vec<u8>>> =
            ranges.iter().map(|range| range.clone().map(|range| body[range].to_vec())).collect();
        prop_assert_eq!(read, fields);
    }

    #[test]
    fn bindings_come_back_as_they_were_sent(portal in name(), statement in name(), values in values()) {
        let binding = Binding {
            portal: &portal,
            statement: &statement,
            formats: &[Format::Binary],
            count: values.len(),
            results: &[],
        };
        let mut out = BytesMut::new();
        let value = |index: usize, buf: &mut BytesMut| {
            put(buf, values[index].as_deref());
            Ok::<(), Malformed>(())
        };
        binding.encode(&mut out, value).unwrap();
        let bind = Bind::decode(&out[5..]).unwrap();
        prop_assert_eq!((bind.portal, bind.statement), (&*portal, &*statement));
        let read: Vec<Option<Vec<u8>>> = bind.values.iter().map(|v| v.map(<[u8]>::to_vec)).collect();
        prop_assert_eq!(read, values);
        for cut in 5..out.len() {
            prop_assert!(Bind::decode(&out[5..cut]).is_err());
        }
    }

    #[test]
    fn statements_come_back_as_they_were_sent(name in name(), text in name(), oids in proptest::collection::vec(any::<u32>(), 0..9)) {
        let mut out = BytesMut::new();
        Parse::encode(&mut out, &name, &text, &oids).unwrap();
        let parse = Parse::decode(&out[5..]).unwrap();
        prop_assert_eq!((parse.name, parse.text), (&*name, &*text));
        prop_assert_eq!(parse.types().collect::<Vec<_>>(), oids);
    }

    #[test]
    fn errors_come_back_as_they_were_sent(message in name(), detail in name()) {
        let mut out = BytesMut::new();
        encode_error(&mut out, &[(b'M', &message), (b'D', &detail)]);
        let notice = Notice::decode("ErrorResponse", &out[5..]).unwrap();
        prop_assert_eq!(notice.get(b'M'), Some(message.as_bytes()));
        prop_assert_eq!(notice.get(b'D'), Some(detail.as_bytes()));
    }

    #[test]
    fn integers_and_floats_survive_both_forms(int in any::<i64>(), float in any::<f64>()) {
        for (oid, value) in [(oid::INT8, Value::Int(int)), (oid::FLOAT8, Value::Float(float))] {
            for format in [Format::Text, Format::Binary] {
                let mut out = BytesMut::new();
                types::encode(oid, format, &value, &mut out).unwrap();
                let read = types::decode(oid, format, &out).unwrap();
                let same = match (&read, &value) {
                    (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan(),
                    (a, b) => a == b,
                };
                prop_assert!(same, "{:?} became {:?}", value, read);
            }
        }
    }

    #[test]
    fn decimals_survive_both_forms_with_their_scale(digits in "-?[0-9]{1,40}", scale in 0_usize..30) {
        let text = if scale == 0 { digits } else { format!("{digits}.{}", "7".repeat(scale)) };
        let value = types::decode(oid::NUMERIC, Format::Text, text.as_bytes()).unwrap();
        let mut out = BytesMut::new();
        types::encode(oid::NUMERIC, Format::Binary, &value, &mut out).unwrap();
        let read = types::decode(oid::NUMERIC, Format::Binary, &out).unwrap();
        prop_assert_eq!(&read, &value);
        out.clear();
        types::encode(oid::NUMERIC, Format::Text, &read, &mut out).unwrap();
        let shown = std::str::from_utf8(&out).unwrap();
        prop_assert_eq!(shown.split_once('.').map_or(0, |(_, behind)| behind.len()), scale);
    }

    #[test]
    fn dates_and_timestamps_survive_both_forms(micros in -200_000_000_000_000_000_i64..9_000_000_000_000_000_000) {
        for (oid, bytes) in [
            (oid::TIMESTAMP, micros.to_be_bytes().to_vec()),
            (oid::TIMESTAMPTZ, micros.to_be_bytes().to_vec()),
            (oid::DATE, i32::try_from(micros / 86_400_000_000).unwrap().to_be_bytes().to_vec()),
        ] {
            let value = types::decode(oid, Format::Binary, &bytes).unwrap();
            let mut out = BytesMut::new();
            types::encode(oid, Format::Binary, &value, &mut out).unwrap();
            prop_assert_eq!(&out[..], &bytes[..], "{:?}", value);
        }
    }

    #[test]
    fn scram_refuses_or_answers_any_message(message in proptest::collection::vec(any::<u8>(), 0..80)) {
        let client = scram::Client::new("pw", scram::Binding::None).unwrap();
        let _ = client.challenge(&message);
    }
}
