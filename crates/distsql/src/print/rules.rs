//! Rules of the other features.

use std::fmt::{self, Display, Formatter};

use super::{List, Maybe, MaybeIn, Properties, Text, Truth};
use crate::command::{
    AlgorithmUse, DiscoveryRule, EncryptColumn, EncryptRule, Heartbeat, HeartbeatUse, MaskColumn,
    MaskRule, Members, ReadwriteRule, ShadowRule, ShadowTable,
};

impl Display for ReadwriteRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        match &self.members {
            Members::Static { write, reads } => {
                let reads = List(reads);
                write!(f, "WRITE_STORAGE_UNIT={write}, READ_STORAGE_UNITS({reads})")?;
            }
            Members::Discovered { group, write_queries } => {
                let queries = Maybe(", WRITE_DATA_SOURCE_QUERY_ENABLED=", write_queries.map(Truth));
                write!(f, "AUTO_AWARE_RESOURCE={group}{queries}")?;
            }
        }
        let reads = self.transactional_reads.as_ref().map(|name| Text(&name.text));
        Maybe(", TRANSACTIONAL_READ_QUERY_STRATEGY=", reads).fmt(f)?;
        write!(f, "{})", Maybe(", ", self.balancer.as_ref()))
    }
}

impl Display for EncryptRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let query = Maybe(", QUERY_WITH_CIPHER_COLUMN=", self.query_with_cipher.map(Truth));
        write!(f, "{}(COLUMNS({}){query})", self.table, List(&self.columns))
    }
}

impl Display for EncryptColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "(NAME={}", self.name)?;
        Maybe(", DATA_TYPE=", self.data_type.as_deref().map(Text)).fmt(f)?;
        Maybe(", PLAIN=", self.plain.as_ref()).fmt(f)?;
        write!(f, ", CIPHER={}", self.cipher)?;
        Maybe(", ASSISTED_QUERY=", self.assisted.as_ref()).fmt(f)?;
        Maybe(", LIKE_QUERY=", self.like.as_ref()).fmt(f)?;
        write!(f, ", ENCRYPT_ALGORITHM({})", self.encryptor)?;
        MaybeIn(", ASSISTED_QUERY_ALGORITHM(", &self.assisted_encryptor).fmt(f)?;
        MaybeIn(", LIKE_QUERY_ALGORITHM(", &self.like_encryptor).fmt(f)?;
        f.write_str(")")
    }
}

impl Display for MaskRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(COLUMNS({}))", self.table, List(&self.columns))
    }
}

impl Display for MaskColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "(NAME={}, {}", self.name, self.algorithm)?;
        if !self.unmasked.is_empty() {
            write!(f, ", UNMASKED_USERS({})", List(&self.unmasked))?;
        }
        let allows = Maybe(", ALLOW_CONDITIONS=", self.allows_conditions.map(Truth));
        write!(f, "{allows})")
    }
}

impl Display for ShadowRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, source, shadow, tables } = self;
        write!(f, "{name}(SOURCE={source}, SHADOW={shadow}, {})", List(tables))
    }
}

impl Display for ShadowTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.table, List(&self.algorithms))
    }
}

impl Display for DiscoveryRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(STORAGE_UNITS({}), ", self.name, List(&self.units))?;
        match &self.kind {
            AlgorithmUse::Inline(algorithm) => algorithm.fmt(f)?,
            AlgorithmUse::Named(name) => write!(f, "TYPE={name}")?,
        }
        match &self.heartbeat {
            HeartbeatUse::Inline(properties) => {
                write!(f, ", HEARTBEAT(PROPERTIES({})))", List(properties))
            }
            HeartbeatUse::Named(name) => write!(f, ", HEARTBEAT={name})"),
        }
    }
}

impl Display for Heartbeat {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        match self.properties.is_empty() {
            true => f.write_str("PROPERTIES())"),
            false => write!(f, "{})", Properties("", &self.properties)),
        }
    }
}
