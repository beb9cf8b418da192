//! `authority`: users and what they may see.

use super::require::{Level, Require};
use crate::algorithm::{Algorithm, Named};
use crate::node::{Content, Node};
use crate::place::{At, Placed, Report};
use crate::read::Fields;
use crate::storage::Secret;
use crate::suggest;

/// The section; by default one administrator `root` with the password `root`, from any host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// Users in file order, no two with the same name and host.
    pub users: Vec<User>,
    /// Authenticators by name.
    pub authenticators: Named<Algorithm>,
    /// The authenticator of users without one; absent means the protocol's own.
    pub default_authenticator: Option<Placed<String>>,
    /// Which databases users may see.
    pub privilege: Privilege,
}

/// One user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Where it stands.
    pub at: At,
    /// The name.
    pub name: String,
    /// The host it may come from; `%` is any.
    pub host: String,
    /// The password; may be empty.
    pub password: Secret,
    /// Whether it may change the configuration. True where users are written in the older form.
    pub admin: bool,
    /// The authenticator's name.
    pub authenticator: Option<Placed<String>>,
    /// What its connection must have beside that.
    pub require: Require,
}

/// The type of an authenticator that takes the client's certificate for the proof, and no password.
pub const CERTIFICATE: &str = "CERTIFICATE";

/// Which databases users may see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Privilege {
    /// Every user sees every database.
    #[default]
    AllPermitted,
    /// A user sees the databases named for it, in the order written.
    DatabasePermitted(Vec<Permission>),
}

/// A user and a database it may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// The user's name.
    pub user: String,
    /// The user's host; `%` is any.
    pub host: String,
    /// The database; `*` is every one.
    pub database: String,
}

impl Default for Authority {
    fn default() -> Self {
        let root = User {
            at: At::default(),
            name: "root".into(),
            host: "%".into(),
            password: Secret::new("root".into()),
            admin: true,
            authenticator: None,
            require: Require::default(),
        };
        Self {
            users: vec![root],
            authenticators: Named::default(),
            default_authenticator: None,
            privilege: Privilege::default(),
        }
    }
}

impl Authority {
    pub(super) fn read(node: &Node, report: &mut Report) -> Self {
        let Some(mut fields) = Fields::of_tagged(node, report) else { return Self::default() };
        let users = users(&mut fields);
        let authenticators = Named::read(&mut fields, "authenticators");
        let default_authenticator = unless_empty(&mut fields, "defaultAuthenticator");
        let named = users.iter().filter_map(|user| user.authenticator.as_ref());
        for name in named.chain(&default_authenticator) {
            authenticators.check(name, "authenticator", fields.report());
        }
        let privilege = fields.synonym(&["privilege", "provider"]);
        let privilege = privilege.and_then(|node| Algorithm::read(node, fields.report()));
        let privilege = privilege.and_then(|algorithm| privilege_of(&algorithm, fields.report()));
        fields.finish();
        let privilege = privilege.unwrap_or_default();
        Self { users, authenticators, default_authenticator, privilege }
    }

    /// The type of the authenticator of this user, or of whoever is none; upper-cased, empty for the protocol's own.
    pub fn method(&self, user: Option<&User>) -> String {
        let own = user.and_then(|user| user.authenticator.as_ref());
        let name = own.or(self.default_authenticator.as_ref());
        let authenticator = name.and_then(|name| self.authenticators.get(name));
        authenticator.map(|found| found.kind.to_uppercase()).unwrap_or_default()
    }

    /// What this user's connection must have. Where the certificate is the only proof it must name him, by its common name or as `requireSubject` says.
    pub fn required(&self, user: &User) -> Require {
        let mut require = user.require.clone();
        if self.method(Some(user)) == CERTIFICATE {
            let named = require.subject.is_some();
            let least = if named { Level::Certificate } else { Level::NamedCertificate };
            require.level = require.level.max(least);
        }
        require
    }
}

