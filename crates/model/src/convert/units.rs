//! Storage units, and the tables that stand on one of them.

use std::collections::HashSet;

use pando_config::{Content, Node, Secret};
use pando_distsql::command::{
    Address, Definition, Name, Place, Property, Rdl, SingleTables, StorageUnit,
};

use super::{create, name, text};
use crate::canonical::names;

pub(super) fn said(tree: &Node) -> Vec<Rdl> {
    let units = tree.get("dataSources").map(Node::pairs).unwrap_or_default();
    let units: Vec<StorageUnit> =
        units.iter().map(|entry| unit(&entry.key, &entry.value)).collect();
    if units.is_empty() {
        return Vec::new();
    }
    vec![create(Definition::StorageUnits { units, privileges: Vec::new() })]
}

fn unit(name: &str, node: &Node) -> StorageUnit {
    let property = |key: &str, value: &Node| Property {
        key: key.to_owned(),
        value: text(Some(value)).to_owned(),
        place: Place::default(),
    };
    let mut properties = Vec::new();
    for entry in node.pairs() {
        match (entry.key.as_str(), &entry.value.content) {
            ("url" | "username" | "password", _) => {}
            ("customPoolProps", Content::Mapping(own)) => {
                properties.extend(own.iter().map(|own| property(&own.key, &own.value)));
            }
            (key, Content::Scalar { .. }) => properties.push(property(key, &entry.value)),
            (_, Content::Sequence(_) | Content::Mapping(_)) => {}
        }
    }
    let password = node.get("password").and_then(Node::as_text);
    StorageUnit {
        name: Name::new(name),
        address: Address::Url(text(node.get("url")).to_owned()),
        user: text(node.get("username")).to_owned(),
        password: password.map(|password| Secret::new(password.to_owned())),
        properties,
    }
}

/// Single tables; behind the groups they may stand on.
pub(super) fn single(tree: &Node) -> Vec<Rdl> {
    let Some(section) = tree.rule("SINGLE") else { return Vec::new() };
    let tables = section.get("tables").map(names).unwrap_or_default();
    let mut loaded = HashSet::new();
    let tables = tables.iter().map(|text| single_tables(text));
    // Of two units for one name the first counts, and only that can be said.
    let is_first = |tables: &SingleTables| match (&tables.unit, &tables.table) {
        (Some(_), Some(table)) => loaded.insert(table.text.to_lowercase()),
        (Some(_) | None, Some(_) | None) => true,
    };
    let tables: Vec<SingleTables> = tables.filter(is_first).collect();
    let mut said = Vec::new();
    if !tables.is_empty() {
        said.push(Rdl::LoadSingleTables(tables));
    }
    if section.get("defaultDataSource").is_some() {
        said.push(Rdl::SetDefaultSingleTableUnit(Some(name(section.get("defaultDataSource")))));
    }
    said
}

/// `unit.table` or `unit.schema.table`.
fn single_tables(text: &str) -> SingleTables {
    let part = |text: &str| (text != "*").then(|| Name::new(text));
    let parts: Vec<&str> = text.split('.').map(str::trim).collect();
    let schema = match parts.as_slice() {
        [_, schema, _] => Some(part(schema)),
        _ => None,
    };
    let unit = parts.first().and_then(|unit| part(unit));
    SingleTables { unit, schema, table: parts.last().and_then(|table| part(table)) }
}
