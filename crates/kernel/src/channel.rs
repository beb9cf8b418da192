//! What TLS is asked to do with a stream, and what it then knows of the two ends.

use std::fmt::{self, Debug};

use crate::runtime::{Stream, TlsMode};

/// How the client side of a stream is secured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientTls {
    /// Whether, and how much of the server's certificate is checked.
    pub mode: TlsMode,
    /// Path of a PEM file with trusted roots; `None` means those of the system.
    pub authority: Option<String>,
    /// The certificate shown to a server that asks for one.
    pub identity: Option<Identity>,
}

/// PEM files of a certificate that this side shows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Path of the chain, the own certificate first.
    pub certificate: String,
    /// Path of its private key, unencrypted.
    pub key: String,
}

/// A secured stream, and what is known of it.
pub struct Secured {
    /// The stream.
    pub stream: Box<dyn Stream>,
    /// What its handshake has shown.
    pub channel: Channel,
}

impl Debug for Secured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secured").field("channel", &self.channel).finish_non_exhaustive()
    }
}

/// What the two ends of a stream know of each other. By default that of a stream in clear.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Channel {
    /// The stream is encrypted.
    pub is_secured: bool,
    /// The hash of the server's certificate by which a login is bound to this stream (`tls-server-end-point`, RFC 5929); `None` where the certificate's
    /// signature names no hash.
    pub endpoint: Option<Vec<u8>>,
    /// Whose certificate the client has shown: one that an authority of the server's has signed. On the server's side only.
    pub peer: Option<Peer>,
}

/// Whom a certificate names. Distinguished names are written as MySQL and `openssl x509 -nameopt compat` write them, `/C=SE/O=Shop/CN=ann`; a slash or
/// backslash inside a value, and what is not printable ASCII, as `\x2F`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Peer {
    /// The one common name of the subject; `None` where it has none or several.
    pub common_name: Option<String>,
    /// The subject's distinguished name.
    pub subject: String,
    /// The issuer's.
    pub issuer: String,
}
