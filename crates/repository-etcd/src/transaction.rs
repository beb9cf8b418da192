//! Changing: one transaction, whose other branch says what was not as expected.

use pando_repository::{Change, Expected, Key, Lifetime, Revision, Write};
use serde_json::{Value, json};

use crate::keys::{Namespace, encode, number};

/// The request. `lease` is the session's, for changes that put keys of it.
pub(crate) fn request(namespace: &Namespace, change: &Change, lease: u64) -> Value {
    let compare: Vec<Value> = change
        .expectations
        .iter()
        .map(|(key, expected)| {
            let key = namespace.key(key);
            match expected {
                // A key that is not there has the revision 0.
                Expected::Absent => {
                    json!({"key": key, "target": "CREATE", "result": "EQUAL", "create_revision": "0"})
                }
                Expected::At(revision) => {
                    let revision = revision.0.to_string();
                    json!({"key": key, "target": "MOD", "result": "EQUAL", "mod_revision": revision})
                }
            }
        })
        .collect();
    let success = change.writes.iter().map(|(key, write)| {
        let key = namespace.key(key);
        match write {
            Write::Put(value, Lifetime::Forever) => {
                json!({"request_put": {"key": key, "value": encode(value)}})
            }
            Write::Put(value, Lifetime::Session) => {
                let lease = lease.to_string();
                json!({"request_put": {"key": key, "value": encode(value), "lease": lease}})
            }
            Write::Delete => json!({"request_delete_range": {"key": key}}),
        }
    });
    let failure = change
        .expectations
        .iter()
        .map(|(key, _)| json!({"request_range": {"key": namespace.key(key), "keys_only": true}}));
    json!({
        "compare": compare,
        "success": success.collect::<Vec<_>>(),
        "failure": failure.collect::<Vec<_>>(),
    })
}

/// The revision of the change, or the first key that was not as expected; `None` for an odd answer.
pub(crate) fn outcome(change: &Change, answer: &Value) -> Option<Result<Revision, Key>> {
    if answer["succeeded"].as_bool().unwrap_or(false) {
        return number(&answer["header"]["revision"]).map(|n| Ok(Revision(n)));
    }
    let found = answer["responses"].as_array()?;
    for ((key, expected), found) in change.expectations.iter().zip(found) {
        let kv = &found["response_range"]["kvs"][0];
        let revision = number(&kv["mod_revision"])?;
        let wanted = match expected {
            Expected::Absent => 0,
            Expected::At(revision) => revision.0,
        };
        if revision != wanted {
            return Some(Err(key.clone()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_that_was_not_as_expected_is_named() {
        let key = |path| Key::parse(path).unwrap();
        let change = Change::new()
            .expect(&key("/a"), Expected::Absent)
            .expect(&key("/b"), Expected::At(Revision(4)))
            .put(&key("/a"), "x");
        let at = |n: &str| json!({"response_range": {"kvs": [{"mod_revision": n}]}});
        let none = || json!({"response_range": {}});
        let cases = [
            (json!([at("3"), at("4")]), Some("/a")),
            (json!([none(), at("5")]), Some("/b")),
            (json!([none(), none()]), Some("/b")),
            (json!([none(), at("4")]), None),
        ];
        for (responses, culprit) in cases {
            let answer = json!({"header": {"revision": "9"}, "responses": responses});
            let found = outcome(&change, &answer).map(|done| done.unwrap_err());
            assert_eq!(found, culprit.map(key));
        }
        let done = json!({"header": {"revision": "9"}, "succeeded": true});
        assert_eq!(outcome(&change, &done), Some(Ok(Revision(9))));
        assert_eq!(outcome(&change, &json!({})), None);
    }
}
