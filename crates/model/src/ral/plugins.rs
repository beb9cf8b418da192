//! The kinds of algorithms there are, from facts.

use pando_distsql::command::Plugins;
use pando_kernel::AlgorithmSort;

use crate::around::Facts;
use crate::refusal::{Kind, Refusal, Result};
use crate::rows::Rows;

/// ShardingSphere's interfaces by their last name, as their packages change with the releases.
const INTERFACES: [(&str, AlgorithmSort); 8] = [
    ("ShardingAlgorithm", AlgorithmSort::Sharding),
    ("KeyGenerateAlgorithm", AlgorithmSort::KeyGenerator),
    ("ShardingAuditAlgorithm", AlgorithmSort::Auditor),
    ("LoadBalanceAlgorithm", AlgorithmSort::LoadBalancer),
    ("ReadQueryLoadBalanceAlgorithm", AlgorithmSort::LoadBalancer),
    ("EncryptAlgorithm", AlgorithmSort::Encrypt),
    ("MaskAlgorithm", AlgorithmSort::Mask),
    ("ShadowAlgorithm", AlgorithmSort::Shadow),
];

pub(super) fn show(plugins: &Plugins, facts: &Facts<'_>) -> Result<Rows> {
    let sort = match plugins {
        Plugins::Of(interface) => sort_of(interface)?,
        Plugins::Sharding => AlgorithmSort::Sharding,
        Plugins::Encrypt => AlgorithmSort::Encrypt,
        Plugins::Mask => AlgorithmSort::Mask,
        Plugins::Shadow => AlgorithmSort::Shadow,
        Plugins::KeyGenerate => AlgorithmSort::KeyGenerator,
        Plugins::LoadBalance => AlgorithmSort::LoadBalancer,
    };
    let mut rows = Rows::of("SHOW PLUGINS OF");
    for kind in facts.algorithms.iter().filter(|kind| kind.sort == sort) {
        rows.push([kind.name, "", kind.description]);
    }
    Ok(rows)
}

fn sort_of(interface: &str) -> Result<AlgorithmSort> {
    let name = interface.strip_prefix("org.apache.shardingsphere.");
    let name = name.and_then(|path| path.rsplit('.').next());
    let found = INTERFACES.iter().find(|(known, _)| Some(*known) == name);
    found.map(|(_, sort)| *sort).ok_or_else(|| {
        let known: Vec<&str> = INTERFACES.iter().map(|(known, _)| *known).collect();
        let message = format!(
            "nothing stands for the interface `{interface}` (known below `org.apache.shardingsphere`: {})",
            known.join(", ")
        );
        Refusal::new(Kind::UnknownPlugin, message)
    })
}
