//! EXPORT and IMPORT METADATA: everything as one JSON text, in ShardingSphere's form; and EXPORT STORAGE NODES.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use pando_config::{Node, print};
use serde_json::{Map, Value, json};

use crate::around::Around;
use crate::canonical;
use crate::change::Change;
use crate::layout::GLOBAL;
use crate::model::{Model, document};
use crate::refusal::{Kind, Refusal, Result};

/// Longest text of metadata, in bytes.
const MOST_BYTES: usize = 64 << 20;

impl Model {
    /// EXPORT METADATA TO FILE: all databases, the global rules and the properties, as JSON with YAML texts inside. Passwords stand in it,
    /// or their placeholders. Databases without storage units are in it, other than in ShardingSphere's exports.
    pub fn metadata(&self) -> String {
        let databases = self.trees().iter();
        let databases: Map<String, Value> =
            databases.map(|(name, tree)| (name.clone(), Value::String(print(tree)))).collect();
        let sections = GLOBAL
            .iter()
            .filter_map(|(key, tag)| Some(self.global().get(key)?.clone().tagged(*tag)));
        let under = |key: &str, node: Option<Node>| {
            node.map_or_else(String::new, |node| print(&Node::mapping([(key, node)])))
        };
        let rules = Node::mapping([("rules", Node::sequence(sections))]);
        let rules = of_every_user(&rules, administrator_or_not);
        let rules = rules.get("rules").filter(|rules| !rules.is_empty()).cloned();
        let all = json!({ "meta_data": {
            "databases": databases,
            "props": under("props", self.global().get("props").cloned()),
            "rules": under("rules", rules),
        } });
        all.to_string()
    }

    /// EXPORT METADATA to the client: [`Model::metadata`] in Base64.
    pub fn metadata_base64(&self) -> String {
        STANDARD.encode(self.metadata())
    }

    /// IMPORT METADATA: what [`Model::metadata`] or any ShardingSphere since 5.4 has exported, as JSON or as Base64 of it. Global rules and
    /// properties that are in it replace those of the same kind; others stay. Databases are added, as by [`Model::import`].
    ///
    /// The changes follow on each other: each model holds what the ones before it changed, and the last is what is wanted. All of them are to
    /// be carried out, in one commit, or none. The first is that of the whole server where its settings change; empty when nothing changes.
    ///
    /// # Errors
    /// `InvalidDocument` for what is no metadata or has a document that is none; `DatabaseExists`.
    pub fn import_metadata(&self, text: &str, around: &Around<'_>) -> Result<Vec<Change>> {
        let metadata = Metadata::read(text)?;
        let mut changes: Vec<Change> = Vec::new();
        let mut model = self.clone();
        let mut global = self.global().clone();
        for (name, text) in [("rules", &metadata.rules), ("props", &metadata.props)] {
            if text.trim().is_empty() {
                continue;
            }
            let found = document(name, text).map_err(|refusal| inside(name, refusal))?;
            let found = of_every_user(&found, administrator_before_5_5);
            known_sections(name, &found)?;
            for entry in canonical::global(&found).pairs() {
                global.set(&entry.key, entry.value.clone());
            }
        }
        let change = self
            .settled(&global, around, Kind::InvalidDocument)
            .map_err(|refusal| inside("rules and props", refusal))?;
        if change.model != model {
            model = change.model.clone();
            changes.push(change);
        }
        for (name, text) in &metadata.databases {
            let of = format!("database `{name}`");
            let tree = database(name, text).map_err(|refusal| inside(&of, refusal))?;
            let change =
                model.import_tree(&tree, around).map_err(|refusal| inside(&of, refusal))?;
            model = change.model.clone();
            changes.push(change);
        }
        Ok(changes)
    }

    /// EXPORT STORAGE NODES: the servers behind the storage units, each `host:port` once for a database, as JSON with passwords. Only
    /// of one database, if one is named.
    ///
    /// # Errors
    /// `UnknownDatabase`; `InvalidDocument` where a placeholder cannot be filled.
    pub fn storage_nodes(&self, database: Option<&str>, around: &Around<'_>) -> Result<String> {
        let mut all = Map::new();
        let names: Vec<&str> = match database {
            Some(name) => vec![self.database(name)?.0],
            None => self.databases().collect(),
        };
        for name in names {
            let (read, _) = self.read(name, around.environment)?;
            let mut seen = HashSet::new();
            let nodes = read.storage_units.iter().filter_map(|unit| {
                let url = &unit.url;
                let is_new = seen.insert((url.host.to_lowercase(), url.port));
                let password = unit.password.as_ref().map_or("", |password| password.reveal());
                is_new.then(|| {
                    json!({
                        "ip": url.host,
                        "port": url.port.to_string(),
                        "username": unit.username,
                        "password": password,
                        "database": url.database,
                    })
                })
            });
            let nodes: Vec<Value> = nodes.collect();
            if !nodes.is_empty() || database.is_some() {
                all.insert(name.to_owned(), Value::Array(nodes));
            }
        }
        Ok(json!({ "storage_nodes": all }).to_string())
    }
}

