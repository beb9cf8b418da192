//! Passwords in entries: as they are, as placeholders, or sealed with a key.

use std::collections::BTreeMap;
use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pando_config::{Content, Entry, Node};

use crate::refusal::{Kind, Refusal, Result};
use crate::scrub::holds_secret;

/// How passwords are kept. Placeholders without a default are no secret and always stay as they are.
#[derive(Debug, Clone, Copy)]
pub enum Keeping<'k> {
    /// As they are: for a repository that nobody but us can read.
    Open,
    /// Sealed with AES-256-GCM.
    Sealed(&'k Key),
    /// Not at all: a password that is not a placeholder is refused. For a repository that others can read, without a key.
    Placeholders,
}

/// A key of 256 bits.
#[derive(Clone)]
pub struct Key {
    bytes: [u8; 32],
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// All instances that share a repository must have the same key.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self { bytes }
    }

    /// Encrypts with a nonce that follows from path and text, so that an unchanged secret is an unchanged entry. Two secrets of one
    /// path have different nonces; what shows is only whether a secret came back to an earlier value.
    ///
    /// `None` where the algorithm refuses, which it does for no text of ours.
    pub fn seal(&self, text: &str, path: &str) -> Option<String> {
        let mut derive =
            hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, &self.part(b"nonce")));
        derive.update(&(path.len() as u64).to_be_bytes());
        derive.update(path.as_bytes());
        derive.update(text.as_bytes());
        let nonce: [u8; NONCE_LEN] = derive.sign().as_ref().get(..NONCE_LEN)?.try_into().ok()?;
        let mut sealed = text.as_bytes().to_vec();
        let nonce_used = Nonce::assume_unique_for_key(nonce);
        let aad = Aad::from(path.as_bytes());
        self.cipher()?.seal_in_place_append_tag(nonce_used, aad, &mut sealed).ok()?;
        let mut out = nonce.to_vec();
        out.extend(sealed);
        Some(STANDARD.encode(out))
    }

    /// What was sealed for this path with this key; `None` for anything else.
    pub fn open(&self, sealed: &str, path: &str) -> Option<String> {
        let bytes = STANDARD.decode(sealed).ok()?;
        let (nonce, rest) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut rest = rest.to_vec();
        let text =
            self.cipher()?.open_in_place(nonce, Aad::from(path.as_bytes()), &mut rest).ok()?;
        String::from_utf8(text.to_vec()).ok()
    }

    /// A mark that only who has the key can give these entries, under these words.
    pub fn mark(&self, words: &[&str], entries: &BTreeMap<String, Vec<u8>>) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.part(b"configuration"));
        let mut mark = hmac::Context::with_key(&key);
        let mut text = |text: &[u8]| {
            mark.update(&(text.len() as u64).to_be_bytes());
            mark.update(text);
        };
        text(&(words.len() as u64).to_be_bytes());
        words.iter().for_each(|word| text(word.as_bytes()));
        for (path, value) in entries {
            text(path.as_bytes());
            text(value);
        }
        STANDARD.encode(mark.sign().as_ref())
    }

    /// Whether a mark is what [`Key::mark`] gives, told in the same time wherever they differ.
    pub fn bears(&self, mark: &str, words: &[&str], entries: &BTreeMap<String, Vec<u8>>) -> bool {
        let own = self.mark(words, entries);
        verify_slices_are_equal(own.as_bytes(), mark.as_bytes()).is_ok()
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&AES_256_GCM, &self.part(b"cipher")).ok().map(LessSafeKey::new)
    }

    /// One key for each purpose.
    fn part(&self, purpose: &[u8]) -> Vec<u8> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.bytes);
        hmac::sign(&key, purpose).as_ref().to_vec()
    }
}

const TAG: &str = "SEALED";

