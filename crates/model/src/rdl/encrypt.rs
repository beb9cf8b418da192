//! Encrypted tables.

use pando_config::Node;
use pando_config::rules::EncryptStage;
use pando_distsql::command::{Algorithm, Change as How, EncryptColumn, EncryptRule, Missing, Name};

use super::encrypting;
use crate::algorithms::ENCRYPTOR;
use crate::draft::{Draft, Taken};
use crate::refusal::{Kind, Refusal, Result};

pub(super) const TAG: &str = "ENCRYPT";
const WHAT: &str = "encrypt tables";

pub(super) fn define(draft: &mut Draft<'_>, change: How, rules: &[EncryptRule]) -> Result<()> {
    let exists = |name: &str| super::key_of(draft.field(TAG, "tables"), name).is_some();
    let taken = Taken { what: WHAT, missing: Kind::MissingRule, exists: &exists };
    for rule in draft.wanted(change, rules, |rule| &rule.table.text, &taken)? {
        encrypting::refuse_on_the_way(draft, &rule.table.text)?;
        let order = encrypting::order(draft, &rule.table.text);
        draft.tree.change_rule(TAG, |section| {
            take_out(section, &rule.table.text);
            put(section, rule, order)
        })?;
    }
    Ok(())
}

fn put(section: &mut Node, rule: &EncryptRule, order: Option<Node>) -> Result<()> {
    let table = rule.table.text.as_str();
    let mut columns = Node::mapping::<&str>([]);
    for column in &rule.columns {
        let name = column.name.text.as_str();
        if columns.get(name).is_some() {
            let message = format!("column `{name}` of table `{table}` is given twice");
            return Err(Refusal::new(Kind::InvalidRule, message));
        }
        columns.set(name, self::column(section, table, column)?);
    }
    let mut node = Node::mapping([("columns", columns)]);
    if let Some(order) = order {
        node.set("columnOrder", order);
    }
    if rule.query_with_cipher == Some(false) {
        node.set("queryWithCipherColumn", Node::text("false"));
        node.set("stage", Node::text(EncryptStage::Waiting.word()));
    }
    section.change("tables", |tables| tables.set(table, node));
    Ok(())
}

fn column(section: &mut Node, table: &str, column: &EncryptColumn) -> Result<Node> {
    let base = format!("{table}_{}", column.name.text);
    let mut stored = |name: &Name, base: &str, algorithm: &Algorithm| {
        let encryptor = ENCRYPTOR.define(section, base, algorithm);
        Node::mapping([
            ("name", Node::text(name.text.as_str())),
            ("encryptorName", Node::text(encryptor)),
        ])
    };
    let mut node = Node::mapping([("cipher", stored(&column.cipher, &base, &column.encryptor))]);
    if let Some(plain) = &column.plain {
        node.set("plain", Node::text(plain.text.as_str()));
    }
    if let Some(data_type) = &column.data_type {
        node.set("dataType", Node::text(data_type.as_str()));
    }
    let others = [
        ("assistedQuery", "assist", &column.assisted, &column.assisted_encryptor),
        ("likeQuery", "like", &column.like, &column.like_encryptor),
    ];
    for (key, front, name, algorithm) in others {
        match (name, algorithm) {
            (Some(name), Some(algorithm)) => {
                node.set(key, stored(name, &format!("{front}_{base}"), algorithm));
            }
            (None, None) => {}
            (Some(_), None) | (None, Some(_)) => {
                let message = format!(
                    "the {front} query of column `{}` needs both a column and an algorithm",
                    column.name.text
                );
                return Err(Refusal::new(Kind::InvalidRule, message));
            }
        }
    }
    Ok(node)
}

pub(super) fn take_out(section: &mut Node, table: &str) {
    let Some(key) = super::key_of(section.get("tables"), table) else { return };
    let Some(old) = section.change("tables", |tables| tables.remove(&key)) else { return };
    let columns = old.get("columns").map(Node::pairs).unwrap_or_default();
    let bases = columns.iter().flat_map(|column| {
        let base = format!("{key}_{}", column.key);
        [format!("assist_{base}"), format!("like_{base}"), base]
    });
    ENCRYPTOR.forget(section, &ENCRYPTOR.used(&old), &bases.collect::<Vec<_>>());
}

pub(super) fn drop_all(draft: &mut Draft<'_>, missing: Missing, names: &[Name]) -> Result<()> {
    let exists = |name: &str| super::key_of(draft.field(TAG, "tables"), name).is_some();
    let taken = Taken { what: WHAT, missing: Kind::MissingRule, exists: &exists };
    for name in draft.dropped(missing, names, &taken)? {
        encrypting::refuse_on_the_way(draft, name)?;
        draft.tree.change_rule(TAG, |section| take_out(section, name));
    }
    Ok(())
}
