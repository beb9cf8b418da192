//! The rules of the other features, whose algorithms statements describe on the spot.

use pando_config::{Entry, Node};
use pando_distsql::command::{
    AlgorithmUse, Definition, EncryptColumn, EncryptRule, MaskColumn, MaskRule, Members, Name, Rdl,
    ReadwriteRule, ShadowRule, ShadowTable,
};

use super::algorithm::defined;
use super::{create, name, text};
use crate::algorithms::{ENCRYPTOR, LOAD_BALANCER, MASK, SHADOW};
use crate::canonical::names;

pub(super) fn said(tree: &Node) -> Vec<Rdl> {
    let parts = [readwrite(tree), encrypt(tree), mask(tree), shadow(tree)];
    let default = default_shadow(tree);
    parts.into_iter().chain([default]).flatten().map(create).collect()
}

fn entries<'n>(section: &'n Node, field: &str) -> &'n [Entry] {
    section.get(field).map(Node::pairs).unwrap_or_default()
}

/// A definition of rules, unless there is none.
fn unless_empty<T>(rules: Vec<T>, definition: fn(Vec<T>) -> Definition) -> Option<Definition> {
    (!rules.is_empty()).then(|| definition(rules))
}

fn readwrite(tree: &Node) -> Option<Definition> {
    let section = tree.rule("READWRITE_SPLITTING")?;
    let rule = |entry: &Entry| {
        let node = &entry.value;
        let reads = node.get("readDataSourceNames").map(names).unwrap_or_default();
        let balancer = node.get("loadBalancerName").and_then(Node::as_text);
        ReadwriteRule {
            name: Name::new(entry.key.as_str()),
            members: Members::Static {
                write: name(node.get("writeDataSourceName")),
                reads: reads.into_iter().map(Name::new).collect(),
            },
            transactional_reads: node
                .get("transactionalReadQueryStrategy")
                .map(|strategy| name(Some(strategy))),
            balancer: balancer.map(|name| defined(section, &LOAD_BALANCER, name)),
        }
    };
    let rules = entries(section, "dataSourceGroups").iter().map(rule).collect();
    unless_empty(rules, Definition::ReadwriteSplitting)
}

fn encrypt(tree: &Node) -> Option<Definition> {
    let section = tree.rule("ENCRYPT")?;
    let column = |entry: &Entry| {
        let stored = |key: &str| entry.value.get(key);
        let column = |key| stored(key).map(|node| name(node.get("name")));
        let encryptor = |key| {
            stored(key).map(|node| defined(section, &ENCRYPTOR, text(node.get("encryptorName"))))
        };
        Some(EncryptColumn {
            name: Name::new(entry.key.as_str()),
            data_type: stored("dataType").map(|node| text(Some(node)).to_owned()),
            plain: stored("plain").map(|node| name(Some(node))),
            cipher: column("cipher")?,
            assisted: column("assistedQuery"),
            like: column("likeQuery"),
            encryptor: encryptor("cipher")?,
            assisted_encryptor: encryptor("assistedQuery"),
            like_encryptor: encryptor("likeQuery"),
        })
    };
    let rule = |entry: &Entry| {
        let columns: Vec<_> = entries(&entry.value, "columns").iter().filter_map(column).collect();
        let table = Name::new(entry.key.as_str());
        let query_with_cipher =
            entry.value.get("queryWithCipherColumn").map(|node| text(Some(node)) == "true");
        (!columns.is_empty()).then_some(EncryptRule { table, columns, query_with_cipher })
    };
    let rules = entries(section, "tables").iter().filter_map(rule).collect();
    unless_empty(rules, Definition::Encrypt)
}

fn mask(tree: &Node) -> Option<Definition> {
    let section = tree.rule("MASK")?;
    let column = |entry: &Entry| MaskColumn {
        name: Name::new(entry.key.as_str()),
        algorithm: defined(section, &MASK, text(entry.value.get("maskAlgorithm"))),
        unmasked: entry
            .value
            .get("unmaskedUsers")
            .map(names)
            .unwrap_or_default()
            .into_iter()
            .map(Name::new)
            .collect(),
        allows_conditions: entry
            .value
            .get("allowConditions")
            .map(|node| text(Some(node)) == "true"),
    };
    let rule = |entry: &Entry| {
        let columns: Vec<_> = entries(&entry.value, "columns").iter().map(column).collect();
        let table = Name::new(entry.key.as_str());
        (!columns.is_empty()).then_some(MaskRule { table, columns })
    };
    let rules = entries(section, "tables").iter().filter_map(rule).collect();
    unless_empty(rules, Definition::Mask)
}

fn shadow(tree: &Node) -> Option<Definition> {
    let section = tree.rule("SHADOW")?;
    let rule = |entry: &Entry| {
        let rule = entry.key.as_str();
        let tables: Vec<ShadowTable> = entries(section, "tables")
            .iter()
            .filter_map(|table| shadowed(section, rule, table))
            .collect();
        (!tables.is_empty()).then(|| ShadowRule {
            name: Name::new(rule),
            source: name(entry.value.get("productionDataSourceName")),
            shadow: name(entry.value.get("shadowDataSourceName")),
            tables,
        })
    };
    let rules = entries(section, "dataSources").iter().filter_map(rule).collect();
    unless_empty(rules, Definition::Shadow)
}

/// A table of a shadow rule with its algorithms. Documents have them for all rules of a table together; those that a statement has made
/// begin with their rule's name, others go with the first rule.
fn shadowed(section: &Node, rule: &str, table: &Entry) -> Option<ShadowTable> {
    let field = |key: &str| table.value.get(key).map(names).unwrap_or_default();
    let (rules, used) = (field("dataSourceNames"), field("shadowAlgorithmNames"));
    if !rules.iter().any(|own| own == rule) {
        return None;
    }
    let is_of = |rule: &str, name: &str| name.starts_with(&format!("{rule}_{}_", table.key));
    let is_first = rules.first().is_some_and(|first| first == rule);
    let own = used.iter().filter(|name| {
        is_of(rule, name) || (is_first && !rules.iter().any(|other| is_of(other, name)))
    });
    let algorithms: Vec<_> = own.map(|name| defined(section, &SHADOW, name)).collect();
    let table = Name::new(table.key.as_str());
    (!algorithms.is_empty()).then_some(ShadowTable { table, algorithms })
}

fn default_shadow(tree: &Node) -> Option<Definition> {
    let section = tree.rule("SHADOW")?;
    let name = section.get("defaultShadowAlgorithmName")?.as_text()?;
    let algorithm = AlgorithmUse::Inline(defined(section, &SHADOW, name));
    Some(Definition::DefaultShadowAlgorithm(algorithm))
}
