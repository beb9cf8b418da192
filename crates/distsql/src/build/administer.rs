//! Administration.

use super::algorithm::{algorithm, properties};
use super::unit::port;
use crate::command::{
    Algorithm, Cache, ClockRule, Command, ComputeNode, FederationRule, Labelling, Metadata,
    MetadataSource, Name, Node, ParserRule, Plugins, Ral, ReadUnit, Resolution, State,
    TransactionRule, TranslatorRule, Value, Variables,
};
use crate::error::{Error, Result};
use crate::tree::Part;

/// Wraps a statement of administration.
pub(crate) fn administer(statement: Ral) -> Result<Command> {
    Ok(Command::Ral(statement))
}

/// Of a `value` part: TRUE and FALSE, numbers, and everything else as text.
fn value(part: Part<'_>) -> Value {
    let text = part.text();
    if part.has("string") {
        return Value::Text(text);
    }
    let digits = text.strip_prefix('-').unwrap_or(&text);
    if digits.starts_with(|c: char| c.is_ascii_digit()) && digits.parse::<f64>().is_ok() {
        return Value::Number(text);
    }
    match text.to_ascii_lowercase().as_str() {
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        _ => Value::Text(text),
    }
}

pub(crate) fn set_variable(part: Part<'_>) -> Result<Command> {
    let (name, value) = (part.name_of("variable")?, value(part.need("value")?));
    administer(Ral::SetVariable { name, value })
}

pub(crate) fn resolve(part: Part<'_>) -> Result<Command> {
    let ending = if part.has("COMMIT") { Resolution::Commit } else { Resolution::Rollback };
    administer(Ral::Resolve { global: part.text_of("transaction")?, ending })
}

pub(crate) fn show_variables(part: Part<'_>) -> Result<Command> {
    let which = if part.has("TEMP") { Variables::Temporary } else { Variables::Lasting };
    administer(Ral::ShowVariables { which, like: part.maybe_pattern()? })
}

/// Of a statement about one instance.
fn node(part: Part<'_>) -> Result<Node> {
    if let Some(address) = part.get("nodeAddress") {
        let port = port(address.need("port")?)?;
        let text = format!("{}@{port}", address.text_of("host")?);
        return Ok(Node(Name { text, place: address.place() }));
    }
    part.name_of("node").map(Node)
}

/// ENABLE or DISABLE.
fn state(part: Part<'_>) -> State {
    if part.has("ENABLE") { State::Enabled } else { State::Disabled }
}

pub(crate) fn label(part: Part<'_>) -> Result<Command> {
    let (node, labels) = (node(part)?, part.names("label"));
    if part.has("UNLABEL") {
        return administer(Ral::ComputeNode(ComputeNode::Unlabel { node, labels }));
    }
    let labelling = if part.has("RELABEL") { Labelling::Replaces } else { Labelling::Adds };
    administer(Ral::ComputeNode(ComputeNode::Label { node, labels, labelling }))
}

/// About one instance.
pub(crate) fn set_node_state(part: Part<'_>) -> Result<Command> {
    let (node, state) = (node(part)?, state(part));
    administer(Ral::ComputeNode(ComputeNode::SetState { node, state }))
}

/// Circuit breaking of a replica.
pub(crate) fn set_read_unit_state(part: Part<'_>) -> Result<Command> {
    let unit = ReadUnit {
        group: part.maybe_name("group"),
        unit: part.name_of("unit")?,
        database: part.maybe_name("database"),
    };
    administer(Ral::SetReadUnitState { unit, state: state(part) })
}

/// Circuit breaking of a storage unit.
pub(crate) fn set_unit_state(part: Part<'_>) -> Result<Command> {
    administer(Ral::SetStorageUnitState {
        unit: part.name_of("unit")?,
        state: state(part),
        database: part.maybe_name("database"),
    })
}

pub(crate) fn alter_compute_node(part: Part<'_>) -> Result<Command> {
    let setting = |found: Part<'_>| -> Result<(Name, Value)> {
        Ok((found.name_of("variable")?, value(found.need("value")?)))
    };
    let settings: Result<_> = part.all("setting").map(setting).collect();
    administer(Ral::ComputeNode(ComputeNode::Alter { node: node(part)?, settings: settings? }))
}

