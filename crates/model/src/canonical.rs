//! Documents in any of their historic forms → the one form the model keeps, so that equal configurations are equal trees.

use pando_config::{Content, Node};

use crate::layout::{self, GLOBAL, Holds, SECTIONS};

/// The tree of one database. The order of storage units counts and stays; named things of rules are sorted.
pub(crate) fn database(root: &Node) -> Node {
    let root = root.plain();
    let name = root.get("databaseName").or_else(|| root.get("schemaName"));
    let mut tree = Node::mapping([("databaseName", name.cloned().unwrap_or_else(Node::nothing))]);
    let units = root.get("dataSources").filter(|units| !units.is_empty());
    tree.set("dataSources", units.cloned().unwrap_or_else(|| Node::mapping::<&str>([])));
    let rules = with_broadcast_tables_apart(&root);
    let known = SECTIONS.iter().map(|section| section.tag);
    for tag in known {
        let Some(rule) = rules.rule(tag) else { continue };
        let rule = section(tag, rule);
        if !rule.is_empty() {
            tree.change_rule(tag, |place| *place = rule.tagged(tag));
        }
    }
    for (tag, rule) in own_sections(&rules) {
        tree.change_rule(tag, |place| *place = rule.clone());
    }
    tree
}

/// Sections of rooms of Pando's own with their tags, sorted by them. What is in them, the rooms alone know: they stay
/// as they are.
pub(crate) fn own_sections(tree: &Node) -> Vec<(&str, &Node)> {
    let rules = tree.get("rules").map(Node::items).unwrap_or_default();
    let tagged = rules.iter().filter_map(|rule| Some((rule.tag.as_deref()?, rule)));
    let mut own: Vec<(&str, &Node)> =
        tagged.filter(|(tag, _)| layout::section(tag).is_none()).collect();
    own.sort_by_key(|(tag, _)| *tag);
    own
}

/// The global keys of a document; sections of the older `rules` list stand at their root keys.
pub(crate) fn global(root: &Node) -> Node {
    let root = root.plain();
    let mut tree = Node::mapping::<&str>([]);
    for (key, tag) in GLOBAL {
        let found = root.get(key).or_else(|| root.rule(tag)).filter(|section| !section.is_empty());
        if let Some(section) = found {
            let section = Node { tag: None, ..section.clone() };
            tree.set(key, if key == "authority" { authority(&section) } else { section });
        }
    }
    if let Some(props) = root.get("props").filter(|props| !props.is_empty()) {
        tree.set("props", props.clone());
    }
    tree
}

/// Users as mappings: 5.0 and 5.1 wrote `root@%:secret`, and all of those were administrators. Nobody is one unless it is said.
fn authority(section: &Node) -> Node {
    let mut section = section.clone();
    let user = |user: &Node| match user.as_text().and_then(|text| text.split_once(':')) {
        Some((name, password)) => Node::mapping([
            ("user", Node::text(name)),
            ("password", Node::text(password)),
            ("admin", Node::text("true")),
        ]),
        None => {
            let mut user = user.clone();
            if user.get("admin").and_then(Node::as_text).is_some_and(|admin| admin == "false") {
                user.remove("admin");
            }
            user
        }
    };
    if let Some(users) = section.get("users") {
        let users = Node::sequence(users.items().iter().map(user));
        section.set("users", users);
    }
    section
}

/// Until 5.3 broadcast tables stood inside `!SHARDING`.
fn with_broadcast_tables_apart(root: &Node) -> Node {
    let mut root = root.clone();
    let old = root.rule("SHARDING").and_then(|rule| rule.get("broadcastTables")).map(names);
    if let Some(old) = old {
        root.change_rule("SHARDING", |rule| rule.remove("broadcastTables"));
        root.change_rule("BROADCAST", |rule| {
            let mut tables = rule.get("tables").map(names).unwrap_or_default();
            tables.extend(old);
            rule.set("tables", list(&tables));
        });
    }
    root
}

fn section(tag: &str, rule: &Node) -> Node {
    let rule = if tag == "READWRITE_SPLITTING" { readwrite(rule) } else { rule.clone() };
    let fields = SECTIONS.iter().find(|section| section.tag == tag).map_or(&[][..], |s| s.fields);
    let mut tree = Node::mapping::<&str>([]);
    for (field, holds) in fields {
        let Some(value) = rule.get(field) else { continue };
        let mut value = match holds {
            Holds::Many | Holds::One => value.clone(),
            Holds::Names => list(&names(value)),
            Holds::References => write_references(&read_references(value)),
        };
        if *holds == Holds::Many {
            value.sort_by_key(|entry| entry.key.clone());
        }
        if tag == "SHARDING" {
            without_repetition(field, &mut value);
        }
        if !value.is_empty() {
            tree.set(field, value);
        }
    }
    let known = |key: &str| fields.iter().any(|(field, _)| *field == key);
    let mut others: Vec<_> =
        rule.pairs().iter().filter(|e| !known(&e.key) && !e.value.is_empty()).collect();
    others.sort_by(|a, b| a.key.cmp(&b.key));
    for other in others {
        tree.set(&other.key, other.value.clone());
    }
    tree
}

