use bytes::BytesMut;

use super::*;
use crate::codec::{Inbound, Outbound};

const NEW: Capabilities = Capabilities::DEPRECATE_EOF;
const OLD: Capabilities = Capabilities::PROTOCOL_41;

fn definition(name: &[u8]) -> BytesMut {
    let mut out = BytesMut::new();
    ColumnDefinition { table: b"t_0", name, ..ColumnDefinition::default() }.encode(NEW, &mut out);
    out
}

/// A reply of packets with these payloads; the first carries the number 1.
fn reply(payloads: &[&[u8]]) -> BytesMut {
    let mut out = Outbound::new();
    out.restart(1);
    for payload in payloads {
        out.payload(payload);
    }
    std::mem::take(out.buffer_mut())
}

/// Two rows of one column, the second empty, and the end as either protocol writes it.
fn rows(capabilities: Capabilities) -> BytesMut {
    let (a, eof) = (definition(b"a"), [0xFE, 0, 0, 2, 0]);
    match capabilities {
        OLD => reply(&[&[1], &a, &eof, b"\x0222", b"\x00", &eof]),
        _ => reply(&[&[1], &a, b"\x0222", b"\x00", &[0xFE, 0, 0, 2, 0, 0, 0]]),
    }
}

/// The bytes of one definition.
fn defined(bytes: &[u8], format: Format) -> Definitions<'_> {
    Definitions { bytes, count: 1, format, capabilities: NEW }
}

#[test]
fn a_reply_is_whole_when_its_last_byte_is_there() {
    for capabilities in [NEW, OLD] {
        let bytes = rows(capabilities);
        for cut in 0..bytes.len() {
            assert_eq!(begins(&bytes[..cut], 1, capabilities), None, "cut at {cut}");
        }
        let parts = begins(&bytes, 1, capabilities).unwrap();
        assert_eq!((parts.columns, parts.count, parts.end.end), (1, 2, bytes.len()));
        assert_eq!(bytes[parts.rows.clone()].len(), 3 + 1 + 2 * HEADER_LEN);
        let mut longer = bytes.clone();
        longer.extend_from_slice(b"more");
        assert_eq!(
            begins(&longer, 1, capabilities),
            Some(parts.clone()),
            "what is behind is another's"
        );
        let mut input = Inbound::new(1 << 20);
        input.expect(1);
        input.buffer_mut().extend_from_slice(&longer);
        let cut = input.cut(parts.rows.clone(), parts.end.end, parts.packets);
        assert_eq!(cut, bytes[parts.rows]);
        assert_eq!(input.buffered(), b"more");
        assert_eq!(usize::from(input.expected()), usize::from(parts.packets) + 1);
    }
    let ok = reply(&[&[0, 1, 0, 2, 0, 0, 0]]);
    let parts = begins(&ok, 1, NEW).unwrap();
    assert_eq!((parts.columns, parts.end, parts.packets), (0, 0..ok.len(), 1));
}

#[test]
fn errors_files_wrong_numbers_and_long_replies_are_left_to_their_pieces() {
    let a = definition(b"a");
    let end: &[u8] = &[0xFE, 0, 0, 2, 0, 0, 0];
    let none = |payloads: &[&[u8]], capabilities| begins(&reply(payloads), 1, capabilities);
    assert_eq!(none(&[b"\xff\x01\x02"], NEW), None, "an error");
    assert_eq!(none(&[&[1], &a, b"\x011", b"\xff\x01\x02"], NEW), None, "an error behind a row");
    assert_eq!(none(&[b"\xfbfile"], NEW), None);
    assert_eq!(none(&[&[0xFC, 0xFF, 0xFF], end], NEW), None, "columns that are not there");
    assert_eq!(none(&[&[1], &a, b"\x011", end], OLD), None, "no end of columns");
    assert_eq!(begins(&rows(NEW), 2, NEW), None, "numbers begin elsewhere");
    let row: &[u8] = b"\x011";
    let many: Vec<&[u8]> = [&[1][..], &a].into_iter().chain([row; 300]).chain([end]).collect();
    assert_eq!(none(&many, NEW), None, "more packets than numbers");
}

#[test]
fn columns_are_read_once_for_the_same_definitions() {
    let lists = Lists::default();
    let mut seen = Seen::default();
    let mut columns = |bytes: &[u8], format| seen.columns(defined(bytes, format), &lists);
    let defined = |name: &[u8]| reply(&[&definition(name)]);
    let (one, other) = (defined(b"one"), defined(b"other"));
    let first = columns(&one, Format::Text).unwrap();
    assert_eq!((&*first[0].name, first[0].format), ("one", Format::Text));
    assert!(Arc::ptr_eq(&first, &columns(&one, Format::Text).unwrap()));
    assert_eq!(columns(&other, Format::Text).unwrap()[0].name, "other");
    assert_eq!(columns(&one, Format::Binary).unwrap()[0].format, Format::Binary);
    assert!(Arc::ptr_eq(&first, &columns(&one, Format::Text).unwrap()));
    for number in 0..2 * KEPT {
        columns(&defined(number.to_string().as_bytes()), Format::Text).unwrap();
    }
    assert_eq!(columns(&one, Format::Text).unwrap(), first);
    let late = [b"late", b"last"].map(|name| defined(name));
    for bytes in late.iter().chain(&late) {
        columns(bytes, Format::Text).unwrap();
    }
    let long = defined(&[b'x'; LONGEST]);
    assert_eq!(columns(&long, Format::Text).unwrap()[0].name.len(), LONGEST);
    assert!(columns(&reply(&[b"\x09lies"]), Format::Text).is_err());
    assert_eq!(seen.list.len(), KEPT);
    assert!(seen.list.iter().all(|(_, bytes, _)| bytes.len() <= LONGEST), "it is not kept");
    let is_kept = |late: &BytesMut| seen.list.iter().any(|(_, bytes, _)| **bytes == **late);
    assert!(late.iter().all(is_kept), "those that take turns find room");
}

#[test]
fn connections_share_their_columns() {
    let lists = Lists::default();
    let [mut one, mut other] = [Seen::default(), Seen::default()];
    let bytes = reply(&[&definition(b"a")]);
    let columns = |seen: &mut Seen, format| seen.columns(defined(&bytes, format), &lists).unwrap();
    let first = columns(&mut one, Format::Text);
    assert!(Arc::ptr_eq(&first, &columns(&mut other, Format::Text)));
    assert!(!Arc::ptr_eq(&first, &columns(&mut other, Format::Binary)));
}
