//! What a change takes in ZooKeeper's terms: a pure function from the nodes it concerns to the steps of one multi.
//!
//! A key with a value is a node with data. Parents that nobody put are nodes without data (not empty, none), made when needed and taken
//! away with their last child.

use std::collections::BTreeMap;

use pando_repository::{Change, Error, Expected, Key, Lifetime, Result, Write};

use crate::wire::{Kind, Stat, Step};

/// A node as it was found; paths are keys, without the namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) stat: Stat,
    pub(crate) has_value: bool,
}

/// Every path that [`steps`] looks at.
pub(crate) fn concerned(change: &Change) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    paths.extend(change.expectations.iter().map(|(key, _)| key.to_string()));
    for (key, _) in &change.writes {
        paths.push(key.to_string());
        paths.extend(key.ancestors().map(str::to_owned));
    }
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// The steps, with `root` before every path. Deletions come first, as a key may make room for one above or below it.
pub(crate) fn steps(
    root: &str,
    session: i64,
    nodes: BTreeMap<String, Node>,
    change: &Change,
) -> Result<Vec<Step>> {
    let mut plan = Plan { root, session, nodes, steps: Vec::new() };
    for (key, expected) in &change.expectations {
        plan.expect(key, *expected)?;
    }
    for (key, write) in &change.writes {
        if *write == Write::Delete {
            plan.delete(key);
        }
    }
    for (key, write) in &change.writes {
        if let Write::Put(value, lifetime) = write {
            plan.put(key, value, *lifetime)?;
        }
    }
    Ok(plan.steps)
}

struct Plan<'a> {
    root: &'a str,
    session: i64,
    /// As they are after the steps so far.
    nodes: BTreeMap<String, Node>,
    steps: Vec<Step>,
}

impl Plan<'_> {
    fn expect(&mut self, key: &Key, expected: Expected) -> Result<()> {
        let found = self.nodes.get(key.as_str()).filter(|node| node.has_value);
        let holds = match expected {
            Expected::Absent => found.is_none(),
            Expected::At(revision) => {
                found.is_some_and(|node| node.stat.mzxid as u64 == revision.0)
            }
        };
        if !holds {
            return Err(Error::Conflict(key.clone()));
        }
        // The revision of the whole stands guard against our own kind; this one against everybody else who writes here.
        if let Some(node) = found {
            let version = node.stat.version;
            self.steps.push(Step::Check { path: self.full(key.as_str()), version });
        }
        Ok(())
    }

    fn delete(&mut self, key: &Key) {
        let path = key.as_str();
        let Some(node) = self.nodes.get_mut(path).filter(|node| node.has_value) else { return };
        node.has_value = false;
        if node.stat.children > 0 {
            self.set(path, None);
            return;
        }
        self.remove(path);
        for above in key.ancestors() {
            let is_empty =
                self.nodes.get(above).is_some_and(|n| !n.has_value && n.stat.children == 0);
            if !is_empty {
                return;
            }
            self.remove(above);
        }
    }

    fn put(&mut self, key: &Key, value: &bytes::Bytes, lifetime: Lifetime) -> Result<()> {
        let path = key.as_str();
        let kind = match lifetime {
            Lifetime::Forever => Kind::Persistent,
            Lifetime::Session => Kind::Ephemeral,
        };
        if let Some(node) = self.nodes.get(path).copied() {
            let owner = if kind == Kind::Ephemeral { self.session } else { 0 };
            if node.stat.owner == owner {
                self.set(path, Some(value.clone()));
                return Ok(());
            }
            // A node keeps its session for life.
            if node.stat.children > 0 {
                return refuse(path, "has keys below it and cannot be a session's");
            }
            self.remove(path);
        }
        let mut above: Vec<&str> = key.ancestors().collect();
        above.reverse();
        for parent in above {
            match self.nodes.get(parent) {
                Some(node) if node.stat.owner != 0 => {
                    return refuse(parent, "is a session's and cannot have keys below it");
                }
                Some(_) => {}
                None => self.create(parent, None, Kind::Persistent),
            }
        }
        self.create(path, Some(value.clone()), kind);
        Ok(())
    }

    fn set(&mut self, path: &str, data: Option<bytes::Bytes>) {
        if let Some(node) = self.nodes.get_mut(path) {
            node.has_value = data.is_some();
        }
        self.steps.push(Step::Set { path: self.full(path), data, version: -1 });
    }

    fn create(&mut self, path: &str, data: Option<bytes::Bytes>, kind: Kind) {
        let owner = if kind == Kind::Ephemeral { self.session } else { 0 };
        let node = Node { stat: Stat { owner, ..Stat::default() }, has_value: data.is_some() };
        self.nodes.insert(path.to_owned(), node);
        self.count_child(path, 1);
        self.steps.push(Step::Create { path: self.full(path), data, kind });
    }

    fn remove(&mut self, path: &str) {
        self.nodes.remove(path);
        self.count_child(path, -1);
        self.steps.push(Step::Delete { path: self.full(path) });
    }

    fn count_child(&mut self, path: &str, by: i32) {
        let parent = path.rfind('/').map_or("", |at| &path[..at]);
        if let Some(node) = self.nodes.get_mut(parent) {
            node.stat.children += by;
        }
    }

    fn full(&self, path: &str) -> String {
        format!("{}{path}", self.root)
    }
}

