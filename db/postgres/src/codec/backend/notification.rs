//! NotificationResponse: a NOTIFY of some session.

use bytes::{BufMut, BytesMut};

use crate::codec::{Malformed, Reader, put_cstr, tagged};

/// NotificationResponse.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-NOTIFICATIONRESPONSE>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notification<'a> {
    /// The process id of the session that notifies.
    pub process: u32,
    /// The channel.
    pub channel: &'a str,
    /// What it says; may be empty.
    pub payload: &'a str,
}

impl<'a> Notification<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// A body that breaks the protocol.
    pub fn decode(body: &'a [u8]) -> Result<Notification<'a>, Malformed> {
        let mut reader = Reader::new("NotificationResponse", body);
        let process = reader.u32()?;
        let channel = reader.text()?;
        let payload = reader.text()?;
        reader.end().map(|()| Notification { process, channel, payload })
    }

    /// Appends the frame.
    pub fn encode(&self, buf: &mut BytesMut) {
        tagged(buf, b'A', |buf| {
            buf.put_u32(self.process);
            put_cstr(buf, self.channel.as_bytes());
            put_cstr(buf, self.payload.as_bytes());
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_has_these_bytes_and_comes_back() {
        let notification = Notification { process: 3, channel: "c", payload: "p" };
        let mut buf = BytesMut::new();
        notification.encode(&mut buf);
        assert_eq!(&buf[..], b"A\0\0\0\x0c\0\0\0\x03c\0p\0");
        assert_eq!(Notification::decode(&buf[5..]), Ok(notification));
        for len in 5..buf.len() {
            assert!(Notification::decode(&buf[5..len]).is_err());
        }
    }
}
