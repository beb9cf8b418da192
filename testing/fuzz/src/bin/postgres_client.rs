//! What a PostgreSQL client may send: the first packet, messages off a stream, the answers of a login.
#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use pando_fuzz::Choices;
use pando_postgres::auth::scram;
use pando_postgres::codec::frontend::{Frontend, Parse, SaslInitial, password};
use pando_postgres::codec::startup::{self, Opening};
use pando_postgres::codec::{Format, frame};
use pando_postgres::types;

const LIMIT: usize = 4096;

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices(data);
    let tag = choices.byte();
    let bytes = choices.rest();
    message(tag, bytes);
    stream(bytes);
    first(bytes);
    login(bytes);
});

fn first(bytes: &[u8]) {
    if let Ok(Some(length)) = frame::startup(bytes) {
        assert!(length <= frame::STARTUP_LIMIT);
        if let Some(packet) = bytes.get(..length)
            && let Ok(Opening::Startup(startup)) = startup::decode(packet)
        {
            assert!(startup.parameters.len() <= packet.len());
        }
    }
    // With the right length, so that the content is reached.
    if let Ok(length) = u32::try_from(bytes.len() + 4) {
        let _ = startup::decode(&[&length.to_be_bytes(), bytes].concat());
    }
}

fn stream(mut bytes: &[u8]) {
    while let Some(tag) = bytes.first().copied() {
        let Ok(Some((header, body))) = frame::frame(bytes, frame::frontend_limit(tag, LIMIT)) else {
            return;
        };
        message(header.tag, body);
        bytes = &bytes[header.total..];
    }
}

fn message(tag: u8, body: &[u8]) {
    match Frontend::decode(tag, body) {
        Ok(Frontend::Parse(parse)) => parsed(&parse),
        Ok(Frontend::Bind(bind)) => {
            assert_eq!(bind.values.iter().count(), bind.values.len());
            for (index, value) in bind.values.iter().enumerate() {
                let oid = [16, 20, 21, 23, 25, 700, 701, 1043, 1082, 1083, 1114, 1184, 1186, 1700, 2950]
                    [index % 15];
                if let Some(bytes) = value
                    && let Ok(value) = types::decode(oid, bind.formats.get(index), bytes)
                {
                    let mut out = BytesMut::new();
                    for format in [Format::Text, Format::Binary] {
                        let _ = types::encode(oid, format, &value, &mut out);
                    }
                    assert!(out.len() <= 400_000 + 80 * bytes.len(), "{} bytes", out.len());
                }
            }
            for index in 0..bind.results.len() {
                let _ = bind.results.get(index);
            }
        }
        Ok(_) | Err(_) => {}
    }
}

fn parsed(parse: &Parse<'_>) {
    let types: Vec<u32> = parse.types().collect();
    assert_eq!(types.len(), parse.types().len());
}

fn login(bytes: &[u8]) {
    let _ = password(bytes);
    let _ = SaslInitial::decode(bytes);
    thread_local! {
        static VERIFIER: scram::Verifier = scram::Verifier::of("secret", vec![7; 16]);
    }
    let half = bytes.len() / 2;
    for (endpoint, mechanism) in [(None, scram::MECHANISM), (Some(vec![7; 32]), scram::MECHANISM_PLUS)] {
        let server = VERIFIER.with(|verifier| scram::Server::new(verifier.clone(), endpoint));
        let Ok(mut server) = server else { return };
        if server.first(mechanism, &bytes[..half]).is_ok() {
            assert!(server.finish(&bytes[half..]).is_err(), "a guess was let in");
        }
    }
}
