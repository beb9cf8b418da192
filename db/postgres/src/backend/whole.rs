//! Replies that have come whole: columns, rows and one completion, and nothing else.

use pando_kernel::{Completion, Error, Event, Result, Whole};

use super::reply::Outcome;
use crate::codec::Malformed;
use crate::codec::frame::header;

/// Whether the bytes begin with a whole reply of this kind, of which no message can fail or wait.
///
/// # Errors
/// A length that no message has.
pub(super) fn begins(bytes: &[u8], limit: usize) -> Result<bool, Malformed> {
    let (mut rest, mut stage) = (bytes, Stage::Head);
    while let Some(header) = header(rest, limit)? {
        let Some(behind) = rest.get(header.total..) else { return Ok(false) };
        stage = match (header.tag, stage) {
            (b'Z', Stage::End) => return Ok(true),
            // ParseComplete, BindComplete, RowDescription and NoData.
            (b'1' | b'2' | b'T' | b'n', Stage::Head) => Stage::Head,
            (b'D', Stage::Head | Stage::Rows) => Stage::Rows,
            (b'C', Stage::Head | Stage::Rows) => Stage::End,
            _ => return Ok(false),
        };
        rest = behind;
    }
    Ok(false)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Head,
    Rows,
    End,
}

/// Puts a reply together from what its messages lead to; `next` gives that of each.
///
/// # Errors
/// What a message leads to, and `Internal` when that is no part of such a reply.
pub(super) fn gather(mut next: impl FnMut() -> Result<Option<Outcome>>) -> Result<Whole> {
    let mut whole = Whole { columns: None, rows: None, completion: Completion::default() };
    loop {
        match next()? {
            Some(Outcome::Event(Event::Columns(columns))) => whole.columns = Some(columns),
            Some(Outcome::Event(Event::Rows(rows))) if whole.rows.is_none() => {
                whole.rows = Some(rows);
            }
            Some(Outcome::Event(Event::Complete(done))) => whole.completion = done,
            Some(Outcome::Quiet | Outcome::Heard) => {}
            Some(Outcome::Over(over)) => return over.map(|()| whole),
            Some(
                Outcome::Event(_)
                | Outcome::Sync
                | Outcome::Settle
                | Outcome::Again(_)
                | Outcome::Lost(_),
            )
            | None => return Err(Error::internal("a whole reply has other parts")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[tag], &length[..], body].concat()
    }

    fn check(tags: &str, expected: bool) {
        let bytes: Vec<u8> = tags.bytes().flat_map(|tag| message(tag, b"body")).collect();
        assert_eq!(begins(&bytes, 100), Ok(expected), "{tags}");
        for cut in 0..bytes.len() {
            let is_whole = begins(&bytes[..cut], 100).unwrap();
            assert!(!is_whole || tags[..tags.len() - 1].contains('Z'), "{tags} cut at {cut}");
        }
    }

    #[test]
    fn whole_replies_are_those_without_errors_notices_and_second_results() {
        for tags in ["2DCZ", "12TDCZ", "TCZ", "2DDDCZ", "12nCZ", "CZ", "2CZZ", "TDCZE"] {
            check(tags, true);
        }
        for tags in [
            "2DC", "2DZ", "Z", "2DNCZ", "N2DCZ", "2DEZ", "EZ", "TDCTDCZ", "DTCZ", "2DCSZ", "IZ",
            "2G", "2HdcCZ", "3CZ", "2DsZ", "t12TCZ",
        ] {
            check(tags, false);
        }
    }

    #[test]
    fn lying_lengths_are_refused() {
        assert!(begins(b"2\0\0\0\x03", 100).is_err());
        assert!(begins(b"2\xff\0\0\0", 100).is_err());
    }
}
