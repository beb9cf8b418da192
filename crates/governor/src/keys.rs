//! Where things stand in a repository. ShardingSphere's paths where it has them.

use std::fmt::Write;

use pando_repository::{Key, Result};

/// The number and author of the configuration; every change of the configuration sets it, and expects it to be as it was read.
pub(crate) const VERSION: &str = "/version";
/// Below it are changes too large for one commit, until all of them have been made.
pub(crate) const PENDING: &str = "/pending/";
/// An entry for each running instance, as long as its session lives.
pub(crate) const ONLINE: &str = "/nodes/compute_nodes/online/proxy/";
/// Whether a person took an instance out of work.
pub(crate) const STATUS: &str = "/nodes/compute_nodes/status/";
/// The labels of an instance.
pub(crate) const LABELS: &str = "/nodes/compute_nodes/labels/";
/// The worker ids that are in use, as long as their instances' sessions live.
pub(crate) const WORKERS: &str = "/reservation/worker_id/";
/// Replicas that a person took out of work: `database.group.unit`.
pub(crate) const REPLICAS: &str = "/nodes/qualified_data_sources/";
/// Storage units that a person took out of work: `database.unit`.
pub(crate) const UNITS: &str = "/nodes/storage_units/";
/// What is remembered of read/write groups: `database.group`.
pub(crate) const MEMORIES: &str = "/nodes/groups/";
/// Which definition of a database's tables was the last, by database.
pub(crate) const DEFINITIONS: &str = "/nodes/definitions/";
/// The waiting transactions of an instance, as long as it has any and its session lives.
pub(crate) const WAITS: &str = "/waits/";
/// Which instance stores the rows of a table otherwise, as long as its session lives: `database.table`.
pub(crate) const REFILLS: &str = "/refills/";
/// How far the rows of a table are that are stored otherwise: `database.table`.
pub(crate) const POSITIONS: &str = "/positions/";
/// Whether the cluster takes statements.
pub(crate) const STATE: &str = "/states/cluster_state";

/// A key below a folder (which ends in a slash), of parts that may hold any characters.
pub(crate) fn key(folder: &str, parts: &[&str]) -> Result<Key> {
    let parts: Vec<String> = parts.iter().map(|part| escaped(part)).collect();
    Key::parse(&format!("{folder}{}", parts.join(".")))
}

/// The fixed key of this path.
pub(crate) fn fixed(path: &'static str) -> Result<Key> {
    Key::parse(path)
}

/// The parts of a name made by [`key`]; `None` when it has another number of them or was not made so.
pub(crate) fn parts<const N: usize>(name: &str) -> Option<[String; N]> {
    let parts: Option<Vec<String>> = name.split('.').map(unescaped).collect();
    parts?.try_into().ok()
}

pub(crate) fn escaped(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$') {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

pub(crate) fn unescaped(part: &str) -> Option<String> {
    let mut out = Vec::with_capacity(part.len());
    let mut bytes = part.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [bytes.next()?, bytes.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            out.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_names_come_back_from_their_key() {
        for names in [["shop", "group", "ds_0"], ["a.b", "c/d", "%"], ["ü", "", " "]] {
            let key = key(REPLICAS, &names).unwrap();
            let name = key.as_str().strip_prefix(REPLICAS).unwrap();
            assert_eq!(parts::<3>(name).unwrap(), names.map(str::to_owned));
        }
        assert!(parts::<2>("a.b.c").is_none());
        assert!(parts::<1>("%G1").is_none());
    }
}
