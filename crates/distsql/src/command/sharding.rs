//! Sharded tables: where they are, by what they are sharded, who makes their keys.

use super::{Algorithm, AlgorithmUse, Name};

/// The rule of one sharded table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRule {
    /// The logic table.
    pub table: Name,
    /// Where its rows are.
    pub layout: Layout,
    /// Who fills which column.
    pub key: Option<KeyStrategy>,
    /// What statements it must refuse.
    pub audit: Option<AuditStrategy>,
}

/// Where a table's rows are, by hand or by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// DATANODES with strategies.
    Standard {
        /// Inline expressions or plain `unit.table`, as written; never empty.
        data_nodes: Vec<Name>,
        /// Which unit; `None` is the default strategy.
        database: Option<Strategy>,
        /// Which table in the unit; `None` is the default strategy.
        table: Option<Strategy>,
    },
    /// An AutoTable: units, a column and an algorithm that counts its shards.
    Auto {
        /// Names or inline expressions; never empty.
        units: Vec<Name>,
        /// What it is sharded by.
        column: Name,
        /// How, and into how many.
        algorithm: Algorithm,
    },
}

/// How rows are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strategy {
    /// By one column.
    Standard {
        /// That column.
        column: Name,
        /// From its value to a target.
        algorithm: AlgorithmUse,
    },
    /// By several columns at once.
    Complex {
        /// Never empty.
        columns: Vec<Name>,
        /// From their values to targets.
        algorithm: AlgorithmUse,
    },
    /// By a value that a hint comment gives.
    Hint {
        /// From that value to targets.
        algorithm: AlgorithmUse,
    },
    /// Not at all.
    None,
}

/// `KEY_GENERATE_STRATEGY(COLUMN=…, …)` of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyStrategy {
    /// The column it fills.
    pub column: Name,
    /// Who fills it.
    pub generator: AlgorithmUse,
}

/// `AUDIT_STRATEGY(…)` of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditStrategy {
    /// Never empty.
    pub auditors: Vec<Algorithm>,
    /// ALLOW_HINT_DISABLE: a hint comment may switch auditors off. True when the statement does not say.
    pub allow_hint_disable: bool,
}

/// Tables that are sharded alike (binding tables).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// `None` in the 5.0 spelling, which has no names; a change of such references replaces all of them.
    pub name: Option<Name>,
    /// Never empty.
    pub tables: Vec<Name>,
}

/// A key generate strategy that stands for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyGenerateRule {
    /// Its name.
    pub name: Name,
    /// What it fills.
    pub of: KeyOf,
    /// Who fills it.
    pub generator: AlgorithmUse,
}

/// What a key generate strategy fills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOf {
    /// A column of a table.
    Column {
        /// The logic table.
        table: Name,
        /// The column.
        column: Name,
    },
    /// A sequence.
    Sequence(Name),
}
