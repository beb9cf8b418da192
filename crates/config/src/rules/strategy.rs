//! The strategies a sharding table can have: where a row goes, how its key is made, what is refused.

use crate::node::Node;
use crate::place::{At, Placed, Report};
use crate::read::Fields;

/// How rows are spread over storage units or tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strategy {
    /// Where it stands.
    pub at: At,
    /// Which of the four it is.
    pub kind: StrategyKind,
}

/// The four strategies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrategyKind {
    /// Not sharded at this level.
    None,
    /// By one column.
    Standard {
        /// The column; absent means `defaultShardingColumn`, which then is there.
        column: Option<Placed<String>>,
        /// The algorithm's name.
        algorithm: Placed<String>,
    },
    /// By several columns.
    Complex {
        /// The columns as written; never empty.
        columns: Vec<Placed<String>>,
        /// The algorithm's name.
        algorithm: Placed<String>,
    },
    /// By a value that is in no column.
    Hint {
        /// The algorithm's name.
        algorithm: Placed<String>,
    },
}

impl Strategy {
    pub(crate) fn field(fields: &mut Fields<'_, '_>, name: &'static str) -> Option<Self> {
        let node = fields.optional(name)?;
        Self::read(node, fields.report())
    }

    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let mut fields = Fields::of(node, report)?;
        let kinds = ["none", "standard", "complex", "hint"];
        let given: Vec<_> = kinds.into_iter().filter_map(|kind| fields.entry(kind)).collect();
        fields.finish();
        let [entry] = given.as_slice() else {
            let message = format!(
                "expected one of `standard`, `complex`, `hint`, `none`, found {}",
                if given.is_empty() { "none of them" } else { "several" }
            );
            report.error(node.at.problem(message));
            return None;
        };
        let kind = Self::kind(&entry.key, &entry.value, report)?;
        Some(Self { at: entry.value.at.clone(), kind })
    }

    fn kind(name: &str, node: &Node, report: &mut Report) -> Option<StrategyKind> {
        // ShardingSphere's exports have `none: ''`.
        if name == "none" && node.as_text() == Some("") {
            return Some(StrategyKind::None);
        }
        let mut fields = Fields::of(node, report)?;
        if name == "none" {
            fields.finish();
            return Some(StrategyKind::None);
        }
        let algorithm = fields.name("shardingAlgorithmName");
        let kind = match name {
            "standard" => {
                let column = fields.optional_name("shardingColumn");
                algorithm.map(|algorithm| StrategyKind::Standard { column, algorithm })
            }
            "complex" => {
                let columns = fields.field("shardingColumns");
                let columns = columns.and_then(|node| node.names(fields.report()));
                algorithm
                    .zip(columns)
                    .map(|(algorithm, columns)| StrategyKind::Complex { columns, algorithm })
            }
            _ => algorithm.map(|algorithm| StrategyKind::Hint { algorithm }),
        };
        fields.finish();
        kind
    }
}

/// How the value of a column is made that an INSERT leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyGenerate {
    /// Where it stands.
    pub at: At,
    /// The column.
    pub column: Placed<String>,
    /// The generator's name; absent means the default one.
    pub generator: Option<Placed<String>>,
}

impl KeyGenerate {
    pub(crate) fn field(fields: &mut Fields<'_, '_>, name: &'static str) -> Option<Self> {
        let node = fields.optional(name)?;
        let mut fields = Fields::of(node, fields.report())?;
        let column = fields.name("column");
        let generator = fields.optional_name("keyGeneratorName");
        fields.finish();
        Some(Self { at: node.at.clone(), column: column?, generator })
    }
}

/// Which statements on a table are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// Where it stands.
    pub at: At,
    /// Names of auditors.
    pub auditors: Vec<Placed<String>>,
    /// Whether a hint in a statement may switch them off; true by default.
    pub allow_hint_disable: bool,
}

impl Audit {
    pub(crate) fn field(fields: &mut Fields<'_, '_>, name: &'static str) -> Option<Self> {
        let node = fields.optional(name)?;
        let mut fields = Fields::of(node, fields.report())?;
        let auditors = fields.field("auditorNames");
        let auditors = auditors.and_then(|node| node.names(fields.report()));
        let allow_hint_disable = fields.optional_boolean("allowHintDisable").unwrap_or(true);
        fields.finish();
        Some(Self { at: node.at.clone(), auditors: auditors?, allow_hint_disable })
    }
}