/// ShardingSphere's exports say the name of a table twice, and `none: ''` for no strategy.
fn without_repetition(field: &str, value: &mut Node) {
    match field {
        "defaultDatabaseStrategy" | "defaultTableStrategy" => strategy(value),
        "tables" | "autoTables" => {
            let Content::Mapping(tables) = &mut value.content else { return };
            for table in tables.iter_mut().map(|entry| &mut entry.value) {
                table.remove("logicTable");
                for field in ["databaseStrategy", "tableStrategy"] {
                    if table.get(field).is_some() {
                        table.change(field, strategy);
                    }
                }
            }
        }
        _ => {}
    }
}

fn strategy(node: &mut Node) {
    let none = node.get("none");
    if none.is_some_and(|none| none.is_empty() || none.as_text() == Some("")) {
        *node = Node::mapping([("none", Node::nothing())]);
    }
}

/// Names as a list or as one text with commas.
pub(crate) fn names(node: &Node) -> Vec<String> {
    if let Some(text) = node.as_text() {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        return parts.map(str::to_owned).collect();
    }
    node.items().iter().filter_map(Node::as_text).map(|text| text.trim().to_owned()).collect()
}

/// A list of names.
pub(crate) fn list<T: AsRef<str>>(names: &[T]) -> Node {
    Node::sequence(names.iter().map(|name| Node::text(name.as_ref())))
}

/// A reference: its name and its tables.
pub(crate) type Reference = (String, Vec<String>);

/// `bindingTables`. References without a name get one that follows from their first table.
pub(crate) fn read_references(node: &Node) -> Vec<Reference> {
    let one = std::slice::from_ref(node);
    let items = if node.as_text().is_some() { one } else { node.items() };
    let mut references: Vec<Reference> = Vec::new();
    for text in items.iter().filter_map(Node::as_text) {
        let (name, tables) = match text.split_once(':') {
            Some((name, tables)) => (Some(name.trim()), tables),
            None => (None, text),
        };
        let tables: Vec<String> = tables.split(',').map(|table| table.trim().to_owned()).collect();
        let name = name.map_or_else(|| reference_name(&references, &tables), str::to_owned);
        references.push((name, tables));
    }
    references
}

/// A free name for a reference that has none.
pub(crate) fn reference_name(others: &[Reference], tables: &[String]) -> String {
    let first = tables.first().map_or("tables", String::as_str);
    let base = format!("{first}_reference");
    let is_free = |name: &String| others.iter().all(|(other, _)| other != name);
    let numbered = (1..).map(|number| format!("{base}_{number}"));
    let mut candidates = std::iter::once(base.clone()).chain(numbered);
    candidates.find(is_free).unwrap_or(base)
}

/// `bindingTables`, sorted by name.
pub(crate) fn write_references(references: &[Reference]) -> Node {
    let mut references: Vec<&Reference> = references.iter().collect();
    references.sort();
    let text = |(name, tables): &Reference| Node::text(format!("{name}:{}", tables.join(",")));
    Node::sequence(references.into_iter().map(text))
}

/// Groups in the form of 5.4, whichever of the four historic forms they had.
fn readwrite(rule: &Node) -> Node {
    let mut tree = Node::mapping::<&str>([]);
    for entry in rule.pairs() {
        match entry.key.as_str() {
            "dataSources" | "dataSourceGroups" => {
                let groups = entry.value.pairs().iter();
                let groups = groups.map(|group| (group.key.clone(), self::group(&group.value)));
                tree.set("dataSourceGroups", Node::mapping(groups));
            }
            key => tree.set(key, entry.value.clone()),
        }
    }
    tree
}

fn group(node: &Node) -> Node {
    let members = node.get("staticStrategy").or_else(|| node.get("props")).unwrap_or(node);
    let either = |new, old| members.get(new).or_else(|| members.get(old));
    let mut tree = Node::mapping::<&str>([]);
    if let Some(write) = either("writeDataSourceName", "write-data-source-name") {
        tree.set("writeDataSourceName", write.clone());
    }
    if let Some(reads) = either("readDataSourceNames", "read-data-source-names") {
        tree.set("readDataSourceNames", list(&names(reads)));
    }
    for entry in node.pairs() {
        let is_member = ["staticStrategy", "props", "type"].contains(&entry.key.as_str());
        if !is_member && tree.get(&entry.key).is_none() && !entry.value.is_null() {
            tree.set(&entry.key, entry.value.clone());
        }
    }
    tree
}
