//! Paths: what names a value, and what stands for all values below it.

use std::fmt;
use std::sync::Arc;

use crate::limits::MAX_KEY_BYTES;
use crate::{Error, Result};

/// The name of one value, such as `/metadata/shop/rules/sharding`: segments that each begin with a slash. At most
/// [`MAX_KEY_BYTES`] bytes; a segment is neither empty nor `.` nor `..` and has only characters that every store takes. Ordered by bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// The key with this path.
    ///
    /// # Errors
    /// `Refused` says what is wrong with the path.
    pub fn parse(path: &str) -> Result<Self> {
        let refuse = |why: &str| Err(Error::Refused(format!("the key `{}` {why}", shown(path))));
        if path.len() > MAX_KEY_BYTES {
            return refuse(&format!("is longer than {MAX_KEY_BYTES} bytes"));
        }
        let Some(segments) = path.strip_prefix('/') else {
            return refuse("does not begin with `/`");
        };
        for segment in segments.split('/') {
            if matches!(segment, "" | "." | "..") {
                return refuse("has an empty segment, `.` or `..`");
            }
            if segment.chars().any(is_unusual) {
                return refuse("has a character that not every store takes");
            }
        }
        Ok(Self(path.into()))
    }

    /// The key one segment further down.
    ///
    /// # Errors
    /// `Refused` when the segment has a slash or what [`Key::parse`] refuses.
    pub fn child(&self, segment: &str) -> Result<Self> {
        if segment.contains('/') {
            let segment = shown(segment);
            return Err(Error::Refused(format!("the segment `{segment}` has a slash")));
        }
        Self::parse(&format!("{}/{segment}", self.0))
    }

    /// The path, with its first slash and without one at its end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The keys above this one, the nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = &str> {
        let mut rest = self.as_str();
        std::iter::from_fn(move || {
            rest = &rest[..rest.rfind('/')?];
            (!rest.is_empty()).then_some(rest)
        })
    }
}

/// What ZooKeeper refuses in a path: control characters, private use and specials.
fn is_unusual(c: char) -> bool {
    c.is_control() || matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}')
}

fn shown(path: &str) -> String {
    path.chars().take(80).flat_map(char::escape_debug).collect()
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// A key and all keys below it, or all keys there are. `/shop` does not stand for `/shopping`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(Option<Key>);

impl Prefix {
    /// All keys.
    pub fn root() -> Self {
        Self(None)
    }

    /// `/` for all keys, else the path of a key.
    ///
    /// # Errors
    /// As [`Key::parse`].
    pub fn parse(path: &str) -> Result<Self> {
        if path == "/" { Ok(Self::root()) } else { Key::parse(path).map(Self::from) }
    }

    /// The key itself; `None` stands for all keys.
    pub fn key(&self) -> Option<&Key> {
        self.0.as_ref()
    }

    /// Whether the path is this key's or lies below it.
    pub fn covers(&self, path: &str) -> bool {
        let Some(key) = &self.0 else { return true };
        let rest = path.strip_prefix(key.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl From<Key> for Prefix {
    fn from(key: Key) -> Self {
        Self(Some(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_every_store_takes_are_keys() {
        let long = format!("/{}", "a".repeat(MAX_KEY_BYTES - 1));
        for good in ["/a", "/a/b", "/a b/ü", "/.a", "/...", long.as_str()] {
            assert!(Key::parse(good).is_ok(), "{good}");
        }
        let longer = format!("{long}a");
        for bad in [
            "",
            "/",
            "a",
            "a/b",
            "//a",
            "/a/",
            "/a//b",
            "/.",
            "/a/..",
            "/a\0",
            "/\u{f000}",
            &longer,
        ] {
            assert!(matches!(Key::parse(bad), Err(Error::Refused(_))), "{bad}");
        }
    }

    #[test]
    fn a_prefix_ends_at_a_slash() {
        let shop = Prefix::parse("/shop").unwrap();
        for (path, covered) in
            [("/shop", true), ("/shop/a/b", true), ("/shopping", false), ("/sho", false)]
        {
            assert_eq!(shop.covers(path), covered, "{path}");
        }
        assert!(Prefix::parse("/").unwrap().covers("/shop"));
    }

    #[test]
    fn ancestors_come_nearest_first() {
        let key = Key::parse("/a/b/c").unwrap();
        assert_eq!(key.ancestors().collect::<Vec<_>>(), ["/a/b", "/a"]);
        assert_eq!(Key::parse("/a").unwrap().ancestors().count(), 0);
    }

    #[test]
    fn a_child_is_one_segment() {
        let key = Key::parse("/a").unwrap();
        assert_eq!(key.child("b").unwrap().as_str(), "/a/b");
        assert!(key.child("b/c").is_err() && key.child("").is_err());
    }
}