/// The tree as it is stored at a path.
pub(crate) fn seal(key: &str, node: &Node, path: &str, keeping: Keeping<'_>) -> Result<Node> {
    let content = match &node.content {
        Content::Scalar { text, .. } if holds_secret(key, text) => match keeping {
            Keeping::Open => node.content.clone(),
            Keeping::Sealed(with) => {
                let failed = || {
                    Refusal::new(
                        Kind::ClosedSecret,
                        format!("`{key}` of entry `{path}` cannot be sealed"),
                    )
                };
                let sealed = with.seal(text, path).ok_or_else(failed)?;
                return Ok(Node::text(sealed).tagged(TAG));
            }
            Keeping::Placeholders => {
                let message = format!(
                    "`{key}` of entry `{path}` would be readable for everyone who can read the repository; start every instance with the same \
                     PANDO_SECRET_KEY in its environment (64 hexadecimal digits, as `openssl rand -hex 32` makes them), or write a placeholder as \
                     `$${{NAME}}`"
                );
                return Err(Refusal::new(Kind::OpenSecret, message));
            }
        },
        Content::Scalar { .. } => node.content.clone(),
        Content::Sequence(items) => {
            let items = items.iter().map(|item| seal(key, item, path, keeping));
            Content::Sequence(items.collect::<Result<_>>()?)
        }
        Content::Mapping(entries) => {
            let entry = |entry: &Entry| {
                let value = seal(&entry.key, &entry.value, path, keeping)?;
                Ok(Entry { value, ..entry.clone() })
            };
            Content::Mapping(entries.iter().map(entry).collect::<Result<_>>()?)
        }
    };
    Ok(Node { content, ..node.clone() })
}

/// The tree that was stored at a path.
pub(crate) fn open(node: &Node, path: &str, key: Option<&Key>) -> Result<Node> {
    let content = match &node.content {
        Content::Scalar { text, .. } if node.tag.as_deref() == Some(TAG) => {
            let why = |why: &str| {
                Refusal::new(
                    Kind::ClosedSecret,
                    format!("entry `{path}` has a sealed value, {why}"),
                )
            };
            let key = key.ok_or_else(|| why("and there is no key to open it"))?;
            let text = key.open(text, path).ok_or_else(|| why("which the key does not open"))?;
            return Ok(Node::text(text));
        }
        Content::Scalar { .. } => node.content.clone(),
        Content::Sequence(items) => Content::Sequence(
            items.iter().map(|item| open(item, path, key)).collect::<Result<_>>()?,
        ),
        Content::Mapping(entries) => {
            let entry = |entry: &Entry| {
                Ok(Entry { value: open(&entry.value, path, key)?, ..entry.clone() })
            };
            Content::Mapping(entries.iter().map(entry).collect::<Result<_>>()?)
        }
    };
    Ok(Node { content, ..node.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_at_its_path_with_its_key_only() {
        let (key, other) = (Key::new([7; 32]), Key::new([8; 32]));
        let sealed = key.seal("hush", "/a").unwrap();
        assert_eq!(key.open(&sealed, "/a").as_deref(), Some("hush"));
        assert_eq!(
            key.seal("hush", "/a").unwrap(),
            sealed,
            "an unchanged secret is an unchanged entry"
        );
        assert_ne!(key.seal("hush", "/b").unwrap(), sealed);
        assert_eq!(key.open(&sealed, "/b"), None);
        assert_eq!(other.open(&sealed, "/a"), None);
        for end in 0..sealed.len() {
            assert_eq!(key.open(&sealed[..end], "/a"), None);
        }
        assert!(!format!("{key:?}").contains('7'));
    }

    #[test]
    fn entries_bear_a_mark_of_their_words_and_their_key_only() {
        let (key, other) = (Key::new([7; 32]), Key::new([8; 32]));
        let entries = BTreeMap::from([("/a".to_owned(), b"b/c".to_vec())]);
        let mark = key.mark(&["1", "me"], &entries);
        assert!(key.bears(&mark, &["1", "me"], &entries));
        assert!(!key.bears(&mark, &["2", "me"], &entries));
        assert!(!key.bears(&mark, &["1m", "e"], &entries));
        assert!(!other.bears(&mark, &["1", "me"], &entries));
        assert!(!key.bears("", &["1", "me"], &entries));
        let others = [("/a", "b/d"), ("/a/b", "c"), ("/b", "b/c")];
        for (path, value) in others {
            let others = BTreeMap::from([(path.to_owned(), value.into())]);
            assert!(!key.bears(&mark, &["1", "me"], &others), "{path} {value}");
        }
        assert!(!key.bears(&mark, &["1", "me"], &BTreeMap::new()));
    }
}
