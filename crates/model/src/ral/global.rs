//! Global rules: altered and shown.

use pando_config::global::{CacheSize, Privilege, TransactionType};
use pando_config::{Global, Node};
use pando_distsql::command::{
    Cache, ClockRule, FederationRule, GlobalRule, ParserRule, TransactionRule, TranslatorRule,
};

use crate::algorithms;
use crate::refusal::Kind;
use crate::rows::{Rows, json, props};

pub(super) fn transaction(tree: &mut Node, rule: &TransactionRule) -> Kind {
    let mut node =
        Node::mapping([("defaultType", Node::text(rule.default_type.text.to_uppercase()))]);
    if let Some(provider) = &rule.provider {
        let described = algorithms::node(provider);
        node.set("providerType", Node::text(provider.kind.text.as_str()));
        if let Some(props) = described.get("props") {
            node.set("props", props.clone());
        }
    }
    tree.set("transaction", node);
    Kind::InvalidRule
}

pub(super) fn parser(tree: &mut Node, rule: &ParserRule) -> Kind {
    tree.change("sqlParser", |parser| {
        let caches = [("parseTreeCache", rule.parse_trees), ("sqlStatementCache", rule.statements)];
        for (key, cache) in caches {
            if let Some(cache) = cache {
                parser.change(key, |node| resize(node, cache));
            }
        }
    });
    Kind::InvalidRule
}

/// Numbers that are not given stay as they are.
fn resize(node: &mut Node, cache: Cache) {
    for (key, number) in [("initialCapacity", cache.initial), ("maximumSize", cache.maximum)] {
        if let Some(number) = number {
            node.set(key, Node::text(number.to_string()));
        }
    }
}

pub(super) fn federation(tree: &mut Node, rule: &FederationRule) -> Kind {
    tree.change("sqlFederation", |node| {
        node.set("sqlFederationEnabled", Node::text(rule.enabled.to_string()));
        if let Some(all) = rule.all_queries {
            node.set("allQueryUseSQLFederation", Node::text(all.to_string()));
        }
        if let Some(cache) = rule.plans {
            node.change("executionPlanCache", |node| resize(node, cache));
        }
    });
    Kind::InvalidRule
}

pub(super) fn translator(tree: &mut Node, rule: &TranslatorRule) -> Kind {
    let mut node = algorithms::node(&rule.provider);
    if let Some(original) = rule.original_on_failure {
        node.set("useOriginalSQLWhenTranslatingFailed", Node::text(original.to_string()));
    }
    tree.set("sqlTranslator", node);
    Kind::InvalidRule
}

pub(super) fn clock(tree: &mut Node, rule: &ClockRule) -> Kind {
    let mut node = Node::mapping([
        ("type", Node::text(rule.kind.text.as_str())),
        ("provider", Node::text(rule.provider.text.as_str())),
        ("enabled", Node::text(rule.enabled.to_string())),
    ]);
    if !rule.properties.is_empty() {
        let props = rule.properties.iter();
        let props = props.map(|pair| (pair.key.as_str(), Node::text(pair.value.as_str())));
        node.set("props", Node::mapping(props));
    }
    tree.set("globalClock", node);
    Kind::InvalidRule
}

pub(super) fn show(rule: GlobalRule, tree: &Node, global: &Global) -> Rows {
    match rule {
        GlobalRule::Authority => authority(global),
        GlobalRule::Transaction => {
            let mut rows = Rows::of("SHOW TRANSACTION RULE");
            let default_type = match global.transaction.default_type {
                TransactionType::Local => "LOCAL",
                TransactionType::Xa => "XA",
                TransactionType::Base => "BASE",
            };
            let provider = global.transaction.provider.as_ref();
            let provider = provider.map_or("", |provider| provider.as_str());
            rows.push([default_type, provider, &unless_empty(props(&global.transaction.props))]);
            rows
        }
        GlobalRule::Parser => {
            let mut rows = Rows::of("SHOW SQL_PARSER RULE");
            let cache = |key, initial, maximum| {
                let number = |field, default: &str| {
                    let node = tree.find(&["sqlParser", key, field]).and_then(Node::as_text);
                    node.unwrap_or(default).to_owned()
                };
                sizes(&number("initialCapacity", initial), &number("maximumSize", maximum))
            };
            let trees = cache("parseTreeCache", "128", "1024");
            rows.push([&trees, &cache("sqlStatementCache", "2000", "65535")]);
            rows
        }
        GlobalRule::Federation => {
            let mut rows = Rows::of("SHOW SQL_FEDERATION RULE");
            let federation = &global.sql_federation;
            let CacheSize { initial_capacity, maximum_size } = federation.plans;
            let plans = sizes(&initial_capacity.to_string(), &maximum_size.to_string());
            let (enabled, all) =
                (federation.enabled.to_string(), federation.all_queries.to_string());
            rows.push([&enabled, &all, &plans]);
            rows
        }
        GlobalRule::Translator => {
            let mut rows = Rows::of("SHOW SQL_TRANSLATOR RULE");
            let translator = &global.sql_translator;
            let original = translator.use_original_when_failing.to_string();
            rows.push([&translator.kind, &unless_empty(props(&translator.props)), &original]);
            rows
        }
        GlobalRule::Clock => {
            let mut rows = Rows::of("SHOW GLOBAL CLOCK RULE");
            let text = |field, default: &str| {
                let node = tree.find(&["globalClock", field]).and_then(Node::as_text);
                node.unwrap_or(default).to_owned()
            };
            let props = tree.find(&["globalClock", "props"]).map(Node::pairs).unwrap_or_default();
            let pairs = props.iter().map(|e| (e.key.as_str(), e.value.as_text().unwrap_or("")));
            let enabled = global.global_clock.enabled.to_string();
            let props = unless_empty(json(pairs));
            rows.push([&text("type", "TSO"), &text("provider", "local"), &enabled, &props]);
            rows
        }
    }
}

/// Users without their passwords.
fn authority(global: &Global) -> Rows {
    let mut rows = Rows::of("SHOW AUTHORITY RULE");
    let authority = &global.authority;
    let users: Vec<String> =
        authority.users.iter().map(|user| format!("{}@{}", user.name, user.host)).collect();
    let (provider, props) = match &authority.privilege {
        Privilege::AllPermitted => ("ALL_PERMITTED", String::new()),
        Privilege::DatabasePermitted(permissions) => {
            let pairs = permissions.iter();
            let pairs = pairs.map(|p| format!("{}@{}={}", p.user, p.host, p.database));
            let pairs = pairs.collect::<Vec<_>>().join(",");
            ("DATABASE_PERMITTED", json([("user-database-mappings", pairs.as_str())]))
        }
    };
    rows.push([&users.join("; "), provider, &props]);
    rows
}

fn sizes(initial: &str, maximum: &str) -> String {
    format!("initialCapacity: {initial}, maximumSize: {maximum}")
}

fn unless_empty(json: String) -> String {
    if json == "{}" { String::new() } else { json }
}
