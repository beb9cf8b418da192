//! The demonstration's configuration: two embedded storage units, a sharded and a broadcast table.

use std::path::Path;
use std::{fs, io};

/// The user and the password of the demonstration.
pub(super) const USER: &str = "demo";
/// The logical database.
pub(super) const DATABASE: &str = "shop";

pub(super) const GLOBAL: &str = "\
authority:
  users:
  - {user: demo@localhost, password: demo, admin: true}
";

pub(super) const SHOP: &str = "\
databaseName: shop
dataSources:
  ds_0: {url: 'jdbc:sqlite:ds_0.db'}
  ds_1: {url: 'jdbc:sqlite:ds_1.db'}
rules:
- !SHARDING
  tables:
    t_order:
      actualDataNodes: ds_${0..1}.t_order_${0..1}
      databaseStrategy: {standard: {shardingColumn: user_id, shardingAlgorithmName: by_user}}
      tableStrategy: {standard: {shardingColumn: order_id, shardingAlgorithmName: by_order}}
  shardingAlgorithms:
    by_user: {type: INLINE, props: {algorithm-expression: 'ds_${user_id % 2}'}}
    by_order: {type: INLINE, props: {algorithm-expression: 't_order_${order_id % 2}'}}
- !BROADCAST
  tables: [t_region]
";

/// Writes the files into `folder`.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("global.yaml"), GLOBAL)?;
    fs::write(folder.join("database-shop.yaml"), SHOP)
}
