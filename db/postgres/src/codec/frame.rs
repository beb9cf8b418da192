//! Where one message ends and the next begins.

use super::{Fault, Malformed};

/// The largest first packet PostgreSQL takes, bytes on the wire.
pub const STARTUP_LIMIT: usize = 10_000;
/// The largest message with no payload of its own (Sync, Describe and the like), bytes on the wire.
pub const SMALL_LIMIT: usize = 10_000;
/// The largest message PostgreSQL itself takes, bytes on the wire.
pub const LARGE_LIMIT: usize = 0x3fff_ffff;
/// Bytes before the body of a tagged message.
pub const HEADER: usize = 5;

/// The start of a tagged message: its tag and how long it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The message type.
    pub tag: u8,
    /// Bytes of the whole frame, tag and length field included; at least 5.
    pub total: usize,
}

/// Reads the header at the front of `bytes`; `None` when more bytes are needed.
///
/// # Errors
/// A length below four or above `limit` (bytes on the wire).
pub fn header(bytes: &[u8], limit: usize) -> Result<Option<Header>, Malformed> {
    let Some(([tag, len @ ..], _)) = bytes.split_first_chunk::<HEADER>() else {
        return Ok(None);
    };
    let len = checked("frame", *len, limit)?;
    Ok(Some(Header { tag: *tag, total: len + 1 }))
}

/// The whole frame at the front of `bytes`; `None` when more bytes are needed.
///
/// # Errors
/// As [`header`].
pub fn frame(bytes: &[u8], limit: usize) -> Result<Option<(Header, &[u8])>, Malformed> {
    match header(bytes, limit)? {
        Some(header) if bytes.len() >= header.total => {
            Ok(Some((header, &bytes[HEADER..header.total])))
        }
        Some(_) | None => Ok(None),
    }
}

/// How many bytes the first packet of a connection has; `None` when more bytes are needed.
///
/// # Errors
/// A length below eight or above [`STARTUP_LIMIT`].
pub fn startup(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    let Some((len, _)) = bytes.split_first_chunk::<4>() else {
        return Ok(None);
    };
    match checked("StartupMessage", *len, STARTUP_LIMIT)? {
        len if len < 8 => Err(Malformed::new("StartupMessage", Fault::BadLength)),
        len => Ok(Some(len)),
    }
}

/// The longest frame with this tag that a client may send, bytes on the wire.
///
/// As PostgreSQL: only messages that carry a payload may be as long as `limit`.
pub fn frontend_limit(tag: u8, limit: usize) -> usize {
    match tag {
        b'Q' | b'P' | b'B' | b'F' | b'd' | b'p' => limit,
        _ => limit.min(SMALL_LIMIT),
    }
}

/// How many bytes at the front of `bytes` are whole frames with tag `tag`, and how many frames.
///
/// # Errors
/// As [`header`].
pub fn run(bytes: &[u8], tag: u8, limit: usize) -> Result<(usize, usize), Malformed> {
    let (mut end, mut frames) = (0, 0);
    while let Some(next) = header(&bytes[end..], limit)? {
        if next.tag != tag || bytes.len() - end < next.total {
            break;
        }
        end += next.total;
        frames += 1;
    }
    Ok((end, frames))
}

fn checked(message: &'static str, len: [u8; 4], limit: usize) -> Result<usize, Malformed> {
    match usize::try_from(i32::from_be_bytes(len)) {
        Ok(len) if (4..=limit).contains(&len) => Ok(len),
        Ok(_) | Err(_) => Err(Malformed::new(message, Fault::BadLength)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_waits_for_five_bytes() {
        for len in 0..HEADER {
            assert_eq!(header(&b"Z\0\0\0\x05I"[..len], 100), Ok(None));
        }
        assert_eq!(header(b"Z\0\0\0\x05", 100), Ok(Some(Header { tag: b'Z', total: 6 })));
    }

    #[test]
    fn a_frame_waits_for_its_body() {
        assert_eq!(frame(b"Z\0\0\0\x05", 100), Ok(None));
        let header = Header { tag: b'Z', total: 6 };
        assert_eq!(frame(b"Z\0\0\0\x05Irest", 100), Ok(Some((header, &b"I"[..]))));
    }

    #[test]
    fn lying_lengths_are_refused_before_the_body_arrives() {
        for len in
            [[0, 0, 0, 3], [0xff, 0xff, 0xff, 0xff], [0, 0, 0, 101], [0x7f, 0xff, 0xff, 0xff]]
        {
            let bytes = [b'Q', len[0], len[1], len[2], len[3]];
            assert_eq!(header(&bytes, 100).map_err(|e| e.fault), Err(Fault::BadLength), "{len:?}");
        }
    }

    #[test]
    fn the_first_packet_has_its_own_limit() {
        assert_eq!(startup(&[0, 0, 0]), Ok(None));
        assert_eq!(startup(&[0, 0, 0, 8]), Ok(Some(8)));
        assert_eq!(startup(&10_000_i32.to_be_bytes()), Ok(Some(10_000)));
        assert!(startup(&10_001_i32.to_be_bytes()).is_err());
        assert!(startup(&[0, 0, 0, 7]).is_err());
        // "GET " of a web browser.
        assert!(startup(b"GET / HTTP/1.1").is_err());
    }

    #[test]
    fn only_messages_with_a_payload_may_be_long() {
        assert_eq!(frontend_limit(b'Q', LARGE_LIMIT), LARGE_LIMIT);
        assert_eq!(frontend_limit(b'S', LARGE_LIMIT), SMALL_LIMIT);
        assert_eq!(frontend_limit(b'S', 100), 100);
    }

    #[test]
    fn a_run_ends_at_another_tag_or_at_a_part_of_a_frame() {
        let bytes = b"D\0\0\0\x06\0\0D\0\0\0\x06\0\0C\0\0\0\x05\0";
        assert_eq!(run(bytes, b'D', 100), Ok((14, 2)));
        assert_eq!(run(&bytes[..13], b'D', 100), Ok((7, 1)));
        assert_eq!(run(b"D\0\0\0\x01", b'D', 100).map_err(|e| e.fault), Err(Fault::BadLength));
    }
}
