//! The model as entries of a repository, in ShardingSphere's layout, and what a change writes there.

use std::collections::BTreeMap;

use pando_config::{Node, parse_raw, print};

use crate::canonical::{own_sections, read_references, write_references};
use crate::layout::{GLOBAL, Holds, SECTIONS, Section, section};
use crate::model::Model;
use crate::refusal::{Kind, Refusal, Result};
use crate::seal::{Keeping, Key, open, seal};

/// One write of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// The entry is new or has another value.
    Put {
        /// From `/`.
        path: String,
        /// YAML.
        value: Vec<u8>,
    },
    /// The entry is gone.
    Delete {
        /// From `/`.
        path: String,
    },
}

/// What turns the old entries into the new ones, by path. All of it must become visible at once.
pub fn difference(old: &BTreeMap<String, Vec<u8>>, new: &BTreeMap<String, Vec<u8>>) -> Vec<Write> {
    let mut writes: Vec<Write> = Vec::new();
    for path in old.keys().filter(|path| !new.contains_key(*path)) {
        writes.push(Write::Delete { path: path.clone() });
    }
    for (path, value) in new.iter().filter(|(path, value)| old.get(*path) != Some(value)) {
        writes.push(Write::Put { path: path.clone(), value: value.clone() });
    }
    writes
}

const METADATA: &str = "/metadata/";
const UNITS: &str = "data_sources/units/";
/// Our own: the order of the storage units, where it is not that of their names.
const ORDER: &str = "data_sources/order";

impl Model {
    /// The entries by path, as they are to be stored: one for each storage unit, table rule, algorithm and so on.
    ///
    /// # Errors
    /// `OpenSecret` where a password would be readable in a shared repository.
    pub fn entries(&self, keeping: Keeping<'_>) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut out = Out { entries: BTreeMap::new(), keeping };
        for (key, tag) in GLOBAL {
            if let Some(node) = self.global().get(key) {
                out.put(format!("/rules/{}", tag.to_lowercase()), node)?;
            }
        }
        if let Some(props) = self.global().get("props") {
            out.put("/props".to_owned(), props)?;
        }
        for name in self.databases() {
            let (_, tree) = self.database(name)?;
            out.database(&format!("{METADATA}{}", escaped(name)), tree)?;
        }
        Ok(out.entries)
    }

    /// The model of entries. Those of other parts of the layout (instances, schemas, versions) must not be among them.
    ///
    /// # Errors
    /// `InvalidDocument` for an entry that no model has, `ClosedSecret` for a password that the key does not open.
    pub fn from_entries(entries: &BTreeMap<String, Vec<u8>>, key: Option<&Key>) -> Result<Self> {
        let mut global = Node::mapping::<&str>([]);
        let mut trees: BTreeMap<String, Node> = BTreeMap::new();
        let mut orders: BTreeMap<String, Node> = BTreeMap::new();
        for (path, value) in entries {
            let node = || parsed(path, value, key);
            if let Some(kind) = path.strip_prefix("/rules/") {
                let known = GLOBAL.iter().find(|(_, tag)| tag.eq_ignore_ascii_case(kind));
                let (root, _) = known.ok_or_else(|| unknown(path))?;
                global.set(root, node()?);
            } else if path == "/props" {
                global.set("props", node()?);
            } else if let Some(rest) = path.strip_prefix(METADATA) {
                let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
                let name = unescaped(name).ok_or_else(|| unknown(path))?;
                let tree = trees.entry(name.clone()).or_insert_with(|| {
                    Node::mapping([("databaseName", Node::text(name.as_str()))])
                });
                if rest == ORDER {
                    orders.insert(name, node()?);
                } else if !rest.is_empty() {
                    place(tree, rest, node()?).ok_or_else(|| unknown(path))?;
                }
            } else {
                return Err(unknown(path));
            }
        }
        let mut model = Self::default().with_global(&global);
        for (name, mut tree) in trees {
            if let Some(order) = orders.get(&name) {
                let order = crate::canonical::names(order);
                tree.change("dataSources", |units| {
                    units.sort_by_key(|entry| order.iter().position(|name| *name == entry.key));
                });
            }
            model = model.with_database(&tree);
        }
        Ok(model)
    }
}

struct Out<'k> {
    entries: BTreeMap<String, Vec<u8>>,
    keeping: Keeping<'k>,
}

