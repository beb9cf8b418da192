//! What a repository holds, as of one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use pando_model::{Key, Write};
use pando_repository::{Entry, Error, Expected, Result, Revision, View};

use crate::cluster::Cluster;
use crate::keys;

/// Entries of a model by path.
pub(crate) type Entries = BTreeMap<String, Vec<u8>>;

/// A view, taken apart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stored {
    /// The moment.
    pub(crate) revision: Revision,
    /// Which configuration it is; `None` when there has never been one.
    pub(crate) version: Option<Version>,
    /// Of the configuration, with everything that is pending already in place.
    pub(crate) entries: Arc<Entries>,
    /// Everything else.
    pub(crate) cluster: Arc<Cluster>,
}

/// Stands in front of the mark.
const MARK: &str = "mark:";

/// Which configuration it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    /// Grows with each change.
    pub(crate) number: u64,
    /// Who made the change: unique for each attempt.
    pub(crate) author: String,
    /// The change is decided, but stands partly in a folder of this name; the number of its parts.
    pub(crate) pending: Option<(String, usize)>,
    /// What shows that who made the change has the cluster's key.
    pub(crate) mark: Option<String>,
    /// Of the entry.
    pub(crate) revision: Revision,
}

impl Version {
    /// As it is stored.
    pub(crate) fn text(&self) -> String {
        let Self { number, author, pending, mark, .. } = self;
        let mut text = format!("{number} {author}");
        if let Some((folder, parts)) = pending {
            text.push_str(&format!(" {folder} {parts}"));
        }
        if let Some(mark) = mark {
            text.push_str(&format!(" {MARK}{mark}"));
        }
        text
    }

    /// With the key's mark for these entries.
    pub(crate) fn marked(mut self, key: Option<&Key>, entries: &Entries) -> Self {
        self.mark = key.map(|key| key.mark(&[&self.number.to_string(), &self.author], entries));
        self
    }

    /// Whether it bears the key's mark for these entries.
    pub(crate) fn is_of(&self, key: &Key, entries: &Entries) -> bool {
        let words = [&*self.number.to_string(), &*self.author];
        self.mark.as_ref().is_some_and(|mark| key.bears(mark, &words, entries))
    }

    fn read(entry: &Entry) -> Option<Self> {
        let text = std::str::from_utf8(&entry.value).ok()?;
        let (text, mark) = match text.split_once(&format!(" {MARK}")) {
            Some((text, mark)) => (text, Some(mark.to_owned())),
            None => (text, None),
        };
        let words: Vec<&str> = text.split(' ').collect();
        let (number, author, pending) = match words[..] {
            [number, author] => (number, author, None),
            [number, author, folder, parts] => {
                (number, author, Some((folder.to_owned(), parts.parse().ok()?)))
            }
            _ => return None,
        };
        let (number, author) = (number.parse().ok()?, author.to_owned());
        Some(Self { number, author, pending, mark, revision: entry.revision })
    }
}

impl Stored {
    /// What stands in a view of everything.
    ///
    /// # Errors
    /// `Damaged` when the version cannot be read or parts of a pending change are missing.
    pub(crate) fn read(view: &View) -> Result<Self> {
        let mut stored = Self { revision: view.revision, ..Self::default() };
        let (mut entries, mut cluster) = (Entries::new(), Cluster::default());
        let mut parts: BTreeMap<&str, &[u8]> = BTreeMap::new();
        for (key, entry) in &view.entries {
            let path = key.as_str();
            if path == keys::VERSION {
                let version = Version::read(entry);
                let damaged = || Error::Damaged(format!("`{path}` is not a version"));
                stored.version = Some(version.ok_or_else(damaged)?);
            } else if let Some(part) = path.strip_prefix(keys::PENDING) {
                parts.insert(part, &entry.value);
            } else if is_of_the_model(path) {
                entries.insert(path.to_owned(), entry.value.to_vec());
            } else {
                cluster.take(path, &entry.value);
            }
        }
        for write in pending(stored.version.as_ref(), &parts)? {
            match write {
                Write::Put { path, value } => drop(entries.insert(path, value)),
                Write::Delete { path } => drop(entries.remove(&path)),
            }
        }
        stored.entries = Arc::new(entries);
        stored.cluster = Arc::new(cluster);
        Ok(stored)
    }

    /// What the version must be for a change that was thought out on this.
    pub(crate) fn expected(&self) -> Expected {
        self.version.as_ref().map_or(Expected::Absent, |version| Expected::At(version.revision))
    }

    /// The number of the next version.
    pub(crate) fn next(&self) -> u64 {
        self.version.as_ref().map_or(1, |version| version.number.saturating_add(1))
    }
}

fn is_of_the_model(path: &str) -> bool {
    path == "/props" || path.starts_with("/rules/") || path.starts_with("/metadata/")
}

/// The writes of the pending change, in their order.
///
/// # Errors
/// `Damaged` when a part is missing or cannot be read.
pub(crate) fn pending(
    version: Option<&Version>,
    parts: &BTreeMap<&str, &[u8]>,
) -> Result<Vec<Write>> {
    let Some((folder, count)) = version.and_then(|version| version.pending.as_ref()) else {
        return Ok(Vec::new());
    };
    let mut writes = Vec::new();
    for number in 0..*count {
        let name = part_name(folder, number);
        let part = parts.get(name.as_str()).and_then(|part| unpacked(part));
        let damaged = || Error::Damaged(format!("`{}{name}` is missing or broken", keys::PENDING));
        writes.extend(part.ok_or_else(damaged)?);
    }
    Ok(writes)
}

