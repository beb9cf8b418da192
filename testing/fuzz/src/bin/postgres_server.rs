//! What a PostgreSQL server may send, and what a login makes of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pando_fuzz::Choices;
use pando_postgres::auth::scram::{self, Binding};
use pando_postgres::codec::backend::{Authentication, Backend};
use pando_postgres::codec::frame;

const LIMIT: usize = 4096;

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices(data);
    let tag = choices.byte();
    let bytes = choices.rest();
    message(tag, bytes);
    let mut rest = bytes;
    while let Ok(Some((header, body))) = frame::frame(rest, LIMIT) {
        message(header.tag, body);
        rest = &rest[header.total..];
    }
    if let Some(first) = bytes.first()
        && let Ok((end, frames)) = frame::run(bytes, *first, LIMIT)
    {
        assert!(end <= bytes.len() && frames * frame::HEADER <= end);
    }
    scrambled(bytes);
});

fn message(tag: u8, body: &[u8]) {
    match Backend::decode(tag, body) {
        Ok(Backend::RowDescription(description)) => {
            assert_eq!(description.columns().count(), description.len());
        }
        Ok(Backend::DataRow(row)) => {
            let mut fields = row.fields();
            while let Some(field) = fields.next() {
                if field.is_err() {
                    break;
                }
            }
        }
        Ok(Backend::Error(notice) | Backend::Notice(notice)) => {
            assert!(notice.fields().count() <= body.len());
            let _ = notice.get(b'C');
        }
        Ok(Backend::Authentication(Authentication::Sasl(mechanisms))) => {
            assert!(mechanisms.iter().count() <= body.len());
            let _ = mechanisms.offers("SCRAM-SHA-256");
        }
        Ok(Backend::ParameterDescription(description)) => {
            assert!(description.types().len() <= body.len());
            let _ = description.types().count();
        }
        Ok(Backend::CommandComplete(complete)) => {
            let _ = complete.rows();
        }
        Ok(_) | Err(_) => {}
    }
}

fn scrambled(bytes: &[u8]) {
    let Ok(client) = scram::Client::new("secret", Binding::None) else { return };
    // With the client's own nonce, so that the rest is reached.
    let first = client.first();
    let nonce = first.split("r=").nth(1).expect("a first message has a nonce");
    let half = bytes.len() / 2;
    let message = [b"r=", nonce.as_bytes(), &bytes[..half]].concat();
    // A server that asks for many rounds must not keep a client busy for ever: the decoder has a bound of its own.
    if let Ok(challenged) = client.challenge(&message) {
        let (_, proved) = challenged.prove();
        assert!(proved.check(&bytes[half..]).is_err(), "a guess was believed");
    }
}
