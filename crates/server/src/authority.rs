//! Who may log in, from where, and what he may see.

use pando_config::global::{self, CERTIFICATE, Level, Require};
use pando_kernel::Channel;
use pando_kernel::session::{Credential, Proof};

/// The users and their rights.
#[derive(Debug)]
pub(crate) struct Authority {
    config: global::Authority,
}

/// The databases one user may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Permitted {
    /// Every one.
    All,
    /// These, compared without regard to case.
    Only(Vec<String>),
}

impl Permitted {
    pub(crate) fn has(&self, database: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.iter().any(|name| name.eq_ignore_ascii_case(database)),
        }
    }
}

impl Authority {
    pub(crate) fn new(config: global::Authority) -> Self {
        Self { config }
    }

    /// How this user proves who he is, as [`Doorway::credential`](pando_kernel::session::Doorway::credential) says. Who is unknown, may not come from there or
    /// over this channel is asked for what others are asked for.
    pub(crate) fn credential(&self, user: &str, host: &str, over: &Channel) -> Credential {
        let known = self.user(user, host);
        let method = self.config.method(known);
        let Some(own) = known else { return Credential::of_nobody(method) };
        if let Err(lacks) = fulfils(over, &self.config.required(own), user) {
            tracing::debug!(user, host, "not let in: {lacks}");
            return Credential::of_nobody(method);
        }
        if method == CERTIFICATE {
            return Credential { proof: Proof::Given, method };
        }
        Credential::of_password(own.password.reveal(), method)
    }

    /// What this user may see; nothing when he is unknown.
    pub(crate) fn permitted(&self, user: &str, host: &str) -> Permitted {
        let permissions = match &self.config.privilege {
            global::Privilege::AllPermitted => return Permitted::All,
            global::Privilege::DatabasePermitted(permissions) => permissions,
        };
        let own = permissions.iter().filter(|own| own.user == user && fits(&own.host, host));
        let names: Vec<String> = own.map(|own| own.database.clone()).collect();
        if names.iter().any(|name| name == "*") { Permitted::All } else { Permitted::Only(names) }
    }

    /// Whether this user may change the configuration. Where nobody is named as an administrator, whoever may see every database is one.
    pub(crate) fn administers(&self, user: &str, host: &str) -> bool {
        if self.config.users.iter().any(|user| user.admin) {
            return self.user(user, host).is_some_and(|own| own.admin);
        }
        self.permitted(user, host) == Permitted::All
    }

    /// Of several entries of one name the most exact host counts, as MySQL has it.
    fn user(&self, user: &str, host: &str) -> Option<&global::User> {
        let own = self.config.users.iter().filter(|own| own.name == user && fits(&own.host, host));
        own.max_by_key(|own| own.host.find('%').unwrap_or(usize::MAX))
    }
}

/// Whether the channel has what is required of this user's.
///
/// # Errors
/// What it lacks, for the log.
fn fulfils(channel: &Channel, require: &Require, user: &str) -> Result<(), &'static str> {
    if require.level >= Level::Tls && !channel.is_secured {
        return Err("the connection is not encrypted");
    }
    if !require.needs_certificate() {
        return Ok(());
    }
    let Some(peer) = &channel.peer else { return Err("the client has shown no certificate") };
    if require.level == Level::NamedCertificate && peer.common_name.as_deref() != Some(user) {
        return Err("the certificate's common name is another one");
    }
    let differs = |asked: &Option<pando_config::Placed<String>>, shown: &str| {
        asked.as_ref().is_some_and(|asked| asked.value != shown)
    };
    if differs(&require.subject, &peer.subject) {
        return Err("the certificate's subject is another one");
    }
    if differs(&require.issuer, &peer.issuer) {
        return Err("the certificate's issuer is another one");
    }
    Ok(())
}

