//! Messages that are only their tag.

use bytes::BytesMut;

use crate::codec::tagged;

/// Appends a ParseComplete frame.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-PARSECOMPLETE>
pub fn encode_parse_complete(buf: &mut BytesMut) {
    tagged(buf, b'1', |_| ());
}

/// Appends a BindComplete frame.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-BINDCOMPLETE>
pub fn encode_bind_complete(buf: &mut BytesMut) {
    tagged(buf, b'2', |_| ());
}

/// Appends a CloseComplete frame.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-CLOSECOMPLETE>
pub fn encode_close_complete(buf: &mut BytesMut) {
    tagged(buf, b'3', |_| ());
}

/// Appends a NoData frame.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-NODATA>
pub fn encode_no_data(buf: &mut BytesMut) {
    tagged(buf, b'n', |_| ());
}

/// Appends a PortalSuspended frame.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-PORTALSUSPENDED>
pub fn encode_portal_suspended(buf: &mut BytesMut) {
    tagged(buf, b's', |_| ());
}

/// Appends an EmptyQueryResponse frame.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-EMPTYQUERYRESPONSE>
pub fn encode_empty_query(buf: &mut BytesMut) {
    tagged(buf, b'I', |_| ());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_its_tag_and_an_empty_body() {
        let mut buf = BytesMut::new();
        encode_parse_complete(&mut buf);
        encode_bind_complete(&mut buf);
        encode_close_complete(&mut buf);
        encode_no_data(&mut buf);
        encode_portal_suspended(&mut buf);
        encode_empty_query(&mut buf);
        let tags: Vec<u8> = buf.chunks(5).map(|frame| frame[0]).collect();
        assert_eq!(tags, b"123nsI");
        assert!(buf.chunks(5).all(|frame| frame[1..] == [0, 0, 0, 4]));
    }
}
