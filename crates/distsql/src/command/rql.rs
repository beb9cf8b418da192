//! Statements that ask about a database's configuration.

use super::{Name, Own};

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rql {
    /// What is asked about.
    pub subject: Subject,
    /// FROM: another database than the session's.
    pub database: Option<Name>,
    /// LIKE: only names that fit this pattern.
    pub like: Option<String>,
}

/// What is asked about. `Option<Name>` is one by name, or all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The storage units; only those that this many rules use, when a number is given.
    StorageUnits(Option<u64>),
    /// The rules that use a storage unit.
    RulesUsedStorageUnit(Name),
    /// The logic tables.
    LogicalTables(Detail),
    /// Rules of sharded tables.
    ShardingTableRules(Option<Name>),
    /// Tables that are sharded alike.
    References(Option<Name>),
    /// Where the actual tables are.
    ShardingTableNodes(Option<Name>),
    /// Sharding algorithms.
    ShardingAlgorithms(Usage),
    /// Key generators.
    KeyGenerators(Usage),
    /// Sharding auditors.
    Auditors(Usage),
    /// Which tables use an algorithm.
    RulesUsedAlgorithm(Name),
    /// Which tables use a key generator.
    RulesUsedKeyGenerator(Name),
    /// Which tables use an auditor.
    RulesUsedAuditor(Name),
    /// The two default strategies.
    DefaultStrategies,
    /// Key generate strategies that stand for themselves.
    KeyGenerateStrategies(Option<Name>),
    /// How many rules there are.
    Count(Counted),
    /// Broadcast tables.
    BroadcastTables,
    /// Single tables.
    SingleTables(Option<Name>),
    /// Tables of the units that no rule knows.
    UnloadedSingleTables {
        /// Only of this unit.
        unit: Option<Name>,
        /// Only of this schema of the unit.
        schema: Option<Name>,
    },
    /// Where new tables without a rule go.
    DefaultSingleTableUnit,
    /// Primaries with replicas.
    ReadwriteSplittingRules(Option<Name>),
    /// Encrypted tables.
    EncryptRules(Option<Name>),
    /// Masked tables.
    MaskRules(Option<Name>),
    /// Shadow units.
    ShadowRules(Option<Name>),
    /// Shadowed tables.
    ShadowTableRules(Option<Name>),
    /// Shadow algorithms.
    ShadowAlgorithms,
    /// The default one.
    DefaultShadowAlgorithm,
    /// Discovery rules (5.0 to 5.4).
    DiscoveryRules(Option<Name>),
    /// Discovery types (5.0 to 5.4).
    DiscoveryTypes,
    /// Discovery heartbeats (5.0 to 5.4).
    DiscoveryHeartbeats,
    /// Rules of a sort that a room brings.
    OwnRules(Own, Option<Name>),
}

/// How much of a table is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The name.
    Name,
    /// FULL: the type too.
    Full,
}

/// Whether things in use are told, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// All.
    Any,
    /// UNUSED: only those that no rule uses.
    Unused,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Sharding rules, by kind.
    Sharding,
    /// Broadcast tables.
    Broadcast,
    /// Read-write splitting groups.
    ReadwriteSplitting,
    /// Encrypted tables.
    Encrypt,
    /// Masked tables.
    Mask,
    /// Shadow rules.
    Shadow,
    /// Discovery rules (5.0 to 5.4).
    Discovery,
    /// Single tables.
    SingleTable,
    /// Rules of a sort that a room brings.
    Own(Own),
    /// The rules of every feature (5.0 and 5.1).
    Every,
}