/// `%` stands for any characters; an empty pattern is any host. `localhost` is every address of this machine's own.
fn fits(pattern: &str, host: &str) -> bool {
    if pattern.is_empty() {
        return true;
    }
    if pattern.eq_ignore_ascii_case("localhost") {
        return host == "localhost" || host == "::1" || host.starts_with("127.");
    }
    let mut parts = pattern.split('%');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = host.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use pando_config::{Algorithm, At, Placed, Secret};
    use pando_kernel::Peer;

    use super::*;

    fn user(name: &str, host: &str, password: &str, authenticator: Option<&str>) -> global::User {
        global::User {
            at: At::default(),
            name: name.into(),
            host: host.into(),
            password: Secret::new(password.into()),
            admin: false,
            authenticator: authenticator.map(|name| Placed::nowhere(name.to_owned())),
            require: Require::default(),
        }
    }

    fn authority() -> Authority {
        let permission = |user: &str, database: &str| global::Permission {
            user: user.into(),
            host: "%".into(),
            database: database.into(),
        };
        let md5 = (Placed::nowhere("old".to_owned()), Algorithm::nowhere("md5", []));
        Authority::new(global::Authority {
            users: vec![
                user("ann", "%", "anywhere", None),
                user("ann", "10.0.%", "inside", None),
                user("ann", "10.0.0.1", "there", Some("old")),
                user("bob", "localhost", "home", None),
            ],
            authenticators: [md5].into_iter().collect(),
            default_authenticator: None,
            privilege: global::Privilege::DatabasePermitted(vec![
                permission("ann", "shop"),
                permission("root", "*"),
            ]),
        })
    }

    fn check(name: &str, host: &str, expected: Option<(&str, &str)>) {
        let found = authority().credential(name, host, &Channel::default());
        let found = found.password().map(|password| (password, found.method.as_str()));
        assert_eq!(found, expected, "{name}@{host}");
    }

    #[test]
    fn the_most_exact_host_counts() {
        check("ann", "192.168.0.1", Some(("anywhere", "")));
        check("ann", "10.0.7.7", Some(("inside", "")));
        check("ann", "10.0.0.1", Some(("there", "MD5")));
        check("bob", "127.0.0.1", Some(("home", "")));
        check("bob", "::1", Some(("home", "")));
        check("bob", "10.0.0.1", None);
        check("eve", "127.0.0.1", None);
    }

    fn shown(name: &str, subject: &str, issuer: &str) -> Channel {
        let (common_name, subject, issuer) =
            (Some(name.to_owned()), subject.to_owned(), issuer.to_owned());
        let peer = Some(Peer { common_name, subject, issuer });
        Channel { is_secured: true, endpoint: None, peer }
    }

    fn secured() -> Channel {
        Channel { is_secured: true, ..Channel::default() }
    }

    fn lets_in(require: &Require, over: &Channel, expected: bool) {
        for (authenticator, proof) in
            [(None, Proof::Password("pw".into())), (Some("cert"), Proof::Given)]
        {
            let mut ann = user("ann", "%", "pw", authenticator);
            ann.require = require.clone();
            let cert = (Placed::nowhere("cert".to_owned()), Algorithm::nowhere("certificate", []));
            let authority = Authority::new(global::Authority {
                users: vec![ann],
                authenticators: [cert].into_iter().collect(),
                ..global::Authority::default()
            });
            let found = authority.credential("ann", "::1", over).proof;
            // Without a password the certificate must be his own.
            let names_him = require.subject.is_some()
                || over
                    .peer
                    .as_ref()
                    .is_some_and(|peer| peer.common_name.as_deref() == Some("ann"));
            let is_enough = authenticator.is_none() || (over.peer.is_some() && names_him);
            let expected = if expected && is_enough { proof } else { Proof::Impossible };
            assert!(found == expected, "{require:?} {over:?} {authenticator:?}");
        }
    }

    #[test]
    fn a_channel_must_have_what_its_user_is_required_to_show() {
        let require = |level| Require { level, ..Require::default() };
        let (plain, tls) = (Channel::default(), secured());
        let (own, other) = (shown("ann", "/CN=ann", "/CN=ca"), shown("bob", "/CN=bob", "/CN=ca"));
        for (level, expected) in [
            (Level::Nothing, [true, true, true, true]),
            (Level::Tls, [false, true, true, true]),
            (Level::Certificate, [false, false, true, true]),
            (Level::NamedCertificate, [false, false, true, false]),
        ] {
            for (channel, expected) in [&plain, &tls, &own, &other].into_iter().zip(expected) {
                lets_in(&require(level), channel, expected);
            }
        }
    }

    #[test]
    fn subject_and_issuer_must_be_those_that_are_required() {
        let named = |subject: Option<&str>, issuer: Option<&str>| Require {
            level: Level::Certificate,
            subject: subject.map(|name| Placed::nowhere(name.to_owned())),
            issuer: issuer.map(|name| Placed::nowhere(name.to_owned())),
        };
        let other = shown("bob", "/O=a/CN=bob", "/CN=ca");
        lets_in(&named(Some("/O=a/CN=bob"), None), &other, true);
        lets_in(&named(Some("/O=a/CN=bob"), Some("/CN=ca")), &other, true);
        lets_in(&named(Some("/O=a/CN=bob"), Some("/CN=other")), &other, false);
        lets_in(&named(None, Some("/CN=ca")), &other, true);
        lets_in(&named(Some("/O=a/CN=BOB"), None), &other, false);
        lets_in(&named(Some("/CN=bob"), None), &secured(), false);
    }

    #[test]
    fn who_is_unknown_is_asked_as_others_are() {
        let mut authority = authority();
        let nobody = |authority: &Authority| authority.credential("eve", "::1", &secured());
        assert!(nobody(&authority) == Credential::of_nobody(""));
        authority.config.default_authenticator = Some(Placed::nowhere("old".to_owned()));
        assert!(nobody(&authority) == Credential::of_nobody("MD5"));
    }

    #[test]
    fn administrators_are_named_or_see_everything() {
        let mut authority = authority();
        assert!(authority.administers("root", "1.2.3.4"));
        assert!(!authority.administers("ann", "1.2.3.4"));
        authority.config.users.iter_mut().for_each(|user| user.admin = user.host == "10.0.%");
        assert!(authority.administers("ann", "10.0.7.7"));
        assert!(!authority.administers("ann", "1.2.3.4"));
        assert!(!authority.administers("root", "1.2.3.4"));
    }

    #[test]
    fn users_see_the_databases_named_for_them() {
        let ann = authority().permitted("ann", "1.2.3.4");
        assert!(ann.has("SHOP") && !ann.has("bank"));
        assert_eq!(authority().permitted("root", "1.2.3.4"), Permitted::All);
        assert!(!authority().permitted("bob", "127.0.0.1").has("shop"));
    }
}
