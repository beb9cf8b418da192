//! The database every stage works on: one sharded table, ten nodes on two storage units, and the statements about it.

use std::path::Path;

use pando_config::{File, parse_one};
use pando_rooms::Built;

use crate::Outcome;

pub(crate) const POINT_SELECT: &str = "SELECT c FROM sbtest1 WHERE id=50127";
pub(crate) const LIMITED: &str =
    "SELECT id, k, c FROM sbtest1 WHERE k >= 49852 ORDER BY k, id LIMIT 10";
pub(crate) const RANGE: &str = "SELECT c FROM sbtest1 WHERE id BETWEEN 50127 AND 50226 ORDER BY c";
pub(crate) const INSERT: &str = "INSERT INTO sbtest1 (id, k, c, pad) VALUES (50127, 49852, \
    '68487932199-96439406143-93774651418-41631865787-96406072701-20604855487-25459966574-28203206787-41238978918-19503783441', \
    '22195207048-70116052123-74140395089-76317954521-98694025897')";
pub(crate) const FOUND: &str =
    "SELECT id FROM sbtest1 WHERE id=50127 AND c='68487932199-96439406143-93774651418'";
pub(crate) const UPDATE: &str =
    "UPDATE sbtest1 SET c='68487932199-96439406143-93774651418' WHERE id=50127";
pub(crate) const ORDERED: &str = "SELECT id, k, c FROM sbtest1 ORDER BY id LIMIT 10";
pub(crate) const GROUPED: &str = "SELECT k, COUNT(*), SUM(id) FROM sbtest1 GROUP BY k";

/// A family of databases, and so a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Postgres,
    MySql,
}

impl Family {
    /// The point select with a parameter.
    pub(crate) fn prepared(self) -> &'static str {
        match self {
            Self::Postgres => "SELECT c FROM sbtest1 WHERE id=$1",
            Self::MySql => "SELECT c FROM sbtest1 WHERE id=?",
        }
    }
}

/// Data nodes on each of the two storage units: what every stage has, and what makes ten thousand of them.
pub(crate) const FEW: u32 = 5;
pub(crate) const MANY: u32 = 5_000;

const RULES: &str = "
rules:
  - !SHARDING
    tables:
      sbtest1:
        actualDataNodes: ds_${0..1}.sbtest1_${0..LAST}
        databaseStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_2}}
        tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_each}}
    shardingAlgorithms:
      by_2: {type: MOD, props: {sharding-count: 2}}
      by_each: {type: MOD, props: {sharding-count: EACH}}
";

/// For a table of which a column is encrypted.
const ENCRYPTED: &str = "
  - !ENCRYPT
    tables:
      sbtest1:
        columns:
          c: {cipher: {name: c_cipher, encryptorName: aes}}
    encryptors:
      aes: {type: AES, props: {aes-key-value: 123456abc}}
";

/// The database with so many data nodes on each storage unit, ready to be served; nothing is connected.
///
/// # Errors
/// When the configuration above is wrong.
pub(crate) fn built(family: Family, each: u32) -> Outcome<Built> {
    built_by(RULES, family, each)
}

/// The same, whose column `c` is encrypted.
///
/// # Errors
/// When the configuration above is wrong.
pub(crate) fn encrypted(family: Family, each: u32) -> Outcome<Built> {
    built_by(&format!("{}{}", RULES.trim_end(), ENCRYPTED), family, each)
}

fn built_by(rules: &str, family: Family, each: u32) -> Outcome<Built> {
    let url = match family {
        Family::Postgres => "jdbc:postgresql://127.0.0.1:5432/unit?sslmode=disable",
        Family::MySql => "jdbc:mysql://127.0.0.1:3306/unit?useSSL=false",
    };
    let unit = |n| format!("  ds_{n}: {{url: \"{url}\", username: test, password: \"\"}}\n");
    let last = each.checked_sub(1).ok_or("a table has a node at least")?;
    let rules = rules.replace("LAST", &last.to_string()).replace("EACH", &each.to_string());
    let rules = rules.trim_start();
    let text = format!("databaseName: shop\ndataSources:\n{}{}{rules}", unit(0), unit(1));
    let configuration = parse_one(File { name: "shop.yaml", text: &text }, &|_| None)?;
    let database = configuration.databases.first().ok_or("the configuration has no database")?;
    Ok(pando_rooms::build(database, Path::new(""))?)
}
