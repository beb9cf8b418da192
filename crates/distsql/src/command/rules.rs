//! The rules of the other features.

use super::{Algorithm, AlgorithmUse, Name, Property};

/// A primary and its replicas under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadwriteRule {
    /// The group's name.
    pub name: Name,
    /// Who is in it.
    pub members: Members,
    /// `PRIMARY`, `FIXED` or `DYNAMIC`, as written; absent means the default.
    pub transactional_reads: Option<Name>,
    /// Which replica reads; absent means in turn.
    pub balancer: Option<Algorithm>,
}

/// Who is in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Members {
    /// Named one by one.
    Static {
        /// The primary.
        write: Name,
        /// The replicas; never empty.
        reads: Vec<Name>,
    },
    /// Found by a discovery rule (5.0 and 5.1 only).
    Discovered {
        /// The discovery rule.
        group: Name,
        /// Whether the primary reads when no replica is left; absent means the default.
        write_queries: Option<bool>,
    },
}

/// The encrypted columns of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncryptRule {
    /// The logic table.
    pub table: Name,
    /// Never empty.
    pub columns: Vec<EncryptColumn>,
    /// QUERY_WITH_CIPHER_COLUMN, which releases up to 5.3 know.
    pub query_with_cipher: Option<bool>,
}

/// One encrypted column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncryptColumn {
    /// The logic column.
    pub name: Name,
    /// The type that clients see it of, which releases around 5.2 and Pando know.
    pub data_type: Option<String>,
    /// Where the clear text is kept beside the cipher, which releases up to 5.3 know.
    pub plain: Option<Name>,
    /// Where the cipher is kept.
    pub cipher: Name,
    /// Where the digest for comparisons is kept.
    pub assisted: Option<Name>,
    /// Where the text for LIKE is kept.
    pub like: Option<Name>,
    /// Makes the cipher.
    pub encryptor: Algorithm,
    /// Makes the digest.
    pub assisted_encryptor: Option<Algorithm>,
    /// Makes the text for LIKE.
    pub like_encryptor: Option<Algorithm>,
}

/// The masked columns of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskRule {
    /// The logic table.
    pub table: Name,
    /// Never empty.
    pub columns: Vec<MaskColumn>,
}

/// One masked column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskColumn {
    /// The logic column.
    pub name: Name,
    /// What hides it.
    pub algorithm: Algorithm,
    /// Users who see its values. Pando's own.
    pub unmasked: Vec<Name>,
    /// Whether conditions may look at the column, where that is said. Pando's own.
    pub allows_conditions: Option<bool>,
}

/// A shadow unit beside a production unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowRule {
    /// The rule's name.
    pub name: Name,
    /// The production unit.
    pub source: Name,
    /// The shadow unit.
    pub shadow: Name,
    /// Never empty.
    pub tables: Vec<ShadowTable>,
}

/// A table some of whose statements go to the shadow unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowTable {
    /// The logic table.
    pub table: Name,
    /// Which statements; never empty.
    pub algorithms: Vec<Algorithm>,
}

/// Units whose primary is found out (5.0 to 5.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryRule {
    /// The group's name.
    pub name: Name,
    /// Never empty.
    pub units: Vec<Name>,
    /// How the primary is told.
    pub kind: AlgorithmUse,
    /// How often.
    pub heartbeat: HeartbeatUse,
}

/// A heartbeat where it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeartbeatUse {
    /// Described on the spot; no key twice.
    Inline(Vec<Property>),
    /// One that exists already.
    Named(Name),
}

/// A heartbeat that is made for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat {
    /// The name discovery rules will know it by.
    pub name: Name,
    /// No key twice.
    pub properties: Vec<Property>,
}
