//! Rules of the other features.

use super::algorithm::{algorithm, algorithm_use, properties};
use super::define::each;
use crate::command::{
    Algorithm, DiscoveryRule, EncryptColumn, EncryptRule, Heartbeat, HeartbeatUse, MaskColumn,
    MaskRule, Members, ReadwriteRule, ShadowRule, ShadowTable,
};
use crate::error::Result;
use crate::tree::Part;

/// The algorithm inside a part that wraps one, when there is such a part.
fn wrapped(part: Part<'_>, label: &str) -> Result<Option<Algorithm>> {
    part.get(label).map(|found| algorithm(found.need("algorithm")?)).transpose()
}

/// Of a `readwriteRule` or `oldReadwriteRule` part.
pub(crate) fn readwrite_rule(part: Part<'_>) -> Result<ReadwriteRule> {
    let members = match part.get("discoveryGroup") {
        Some(group) => Members::Discovered {
            group: group.name(),
            write_queries: part.get("boolean").map(Part::truth),
        },
        None => Members::Static { write: part.name_of("writeUnit")?, reads: part.names("unit") },
    };
    Ok(ReadwriteRule {
        name: part.name_of("group")?,
        members,
        transactional_reads: part.maybe_name("readStrategy"),
        balancer: part.get("algorithm").map(algorithm).transpose()?,
    })
}

/// Of an `encryptRule` part.
pub(crate) fn encrypt_rule(part: Part<'_>) -> Result<EncryptRule> {
    Ok(EncryptRule {
        table: part.name_of("table")?,
        columns: each(part, "encryptColumn", encrypt_column)?,
        query_with_cipher: part.get("boolean").map(Part::truth),
    })
}

fn encrypt_column(part: Part<'_>) -> Result<EncryptColumn> {
    Ok(EncryptColumn {
        name: part.name_of("column")?,
        data_type: part.maybe_text("dataType"),
        plain: part.maybe_name("plainColumn"),
        cipher: part.name_of("cipherColumn")?,
        assisted: part.maybe_name("assistedColumn"),
        like: part.maybe_name("likeColumn"),
        encryptor: algorithm(part.need("encryptor")?.need("algorithm")?)?,
        assisted_encryptor: wrapped(part, "assistedEncryptor")?,
        like_encryptor: wrapped(part, "likeEncryptor")?,
    })
}

/// Of a `maskRule` part.
pub(crate) fn mask_rule(part: Part<'_>) -> Result<MaskRule> {
    let column = |part: Part<'_>| -> Result<MaskColumn> {
        let algorithm = algorithm(part.need("algorithm")?)?;
        Ok(MaskColumn {
            name: part.name_of("column")?,
            algorithm,
            unmasked: part.names("plainUser"),
            allows_conditions: part.get("boolean").map(Part::truth),
        })
    };
    let columns: Result<_> = part.all("maskColumn").map(column).collect();
    Ok(MaskRule { table: part.name_of("table")?, columns: columns? })
}

/// Of a `shadowRule` part.
pub(crate) fn shadow_rule(part: Part<'_>) -> Result<ShadowRule> {
    Ok(ShadowRule {
        name: part.name_of("rule")?,
        source: part.name_of("sourceUnit")?,
        shadow: part.name_of("shadowUnit")?,
        tables: each(part, "shadowTable", shadow_table)?,
    })
}

fn shadow_table(part: Part<'_>) -> Result<ShadowTable> {
    let algorithms = each(part, "algorithm", algorithm)?;
    Ok(ShadowTable { table: part.name_of("table")?, algorithms })
}

/// Of a `discoveryRule` part.
pub(crate) fn discovery_rule(part: Part<'_>) -> Result<DiscoveryRule> {
    let heartbeat = match part.get("heartbeatName") {
        Some(name) => HeartbeatUse::Named(name.name()),
        None => HeartbeatUse::Inline(properties(part.get("properties"))?),
    };
    Ok(DiscoveryRule {
        name: part.name_of("group")?,
        units: part.names("unit"),
        kind: algorithm_use(part)?,
        heartbeat,
    })
}

/// Of a `heartbeat` part.
pub(crate) fn heartbeat(part: Part<'_>) -> Result<Heartbeat> {
    let properties = properties(part.get("properties"))?;
    Ok(Heartbeat { name: part.name_of("heartbeatName")?, properties })
}