/// The path of a part below the folder of pending changes.
pub(crate) fn part_name(folder: &str, number: usize) -> String {
    format!("{folder}/{number:06}")
}

/// Writes as bytes: for each a letter, the length of its path, the path, and for a put the length of its value and the value.
pub(crate) fn packed(writes: &[Write]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut text = |letter: Option<u8>, text: &[u8]| {
        out.extend(letter);
        out.extend((text.len() as u64).to_be_bytes());
        out.extend(text);
    };
    for write in writes {
        match write {
            Write::Put { path, value } => {
                text(Some(b'P'), path.as_bytes());
                text(None, value);
            }
            Write::Delete { path } => text(Some(b'D'), path.as_bytes()),
        }
    }
    out
}

fn unpacked(mut bytes: &[u8]) -> Option<Vec<Write>> {
    fn text<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
        let length = usize::try_from(u64::from_be_bytes(*bytes.first_chunk()?)).ok()?;
        let (text, rest) = bytes.get(8..)?.split_at_checked(length)?;
        *bytes = rest;
        Some(text)
    }
    let mut writes = Vec::new();
    while let Some((letter, rest)) = bytes.split_first() {
        bytes = rest;
        let path = String::from_utf8(text(&mut bytes)?.to_vec()).ok()?;
        writes.push(match letter {
            b'P' => Write::Put { path, value: text(&mut bytes)?.to_vec() },
            b'D' => Write::Delete { path },
            _ => return None,
        });
    }
    Some(writes)
}

#[cfg(test)]
mod tests {
    use pando_repository::{Key, Lifetime};

    type Secret = pando_model::Key;

    use super::*;

    fn put(path: &str, value: &str) -> Write {
        Write::Put { path: path.into(), value: value.into() }
    }

    fn view(entries: &[(&str, &[u8])]) -> View {
        let entry = |value: &[u8]| Entry {
            value: value.to_vec().into(),
            revision: Revision(3),
            lifetime: Lifetime::Forever,
        };
        let entries = entries.iter().map(|(path, value)| (Key::parse(path).unwrap(), entry(value)));
        View { revision: Revision(5), entries: entries.collect() }
    }

    #[test]
    fn writes_come_back_from_their_bytes_and_broken_bytes_do_not() {
        let writes = [put("/props", "a: 1"), Write::Delete { path: "/rules/x".into() }];
        let bytes = packed(&writes);
        assert_eq!(unpacked(&bytes).unwrap(), writes);
        for end in 1..bytes.len() {
            assert!(unpacked(&bytes[..end]).is_none_or(|part| part.len() < 2), "{end}");
        }
        assert!(unpacked(b"P\xff\xff\xff\xff\xff\xff\xff\xff").is_none());
    }

    #[test]
    fn a_pending_change_is_in_place_for_every_reader() {
        let change = packed(&[put("/props", "b: 2"), Write::Delete { path: "/rules/x".into() }]);
        let stored = Stored::read(&view(&[
            ("/version", b"7 me f 1"),
            ("/pending/f/000000", &change),
            ("/pending/other/000000", b"rubbish of a change that was never decided"),
            ("/props", b"a: 1"),
            ("/rules/x", b"y"),
            ("/states/cluster_state", b"READ_ONLY"),
        ]));
        let stored = stored.unwrap();
        assert_eq!(stored.entries.get("/props").unwrap(), b"b: 2");
        assert_eq!(stored.entries.len(), 1);
        assert_eq!((stored.next(), stored.expected()), (8, Expected::At(Revision(3))));
        assert_eq!(stored.cluster.admits, crate::Admits::Reads);
    }

    #[test]
    fn a_mark_is_of_its_entries_and_its_number_also_while_they_are_pending() {
        let key = Secret::new([7; 32]);
        let change = packed(&[put("/props", "b: 2")]);
        let entries = Entries::from([("/props".to_owned(), b"b: 2".to_vec())]);
        for pending in [None, Some(("f".to_owned(), 1))] {
            let (author, revision) = ("me".to_owned(), Revision(3));
            let version = Version { number: 7, author, pending, mark: None, revision };
            assert!(!version.is_of(&key, &entries));
            let text = version.marked(Some(&key), &entries).text();
            let read = |text: &str| {
                let parts: [(&str, &[u8]); 3] = [
                    ("/version", text.as_bytes()),
                    ("/pending/f/000000", &change),
                    ("/props", b"b: 2"),
                ];
                Stored::read(&view(&parts)).unwrap()
            };
            let is_of = |stored: &Stored, entries: &Entries| {
                stored.version.as_ref().unwrap().is_of(&key, entries)
            };
            let stored = read(&text);
            assert!(is_of(&stored, &stored.entries));
            assert!(!is_of(&stored, &Entries::new()));
            let raised = read(&text.replacen('7', "8", 1));
            assert!(!is_of(&raised, &raised.entries));
        }
    }

    #[test]
    fn what_cannot_be_understood_is_never_served() {
        let missing = view(&[("/version", b"7 me f 2"), ("/pending/f/000000", b"")]);
        assert!(matches!(Stored::read(&missing), Err(Error::Damaged(_))));
        assert!(matches!(Stored::read(&view(&[("/version", b"seven")])), Err(Error::Damaged(_))));
    }
}