pub(crate) fn refresh_table(part: Part<'_>) -> Result<Command> {
    administer(Ral::Metadata(Metadata::RefreshTable {
        table: part.maybe_name("table"),
        unit: part.maybe_name("unit"),
        schema: part.maybe_name("schema"),
    }))
}

pub(crate) fn import_metadata(part: Part<'_>) -> Result<Command> {
    let source = match part.get("file") {
        Some(file) => MetadataSource::File(file.text()),
        None => MetadataSource::Text(part.text_of("metadata")?),
    };
    administer(Ral::Metadata(Metadata::Import(source)))
}

/// TIMEOUT in milliseconds.
pub(crate) fn timeout(part: Part<'_>) -> Result<Option<u64>> {
    const MOST: u64 = i64::MAX.unsigned_abs();
    part.get("timeout").map(|timeout| timeout.number(MOST)).transpose()
}

pub(crate) fn lock_cluster(part: Part<'_>) -> Result<Command> {
    let strategy = match part.get("algorithm") {
        Some(found) => algorithm(found)?,
        None => Algorithm { kind: part.name_of("lockType")?, properties: Vec::new() },
    };
    let known = ["WRITE", "READ_WRITE"];
    if !known.iter().any(|name| strategy.kind.text.eq_ignore_ascii_case(name)) {
        let kind = &strategy.kind;
        let hint = pando_config::suggest::hint(&kind.text, known);
        let message = format!("unknown lock `{}`{hint}", kind.text);
        return Err(Error::value(message, kind.place.0));
    }
    administer(Ral::LockCluster { strategy, timeout: timeout(part)? })
}

pub(crate) fn show_plugins(part: Part<'_>) -> Result<Command> {
    let plugins = match part.get("interface") {
        Some(interface) => Plugins::Of(interface.text()),
        None if part.has("SHARDING") => Plugins::Sharding,
        None if part.has("ENCRYPT") => Plugins::Encrypt,
        None if part.has("MASK") => Plugins::Mask,
        None if part.has("SHADOW") => Plugins::Shadow,
        None if part.has("KEY") => Plugins::KeyGenerate,
        None => Plugins::LoadBalance,
    };
    administer(Ral::ShowPlugins(plugins))
}

pub(crate) fn alter_transaction(part: Part<'_>) -> Result<Command> {
    let default_type = part.name_of("typeName")?;
    let provider = part.get("algorithm").map(algorithm).transpose()?;
    administer(Ral::AlterTransactionRule(TransactionRule { default_type, provider }))
}

/// Of the part with a label that wraps a `cache`.
fn cache(part: Part<'_>, label: &str) -> Result<Option<Cache>> {
    let Some(found) = part.get(label) else { return Ok(None) };
    let found = found.need("cacheSize")?;
    let number = |label| {
        let found: Option<Part<'_>> = found.get(label);
        found.map(|found| found.number(u64::from(u32::MAX))).transpose()
    };
    Ok(Some(Cache { initial: number("initialCapacity")?, maximum: number("maximumSize")? }))
}

pub(crate) fn alter_parser(part: Part<'_>) -> Result<Command> {
    let parse_trees = cache(part, "parseTreeCache")?;
    let statements = cache(part, "statementCache")?;
    administer(Ral::AlterParserRule(ParserRule { parse_trees, statements }))
}

pub(crate) fn alter_federation(part: Part<'_>) -> Result<Command> {
    administer(Ral::AlterFederationRule(FederationRule {
        enabled: part.need("enabled")?.truth(),
        all_queries: part.get("allQueries").map(Part::truth),
        plans: cache(part, "planCache")?,
    }))
}

pub(crate) fn alter_translator(part: Part<'_>) -> Result<Command> {
    administer(Ral::AlterTranslatorRule(TranslatorRule {
        provider: algorithm(part.need("algorithm")?)?,
        original_on_failure: part.get("boolean").map(Part::truth),
    }))
}

pub(crate) fn alter_clock(part: Part<'_>) -> Result<Command> {
    administer(Ral::AlterClockRule(ClockRule {
        kind: part.name_of("typeName")?,
        provider: part.name_of("provider")?,
        enabled: part.need("enabled")?.truth(),
        properties: properties(part.get("properties"))?,
    }))
}
