//! Rules of sharded tables.

use pando_config::suggest;

use super::algorithm::{algorithm, algorithm_use};
use super::define::each;
use crate::command::{
    AuditStrategy, KeyGenerateRule, KeyOf, KeyStrategy, Layout, Reference, Strategy, TableRule,
};
use crate::error::{Error, Result};
use crate::tree::Part;

/// Of a `tableRule` or `oldTable` part.
pub(crate) fn table_rule(part: Part<'_>) -> Result<TableRule> {
    let key = part.get("keyStrategy").or_else(|| part.get("oldKeyStrategy"));
    Ok(TableRule {
        table: part.name_of("table")?,
        layout: layout(part)?,
        key: key.map(key_strategy).transpose()?,
        audit: part.get("auditStrategy").map(audit_strategy).transpose()?,
    })
}

fn layout(part: Part<'_>) -> Result<Layout> {
    if let Some(nodes) = part.get("dataNodes") {
        let of = |label| {
            let found: Option<Part<'_>> = part.get(label);
            found.map(|found| strategy(found.need("strategy")?)).transpose()
        };
        return Ok(Layout::Standard {
            data_nodes: nodes.names("dataNode"),
            database: of("databaseStrategy")?,
            table: of("tableStrategy")?,
        });
    }
    Ok(Layout::Auto {
        units: part.names("unitExpression"),
        column: part.name_of("column")?,
        algorithm: algorithm(part.need("algorithm")?)?,
    })
}

/// Of a `strategy` part.
///
/// # Errors
/// An unknown type; columns or an algorithm that its type does not have, or lacks.
pub(crate) fn strategy(part: Part<'_>) -> Result<Strategy> {
    const KINDS: [&str; 4] = ["STANDARD", "COMPLEX", "HINT", "NONE"];
    let kind = part.need("typeName")?;
    let columns = part.names("column");
    let found = part.get("algorithmUse").map(algorithm_use).transpose()?;
    let wrong = |what: &str| Error::value(format!("a strategy of type {what}"), part.span());
    let name = kind.text().to_ascii_uppercase();
    match (name.as_str(), found) {
        ("STANDARD" | "COMPLEX" | "HINT", None) => {
            Err(wrong(&format!("`{name}` needs SHARDING_ALGORITHM")))
        }
        ("STANDARD", Some(algorithm)) => match <[_; 1]>::try_from(columns) {
            Ok([column]) => Ok(Strategy::Standard { column, algorithm }),
            Err(_) => Err(wrong("`STANDARD` needs SHARDING_COLUMN with one column")),
        },
        ("COMPLEX", Some(_)) if columns.is_empty() => {
            Err(wrong("`COMPLEX` needs SHARDING_COLUMNS"))
        }
        ("COMPLEX", Some(algorithm)) => Ok(Strategy::Complex { columns, algorithm }),
        ("HINT", Some(_)) if !columns.is_empty() => Err(wrong("`HINT` has no column")),
        ("HINT", Some(algorithm)) => Ok(Strategy::Hint { algorithm }),
        ("NONE", None) if columns.is_empty() => Ok(Strategy::None),
        ("NONE", _) => Err(wrong("`NONE` has neither column nor algorithm")),
        _ => {
            let hint = suggest::hint(&name, KINDS);
            let message = format!("unknown strategy type `{}`{hint}", kind.text());
            Err(Error::value(message, kind.span()))
        }
    }
}

fn key_strategy(part: Part<'_>) -> Result<KeyStrategy> {
    Ok(KeyStrategy { column: part.name_of("column")?, generator: algorithm_use(part)? })
}

fn audit_strategy(part: Part<'_>) -> Result<AuditStrategy> {
    Ok(AuditStrategy {
        auditors: each(part, "algorithm", algorithm)?,
        allow_hint_disable: part.get("boolean").is_none_or(Part::truth),
    })
}

/// Of a `reference` or `binding` part; the latter has no name.
pub(crate) fn reference(part: Part<'_>) -> Result<Reference> {
    Ok(Reference { name: part.maybe_name("rule"), tables: part.names("table") })
}

/// Of a statement about a key generate strategy.
pub(crate) fn key_generate_rule(part: Part<'_>) -> Result<KeyGenerateRule> {
    let of = match part.get("sequence") {
        Some(sequence) => KeyOf::Sequence(sequence.name()),
        None => KeyOf::Column { table: part.name_of("table")?, column: part.name_of("column")? },
    };
    Ok(KeyGenerateRule { name: part.name_of("rule")?, of, generator: algorithm_use(part)? })
}