impl Out<'_> {
    fn put(&mut self, path: String, node: &Node) -> Result<()> {
        let node = seal("", node, &path, self.keeping)?;
        self.entries.insert(path, print(&node).into_bytes());
        Ok(())
    }

    fn database(&mut self, path: &str, tree: &Node) -> Result<()> {
        // So that a database without anything in it is there, too.
        self.entries.insert(path.to_owned(), Vec::new());
        let units = tree.get("dataSources").map(Node::pairs).unwrap_or_default();
        for unit in units {
            self.put(format!("{path}/{UNITS}{}", escaped(&unit.key)), &unit.value)?;
        }
        if !units.is_sorted_by_key(|unit| escaped(&unit.key)) {
            let names = units.iter().map(|unit| Node::text(unit.key.as_str()));
            self.put(format!("{path}/{ORDER}"), &Node::sequence(names))?;
        }
        for rule in tree.get("rules").map(Node::items).unwrap_or_default() {
            let Some(section) = rule.tag.as_deref().and_then(section) else { continue };
            self.section(&format!("{path}/rules/{}", section.tag.to_lowercase()), section, rule)?;
        }
        for (tag, rule) in own_sections(tree) {
            let whole = Node { tag: None, ..rule.clone() };
            self.put(format!("{path}/rules/{}", tag.to_lowercase()), &whole)?;
        }
        Ok(())
    }

    fn section(&mut self, path: &str, section: &Section, rule: &Node) -> Result<()> {
        for entry in rule.pairs() {
            let path = format!("{path}/{}", snake(&entry.key));
            let known = section.fields.iter().find(|(field, _)| *field == entry.key);
            match known.map(|(_, holds)| *holds) {
                Some(Holds::Many) => {
                    for item in entry.value.pairs() {
                        self.put(format!("{path}/{}", escaped(&item.key)), &item.value)?;
                    }
                }
                Some(Holds::References) => {
                    for (name, tables) in read_references(&entry.value) {
                        let tables = Node::text(tables.join(","));
                        self.put(format!("{path}/{}", escaped(&name)), &tables)?;
                    }
                }
                Some(Holds::Names | Holds::One) | None => self.put(path, &entry.value)?,
            }
        }
        Ok(())
    }
}

/// Puts an entry's value where it belongs in the tree of its database; nothing where it belongs nowhere.
fn place(tree: &mut Node, path: &str, node: Node) -> Option<()> {
    if let Some(unit) = path.strip_prefix(UNITS) {
        let unit = unescaped(unit)?;
        tree.change("dataSources", |units| units.set(&unit, node));
        return Some(());
    }
    let rule = path.strip_prefix("rules/")?;
    let Some((kind, rest)) = rule.split_once('/') else { return place_own(tree, rule, node) };
    let section = SECTIONS.iter().find(|section| section.tag.eq_ignore_ascii_case(kind))?;
    let (field, item) = rest.split_once('/').map_or((rest, None), |(f, item)| (f, Some(item)));
    let field = camel(field);
    let holds = section.fields.iter().find(|(own, _)| *own == field).map(|(_, holds)| *holds);
    let item = item.map(|item| unescaped(item).ok_or(())).transpose().ok()?;
    tree.change_rule(section.tag, |rule| match (holds, item) {
        (Some(Holds::Many), Some(item)) => {
            rule.change(&field, |all| all.set(&item, node));
            Some(())
        }
        (Some(Holds::References), Some(item)) => {
            let tables = crate::canonical::names(&node);
            rule.change(&field, |all| {
                let mut references = read_references(all);
                references.push((item, tables));
                *all = write_references(&references);
            });
            Some(())
        }
        (Some(Holds::Names | Holds::One) | None, None) => {
            rule.set(&field, node);
            Some(())
        }
        (Some(Holds::Many | Holds::References), None)
        | (Some(Holds::Names | Holds::One) | None, Some(_)) => None,
    })
}

/// The section of a room of Pando's own is one entry.
fn place_own(tree: &mut Node, kind: &str, node: Node) -> Option<()> {
    let tag = kind.to_uppercase();
    if section(&tag).is_some() || tag.to_lowercase() != kind || node.pairs().is_empty() {
        return None;
    }
    tree.change_rule(&tag, |rule| *rule = node.tagged(&tag));
    Some(())
}

