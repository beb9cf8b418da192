//! Rules of sharded tables.

use std::fmt::{self, Display, Formatter};

use super::{List, Maybe, MaybeIn, Text, Truth};
use crate::command::{
    AlgorithmUse, AuditStrategy, KeyGenerateRule, KeyOf, KeyStrategy, Layout, Name, Reference,
    Strategy, TableRule,
};

impl Display for TableRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.table)?;
        match &self.layout {
            Layout::Standard { data_nodes, database, table } => {
                let nodes: Vec<Text<'_>> = data_nodes.iter().map(|node| Text(&node.text)).collect();
                write!(f, "DATANODES({})", List(&nodes))?;
                MaybeIn(", DATABASE_STRATEGY(", database).fmt(f)?;
                MaybeIn(", TABLE_STRATEGY(", table).fmt(f)?;
            }
            Layout::Auto { units, column, algorithm } => {
                let units = List(units);
                write!(f, "STORAGE_UNITS({units}), SHARDING_COLUMN={column}, {algorithm}")?;
            }
        }
        MaybeIn(", KEY_GENERATE_STRATEGY(", &self.key).fmt(f)?;
        MaybeIn(", AUDIT_STRATEGY(", &self.audit).fmt(f)?;
        f.write_str(")")
    }
}

impl Display for Strategy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (head, algorithm) = match self {
            Self::Standard { column, algorithm } => {
                (format!("TYPE=\"STANDARD\", SHARDING_COLUMN={column}"), algorithm)
            }
            Self::Complex { columns, algorithm } => {
                (format!("TYPE=\"COMPLEX\", SHARDING_COLUMNS={}", List(columns)), algorithm)
            }
            Self::Hint { algorithm } => ("TYPE=\"HINT\"".to_owned(), algorithm),
            Self::None => return f.write_str("TYPE=\"NONE\""),
        };
        match algorithm {
            AlgorithmUse::Inline(algorithm) => write!(f, "{head}, SHARDING_ALGORITHM({algorithm})"),
            AlgorithmUse::Named(name) => write!(f, "{head}, SHARDING_ALGORITHM={name}"),
        }
    }
}

impl Display for KeyStrategy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "COLUMN={}, {}", self.column, self.generator)
    }
}

impl Display for AuditStrategy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let allow = Truth(self.allow_hint_disable);
        write!(f, "{}, ALLOW_HINT_DISABLE={allow}", List(&self.auditors))
    }
}

impl Display for Reference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", Maybe("", self.name.as_ref()), List(&self.tables))
    }
}

impl Display for KeyGenerateRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, of, generator } = self;
        match of {
            KeyOf::Column { table, column } => {
                write!(f, "{name}(TABLE={table}, COLUMN={column}, {generator})")
            }
            KeyOf::Sequence(Name { text, .. }) => {
                write!(f, "{name}(SEQUENCE={}, {generator})", Text(text))
            }
        }
    }
}
