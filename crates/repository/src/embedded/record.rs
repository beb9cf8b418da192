//! What stands in the log, as bytes. A record is a frame (length, checksum of the payload, checksum of these two and of the record's
//! place in the file) and a payload. Integers are little-endian.

use bytes::Bytes;

use super::checksum::crc32;
use crate::{Key, Revision};

/// Bytes of a frame.
pub(super) const FRAME: usize = 12;

/// Bytes of a payload: a whole change, with room for what stands around its keys.
pub(super) const MAX_PAYLOAD: usize = crate::limits::MAX_CHANGE_BYTES + 16 * 1024;

/// One thing the log says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Record {
    /// The first record of a file: so many `Entry` records follow, and with them all is as it was at the revision.
    Base { revision: Revision, entries: u64 },
    /// A key as it was when the file was begun.
    Entry { revision: Revision, key: Key, value: Bytes },
    /// What a change did to keys that stay; `None` is a deletion.
    Commit { revision: Revision, writes: Vec<(Key, Option<Bytes>)> },
}

impl Record {
    /// Adds the record to the end of `out`, where it will stand `at` bytes from the beginning of the file.
    pub(super) fn append(&self, at: u64, out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend_from_slice(&[0; FRAME]);
        match self {
            Self::Base { revision, entries } => {
                out.push(1);
                number(out, revision.0);
                number(out, *entries);
            }
            Self::Entry { revision, key, value } => {
                out.push(2);
                number(out, revision.0);
                text(out, key.as_str().as_bytes());
                text(out, value);
            }
            Self::Commit { revision, writes } => {
                out.push(3);
                number(out, revision.0);
                for (key, value) in writes {
                    out.push(u8::from(value.is_some()));
                    text(out, key.as_str().as_bytes());
                    if let Some(value) = value {
                        text(out, value);
                    }
                }
            }
        }
        let payload = &out[begin + FRAME..];
        let frame = frame(payload.len() as u32, crc32(payload), at);
        out[begin..begin + FRAME].copy_from_slice(&frame);
    }

    fn decode(payload: &[u8]) -> Option<Self> {
        let mut reader = Reader(payload);
        let kind = reader.byte()?;
        let revision = Revision(reader.number()?);
        let record = match kind {
            1 => Self::Base { revision, entries: reader.number()? },
            2 => Self::Entry { revision, key: reader.key()?, value: reader.value()? },
            3 => {
                let mut writes = Vec::new();
                while !reader.0.is_empty() {
                    let has_value = reader.byte()? == 1;
                    let key = reader.key()?;
                    writes.push((key, if has_value { Some(reader.value()?) } else { None }));
                }
                Self::Commit { revision, writes }
            }
            _ => return None,
        };
        reader.0.is_empty().then_some(record)
    }
}

/// The record at this place of the file, and where the next one begins; `None` when it is not whole or not one of ours.
pub(super) fn read(file: &[u8], at: usize) -> Option<(Record, usize)> {
    let payload = whole(file, at)?;
    Some((Record::decode(payload)?, at + FRAME + payload.len()))
}

/// The payload at this place, when frame and checksums hold.
pub(super) fn whole(file: &[u8], at: usize) -> Option<&[u8]> {
    let found = file.get(at..at + FRAME)?;
    let length = u32::from_le_bytes(found[..4].try_into().ok()?);
    let sum = u32::from_le_bytes(found[4..8].try_into().ok()?);
    if frame(length, sum, at as u64) != found || length as usize > MAX_PAYLOAD {
        return None;
    }
    let payload = file.get(at + FRAME..)?.get(..length as usize)?;
    (crc32(payload) == sum).then_some(payload)
}

/// The place is part of it, so that a record inside another's value is not taken for one.
fn frame(length: u32, sum: u32, at: u64) -> [u8; FRAME] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes[4..8].copy_from_slice(&sum.to_le_bytes());
    bytes[8..].copy_from_slice(&at.to_le_bytes());
    let own = crc32(&bytes);
    bytes[8..12].copy_from_slice(&own.to_le_bytes());
    let mut frame = [0; FRAME];
    frame.copy_from_slice(&bytes[..FRAME]);
    frame
}

fn number(out: &mut Vec<u8>, n: u64) {
    out.extend_from_slice(&n.to_le_bytes());
}

fn text(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*bytes))
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk()?;
        let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        self.0 = rest;
        Some(bytes)
    }

    fn key(&mut self) -> Option<Key> {
        Key::parse(std::str::from_utf8(self.text()?).ok()?).ok()
    }

    fn value(&mut self) -> Option<Bytes> {
        self.text().map(Bytes::copy_from_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<Record> {
        let key = |path| Key::parse(path).unwrap();
        let writes = vec![(key("/a"), Some(Bytes::from_static(b"x"))), (key("/b"), None)];
        vec![
            Record::Base { revision: Revision(7), entries: 1 },
            Record::Entry { revision: Revision(3), key: key("/a/ü"), value: Bytes::new() },
            Record::Commit { revision: Revision(8), writes },
        ]
    }

    #[test]
    fn records_are_read_back_and_only_at_their_place() {
        let mut file = b"begin".to_vec();
        for record in records() {
            let at = file.len();
            record.append(at as u64, &mut file);
            assert_eq!(read(&file, at), Some((record, file.len())));
        }
        let moved = [b"xx".as_slice(), &file].concat();
        assert!((0..moved.len()).all(|at| read(&moved, at).is_none()));
    }

    #[test]
    fn no_cut_or_changed_byte_is_taken_for_a_record() {
        for record in records() {
            let mut file = Vec::new();
            record.append(0, &mut file);
            for at in 0..file.len() {
                assert_eq!(read(&file[..at], 0), None);
                let mut other = file.clone();
                other[at] ^= 0x10;
                assert_eq!(read(&other, 0), None);
            }
        }
    }
}
