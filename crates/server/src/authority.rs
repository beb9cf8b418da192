//! Who may log in, from where, and what he may see.

use pando_config::global;
use pando_kernel::session::Credential;

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

    /// How this user proves who he is; `None` when he is unknown or may not come from there.
    pub(crate) fn credential(&self, user: &str, host: &str) -> Option<Credential> {
        let user = self.user(user, host)?;
        let name = user.authenticator.as_ref().or(self.config.default_authenticator.as_ref());
        let method = name.and_then(|name| self.config.authenticators.get(name));
        Some(Credential {
            password: user.password.reveal().to_owned(),
            method: method.map(|method| method.kind.to_uppercase()).unwrap_or_default(),
        })
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

    use super::*;

    fn user(name: &str, host: &str, password: &str, authenticator: Option<&str>) -> global::User {
        global::User {
            at: At::default(),
            name: name.into(),
            host: host.into(),
            password: Secret::new(password.into()),
            admin: false,
            authenticator: authenticator.map(|name| Placed::nowhere(name.to_owned())),
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
        let found = authority().credential(name, host);
        let found = found.as_ref().map(|found| (found.password.as_str(), found.method.as_str()));
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
