//! Statements that change a database's configuration.

use super::{
    AlgorithmUse, DiscoveryRule, EncryptRule, Heartbeat, Ignored, KeyGenerateRule, MaskRule, Name,
    NamedAlgorithm, Own, OwnRule, ReadwriteRule, Reference, ShadowRule, SingleTables, StorageUnit,
    Strategy, TableRule,
};

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rdl {
    /// CREATE, REGISTER, ADD or ALTER.
    Define {
        /// Whether it is new.
        change: Change,
        /// What it is.
        definition: Definition,
    },
    /// DROP or UNREGISTER.
    Drop {
        /// What a missing name means.
        missing: Missing,
        /// What goes.
        removal: Removal,
    },
    /// Where new tables without a rule go; `None` is any unit.
    SetDefaultSingleTableUnit(Option<Name>),
    /// Takes tables of the units as single tables; never empty.
    LoadSingleTables(Vec<SingleTables>),
    /// Forgets single tables, which stay where they are; never empty.
    UnloadSingleTables(Vec<SingleTables>),
    /// Forgets all of them.
    UnloadAllSingleTables,
    /// Has a table's rows stored otherwise while clients go on.
    EncryptTable {
        /// What is done.
        step: EncryptStep,
        /// The logic table.
        table: Name,
        /// So many of its rows are looked at in a second at most, from 1; as many as clients leave time for without it.
        rows_per_second: Option<u64>,
    },
}

/// The property that bounds how many rows such a step looks at in a second.
pub const ROWS_PER_SECOND: &str = "rows-per-second";
/// More than any server gives.
pub const MOST_ROWS_PER_SECOND: u64 = 1_000_000_000;

/// A step on the way of a table to encrypted columns, or back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncryptStep {
    /// Cipher text is made of the values in the plain.
    Encrypt,
    /// Values in the plain are made of the cipher text.
    Decrypt,
    /// What older keys have written is written anew.
    Reencrypt,
    /// Values are read from the cipher text.
    ReadCipher,
    /// Values are read in the plain.
    ReadPlain,
    /// The values in the plain go.
    Commit,
    /// The cipher text goes.
    Rollback,
    /// The same, though clients see the columns in another order then.
    RollbackInNewOrder,
}

/// Whether a definition is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// An existing name is an error.
    Create,
    /// An existing name stays as it is: IF NOT EXISTS.
    CreateIfNotExists,
    /// The name must exist.
    Alter,
}

/// What a missing name means when something is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// An error.
    Fails,
    /// Nothing: IF EXISTS.
    Passes,
}

/// What a statement defines; lists are never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Definition {
    /// Storage units.
    StorageUnits {
        /// In the order they were written.
        units: Vec<StorageUnit>,
        /// CHECK_PRIVILEGES: what their users must be allowed, as written; empty when nothing is asked for.
        privileges: Vec<Name>,
    },
    /// Rules of sharded tables.
    ShardingTables(Vec<TableRule>),
    /// Tables that are sharded alike.
    References(Vec<Reference>),
    /// Tables that are the same on every unit. To alter them (5.0) is to replace the whole list.
    BroadcastTables(Vec<Name>),
    /// What tables without a strategy of their own follow.
    DefaultStrategy(Scope, Strategy),
    /// Sharding algorithms (5.0 and 5.1).
    ShardingAlgorithms(Vec<NamedAlgorithm>),
    /// Key generators.
    KeyGenerators(Vec<NamedAlgorithm>),
    /// Sharding auditors (up to 5.3).
    Auditors(Vec<NamedAlgorithm>),
    /// A key generate strategy that stands for itself.
    KeyGenerateStrategy(KeyGenerateRule),
    /// Primaries with replicas.
    ReadwriteSplitting(Vec<ReadwriteRule>),
    /// Encrypted tables.
    Encrypt(Vec<EncryptRule>),
    /// Masked tables.
    Mask(Vec<MaskRule>),
    /// Shadow units.
    Shadow(Vec<ShadowRule>),
    /// Which statements of any shadowed table go to the shadow unit.
    DefaultShadowAlgorithm(AlgorithmUse),
    /// Units whose primary is found out (5.0 to 5.4).
    Discovery(Vec<DiscoveryRule>),
    /// Ways of finding it out (5.0 and 5.1).
    DiscoveryTypes(Vec<NamedAlgorithm>),
    /// How often (5.0 and 5.1).
    DiscoveryHeartbeats(Vec<Heartbeat>),
    /// Rules of a sort that a room brings.
    Own(Own, Vec<OwnRule>),
}

/// What a default strategy decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The unit.
    Database,
    /// The table in the unit.
    Table,
}

/// What a statement drops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// Storage units; their databases stay as they are.
    StorageUnits {
        /// Never empty.
        units: Vec<Name>,
        /// Which tables may still stand on them.
        ignored: Ignored,
    },
    /// Things by name; never empty.
    Named(Thing, Vec<Name>),
    /// Rules of a sort that a room brings, by their keys; never empty.
    Own(Own, Vec<Name>),
    /// A default strategy.
    DefaultStrategy(Scope),
    /// The default shadow algorithm.
    DefaultShadowAlgorithm,
    /// References by their tables, as 5.0 has no names for them; empty means all.
    References(Vec<Vec<Name>>),
    /// All broadcast tables (5.0).
    AllBroadcastTables,
}

/// What is dropped by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    /// The rule of a sharded table.
    ShardingTable,
    /// A table reference.
    Reference,
    /// A broadcast table.
    BroadcastTable,
    /// A sharding algorithm.
    ShardingAlgorithm,
    /// A key generator.
    KeyGenerator,
    /// A sharding auditor.
    Auditor,
    /// A key generate strategy.
    KeyGenerateStrategy,
    /// A read-write splitting group.
    ReadwriteSplitting,
    /// The encrypt rule of a table.
    Encrypt,
    /// The mask rule of a table.
    Mask,
    /// A shadow rule.
    Shadow,
    /// A shadow algorithm.
    ShadowAlgorithm,
    /// A discovery rule.
    Discovery,
    /// A discovery type.
    DiscoveryType,
    /// A discovery heartbeat.
    DiscoveryHeartbeat,
}
