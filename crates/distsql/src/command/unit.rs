//! Storage units, and the tables that stand on one of them.

use pando_config::Secret;

use super::{Name, Property};

/// A storage unit as a statement describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageUnit {
    /// The name rules know it by.
    pub name: Name,
    /// Where it is.
    pub address: Address,
    /// Who we are there.
    pub user: String,
    /// Absent when the statement has none.
    pub password: Option<Secret>,
    /// Of the pool, in the order they were written; no key twice.
    pub properties: Vec<Property>,
}

impl StorageUnit {
    pub(crate) fn redact(&mut self) {
        if self.password.is_some() {
            self.password = Some(Secret::new("******".to_owned()));
        }
        if let Address::Url(url) = &mut self.address {
            redact_url(url);
        }
        for property in &mut self.properties {
            if property.key.to_ascii_lowercase().contains("password") {
                property.value = "******".to_owned();
            }
        }
    }
}

/// Takes out `user:password@` and every `…password=` among the parameters.
fn redact_url(url: &mut String) {
    const MARK: &str = "password=";
    let start = url.find("//").map_or(0, |slashes| slashes + 2);
    let authority = url.get(start..).and_then(|rest| rest.split(['/', '?']).next()).unwrap_or("");
    let at = authority.rfind('@');
    let colon = at.and_then(|at| authority.get(..at)).and_then(|user| user.find(':'));
    if let (Some(at), Some(colon)) = (at, colon) {
        url.replace_range(start + colon + 1..start + at, "******");
    }
    let mut from = 0;
    while let Some(found) = url.get(from..).and_then(|rest| rest.to_ascii_lowercase().find(MARK)) {
        from += found + MARK.len();
        let length = url.get(from..).and_then(|rest| rest.find('&'));
        let end = length.map_or(url.len(), |length| from + length);
        url.replace_range(from..end, "******");
    }
}

/// The two ways of saying where a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// `HOST=…, PORT=…, DB=…`; the vendor is that of the front door the statement came through.
    Parts {
        /// A name or an address.
        host: String,
        /// From 1.
        port: u16,
        /// The database on that server.
        database: String,
    },
    /// `URL=…`, a JDBC URL, not looked into here.
    Url(String),
}

/// Which tables do not keep a storage unit from being unregistered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// Any table keeps it.
    None,
    /// IGNORE SINGLE TABLES.
    Single,
    /// IGNORE BROADCAST TABLES.
    Broadcast,
    /// IGNORE SINGLE, BROADCAST TABLES.
    Both,
}

/// One entry of LOAD or UNLOAD SINGLE TABLE; `None` is `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingleTables {
    /// The storage unit.
    pub unit: Option<Name>,
    /// The schema between unit and table; the outer `None` where there is no such part.
    pub schema: Option<Option<Name>>,
    /// The table.
    pub table: Option<Name>,
}
