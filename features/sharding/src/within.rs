//! Changes of sharded tables inside WITH: they, and all else that the statement concerns, on one shard.
//!
//! All parts of such a statement see the tables as they were before it, and one part's rows go to the others (PostgreSQL's manual, 7.8.4): on several shards that
//! would hold for each by itself only.

use pando_kernel::error::Result;
use pando_kernel::route::{Spread, Target, Units};
use pando_sql::ast::{Cte, Insert, InsertSource, Kind, Update};

use crate::asked::Asked;
use crate::class::{Class, Placed, target};
use crate::found::{Found, spans_shards, unsupported};
use crate::placed::{deleted, place, single, updated};
use crate::scope::Scope;
use crate::{insert, join};

/// The changes inside WITH that concern sharded tables.
pub(crate) struct Within<'r, 'a> {
    placed: Vec<Placed<'r>>,
    /// Where rows are inserted.
    inserted: Vec<Target>,
    updates: Vec<(&'a Update, Scope<'a>)>,
}

impl<'r> Within<'r, 'r> {
    /// Finds them. What is not found here is left to whoever sees that not every place has had its say.
    pub(crate) fn of(asked: &Asked<'r>) -> Result<Self> {
        let mut found = Self { placed: Vec::new(), inserted: Vec::new(), updates: Vec::new() };
        for cte in with(&asked.stmt.kind) {
            if let Kind::Update(update) = &*cte.body {
                let scope = updated(update);
                found.placed.extend(place(asked, &scope)?);
                found.updates.push((update, scope));
            } else if let Kind::Delete(delete) = &*cte.body {
                found.placed.extend(place(asked, &deleted(asked, delete).scope)?);
            } else if let Kind::Insert(insert) = &*cte.body {
                found.insert(asked, insert)?;
            }
        }
        Ok(found)
    }

    /// Rows with all their values, on one shard.
    fn insert(&mut self, asked: &Asked<'_>, insert: &Insert) -> Result<()> {
        let is_plain = matches!(insert.source, InsertSource::Values { .. });
        let Some(table) = asked.rule.table(&insert.table.name.key()).filter(|_| is_plain) else {
            return Ok(());
        };
        match insert::route(asked, insert)? {
            Found::Units(units) if units.keys.is_some() => {
                Err(unsupported("an INSERT inside WITH must bring the key that is generated else"))
            }
            Found::Units(units) => {
                self.inserted.extend(units.targets);
                Ok(())
            }
            // Asked for in passing.
            Found::Needs(_) => {
                asked.columns(table.logic());
                Ok(())
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.placed.is_empty() && self.inserted.is_empty()
    }

    /// The one shard of all, together with what else the statement concerns.
    pub(crate) fn with(self, asked: &Asked<'_>, others: Vec<Placed<'_>>) -> Result<Units> {
        // Without its values nothing is known yet, and any shard can tell of its columns.
        let is_open = asked.ctx.parameters.is_none() && asked.stmt.parameters > 0;
        let target = if is_open { self.any_target(&others) } else { self.target(&others) };
        let Some(target) = target else {
            return Err(spans_shards(
                20030,
                "a statement with a change inside WITH needs every part on one and the same shard",
            ));
        };
        let units = Units::new(vec![target], Spread::Gather);
        for (update, scope) in &self.updates {
            crate::update::keeps_its_shard(asked, update, scope, &units)?;
        }
        Ok(units)
    }

    fn any_target(&self, others: &[Placed<'_>]) -> Option<Target> {
        let classes = self.placed.iter().chain(others).flat_map(|placed| &placed.classes);
        let first = |class: &Class<'_>| target(class, *class.nodes.first()?).ok();
        let all: Option<Vec<Target>> =
            self.inserted.iter().cloned().map(Some).chain(classes.map(first)).collect();
        one_of(all?)
    }

    fn target(&self, others: &[Placed<'_>]) -> Option<Target> {
        let mut all = self.inserted.clone();
        if !self.placed.is_empty() || !others.is_empty() {
            all.extend(single(self.placed.iter().chain(others)).ok()?.targets);
        }
        one_of(all)
    }
}

/// The one target that all are, for the tables of all.
fn one_of(all: Vec<Target>) -> Option<Target> {
    let mut all = all.into_iter();
    let first = all.next()?;
    let one = all.try_fold(first, join::united).ok()?;
    one.rows.is_none().then_some(one)
}

/// What stands in WITH in front of a statement.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter: other statements have no WITH")]
fn with(kind: &Kind) -> &[Cte] {
    match kind {
        Kind::Select(query) => &query.with,
        Kind::Insert(insert) => &insert.with,
        Kind::Update(update) => &update.with,
        Kind::Delete(delete) => &delete.with,
        Kind::Explain { inner, .. } => with(inner),
        _ => &[],
    }
}
