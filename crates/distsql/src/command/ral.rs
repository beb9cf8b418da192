//! Statements that change or show what belongs to no one database.

use super::{Algorithm, Name, Property, Value};

/// How a transaction in doubt is ended by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// Its branches commit.
    Commit,
    /// Its branches roll back.
    Rollback,
}

/// One statement of administration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ral {
    /// Sets a property of the whole instance, or `transaction_type` and `agent_plugins_enabled`.
    SetVariable {
        /// The property's name with `_` for `-`.
        name: Name,
        /// Not yet checked against the property.
        value: Value,
    },
    /// Shows one variable.
    ShowVariable(Name),
    /// Shows all variables.
    ShowVariables {
        /// The ordinary ones or the temporary ones.
        which: Variables,
        /// Only names that fit this pattern.
        like: Option<String>,
    },
    /// About instances.
    ComputeNode(ComputeNode),
    /// Circuit breaking of a replica.
    SetReadUnitState {
        /// Which.
        unit: ReadUnit,
        /// In work or not.
        state: State,
    },
    /// Circuit breaking of a storage unit.
    SetStorageUnitState {
        /// Which.
        unit: Name,
        /// In work or not.
        state: State,
        /// Another database than the session's.
        database: Option<Name>,
    },
    /// The replicas and whether they work.
    ShowReadUnits {
        /// Only of this group.
        group: Option<Name>,
        /// Another database than the session's.
        database: Option<Name>,
    },
    /// How something stands now.
    ShowStatus {
        /// What.
        of: Status,
        /// Another database than the session's.
        database: Option<Name>,
    },
    /// The branches of distributed transactions that are prepared and not ended.
    ShowInDoubt,
    /// How transactions over several storage units have ended so far.
    ShowTransactionStatus,
    /// Ends the branches of a distributed transaction by hand.
    Resolve {
        /// The transaction's name.
        global: String,
        /// Commit them, or roll them back.
        ending: Resolution,
    },
    /// About what is known of databases and tables, and its way in and out.
    Metadata(Metadata),
    /// Stops writing, or all work, on every instance.
    LockCluster {
        /// `WRITE` or `READ_WRITE`.
        strategy: Algorithm,
        /// Milliseconds to wait for the lock.
        timeout: Option<u64>,
    },
    /// Ends that.
    UnlockCluster {
        /// Milliseconds to wait for the lock.
        timeout: Option<u64>,
    },
    /// What kinds of something there are.
    ShowPlugins(Plugins),
    /// A global rule.
    ShowGlobalRule(GlobalRule),
    /// Changes the transaction rule.
    AlterTransactionRule(TransactionRule),
    /// Changes the parser's caches.
    AlterParserRule(ParserRule),
    /// Changes the federation rule.
    AlterFederationRule(FederationRule),
    /// Changes the translator rule.
    AlterTranslatorRule(TranslatorRule),
    /// Changes the global clock.
    AlterClockRule(ClockRule),
}

/// A statement about instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComputeNode {
    /// All of the cluster.
    List,
    /// This one.
    Info,
    /// How this one keeps its configuration.
    Mode,
    /// Takes one out of work, or back.
    SetState {
        /// Which.
        node: Node,
        /// In work or not.
        state: State,
    },
    /// Gives labels to one.
    Label {
        /// Which.
        node: Node,
        /// Never empty.
        labels: Vec<Name>,
        /// Whether its other labels stay.
        labelling: Labelling,
    },
    /// Takes labels from one.
    Unlabel {
        /// Which.
        node: Node,
        /// Empty means all.
        labels: Vec<Name>,
    },
    /// Sets something of one.
    Alter {
        /// Which.
        node: Node,
        /// In the order they were written; never empty.
        settings: Vec<(Name, Value)>,
    },
}

