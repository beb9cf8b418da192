//! Keys and numbers as the gateway writes them: bytes in base64, 64-bit integers as text, zeros and empty values left out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use pando_repository::{Key, Prefix};
use serde_json::Value;

/// From keys to the cluster's and back.
#[derive(Debug, Clone)]
pub(crate) struct Namespace(pub(crate) String);

impl Namespace {
    pub(crate) fn key(&self, key: &Key) -> String {
        encode(format!("{}{key}", self.0).as_bytes())
    }

    /// The beginning and the end of a range with all keys of the prefix, and others such as `/a-b` between `/a` and `/a/b`.
    pub(crate) fn range(&self, below: &Prefix) -> (Vec<u8>, Vec<u8>) {
        let begin = format!("{}{}", self.0, below.key().map_or("/", Key::as_str)).into_bytes();
        let mut end = begin.clone();
        // The last byte of UTF-8 is never the highest there is.
        if let Some(last) = end.last_mut() {
            *last += 1;
        }
        (begin, end)
    }

    /// `None` for what is no key of ours.
    pub(crate) fn own(&self, full: &[u8]) -> Option<Key> {
        Key::parse(std::str::from_utf8(full).ok()?.strip_prefix(&self.0)?).ok()
    }
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Nothing stands for no bytes.
pub(crate) fn bytes(value: &Value) -> Option<Bytes> {
    match value {
        Value::Null => Some(Bytes::new()),
        Value::String(text) => STANDARD.decode(text).ok().map(Bytes::from),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Nothing stands for zero.
pub(crate) fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Null => Some(0),
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.as_u64(),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_range_holds_its_prefix_and_no_shorter_key() {
        let namespace = Namespace("/pando".into());
        let (begin, end) = namespace.range(&Prefix::parse("/a").unwrap());
        for inside in ["/pando/a", "/pando/a/b", "/pando/a-b"] {
            assert!(begin.as_slice() <= inside.as_bytes() && inside.as_bytes() < end.as_slice());
        }
        for outside in ["/pando", "/pando/", "/pando/b", "/pandora/a"] {
            assert!(outside.as_bytes() < begin.as_slice() || outside.as_bytes() >= end.as_slice());
        }
        assert_eq!(namespace.own(b"/pando/a/b"), Key::parse("/a/b").ok());
        assert_eq!(namespace.own(b"/pandora/a"), None);
        assert_eq!(namespace.own(b"/pando/\xff"), None);
    }

    #[test]
    fn what_is_left_out_is_zero_or_empty() {
        assert_eq!(number(&json!({})["n"]), Some(0));
        assert_eq!(number(&json!("18446744073709551615")), Some(u64::MAX));
        assert_eq!(number(&json!(7)), Some(7));
        assert_eq!(number(&json!("x")), None);
        assert_eq!(bytes(&json!({})["v"]), Some(Bytes::new()));
        assert_eq!(bytes(&json!("YQ==")), Some(Bytes::from_static(b"a")));
        assert_eq!(bytes(&json!("?")), None);
    }
}
