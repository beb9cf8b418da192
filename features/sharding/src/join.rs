//! Joins of sharded tables: which of them meet on one node, and when a product of nodes is right.

use pando_kernel::error::{Error, Result};
use pando_kernel::route::Target;

use crate::asked::Asked;
use crate::class::{Placed, target};
use crate::found::spans_shards;
use crate::scope::{Key, Scope};
use crate::table::Table;

/// Sources of a scope grouped by where their rows meet.
#[derive(Debug)]
pub(crate) struct Classes {
    groups: Vec<Vec<usize>>,
}

impl Classes {
    /// Two sharded sources are together when they are the same table or binding tables, and every sharding key of theirs is equal.
    pub(crate) fn of(
        asked: &Asked<'_>,
        scope: &Scope<'_>,
        tables: &[Option<&Table>],
        keys: &dyn Fn(usize, &str) -> bool,
    ) -> Self {
        let meets = |(i, column): &Key| {
            let logic = scope.sources.get(*i).map_or("", |source| &source.logic);
            asked.keeper(logic, column, |keeper| keeper.class())
        };
        let edges = scope.equalities(keys).into_iter().map(|(a, b, _)| (a, b));
        // Values that are equal without being the same need not live on one shard.
        let edges = edges.filter(|(a, b)| meets(a).is_some_and(|class| Some(class) == meets(b)));
        let equal = closure(edges.collect());
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (i, table) in tables.iter().enumerate() {
            let Some(table) = table else { continue };
            let home = groups.iter_mut().find(|group| {
                group.iter().any(|j| {
                    tables.get(*j).copied().flatten().is_some_and(|other| {
                        asked.rule.are_bound(table, other)
                            && joined(
                                &equal,
                                Member { at: i, table },
                                Member { at: *j, table: other },
                            )
                    })
                })
            });
            match home {
                Some(group) => group.push(i),
                None => groups.push(vec![i]),
            }
        }
        Self { groups }
    }

    /// The groups, in the order of their first source.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[usize]> {
        self.groups.iter().map(Vec::as_slice)
    }
}

/// Sets of columns that are all equal.
fn closure(pairs: Vec<(Key, Key)>) -> Vec<Vec<Key>> {
    let mut sets: Vec<Vec<Key>> = Vec::new();
    for (a, b) in pairs {
        let (mut hit, miss): (Vec<_>, Vec<_>) =
            sets.into_iter().partition(|set| set.contains(&a) || set.contains(&b));
        let mut set: Vec<Key> = hit.drain(..).flatten().collect();
        set.extend([a, b]);
        sets = miss;
        sets.push(set);
    }
    sets
}

/// A sharded table among a statement's sources.
#[derive(Clone, Copy)]
struct Member<'t> {
    /// Which source it is.
    at: usize,
    table: &'t Table,
}

/// Whether each sharding key of one table equals the key of the same place in the other.
fn joined(equal: &[Vec<Key>], one: Member<'_>, other: Member<'_>) -> bool {
    let (left, right) = (one.table.keys(), other.table.keys());
    !left.is_empty()
        && left.len() == right.len()
        && left.iter().zip(right).all(|(x, y)| {
            let (x, y) = ((one.at, x.clone()), (other.at, y.clone()));
            equal.iter().any(|set| set.contains(&x) && set.contains(&y))
        })
}

/// The members of a class whose conditions decide which nodes are needed: not those that an outer join may fill with NULL beside another
/// member, for that one's rows appear whatever the conditions on the filled side say.
pub(crate) fn deciding(scope: &Scope<'_>, members: &[usize]) -> Vec<usize> {
    let filled = |member: &usize| {
        scope.outers.iter().any(|outer| {
            outer.optional.contains(member) && members.iter().any(|m| outer.preserved.contains(m))
        })
    };
    members.iter().copied().filter(|member| !filled(member)).collect()
}

/// The product of several classes' nodes: right when everything lies in one storage unit and no outer join is involved.
pub(crate) fn product(placed: &Placed<'_>) -> Result<Vec<Target>> {
    let mut targets: Vec<Target> = Vec::new();
    for (i, class) in placed.classes.iter().enumerate() {
        let own: Result<Vec<Target>> =
            class.nodes.iter().map(|node| target(class, *node)).collect();
        let own = own?;
        if i == 0 {
            targets = own;
            continue;
        }
        let mut combined = Vec::with_capacity(targets.len().saturating_mul(own.len()));
        if targets.len().saturating_mul(own.len()) > MAX_PRODUCT {
            return Err(spans_shards(
                30001,
                "the product of the joined tables' shards is too large",
            ));
        }
        for left in &targets {
            for right in &own {
                combined.push(united(left.clone(), right.clone())?);
            }
        }
        targets = combined;
    }
    if placed.has_outer && targets.len() > 1 {
        return Err(spans_shards(
            30001,
            "an outer join of sharded tables that are not joined on their sharding keys",
        ));
    }
    Ok(targets)
}

/// Targets a product may have.
const MAX_PRODUCT: usize = 10_000;

/// Two targets as one.
pub(crate) fn united(left: Target, right: Target) -> Result<Target> {
    if left.unit != right.unit {
        return Err(spans_shards(
            30001,
            format!(
                "tables that stand in different storage units (`{}` and `{}`) are joined",
                left.unit, right.unit
            ),
        ));
    }
    let mut both = left;
    for table in right.tables {
        match both.actual(&table.logic) {
            None => both.tables.push(table),
            Some(known) if *known == *table.actual => {}
            Some(_) => {
                return Err(spans_shards(
                    30001,
                    format!(
                        "`{}` stands twice in the statement and is needed from two shards",
                        table.logic
                    ),
                ));
            }
        }
    }
    if both.rows.is_some() || right.rows.is_some() {
        return Err(Error::internal("rows of an INSERT in a join"));
    }
    Ok(both)
}
