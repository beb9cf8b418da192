//! What a user's connection must have, beside what its authenticator asks for: MySQL's `REQUIRE`, and PostgreSQL's `clientcert`.

use crate::place::Placed;
use crate::read::Fields;

/// What a user's connection must have. By default nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Require {
    /// How much.
    pub level: Level,
    /// The distinguished name of the certificate's subject, as `/C=SE/O=Shop/CN=ann`.
    pub subject: Option<Placed<String>>,
    /// That of its issuer.
    pub issuer: Option<Placed<String>>,
}

/// How much a connection must have, from little to much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Level {
    /// `NONE`: nothing.
    #[default]
    Nothing,
    /// `SSL`: it is encrypted.
    Tls,
    /// `X509` (or `VERIFY_CA`): the client has shown a certificate that the clients' authority has signed.
    Certificate,
    /// `VERIFY_FULL`: its common name is the user's.
    NamedCertificate,
}

const LEVELS: [(&str, Level); 5] = [
    ("NONE", Level::Nothing),
    ("SSL", Level::Tls),
    ("X509", Level::Certificate),
    ("VERIFY_CA", Level::Certificate),
    ("VERIFY_FULL", Level::NamedCertificate),
];

impl Require {
    /// Reads `require`, `requireSubject` and `requireIssuer` of a user; a name that is required needs a certificate that bears it.
    pub(super) fn read(fields: &mut Fields<'_, '_>) -> Self {
        let level = fields.optional("require");
        let level = level.and_then(|node| node.choice(&LEVELS, fields.report()));
        let subject = fields.optional_name("requireSubject");
        let issuer = fields.optional_name("requireIssuer");
        let is_named = subject.is_some() || issuer.is_some();
        let least = if is_named { Level::Certificate } else { Level::Nothing };
        Self { level: level.unwrap_or_default().max(least), subject, issuer }
    }

    /// Whether the client has to show a certificate.
    pub fn needs_certificate(&self) -> bool {
        self.level >= Level::Certificate
    }
}
