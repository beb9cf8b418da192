//! `sqlParser`, `sqlTranslator`, `sqlFederation` and `globalClock`.

use crate::algorithm::Props;
use crate::node::Node;
use crate::place::{Placed, Report};
use crate::read::Fields;

/// The bounds of one cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheSize {
    /// Entries there is room for at the start.
    pub initial_capacity: u32,
    /// Entries at most; 0 keeps none.
    pub maximum_size: u32,
}

impl CacheSize {
    fn field(fields: &mut Fields<'_, '_>, name: &'static str, default: Self) -> Self {
        const MOST: i64 = 100_000_000;
        let Some(node) = fields.optional(name) else { return default };
        let Some(mut fields) = Fields::of(node, fields.report()) else { return default };
        let size = |number: Option<i64>, default| {
            number.and_then(|number| u32::try_from(number).ok()).unwrap_or(default)
        };
        let initial = fields.optional_integer("initialCapacity", 0..=MOST);
        let maximum = fields.optional_integer("maximumSize", 0..=MOST);
        fields.ignored("concurrencyLevel", "it was removed in ShardingSphere 5.2");
        fields.finish();
        Self {
            initial_capacity: size(initial, default.initial_capacity),
            maximum_size: size(maximum, default.maximum_size),
        }
    }
}

/// Checks `sqlParser`, whose caches there are none of.
pub(super) fn check_sql_parser(node: &Node, report: &mut Report) {
    let Some(mut fields) = Fields::of_tagged(node, report) else { return };
    for name in ["sqlStatementCache", "parseTreeCache"] {
        let nothing = CacheSize { initial_capacity: 0, maximum_size: 0 };
        CacheSize::field(&mut fields, name, nothing);
        fields.ignored(name, "Pando has no cache of parsed statements");
    }
    fields.ignored("sqlCommentParseEnabled", "hints in comments are always read");
    fields.finish();
}

/// `sqlTranslator`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlTranslator {
    /// The translator; `NATIVE`, the default, leaves statements as they are.
    pub kind: String,
    /// Its properties.
    pub props: Props,
    /// Whether a statement that cannot be translated is sent as it is. True by default.
    pub use_original_when_failing: bool,
}

impl Default for SqlTranslator {
    fn default() -> Self {
        Self { kind: "NATIVE".into(), props: Props::default(), use_original_when_failing: true }
    }
}

impl SqlTranslator {
    pub(super) fn read(node: &Node, report: &mut Report) -> Self {
        let default = Self::default();
        let Some(mut fields) = Fields::of_tagged(node, report) else { return default };
        let kind = fields.optional_name("type");
        let props = fields.optional("props");
        let props = props.and_then(|node| Props::read(node, fields.report())).unwrap_or_default();
        let original = fields.optional_boolean("useOriginalSQLWhenTranslatingFailed");
        fields.finish();
        let kind = kind.map_or(default.kind, |kind| kind.value);
        Self { kind, props, use_original_when_failing: original.unwrap_or(true) }
    }
}

/// `sqlFederation`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlFederation {
    /// Whether statements that cannot be pushed down may be executed here. False by default; Pando answers them anyway.
    pub enabled: bool,
    /// Whether every query is. False by default.
    pub all_queries: bool,
    /// Plans; 2000 and 65535 by default.
    pub plans: CacheSize,
}

impl Default for SqlFederation {
    fn default() -> Self {
        let plans = CacheSize { initial_capacity: 2000, maximum_size: 65_535 };
        Self { enabled: false, all_queries: false, plans }
    }
}

impl SqlFederation {
    pub(super) fn read(node: &Node, report: &mut Report) -> Self {
        let default = Self::default();
        let Some(mut fields) = Fields::of_tagged(node, report) else { return default };
        let enabled = fields.optional_boolean("sqlFederationEnabled").unwrap_or(false);
        let all_queries = fields.optional_boolean("allQueryUseSQLFederation").unwrap_or(false);
        let plans = CacheSize::field(&mut fields, "executionPlanCache", default.plans);
        fields.finish();
        if enabled {
            report.warn(node.at.problem(
                "`sqlFederationEnabled` changes nothing: queries over several storage units are answered without it",
            ));
        }
        Self { enabled, all_queries, plans }
    }
}

/// `globalClock`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalClock {
    /// Whether snapshots are ordered by a clock. False by default.
    pub enabled: bool,
    /// The kind of clock, `TSO` by default.
    pub kind: String,
    /// Who keeps it, `local` by default.
    pub provider: Placed<String>,
    /// The provider's properties.
    pub props: Props,
}

impl Default for GlobalClock {
    fn default() -> Self {
        let provider = Placed::nowhere("local".to_owned());
        Self { enabled: false, kind: "TSO".into(), provider, props: Props::default() }
    }
}

impl GlobalClock {
    pub(super) fn read(node: &Node, report: &mut Report) -> Self {
        let default = Self::default();
        let Some(mut fields) = Fields::of_tagged(node, report) else { return default };
        let kind = fields.optional_name("type").map_or(default.kind, |kind| kind.value);
        let provider = fields.optional_name("provider").unwrap_or(default.provider);
        let enabled = fields.optional_boolean("enabled").unwrap_or(false);
        let props = fields.optional("props");
        let props = props.and_then(|node| Props::read(node, fields.report())).unwrap_or_default();
        fields.finish();
        Self { enabled, kind, provider, props }
    }
}
