//! Packets: a three byte length, a sequence number, a payload; payloads of 16 MiB and more span several.

use std::ops::Range;

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::malformed::{Fault, Malformed};

/// Bytes before each frame's payload.
pub const HEADER_LEN: usize = 4;

/// The largest payload of one frame, in bytes; a frame of exactly this size is followed by another.
pub const MAX_FRAME: usize = 0xFF_FFFF;

/// A buffer that has grown beyond so many bytes is given back once it is empty: a connection lives for hours after its largest packet.
const KEEP: usize = 256 << 10;

/// The payload length in a frame's header, in bytes.
pub fn frame_payload_len(header: [u8; HEADER_LEN]) -> usize {
    u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize
}

/// One whole packet, frames joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// The sequence number of its last frame.
    pub sequence: u8,
    /// The payload without headers.
    pub payload: Bytes,
}

/// What stands at the front of the buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Run {
    /// So many whole packets, headers included.
    Packets(Bytes, u32),
    /// The packet that ends the run; it is left in place.
    Ended,
    /// Not even one whole packet.
    Incomplete,
}

/// Cuts a byte stream into packets.
///
/// The stream's bytes are appended to [`Self::buffer_mut`]. No memory is taken on the word of a length: only what
/// has arrived is held, and a length over the limit is refused as soon as its header is there.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html>
#[derive(Debug)]
pub struct Inbound {
    buffer: BytesMut,
    /// A packet larger than what is kept has been part of `buffer`.
    has_grown: bool,
    joined: BytesMut,
    joining: bool,
    expected: u8,
    limit: usize,
}

impl Inbound {
    /// A reader that refuses payloads over `limit` bytes and expects sequence number 0 first.
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            has_grown: false,
            joined: BytesMut::new(),
            joining: false,
            expected: 0,
            limit,
        }
    }

    /// Where the stream's bytes go, at the end.
    pub fn buffer_mut(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Bytes that arrived and are not yet part of a returned packet.
    pub fn buffered(&self) -> &[u8] {
        &self.buffer
    }

    /// Changes the limit on payloads, in bytes.
    pub fn limit_to(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// The sequence number the next frame must carry.
    pub fn expect(&mut self, sequence: u8) {
        self.expected = sequence;
    }

    /// The sequence number an answer to the last packet starts with.
    pub fn expected(&self) -> u8 {
        self.expected
    }

    /// The next whole packet, or `None` until more bytes are there.
    ///
    /// # Errors
    /// `OutOfOrder` for a wrong sequence number, `TooLarge` for a payload over the limit. The stream is of no
    /// further use after an error.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, Malformed> {
        loop {
            let Some(header) = self.buffer.first_chunk::<HEADER_LEN>().copied() else {
                return Ok(None);
            };
            let len = frame_payload_len(header);
            self.check(header[3], len)?;
            if self.buffer.len() < HEADER_LEN + len {
                return Ok(None);
            }
            self.expected = header[3].wrapping_add(1);
            self.buffer.advance(HEADER_LEN);
            let payload = self.buffer.split_to(len);
            self.settle(len);
            if len == MAX_FRAME {
                self.join(payload);
                continue;
            }
            let payload = if self.joining {
                self.join(payload);
                self.joining = false;
                std::mem::take(&mut self.joined)
            } else {
                payload
            };
            return Ok(Some(Packet { sequence: header[3], payload: payload.freeze() }));
        }
    }

    /// Takes the whole packets at the front of the buffer as they stand, headers included, up to but not including
    /// the first for which `ends` is true. `ends` gets a packet's first byte and the payload length of its first frame.
    ///
    /// # Errors
    /// As [`Self::next_packet`].
    pub fn run(&mut self, ends: impl Fn(u8, usize) -> bool) -> Result<Run, Malformed> {
        let (mut at, mut whole, mut payload, mut count) = (0, 0, 0, 0);
        let (mut sequence, mut expected) = (self.expected, self.expected);
        let mut ended = false;
        while let Some(header) = self.buffer.get(at..).and_then(|rest| rest.first_chunk()).copied()
        {
            let len = frame_payload_len(header);
            check_sequence(sequence, header[3])?;
            payload += len;
            if payload > self.limit {
                return Err(too_large(self.limit));
            }
            let next = at + HEADER_LEN + len;
            if next > self.buffer.len() {
                break;
            }
            let first = self.buffer.get(at + HEADER_LEN).copied();
            if at == whole && len > 0 && first.is_some_and(|first| ends(first, len)) {
                ended = true;
                break;
            }
            at = next;
            sequence = sequence.wrapping_add(1);
            if len < MAX_FRAME {
                (whole, expected, payload) = (at, sequence, 0);
                count += 1;
            }
        }
        if count == 0 {
            return Ok(if ended { Run::Ended } else { Run::Incomplete });
        }
        self.expected = expected;
        let packets = self.buffer.split_to(whole).freeze();
        self.settle(whole);
        Ok(Run::Packets(packets, count))
    }

    /// Takes so many packets, of `total` bytes, off the front of the buffer; returns the bytes of `part`, which is within them, headers included. What is not there is left out.
    pub fn cut(&mut self, part: Range<usize>, total: usize, packets: u8) -> Bytes {
        let total = total.min(self.buffer.len());
        let (start, end) = (part.start.min(total), part.end.min(total));
        self.buffer.advance(start);
        let part = self.buffer.split_to(end.saturating_sub(start));
        self.buffer.advance(total - end.max(start));
        self.expected = self.expected.wrapping_add(packets);
        self.settle(total);
        part.freeze()
    }

    /// What is left of a large allocation would keep all of it.
    fn settle(&mut self, taken: usize) {
        self.has_grown |= taken > KEEP;
        if self.has_grown && self.buffer.is_empty() {
            (self.buffer, self.has_grown) = (BytesMut::new(), false);
        }
    }

    fn check(&self, got: u8, len: usize) -> Result<(), Malformed> {
        check_sequence(self.expected, got)?;
        if self.joined.len() + len > self.limit {
            return Err(too_large(self.limit));
        }
        Ok(())
    }

    fn join(&mut self, part: BytesMut) {
        if self.joined.is_empty() {
            self.joined = part;
        } else {
            self.joined.extend_from_slice(&part);
        }
        self.joining = true;
    }
}