fn refuse(path: &str, why: &str) -> Result<()> {
    Err(Error::Refused(format!("`{path}` {why}")))
}

#[cfg(test)]
mod tests {
    use pando_repository::Revision;

    use super::*;

    const OWN: i64 = 5;

    /// Nodes from `path children value?owner`: `/a 1`, `/a/b 0 v`, `/s 0 v5`.
    fn nodes(lines: &[&str]) -> BTreeMap<String, Node> {
        let node = |line: &&str| {
            let mut words = line.split(' ');
            let path = words.next().unwrap().to_owned();
            let children = words.next().unwrap().parse().unwrap();
            let value = words.next();
            let owner = value.and_then(|v| v[1..].parse().ok()).unwrap_or(0);
            let stat = Stat { children, owner, mzxid: 9, version: 2, ..Stat::default() };
            (path, Node { stat, has_value: value.is_some() })
        };
        lines.iter().map(node).collect()
    }

    fn plan(found: &[&str], change: Change) -> Result<Vec<String>> {
        let steps = steps("/ns", OWN, nodes(found), &change)?;
        let shown = steps.into_iter().map(|step| match step {
            Step::Check { path, version } => format!("check {path} {version}"),
            Step::Create { path, data, kind } => {
                format!("create {path} {kind:?} {}", data.is_some())
            }
            Step::Set { path, data, .. } => format!("set {path} {}", data.is_some()),
            Step::Delete { path } => format!("delete {path}"),
        });
        Ok(shown.collect())
    }

    fn key(path: &str) -> Key {
        Key::parse(path).unwrap()
    }

    #[test]
    fn parents_come_with_the_first_key_and_go_with_the_last() {
        let put = Change::new().put(&key("/a/b/c"), "x").put(&key("/a/d"), "x");
        assert_eq!(
            plan(&["/a 0"], put).unwrap(),
            [
                "create /ns/a/b Persistent false",
                "create /ns/a/b/c Persistent true",
                "create /ns/a/d Persistent true"
            ]
        );
        let delete = Change::new().delete(&key("/a/b/c"));
        let found = ["/a 2", "/a/b 1", "/a/b/c 0 v"];
        assert_eq!(plan(&found, delete).unwrap(), ["delete /ns/a/b/c", "delete /ns/a/b"]);
    }

    #[test]
    fn a_deleted_key_with_keys_below_it_loses_its_value_only() {
        let delete = || Change::new().delete(&key("/a"));
        assert_eq!(plan(&["/a 1 v"], delete()).unwrap(), ["set /ns/a false"]);
        assert!(plan(&["/a 1"], delete()).unwrap().is_empty());
        let both = delete().delete(&key("/a/b"));
        let steps = plan(&["/a 1 v", "/a/b 0 v"], both).unwrap();
        assert_eq!(steps, ["set /ns/a false", "delete /ns/a/b", "delete /ns/a"]);
    }

    #[test]
    fn a_node_changes_its_session_by_being_made_again() {
        let put = |path| Change::new().put_for_session(&key(path), "x");
        assert_eq!(plan(&["/s 0 v5"], put("/s")).unwrap(), ["set /ns/s true"]);
        let again = ["delete /ns/s", "create /ns/s Ephemeral true"];
        assert_eq!(plan(&["/s 0 v6"], put("/s")).unwrap(), again);
        assert_eq!(plan(&["/s 0 v"], put("/s")).unwrap(), again);
        assert!(matches!(plan(&["/s 1 v"], put("/s")), Err(Error::Refused(_))));
        assert!(matches!(plan(&["/s 0 v6"], put("/s/t")), Err(Error::Refused(_))));
    }

    #[test]
    fn expectations_are_of_values_not_of_nodes() {
        let with = |expected| Change::new().expect(&key("/a"), expected).put(&key("/a"), "x");
        assert_eq!(plan(&["/a 1"], with(Expected::Absent)).unwrap(), ["set /ns/a true"]);
        let at = |n| with(Expected::At(Revision(n)));
        assert_eq!(plan(&["/a 0 v"], at(9)).unwrap(), ["check /ns/a 2", "set /ns/a true"]);
        for (found, change) in
            [(&["/a 1"][..], at(9)), (&["/a 0 v"], at(8)), (&["/a 0 v"], with(Expected::Absent))]
        {
            assert_eq!(plan(found, change), Err(Error::Conflict(key("/a"))));
        }
    }
}
