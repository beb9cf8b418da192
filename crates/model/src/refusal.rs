//! Why a statement is refused: a closed kind with ShardingSphere's code, and a message that never holds a secret.

use std::fmt;

/// A statement that changes and shows nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What sort of refusal it is.
    pub kind: Kind,
    /// Lower case, names in backticks; no password in it.
    pub message: String,
}

/// What functions of this crate answer.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

/// The sorts of refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// No database of that name.
    UnknownDatabase,
    /// A database of that name is there already.
    DatabaseExists,
    /// Storage units that are not there.
    MissingStorageUnits,
    /// A storage unit that rules or tables still use.
    InUsedStorageUnit,
    /// A storage unit that is there already, or named twice.
    DuplicateStorageUnit,
    /// A storage unit's description that cannot be.
    InvalidStorageUnit,
    /// ALTER would move a storage unit to another database.
    StorageUnitMoved,
    /// A rule that contradicts itself or others.
    InvalidRule,
    /// A rule that is not there.
    MissingRule,
    /// A rule that others build on.
    InUsedRule,
    /// A rule that is there already, or defined twice.
    DuplicateRule,
    /// A default strategy that is not there.
    MissingStrategy,
    /// An algorithm that is not there.
    MissingAlgorithm,
    /// An algorithm that rules use.
    InUsedAlgorithm,
    /// References between tables that are not sharded alike.
    InvalidReference,
    /// `!SINGLE` would contradict itself or the storage units.
    InvalidSingle,
    /// A single table that is not there.
    MissingSingleTable,
    /// A member of a read-write splitting group that is there twice.
    DuplicateMember,
    /// A variable that is not there.
    UnknownVariable,
    /// A value that a variable cannot have.
    InvalidVariable,
    /// A document that is no configuration.
    InvalidDocument,
    /// A password that would be readable for others.
    OpenSecret,
    /// A sealed password that cannot be opened.
    ClosedSecret,
    /// An interface of ShardingSphere that nothing here stands for.
    UnknownPlugin,
    /// What this version does not do yet.
    NotSupported,
}

impl Kind {
    /// ShardingSphere's vendor code; that of its general "unsupported" where it has none of its own.
    pub fn code(self) -> u16 {
        self.signs().0
    }

    /// The SQLSTATE that goes with the code.
    pub fn sqlstate(self) -> &'static str {
        self.signs().1
    }

    fn signs(self) -> (u16, &'static str) {
        match self {
            Self::UnknownDatabase => (1049, "42000"),
            Self::DatabaseExists => (1007, "HY000"),
            Self::MissingStorageUnits => (10102, "44000"),
            Self::InUsedStorageUnit => (10103, "44000"),
            Self::DuplicateStorageUnit => (10104, "42S01"),
            Self::InvalidStorageUnit => (10110, "08000"),
            Self::StorageUnitMoved => (10111, "0A000"),
            Self::InvalidRule | Self::InvalidDocument => (10200, "44000"),
            Self::MissingRule => (10202, "42S02"),
            Self::InUsedRule => (10203, "44000"),
            Self::DuplicateRule => (10204, "42S01"),
            Self::MissingStrategy => (10210, "42S02"),
            Self::MissingAlgorithm => (10402, "42S02"),
            Self::InUsedAlgorithm => (10403, "44000"),
            Self::InvalidReference => (20010, "44000"),
            Self::InvalidSingle => (10500, "44000"),
            Self::MissingSingleTable => (10501, "42S02"),
            Self::DuplicateMember => (20204, "42S01"),
            Self::UnknownVariable => (12010, "44000"),
            Self::InvalidVariable => (12011, "HY004"),
            Self::OpenSecret | Self::ClosedSecret => (10010, "HY000"),
            Self::UnknownPlugin => (30010, "HY000"),
            Self::NotSupported => (30001, "0A000"),
        }
    }
}

/// Characters of a message: names come from statements of megabytes.
const LONGEST: usize = 4000;

impl Refusal {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        let mut message: String = message.into();
        if let Some((end, _)) = message.char_indices().nth(LONGEST) {
            message.truncate(end);
            message.push('…');
        }
        Self { kind, message }
    }

    /// What this version does not do yet.
    pub(crate) fn not_supported(what: &str) -> Self {
        Self::new(Kind::NotSupported, format!("{what} is not supported yet by this version"))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// Names in backticks with commas between them.
pub(crate) fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