fn check_sequence(expected: u8, got: u8) -> Result<(), Malformed> {
    if got == expected {
        return Ok(());
    }
    let fault = Fault::OutOfOrder { expected, got };
    Err(Malformed { message: "packet", part: "sequence number", fault })
}

fn too_large(limit: usize) -> Malformed {
    Malformed { message: "packet", part: "payload", fault: Fault::TooLarge(limit) }
}

/// Packs payloads into frames with running sequence numbers.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html>
#[derive(Debug, Default)]
pub struct Outbound {
    buffer: BytesMut,
    sequence: u8,
}

impl Outbound {
    /// An empty writer whose first frame has sequence number 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the sequence number of the next frame.
    pub fn restart(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The sequence number the next frame will carry.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// The framed bytes waiting to be sent.
    pub fn buffer_mut(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Gives a large buffer back; called when everything is sent.
    pub fn settle(&mut self) {
        // `capacity` would tell what is left behind the bytes that were sent, not what is held.
        if self.buffer.is_empty() && self.buffer.try_reclaim(KEEP) {
            self.buffer = BytesMut::new();
        }
    }

    /// Bytes waiting to be sent.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// True when nothing waits to be sent.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Appends one packet whose payload `fill` writes at the end of the buffer it gets.
    pub fn packet(&mut self, fill: impl FnOnce(&mut BytesMut)) {
        let start = self.buffer.len();
        self.buffer.put_u32_le(0);
        fill(&mut self.buffer);
        self.sequence = seal(&mut self.buffer, start, self.sequence);
    }

    /// Appends one packet with a ready payload.
    pub fn payload(&mut self, payload: &[u8]) {
        self.buffer.reserve(HEADER_LEN + payload.len());
        self.packet(|out| out.put_slice(payload));
    }

    /// Appends frames that already have headers, giving them this writer's sequence numbers.
    ///
    /// `frames` holds whole frames only; a shorter tail is dropped.
    pub fn frames(&mut self, frames: &[u8]) {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(frames);
        let mut at = start;
        while let Some(header) = self.buffer.get(at..).and_then(|rest| rest.first_chunk()).copied()
        {
            if let Some(slot) = self.buffer.get_mut(at + 3) {
                *slot = self.sequence;
            }
            self.sequence = self.sequence.wrapping_add(1);
            at += HEADER_LEN + frame_payload_len(header);
        }
        self.buffer.truncate(at);
    }
}

/// Turns the bytes from `start` on (four bytes left for a header, then a payload) into frames whose sequence numbers
/// begin with `sequence`; returns the number after the last one.
pub(crate) fn seal(out: &mut BytesMut, start: usize, mut sequence: u8) -> u8 {
    let len = out.len() - start - HEADER_LEN;
    if len < MAX_FRAME {
        set_header(out, start, len, sequence);
        return sequence.wrapping_add(1);
    }
    let payload = out.split_off(start + HEADER_LEN);
    out.truncate(start);
    // A last frame of full size needs an empty one behind it.
    let full = payload.chunks_exact(MAX_FRAME);
    for frame in full.clone().chain([full.remainder()]) {
        let start = out.len();
        out.put_u32_le(0);
        out.put_slice(frame);
        set_header(out, start, frame.len(), sequence);
        sequence = sequence.wrapping_add(1);
    }
    sequence
}

fn set_header(out: &mut BytesMut, start: usize, len: usize, sequence: u8) {
    let [a, b, c, _] = (len as u32).to_le_bytes();
    if let Some(slot) = out.get_mut(start..start + HEADER_LEN) {
        slot.copy_from_slice(&[a, b, c, sequence]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_do_not_stay_as_large_as_the_largest_packet() {
        let mut out = Outbound::new();
        out.payload(&[7; 2 * KEEP]);
        let mut input = Inbound::new(usize::MAX);
        input.buffer_mut().extend_from_slice(out.buffer_mut());
        let sent = out.len();
        out.buffer_mut().advance(sent);
        out.settle();
        assert!(!out.buffer_mut().try_reclaim(KEEP));
        drop(input.next_packet().unwrap().unwrap());
        assert!(!input.buffer_mut().try_reclaim(KEEP));
    }

    fn round_trip(len: usize) -> (usize, Packet) {
        let payload: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        let mut out = Outbound::new();
        out.payload(&payload);
        let framed = out.len();
        let mut inbound = Inbound::new(len);
        inbound.buffer_mut().extend_from_slice(out.buffer_mut());
        let packet = inbound.next_packet().unwrap().unwrap();
        assert_eq!(packet.payload, payload);
        assert!(inbound.next_packet().unwrap().is_none());
        (framed, packet)
    }

    #[test]
    fn payloads_around_sixteen_mebibytes_are_split_and_joined() {
        assert_eq!(round_trip(0).0, 4);
        assert_eq!(round_trip(5).1.sequence, 0);
        assert_eq!(round_trip(MAX_FRAME - 1).1.sequence, 0);
        let (framed, packet) = round_trip(MAX_FRAME);
        assert_eq!((framed, packet.sequence), (MAX_FRAME + 8, 1));
        assert_eq!(round_trip(MAX_FRAME + 1).1.sequence, 1);
        assert_eq!(round_trip(2 * MAX_FRAME).1.sequence, 2);
    }

    #[test]
    fn a_packet_comes_only_when_its_last_byte_is_there() {
        let bytes = [3, 0, 0, 0, b'a', b'b', b'c', 1, 0, 0, 1, b'd'];
        let mut inbound = Inbound::new(16);
        for (at, byte) in bytes.iter().enumerate() {
            inbound.buffer_mut().extend_from_slice(&[*byte]);
            let packet = inbound.next_packet().unwrap();
            assert_eq!(packet.is_some(), at == 6 || at == 11, "at byte {at}");
        }
    }

    #[test]
    fn a_length_over_the_limit_is_refused_by_its_header_alone() {
        let mut inbound = Inbound::new(1024);
        inbound.buffer_mut().extend_from_slice(&[0xFF, 0xFF, 0xFF, 0]);
        let fault = inbound.next_packet().unwrap_err();
        assert_eq!(fault.fault, Fault::TooLarge(1024));
    }

    #[test]
    fn joined_frames_count_against_the_limit_together() {
        let mut out = Outbound::new();
        out.payload(&vec![7; MAX_FRAME + 10]);
        let mut inbound = Inbound::new(MAX_FRAME + 9);
        inbound.buffer_mut().extend_from_slice(out.buffer_mut());
        assert_eq!(inbound.next_packet().unwrap_err().fault, Fault::TooLarge(MAX_FRAME + 9));
    }

    #[test]
    fn a_wrong_sequence_number_is_refused() {
        let mut inbound = Inbound::new(16);
        inbound.buffer_mut().extend_from_slice(&[0, 0, 0, 3]);
        let fault = inbound.next_packet().unwrap_err();
        assert_eq!(fault.fault, Fault::OutOfOrder { expected: 0, got: 3 });
    }

    #[test]
    fn a_run_of_rows_stops_before_its_end_and_before_a_part_of_a_row() {
        let mut out = Outbound::new();
        out.payload(b"\x01a");
        out.payload(b"\x01b");
        out.payload(b"\xFE\0\0");
        let bytes = out.buffer_mut().clone();
        let mut inbound = Inbound::new(100);
        let ends = |first, len| first == 0xFE && len < 9;
        inbound.buffer_mut().extend_from_slice(&bytes[..11]);
        let Run::Packets(rows, count) = inbound.run(ends).unwrap() else { panic!("a row") };
        assert_eq!((rows.len(), count), (6, 1));
        assert_eq!(inbound.run(ends).unwrap(), Run::Incomplete);
        inbound.buffer_mut().extend_from_slice(&bytes[11..]);
        let row = Bytes::from_static(b"\x02\0\0\x01\x01b");
        assert_eq!(inbound.run(ends).unwrap(), Run::Packets(row, 1));
        assert_eq!(inbound.run(ends).unwrap(), Run::Ended);
        assert_eq!(inbound.next_packet().unwrap().unwrap().payload[..], b"\xFE\0\0"[..]);
    }

    #[test]
    fn a_run_keeps_the_frames_of_a_large_row_together() {
        let mut out = Outbound::new();
        out.payload(&vec![1; MAX_FRAME]);
        let mut inbound = Inbound::new(MAX_FRAME);
        let framed = out.buffer_mut().clone();
        inbound.buffer_mut().extend_from_slice(&framed[..framed.len() - 1]);
        assert_eq!(inbound.run(|_, _| false).unwrap(), Run::Incomplete);
        inbound.buffer_mut().extend_from_slice(&framed[framed.len() - 1..]);
        assert_eq!(inbound.run(|_, _| false).unwrap(), Run::Packets(framed.freeze(), 1));
        let mut small = Inbound::new(MAX_FRAME - 1);
        small.buffer_mut().extend_from_slice(&[0xFF, 0xFF, 0xFF, 0]);
        assert!(small.run(|_, _| false).is_err());
    }

    #[test]
    fn forwarded_frames_get_new_sequence_numbers() {
        let mut out = Outbound::new();
        out.restart(254);
        out.frames(&[1, 0, 0, 9, b'a', 0, 0, 0, 9, 2, 0, 0, 9, b'b', b'c']);
        assert_eq!(
            out.buffer_mut()[..],
            [1, 0, 0, 254, b'a', 0, 0, 0, 255, 2, 0, 0, 0, b'b', b'c']
        );
        assert_eq!(out.sequence(), 1);
    }
}