fn users(fields: &mut Fields<'_, '_>) -> Vec<User> {
    let Some(node) = fields.field("users") else { return Vec::new() };
    let report = fields.report();
    let mut users: Vec<User> = Vec::new();
    for item in node.list(report).unwrap_or_default() {
        let user = match &item.content {
            Content::Scalar { .. } => user_of_text(item, report),
            Content::Sequence(_) | Content::Mapping(_) => user_of_fields(item, report),
        };
        let Some(user) = user else { continue };
        if users.iter().any(|other| other.name == user.name && other.host == user.host) {
            let message = format!("user `{}@{}` was already given", user.name, user.host);
            report.error(item.at.problem(message));
            continue;
        }
        users.push(user);
    }
    if users.is_empty() && report.is_clean() {
        report.error(node.at.problem("expected at least one user"));
    }
    users
}

/// `root@%:secret`, the form of 5.0 and 5.1. Those users were all administrators.
fn user_of_text(node: &Node, report: &mut Report) -> Option<User> {
    let text = node.string(report)?;
    let Some((user, password)) = text.split_once(':') else {
        report.error(node.at.problem("expected a user as `name@host:password`"));
        return None;
    };
    let (name, host) = name_and_host(user, node, report)?;
    let password = Secret::new(password.to_owned());
    let (authenticator, require) = (None, Require::default());
    Some(User { at: node.at.clone(), name, host, password, admin: true, authenticator, require })
}

fn user_of_fields(node: &Node, report: &mut Report) -> Option<User> {
    let mut fields = Fields::of(node, report)?;
    let user = fields.field("user");
    let user = user.and_then(|node| {
        let text = node.string(fields.report())?;
        name_and_host(text, node, fields.report())
    });
    let password = fields.optional_string("password").map(|text| text.value).unwrap_or_default();
    let admin = fields.optional_boolean("admin").unwrap_or(false);
    let authenticator = unless_empty(&mut fields, "authenticationMethodName");
    let require = Require::read(&mut fields);
    fields.finish();
    let (name, host) = user?;
    let password = Secret::new(password);
    Some(User { at: node.at.clone(), name, host, password, admin, authenticator, require })
}

/// The name of an authenticator; ShardingSphere's exports have an empty text where there is none.
fn unless_empty(fields: &mut Fields<'_, '_>, name: &'static str) -> Option<Placed<String>> {
    let node = fields.optional(name).filter(|node| node.as_text() != Some(""))?;
    node.name(fields.report())
}

fn name_and_host(text: &str, node: &Node, report: &mut Report) -> Option<(String, String)> {
    let (name, host) = text.rsplit_once('@').unwrap_or((text, "%"));
    let (name, host) = (name.trim(), host.trim());
    if name.is_empty() {
        report.error(node.at.problem("expected a user's name before `@`"));
        return None;
    }
    Some((name.to_owned(), if host.is_empty() { "%".to_owned() } else { host.to_owned() }))
}

/// Type names of 5.0 and 5.1 mean the same as today's.
fn privilege_of(algorithm: &Algorithm, report: &mut Report) -> Option<Privilege> {
    match algorithm.kind.to_ascii_uppercase().as_str() {
        "ALL_PERMITTED" | "ALL_PRIVILEGES_PERMITTED" | "NATIVE" => Some(Privilege::AllPermitted),
        "DATABASE_PERMITTED" | "DATABASE_PRIVILEGES_PERMITTED" | "SCHEMA_PRIVILEGES_PERMITTED" => {
            let names = ["user-database-mappings", "user-schema-mappings"];
            let Some(mappings) = names.iter().find_map(|name| algorithm.props.get(name)) else {
                let message = "property `user-database-mappings` is required";
                report.error(algorithm.at.problem(message));
                return None;
            };
            let mut permissions = Vec::new();
            for mapping in mappings.split(',').map(str::trim).filter(|text| !text.is_empty()) {
                let Some((user, database)) = mapping.split_once('=') else {
                    let message = format!("expected `user@host=database`, found `{mapping}`");
                    report.error(mappings.at.problem(message));
                    continue;
                };
                let (user, host) = user.trim().rsplit_once('@').unwrap_or((user.trim(), "%"));
                let host = if host.is_empty() { "%" } else { host };
                permissions.push(Permission {
                    user: user.to_owned(),
                    host: host.to_owned(),
                    database: database.trim().to_owned(),
                });
            }
            Some(Privilege::DatabasePermitted(permissions))
        }
        other => {
            let hint = suggest::hint(other, ["ALL_PERMITTED", "DATABASE_PERMITTED"]);
            let message = format!("unknown privilege provider `{other}`{hint}");
            report.error(algorithm.kind.at.problem(message));
            None
        }
    }
}