fn unknown(path: &str) -> Refusal {
    Refusal::new(Kind::InvalidDocument, format!("entry `{path}` is none of a configuration"))
}

fn parsed(path: &str, value: &[u8], key: Option<&Key>) -> Result<Node> {
    let invalid = || {
        Refusal::new(
            Kind::InvalidDocument,
            format!("the value of entry `{path}` is not valid YAML"),
        )
    };
    let text = std::str::from_utf8(value).map_err(|_| invalid())?;
    let node = parse_raw("entry", text).map_err(|_| invalid())?.unwrap_or_else(Node::nothing);
    open(&node.plain(), path, key)
}

/// `shardingAlgorithms` → `sharding_algorithms`.
fn snake(field: &str) -> String {
    let mut out = String::with_capacity(field.len() + 4);
    for c in field.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// The way back.
fn camel(folder: &str) -> String {
    let mut out = String::with_capacity(folder.len());
    let mut is_start = false;
    for c in folder.chars() {
        match (c, is_start) {
            ('_', _) => is_start = true,
            (c, true) => {
                out.push(c.to_ascii_uppercase());
                is_start = false;
            }
            (c, false) => out.push(c),
        }
    }
    out
}

/// A name as one step of a path: other characters than letters, digits, `_`, `-`, `$` and inner dots become `%XX`.
fn escaped(name: &str) -> String {
    let is_dots = name.chars().all(|c| c == '.');
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        let stays = c.is_alphanumeric() || matches!(c, '_' | '-' | '$') || (c == '.' && !is_dots);
        if stays {
            out.push(c);
        } else {
            let mut buffer = [0; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    // A step must not be empty.
    if out.is_empty() { "%".to_owned() } else { out }
}

fn unescaped(step: &str) -> Option<String> {
    if step == "%" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(step.len());
    let mut rest = step.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte != b'%' {
            bytes.push(byte);
            rest = after;
            continue;
        }
        let hex = std::str::from_utf8(after.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        rest = after.get(2..)?;
    }
    let name = String::from_utf8(bytes).ok()?;
    // One name has one path, or entries could hide each other.
    (escaped(&name) == step).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_one_step_of_a_path() {
        for name in ["t_order", "a/b", "..", "", "%41", "é ü", "a.b", "x%"] {
            let step = escaped(name);
            assert!(!step.contains('/') && !step.is_empty() && step != ".." && step != ".");
            assert_eq!(unescaped(&step).as_deref(), Some(name));
        }
        assert_eq!(unescaped("%61"), None, "`a` has a shorter path");
        assert_eq!(unescaped("a%4"), None);
    }

    #[test]
    fn a_section_that_only_its_room_knows_is_one_entry_and_comes_back() {
        let text = "databaseName: shop\nrules:\n- !ZOO {b: [x], a: ~}\n- !BROADCAST {tables: [t]}\n\
                    - !ARK {c: {}}\n";
        let tree = parse_raw("shop", text).unwrap().unwrap();
        let model = Model::default().with_database(&tree);
        let entries = model.entries(Keeping::Open).unwrap();
        let rules: Vec<(&str, &str)> = entries
            .iter()
            .filter_map(|(path, value)| Some((path.strip_prefix("/metadata/shop/rules/")?, value)))
            .map(|(path, value)| (path, std::str::from_utf8(value).unwrap()))
            .collect();
        assert_eq!(
            rules,
            [("ark", "c: {}\n"), ("broadcast/tables", "- t\n"), ("zoo", "b:\n  - x\na: ~\n")]
        );
        assert_eq!(Model::from_entries(&entries, None).unwrap(), model);
    }

    #[test]
    fn a_section_without_fields_is_none() {
        for (path, value) in [("zoo", "x"), ("zoo", "{}"), ("Zoo", "a: b"), ("sharding", "a: b")] {
            let path = format!("/metadata/shop/rules/{path}");
            let entries = BTreeMap::from([(path.clone(), value.as_bytes().to_vec())]);
            let kind = Model::from_entries(&entries, None).unwrap_err().kind;
            assert_eq!(kind, Kind::InvalidDocument, "{path}: {value}");
        }
    }

    #[test]
    fn folders_and_fields_are_the_same_names() {
        for (field, _) in SECTIONS.iter().flat_map(|section| section.fields) {
            assert_eq!(camel(&snake(field)), *field);
        }
    }
}