/// A statement about metadata and configuration files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Metadata {
    /// Reads the configuration from the repository again.
    RefreshDatabase {
        /// Whether everything is read, changed or not: FORCE.
        force: bool,
        /// Only this database.
        database: Option<Name>,
    },
    /// Reads the tables' columns from the storage units again.
    RefreshTable {
        /// Only this table.
        table: Option<Name>,
        /// Only of this unit.
        unit: Option<Name>,
        /// Only of this schema of the unit.
        schema: Option<Name>,
    },
    /// The columns and indexes of tables.
    ShowTable {
        /// Never empty.
        tables: Vec<Name>,
        /// Another database than the session's.
        database: Option<Name>,
    },
    /// One database as YAML.
    ExportDatabase {
        /// Another database than the session's.
        database: Option<Name>,
        /// Where to; absent means to the client.
        file: Option<String>,
    },
    /// One database from a YAML file.
    ImportDatabase {
        /// Where from.
        file: String,
    },
    /// Everything.
    Export {
        /// Where to; absent means to the client.
        file: Option<String>,
    },
    /// Everything back.
    Import(MetadataSource),
    /// The storage units' addresses.
    ExportStorageNodes {
        /// Only of this database.
        database: Option<Name>,
        /// Where to; absent means to the client.
        file: Option<String>,
    },
    /// A YAML file as DistSQL.
    ConvertYaml {
        /// Where from.
        file: String,
    },
}

/// Which variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variables {
    /// The ordinary ones.
    Lasting,
    /// TEMP: those that releases come and go with.
    Temporary,
}

/// An instance, by its id. The 5.0 form `IP=…, PORT=…` gives `ip@port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node(pub Name);

/// In work or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// ENABLE.
    Enabled,
    /// DISABLE.
    Disabled,
}

/// Whether an instance keeps its other labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labelling {
    /// LABEL.
    Adds,
    /// RELABEL.
    Replaces,
}

/// A replica of a read-write splitting group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadUnit {
    /// The group; 5.0 does not say it, and means every group the unit is in.
    pub group: Option<Name>,
    /// The storage unit.
    pub unit: Name,
    /// Another database than the session's.
    pub database: Option<Name>,
}

/// Where metadata comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetadataSource {
    /// The statement itself, JSON or Base64 of it.
    Text(String),
    /// A file.
    File(String),
}

/// Kinds of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plugins {
    /// Of an interface of ShardingSphere, by its Java name.
    Of(String),
    /// Sharding algorithms.
    Sharding,
    /// Encryptors.
    Encrypt,
    /// Mask algorithms.
    Mask,
    /// Shadow algorithms.
    Shadow,
    /// Key generators.
    KeyGenerate,
    /// Load balancers.
    LoadBalance,
}

/// A global rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlobalRule {
    /// Users and what they may.
    Authority,
    /// Transaction type and provider.
    Transaction,
    /// The parser's caches.
    Parser,
    /// Whether a second engine answers what cannot be merged.
    Federation,
    /// Between vendors' languages.
    Translator,
    /// The clock of snapshots.
    Clock,
}

/// `ALTER TRANSACTION RULE(…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionRule {
    /// `LOCAL`, `XA` or `BASE`, as written.
    pub default_type: Name,
    /// Who runs them.
    pub provider: Option<Algorithm>,
}

/// `ALTER SQL_PARSER RULE(…)`; at least one of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParserRule {
    /// PARSE_TREE_CACHE.
    pub parse_trees: Option<Cache>,
    /// SQL_STATEMENT_CACHE.
    pub statements: Option<Cache>,
}

/// How much a cache holds; absent numbers stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    /// Entries at the start.
    pub initial: Option<u64>,
    /// Entries at most.
    pub maximum: Option<u64>,
}

/// `ALTER SQL_FEDERATION RULE(…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FederationRule {
    /// SQL_FEDERATION_ENABLED.
    pub enabled: bool,
    /// ALL_QUERY_USE_SQL_FEDERATION.
    pub all_queries: Option<bool>,
    /// EXECUTION_PLAN_CACHE.
    pub plans: Option<Cache>,
}

/// `ALTER SQL_TRANSLATOR RULE(…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranslatorRule {
    /// Who translates.
    pub provider: Algorithm,
    /// USE_ORIGINAL_SQL_WHEN_TRANSLATING_FAILED.
    pub original_on_failure: Option<bool>,
}

/// `ALTER GLOBAL CLOCK RULE(…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockRule {
    /// Such as `TSO`.
    pub kind: Name,
    /// Such as `local`.
    pub provider: Name,
    /// Whether it ticks.
    pub enabled: bool,
    /// No key twice.
    pub properties: Vec<Property>,
}

/// What SHOW STATUS FROM tells the state of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The storage units, and what their last probes told.
    StorageUnits,
    /// What was counted under the limits.
    Limits,
    /// The circuits of the storage units.
    CircuitBreakers,
    /// Tables that are being encrypted or decrypted.
    EncryptTables,
    /// What was run a second time on mirrors, in numbers.
    Mirrors,
    /// Answers of mirrors that were others.
    MirrorDifferences,
}