/// The texts inside an export.
struct Metadata {
    databases: Vec<(String, String)>,
    rules: String,
    props: String,
}

impl Metadata {
    fn read(text: &str) -> Result<Self> {
        if text.len() > MOST_BYTES {
            let message =
                format!("metadata of {} bytes, at most {MOST_BYTES} are read", text.len());
            return Err(Refusal::new(Kind::InvalidDocument, message));
        }
        let text = text.trim();
        let root: Value =
            if text.starts_with('{') { parsed(text.as_bytes())? } else { parsed(&decoded(text)?)? };
        let Some(metadata) = root.get("meta_data").and_then(Value::as_object) else {
            return Err(invalid("metadata is a JSON object with `meta_data` in it"));
        };
        let known = ["databases", "rules", "props"];
        if let Some(key) = metadata.keys().find(|key| !known.contains(&key.as_str())) {
            let message = format!("`meta_data` has `{key}`, which this version cannot import");
            return Err(invalid(&message));
        }
        let databases = match metadata.get("databases") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(all)) => {
                let text = |(name, value)| Ok((String::clone(name), text_of(name, value)?));
                all.iter().map(text).collect::<Result<_>>()?
            }
            Some(_) => return Err(invalid("`databases` is an object of texts")),
        };
        let text = |key: &str| metadata.get(key).map_or(Ok(String::new()), |v| text_of(key, v));
        Ok(Self { databases, rules: text("rules")?, props: text("props")? })
    }
}

fn parsed(json: &[u8]) -> Result<Value> {
    serde_json::from_slice(json).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        invalid(&format!("metadata is not valid JSON at line {line}, column {column}"))
    })
}

/// Base64 with or without padding; clients and servers break it into lines.
fn decoded(text: &str) -> Result<Vec<u8>> {
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&base64::alphabet::STANDARD, config);
    let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    engine.decode(text).map_err(|_| invalid("metadata is neither JSON nor Base64 of it"))
}

fn text_of(name: &str, value: &Value) -> Result<String> {
    match value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(invalid(&format!("`{name}` in the metadata is no text")))
        }
    }
}

/// The document of a database, which goes by the name it is exported under.
fn database(name: &str, text: &str) -> Result<Node> {
    let mut tree = match text.trim() {
        "" => Node::mapping::<&str>([]),
        _ => document("database", text)?,
    };
    let inside = tree.get("databaseName").or_else(|| tree.get("schemaName"));
    match inside.and_then(Node::as_text) {
        None => tree.set("databaseName", Node::text(name)),
        Some(own) if own.trim() == name => {}
        Some(own) => return Err(invalid(&format!("its document calls it `{own}`"))),
    }
    Ok(tree)
}

/// Refuses what would be passed over in silence. A rule of releases up to 5.4 that says nothing may be there.
fn known_sections(name: &str, tree: &Node) -> Result<()> {
    if let Some(other) = tree.pairs().iter().find(|entry| entry.key != name) {
        return Err(invalid(&format!("`{name}` of the metadata has a key `{}`", other.key)));
    }
    let rules = tree.get("rules").map(Node::items).unwrap_or_default();
    let says_nothing = |rule: &Node| rule.pairs().iter().all(|entry| entry.value.is_empty());
    let rules = rules.iter().filter(|rule| !says_nothing(rule));
    let mut tags = rules.map(|rule| rule.tag.as_deref().unwrap_or("without a tag"));
    match tags.find(|tag| GLOBAL.iter().all(|(_, known)| known != tag)) {
        Some(tag) => Err(invalid(&format!("the metadata has a global rule `{tag}`, unknown here"))),
        None => Ok(()),
    }
}

/// The document with its users changed, all of them at once.
fn of_every_user(root: &Node, change: fn(&mut [Node])) -> Node {
    let mut root = root.clone();
    let users = root.rule("AUTHORITY").and_then(|rule| rule.get("users")).map(Node::items);
    let mut users = users.unwrap_or_default().to_vec();
    if !users.is_empty() {
        change(&mut users);
        root.change_rule("AUTHORITY", |rule| rule.set("users", Node::sequence(users)));
    }
    root
}

/// Until 5.5 users had no `admin` and all of them were administrators; without one nobody could change anything any more.
fn administrator_before_5_5(users: &mut [Node]) {
    if users.iter().all(|user| !user.pairs().is_empty() && user.get("admin").is_none()) {
        users.iter_mut().for_each(|user| user.set("admin", Node::text("true")));
    }
}

/// So that the import does not take the export for an older one.
fn administrator_or_not(users: &mut [Node]) {
    for user in users.iter_mut().filter(|user| !user.pairs().is_empty()) {
        if user.get("admin").is_none() {
            user.set("admin", Node::text("false"));
        }
    }
}

fn inside(of: &str, refusal: Refusal) -> Refusal {
    Refusal::new(refusal.kind, format!("{of}: {}", refusal.message))
}

fn invalid(why: &str) -> Refusal {
    Refusal::new(Kind::InvalidDocument, why)
}
