//! The same configuration with everything spelled out that statements cannot leave to a default.

use pando_config::{Database, Node};
use pando_distsql::Language;

use super::own;
use crate::canonical::{self, names};
use crate::draft::is_expression;
use crate::rdl::POOL;

/// The tree of a document, whose defaults of keys, audits and columns stand at each table.
pub(super) fn form(plain: &Node, read: &Database, language: &Language) -> Node {
    let mut tree = canonical::database(plain);
    tree.set("databaseName", Node::text(read.name.value.as_str()));
    tree.change("dataSources", |units| {
        for unit in &read.storage_units {
            units.change(&unit.name.value, |node| *node = self::unit(node, &unit.username));
        }
    });
    own::with_lists(&mut tree, language);
    let places: Vec<String> = read.storage_units.iter().map(|u| u.name.value.clone()).collect();
    let has_groups = tree.rule("READWRITE_SPLITTING").is_some();
    if tree.rule("SHARDING").is_some() {
        tree.change_rule("SHARDING", |section| {
            sharding(section, if has_groups { &[] } else { &places });
        });
    }
    // Once more, as a section may have become empty.
    canonical::database(&tree)
}

/// A storage unit under the keys that statements make.
fn unit(node: &Node, user: &str) -> Node {
    let mut unit = Node::mapping::<&str>([]);
    for entry in node.pairs() {
        let pool = POOL.iter().find(|(old, _)| *old == entry.key);
        let key = match entry.key.as_str() {
            "jdbcUrl" | "standardJdbcUrl" => "url",
            // They say what the URL says already.
            "user" | "username" | "driverClassName" | "dataSourceClassName" | "poolName" => {
                continue;
            }
            key => pool.map_or(key, |(_, new)| *new),
        };
        if entry.value.as_text().is_some() || !entry.value.is_empty() {
            unit.set(key, entry.value.clone());
        }
    }
    let given = ["username", "user"].iter().find_map(|key| node.get(key)).and_then(Node::as_text);
    unit.set("username", Node::text(given.unwrap_or(user)));
    unit
}

fn sharding(section: &mut Node, places: &[String]) {
    let column = section.remove("defaultShardingColumn");
    let key = section.remove("defaultKeyGenerateStrategy");
    let audit = section.remove("defaultAuditStrategy");
    let with_column = |strategy: &mut Node| {
        let Some(column) = &column else { return };
        if strategy.get("standard").is_some_and(|own| own.get("shardingColumn").is_none()) {
            strategy.change("standard", |own| own.set("shardingColumn", column.clone()));
        }
    };
    for field in ["defaultDatabaseStrategy", "defaultTableStrategy"] {
        if section.get(field).is_some() {
            section.change(field, with_column);
            section.change(field, with_columns);
        }
    }
    let tables: Vec<(&str, String)> = ["tables", "autoTables"]
        .into_iter()
        .flat_map(|field| {
            let all = section.get(field).map(Node::pairs).unwrap_or_default();
            all.iter().map(move |entry| (field, entry.key.clone()))
        })
        .collect();
    for (field, table) in tables {
        let mut node = section
            .get(field)
            .and_then(|all| all.get(&table))
            .cloned()
            .unwrap_or_else(Node::nothing);
        for strategy in ["databaseStrategy", "tableStrategy", "shardingStrategy"] {
            if node.get(strategy).is_some() {
                node.change(strategy, with_column);
                node.change(strategy, with_columns);
            }
        }
        for (own, default) in [("keyGenerateStrategy", &key), ("auditStrategy", &audit)] {
            if let (None, Some(default)) = (node.get(own), default) {
                node.set(own, default.clone());
            }
        }
        if node.get("keyGenerateStrategy").is_some() {
            with_generator(section, &mut node, &table, key.as_ref());
        }
        if node.get("auditStrategy").is_some() {
            node.change("auditStrategy", audited);
        }
        if field == "tables" && node.get("actualDataNodes").is_none() && !places.is_empty() {
            let nodes: Vec<String> = places.iter().map(|unit| format!("{unit}.{table}")).collect();
            node.set("actualDataNodes", Node::text(nodes.join(",")));
        }
        if field == "autoTables" && node.get("actualDataSources").is_none() && !places.is_empty() {
            node.set("actualDataSources", Node::text(places.join(",")));
        }
        for list in ["actualDataNodes", "actualDataSources"] {
            let plain = node.get(list).and_then(Node::as_text).filter(|text| !is_expression(text));
            if let Some(text) = plain {
                let text: Vec<&str> = text.split(',').map(str::trim).collect();
                node.set(list, Node::text(text.join(",")));
            }
        }
        section.change(field, |all| all.set(&table, node));
    }
}

fn with_columns(strategy: &mut Node) {
    let columns = strategy.find(&["complex", "shardingColumns"]).map(names);
    if let Some(columns) = columns {
        let columns = Node::text(columns.join(","));
        strategy.change("complex", |own| own.set("shardingColumns", columns));
    }
}

/// A key without a generator is the default's, or SNOWFLAKE's.
fn with_generator(section: &mut Node, node: &mut Node, table: &str, default: Option<&Node>) {
    node.change("keyGenerateStrategy", |own| {
        if own.get("keyGeneratorName").is_some() {
            return;
        }
        let named = default.and_then(|default| default.get("keyGeneratorName")).cloned();
        let name = named.unwrap_or_else(|| {
            let name = format!("{table}_snowflake");
            let snowflake = Node::mapping([("type", Node::text("SNOWFLAKE"))]);
            section.change("keyGenerators", |all| all.set(&name, snowflake));
            Node::text(name)
        });
        own.set("keyGeneratorName", name);
    });
}

/// Statements always say whether hints may switch auditors off.
fn audited(audit: &mut Node) {
    if audit.get("allowHintDisable").is_none() {
        audit.set("allowHintDisable", Node::text("true"));
    }
    if let Some(names) = audit.get("auditorNames").map(names) {
        audit.set("auditorNames", canonical::list(&names));
    }
}
