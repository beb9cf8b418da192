//! Storage units: registered, described anew, unregistered.

use pando_config::{ConnectionOptions, Node, Url, Vendor};
use pando_distsql::command::{Address, Change as How, Ignored, Missing, Name, StorageUnit};

use crate::change::{Check, Task};
use crate::draft::{Draft, STORAGE_UNITS, Taken, see};
use crate::refusal::{Kind, Refusal, Result};
use crate::uses;

/// Keys of pool properties, each with the one documents have.
pub(crate) const POOL: [(&str, &str); 14] = [
    ("maxPoolSize", "maxPoolSize"),
    ("maximumPoolSize", "maxPoolSize"),
    ("maxActive", "maxPoolSize"),
    ("maxTotal", "maxPoolSize"),
    ("minPoolSize", "minPoolSize"),
    ("minimumIdle", "minPoolSize"),
    ("minIdle", "minPoolSize"),
    ("connectionTimeoutMilliseconds", "connectionTimeoutMilliseconds"),
    ("connectionTimeout", "connectionTimeoutMilliseconds"),
    ("idleTimeoutMilliseconds", "idleTimeoutMilliseconds"),
    ("idleTimeout", "idleTimeoutMilliseconds"),
    ("maxLifetimeMilliseconds", "maxLifetimeMilliseconds"),
    ("maxLifetime", "maxLifetimeMilliseconds"),
    ("readOnly", "readOnly"),
];

pub(super) fn define(
    draft: &mut Draft<'_>,
    change: How,
    units: &[StorageUnit],
    privileges: &[Name],
) -> Result<()> {
    let exists = |name: &str| draft.units().any(|unit| unit == name);
    let taken = Taken { what: STORAGE_UNITS, missing: Kind::MissingStorageUnits, exists: &exists };
    let wanted = draft.wanted(change, units, |unit| &unit.name.text, &taken)?;
    for unit in wanted {
        let name = unit.name.text.as_str();
        let node = node(unit, draft.around.vendor)?;
        if change == How::Alter {
            stays_in_place(draft, name, &node)?;
            draft.tasks.push(Task::ClosePool { unit: name.to_owned() });
        }
        draft.tree.change("dataSources", |all| all.set(name, node));
        let privileges = privileges.iter().map(|name| name.text.clone()).collect();
        draft.checks.push(Check::Connects { unit: name.to_owned(), privileges });
        draft.tasks.push(Task::OpenPool { unit: name.to_owned() });
    }
    Ok(())
}

/// The unit as documents have it.
fn node(unit: &StorageUnit, vendor: Vendor) -> Result<Node> {
    let url = match &unit.address {
        Address::Url(url) => url.clone(),
        Address::Parts { host, port, database } => url_of(vendor, host, *port, database),
    };
    let mut node =
        Node::mapping([("url", Node::text(url)), ("username", Node::text(unit.user.as_str()))]);
    if let Some(password) = &unit.password {
        node.set("password", Node::text(password.reveal()));
    }
    for property in &unit.properties {
        let pool = POOL.iter().find(|(key, _)| key.eq_ignore_ascii_case(&property.key));
        let value = Node::text(property.value.as_str());
        match pool {
            Some((_, key)) if node.get(key).is_some() => {
                let message = format!("pool property `{key}` is given twice under two names");
                return Err(Refusal::new(Kind::InvalidStorageUnit, message));
            }
            Some((_, key)) => node.set(key, value),
            None => node.change("customPoolProps", |props| props.set(&property.key, value)),
        }
    }
    Ok(node)
}

fn url_of(vendor: Vendor, host: &str, port: u16, database: &str) -> String {
    let scheme = match vendor {
        Vendor::MySql => "mysql",
        Vendor::MariaDb => "mariadb",
        Vendor::Postgres => "postgresql",
        Vendor::OpenGauss => "opengauss",
        Vendor::Sqlite => "sqlite",
    };
    let host = if host.contains(':') { format!("[{host}]") } else { encoded(host) };
    format!("jdbc:{scheme}://{host}:{port}/{}", encoded(database))
}

/// What would end a part of a URL, as `%XX`.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '%' | '/' | '?' | '#' | '@' | '&' | ':' | ',' | '(' | '=' | ' ') {
            out.push_str(&format!("%{:02X}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

/// ALTER may change user, pool and parameters; another database would have other tables.
fn stays_in_place(draft: &Draft<'_>, name: &str, new: &Node) -> Result<()> {
    let place = |node: &Node| {
        let node = node.filled(draft.around.environment).ok()?;
        let keys = ["url", "jdbcUrl", "standardJdbcUrl"];
        let text = keys.iter().find_map(|key| node.get(key))?.as_text()?.to_owned();
        let url = Url::parse(&text).ok()?;
        ConnectionOptions::of(&url).ok()?;
        Some((url.host.to_lowercase(), url.port, url.database))
    };
    let old = draft.tree.get("dataSources").and_then(|all| all.get(name)).and_then(place);
    // What cannot be read is refused with its reason when the whole is validated.
    let Some(place) = place(new) else { return Ok(()) };
    if old.is_none_or(|old| old == place) {
        return Ok(());
    }
    let message = format!(
        "storage unit `{name}` cannot be moved to another host, port or database; register another one"
    );
    Err(Refusal::new(Kind::StorageUnitMoved, message))
}

pub(super) fn drop_all(
    draft: &mut Draft<'_>,
    missing: Missing,
    units: &[Name],
    ignored: Ignored,
) -> Result<()> {
    let exists = |name: &str| draft.units().any(|unit| unit == name);
    let taken = Taken { what: STORAGE_UNITS, missing: Kind::MissingStorageUnits, exists: &exists };
    let names: Vec<String> =
        draft.dropped(missing, units, &taken)?.into_iter().map(str::to_owned).collect();
    if names.is_empty() {
        return Ok(());
    }
    let (ignores_single, ignores_broadcast) = match ignored {
        Ignored::None => (false, false),
        Ignored::Single => (true, false),
        Ignored::Broadcast => (false, true),
        Ignored::Both => (true, true),
    };
    let seen = see(&draft.tree, draft.around, Kind::InvalidRule)?;
    for name in &names {
        let uses = uses::of_unit(&seen, name, draft.around.language);
        let counts = |sort: uses::Sort| match sort {
            uses::Sort::Single => !ignores_single,
            uses::Sort::Broadcast => !ignores_broadcast,
            uses::Sort::Rule => true,
        };
        let by: Vec<String> =
            uses.into_iter().filter(|used| counts(used.sort)).map(|used| used.shown()).collect();
        if !by.is_empty() {
            let what = format!("storage unit `{name}`");
            return Err(draft.in_use(Kind::InUsedStorageUnit, &what, &by));
        }
        if !ignores_single {
            draft.checks.push(Check::HasNoSingleTable { unit: name.clone() });
        }
        super::single::forget_unit(draft, name);
        draft.tree.change("dataSources", |all| all.remove(name));
        draft.tasks.push(Task::ClosePool { unit: name.clone() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_address_cannot_break_out_of_the_url() {
        let url = url_of(Vendor::MySql, "h", 1, "a?password=x/b%");
        assert_eq!(Url::parse(&url).unwrap().database, "a?password=x/b%");
        let url = url_of(Vendor::Postgres, "::1", 2, "d");
        assert_eq!(Url::parse(&url).unwrap().host, "::1");
    }
}
