//! Reading: pages of one revision make one view.

use pando_repository::{Entry, Error, Lifetime, Prefix, Revision, View};
use serde_json::{Value, json};

use crate::gateway::{Fault, Gateway};
use crate::keys::{Namespace, bytes, encode, number};

/// Keys of a page: with the largest values still within what one answer may have.
const PAGE: u64 = 64;

/// How an attempt failed.
pub(crate) enum Stopped {
    /// It may work on another member or in a moment.
    Again,
    Final(Error),
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        match fault.refusal() {
            Some(refusal) => Self::Final(refusal),
            None => Self::Again,
        }
    }
}

/// One attempt.
pub(crate) async fn view(
    gateway: &Gateway,
    namespace: &Namespace,
    below: &Prefix,
) -> Result<View, Stopped> {
    let (mut from, end) = namespace.range(below);
    let (mut view, mut size) = (View::default(), 0);
    loop {
        // The first page says which revision all others must be of.
        let request = json!({
            "key": encode(&from),
            "range_end": encode(&end),
            "limit": PAGE.to_string(),
            "revision": view.revision.0.to_string(),
        });
        // When that revision has been compacted away, it begins again.
        let page = gateway.ask("/v3/kv/range", &request).await?;
        let odd = || Stopped::Final(Error::Unavailable("an odd answer to a read".into()));
        if view.revision == Revision(0) {
            view.revision = Revision(number(&page["header"]["revision"]).ok_or_else(odd)?);
        }
        let none = Vec::new();
        for kv in page["kvs"].as_array().unwrap_or(&none) {
            let key = bytes(&kv["key"]).ok_or_else(odd)?;
            from = [&key[..], b"\0"].concat();
            // A neighbour, or what some other program calls a key.
            let Some(key) = namespace.own(&key).filter(|key| below.covers(key.as_str())) else {
                continue;
            };
            view.add(key, entry(kv).ok_or_else(odd)?, &mut size).map_err(Stopped::Final)?;
        }
        let has_more = page["more"].as_bool().unwrap_or(false);
        if !has_more {
            return Ok(view);
        }
    }
}

fn entry(kv: &Value) -> Option<Entry> {
    let lease = number(&kv["lease"])?;
    let lifetime = if lease == 0 { Lifetime::Forever } else { Lifetime::Session };
    let revision = Revision(number(&kv["mod_revision"])?);
    Some(Entry { value: bytes(&kv["value"])?, revision, lifetime })
}
