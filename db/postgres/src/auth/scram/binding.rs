//! What a client says of the channel: the GS2 header, and the data that both sides must see alike.
//! <https://datatracker.ietf.org/doc/html/rfc5802#section-6>

use super::{MECHANISM, MECHANISM_PLUS};

/// What a client says of the channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// It cannot bind to the channel, or does not want to.
    None,
    /// It could, but has seen no offer. A server that did offer it knows then that somebody between the two has taken the offer away.
    NotOffered,
    /// It binds to this hash of the server's certificate.
    EndPoint(Vec<u8>),
}

impl Binding {
    /// The mechanism that goes with it.
    pub fn mechanism(&self) -> &'static str {
        match self {
            Binding::None | Binding::NotOffered => MECHANISM,
            Binding::EndPoint(_) => MECHANISM_PLUS,
        }
    }

    pub(super) fn header(&self) -> &'static str {
        match self {
            Binding::None => "n,,",
            Binding::NotOffered => "y,,",
            Binding::EndPoint(_) => "p=tls-server-end-point,,",
        }
    }

    /// What `c=` holds.
    pub(super) fn data(&self) -> Vec<u8> {
        let mut data = self.header().as_bytes().to_vec();
        if let Binding::EndPoint(hash) = self {
            data.extend_from_slice(hash);
        }
        data
    }
}
