//! What a statement says, as plain data: the same for every spelling of the same thing.

mod algorithm;
mod name;
mod own;
mod ral;
mod rdl;
mod rql;
mod rul;
mod rules;
mod sharding;
mod unit;

pub use algorithm::{Algorithm, AlgorithmUse, NamedAlgorithm, Property};
pub use name::{Name, Place, Value};
pub use own::{Given, Own, OwnRule};
pub use ral::{
    Cache, ClockRule, ComputeNode, FederationRule, GlobalRule, Labelling, Metadata, MetadataSource,
    Node, ParserRule, Plugins, Ral, ReadUnit, Resolution, State, Status, TransactionRule,
    TranslatorRule, Variables,
};
pub use rdl::{
    Change, Definition, EncryptStep, MOST_ROWS_PER_SECOND, Missing, ROWS_PER_SECOND, Rdl, Removal,
    Scope, Thing,
};
pub use rql::{Counted, Detail, Rql, Subject, Usage};
pub use rul::Rul;
pub use rules::{
    DiscoveryRule, EncryptColumn, EncryptRule, Heartbeat, HeartbeatUse, MaskColumn, MaskRule,
    Members, ReadwriteRule, ShadowRule, ShadowTable,
};
pub use sharding::{
    AuditStrategy, KeyGenerateRule, KeyOf, KeyStrategy, Layout, Reference, Strategy, TableRule,
};
pub use unit::{Address, Ignored, SingleTables, StorageUnit};

/// One statement of DistSQL. Its `Display` is the current spelling, which parses to the same command.
///
/// Printing a storage unit prints its password: [`Command::redacted`] is for logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Changes a database's configuration.
    Rdl(Rdl),
    /// Answers rows about a database's configuration.
    Rql(Rql),
    /// Changes or shows what belongs to no one database.
    Ral(Ral),
    /// Tells about a statement, or about DistSQL itself.
    Rul(Rul),
}

impl Command {
    /// The same command with `******` in the place of passwords.
    pub fn redacted(&self) -> Self {
        let mut command = self.clone();
        if let Self::Rdl(Rdl::Define {
            definition: Definition::StorageUnits { units, .. }, ..
        }) = &mut command
        {
            for unit in units {
                unit.redact();
            }
        }
        command
    }
}
