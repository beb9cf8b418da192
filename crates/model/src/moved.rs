//! Rows of a sharded table that a changed rule would look for in another place than where they are.

use std::collections::{BTreeMap, BTreeSet};

use pando_config::rules::{Sharding, Strategy, StrategyKind};
use pando_kernel::feature::DataNode;

/// What a change of a table's rule does to the rows that are there.
pub(crate) struct Moved {
    /// The old nodes with rows that may belong elsewhere now.
    pub(crate) nodes: Vec<DataNode>,
    /// Whether all other rows stay, and new nodes only add room: such as the next month's table.
    pub(crate) only_grows: bool,
}

/// A table as a rule spreads it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread<'a> {
    pub(crate) rule: &'a Sharding,
    pub(crate) table: &'a str,
    /// By the storage units that hold them.
    pub(crate) nodes: &'a [DataNode],
}

/// What changes between two rules of one table.
pub(crate) fn moved(old: &Spread<'_>, new: &Spread<'_>) -> Moved {
    let (before, after) = (Way::of(old.rule, old.table), Way::of(new.rule, new.table));
    let (old, new) = (old.nodes, new.nodes);
    if before == after {
        if old == new {
            return Moved { nodes: Vec::new(), only_grows: true };
        }
        if before.goes_by_name() {
            // Servers may tell names apart by case.
            let kept: BTreeSet<&DataNode> = new.iter().collect();
            let nodes = old.iter().filter(|node| !kept.contains(node)).cloned().collect();
            return Moved { nodes, only_grows: true };
        }
    }
    if after.is_extended(&before) && new.starts_with(old) {
        return Moved { nodes: old.last().cloned().into_iter().collect(), only_grows: true };
    }
    Moved { nodes: old.to_vec(), only_grows: false }
}

/// How a table's rows are spread, whatever its algorithms are called.
#[derive(Debug, PartialEq, Eq)]
struct Way {
    is_auto: bool,
    unit: Level,
    table: Level,
}

/// Columns and algorithm of one strategy; empty where there is none.
#[derive(Debug, PartialEq, Eq, Default)]
struct Level {
    columns: Vec<String>,
    kind: String,
    props: BTreeMap<String, String>,
}

impl Way {
    fn of(rule: &Sharding, table: &str) -> Self {
        let auto = rule.auto_tables.iter().find(|(name, _)| name.eq_ignore_ascii_case(table));
        if let Some((_, auto)) = auto {
            let table = Level::of(rule, auto.strategy.as_ref());
            return Self { is_auto: true, unit: Level::default(), table };
        }
        let own = rule.tables.iter().find(|(name, _)| name.eq_ignore_ascii_case(table));
        let own = own.map(|(_, own)| own);
        let unit = own.and_then(|own| own.database_strategy.as_ref());
        let unit = unit.or(rule.default_database_strategy.as_ref());
        let table = own.and_then(|own| own.table_strategy.as_ref());
        let table = table.or(rule.default_table_strategy.as_ref());
        Self { is_auto: false, unit: Level::of(rule, unit), table: Level::of(rule, table) }
    }

    /// Whether a row's node is found by its name alone, so that further nodes change nothing for it.
    fn goes_by_name(&self) -> bool {
        let by_name =
            |level: &Level| level.kind.is_empty() || BY_NAME.contains(&level.kind.as_str());
        !self.is_auto && by_name(&self.unit) && by_name(&self.table)
    }

    /// Whether only the upper end of an AutoTable's ranges has moved up: all that was above it, and may move now, is in the last node.
    fn is_extended(&self, before: &Self) -> bool {
        let (old, new) = (&before.table, &self.table);
        let upper = RANGES.iter().find(|(kind, ..)| *kind == new.kind);
        let Some((_, key, is_further)) = upper else { return false };
        let others = |level: &Level| {
            let mut props = level.props.clone();
            let upper = props.remove(*key);
            (level.kind.clone(), level.columns.clone(), props, upper.unwrap_or_default())
        };
        let ((kind, columns, props, upper), (.., new_upper)) = (others(old), others(new));
        let is_same = (&kind, &columns) == (&new.kind, &new.columns) && props == others(new).2;
        self.is_auto && before.is_auto && is_same && is_further(&upper, &new_upper)
    }
}

type IsFurther = fn(&str, &str) -> bool;

/// Algorithms of ranges: the property with the upper end, and whether the second one is further than the first.
const RANGES: [(&str, &str, IsFurther); 3] = [
    ("VOLUME_RANGE", "range-upper", |old, new| match (old.trim().parse(), new.trim().parse()) {
        (Ok::<i64, _>(old), Ok::<i64, _>(new)) => old < new,
        (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
    }),
    // The one form that both have sorts as time does.
    ("AUTO_INTERVAL", "datetime-upper", |old, new| old.len() == new.len() && old < new),
    ("BOUNDARY_RANGE", "sharding-ranges", |old, new| {
        let bounds = |text: &str| {
            let bounds = text.split(',').map(|bound| bound.trim().parse().ok());
            let mut bounds: Option<Vec<i64>> = bounds.collect();
            bounds.iter_mut().for_each(|bounds| bounds.sort_unstable());
            bounds
        };
        match (bounds(old), bounds(new)) {
            (Some(old), Some(new)) => new.starts_with(&old),
            (Some(_) | None, Some(_) | None) => false,
        }
    }),
];

/// Algorithms that make the name of a node, and not its number.
const BY_NAME: [&str; 4] = ["INLINE", "COMPLEX_INLINE", "HINT_INLINE", "INTERVAL"];

impl Level {
    fn of(rule: &Sharding, strategy: Option<&Strategy>) -> Self {
        let Some(strategy) = strategy else { return Self::default() };
        let lower = |name: &str| name.to_lowercase();
        let (columns, algorithm) = match &strategy.kind {
            StrategyKind::None => return Self::default(),
            StrategyKind::Standard { column, algorithm } => {
                let column = column.as_ref().or(rule.default_sharding_column.as_ref());
                (column.iter().map(|column| lower(column)).collect(), algorithm)
            }
            StrategyKind::Complex { columns, algorithm } => {
                (columns.iter().map(|column| lower(column)).collect(), algorithm)
            }
            StrategyKind::Hint { algorithm } => (Vec::new(), algorithm),
        };
        let Some(found) = rule.algorithms.get(algorithm) else {
            return Self { columns, kind: lower(algorithm), props: BTreeMap::new() };
        };
        let props = found.props.iter();
        let props = props.map(|(key, value)| (key.value.clone(), value.value.clone())).collect();
        Self { columns, kind: found.kind.to_uppercase(), props }
    }
}
