//! What may go whole to every shard, by proof: each sub-query, derived table and join then finds on each shard all the rows it concerns.
//!
//! A relation lies in one of three ways. `Whole`: every shard gives all of it. `Local`: for a row of an outer query, that row's shard gives
//! all of it. `Parts`: the shards' answers together are it, no row twice; columns that carry a sharding key tell where its rows are. Joins,
//! groups and sub-queries keep this only when equal keys hold them together. What is not proven is doubted, and the statement is then answered
//! in another way.

mod carried;
mod expr;
mod from;
mod level;
mod prover;
mod query;
mod sorted;

use std::collections::HashMap;

use pando_kernel::error::Error;
use pando_kernel::route::{Alone, Spread, Units};
use pando_sql::Span;
use pando_sql::ast::{Expr, Query, Table as Named, TableFactor};

use crate::asked::Asked;
use crate::kept::Class as Kept;
use crate::table::Table;
pub(crate) use carried::{Into, carried};
use prover::Prover;
pub(crate) use query::items;

/// Why a proof ends.
pub(crate) enum Why {
    /// It is not proven, because of this.
    Doubt(&'static str),
    /// The statement fails.
    Error(Error),
}

impl From<Error> for Why {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

type Step<T> = Result<T, Why>;

/// How the rows of a relation lie over the shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lie {
    Whole,
    Local,
    Parts,
}

/// A relation.
#[derive(Debug, Clone)]
struct Rows {
    lie: Lie,
    /// The nodes that can have rows, numbered as the proof's first table numbers them, ascending; `Parts` only.
    nodes: Vec<usize>,
    /// In order; `None` when they are not known.
    columns: Option<Vec<Column>>,
}

impl Rows {
    fn whole(lie: Lie) -> Self {
        Self { lie, nodes: Vec::new(), columns: None }
    }
}

/// A column of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    /// Lower-cased; `None` when the server makes one up.
    name: Option<String>,
    key: Option<Part>,
}

/// A sharding key in a column: wherever it is not NULL, it is the key of the node the row is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    /// Which of the table's keys.
    at: usize,
    kept: Kept,
    /// It is never NULL.
    firm: bool,
}

/// Common table expressions in scope, by name in lower case.
type Env = HashMap<String, Rows>;

/// The route of a query whose parts are proven to find all they need on each shard.
pub(crate) fn query(asked: &Asked<'_>, query: &Query) -> Step<Units> {
    let prover = Prover::new(asked);
    let answer = prover.answer(query)?;
    let mut units = Units::new(prover.targets(answer.nodes)?, Spread::Gather);
    units.alone = Alone { queries: true, groups: answer.groups, rows: answer.rows };
    Ok(units)
}

/// Proves that a view with this query, made on each shard over that shard's tables, is spread as the sharded table `called` is: each row on the node that its
/// keys say. `named` is where the statement names the view, `labels` what its columns are called, where not as the query calls them.
pub(crate) fn view(
    asked: &Asked<'_>,
    called: &Table,
    named: Span,
    query: &Query,
    labels: &[String],
) -> Step<()> {
    let prover = Prover::new(asked);
    prover.seen.borrow_mut().insert(named);
    let rows = prover.query(query, None, &Env::new())?;
    if rows.lie != Lie::Parts {
        return Err(Why::Doubt("its rows come from tables that stand whole on every shard"));
    }
    let mut columns = rows.columns.ok_or(Why::Doubt("what its columns are cannot be told"))?;
    for (column, label) in columns.iter_mut().zip(labels) {
        column.name = Some(label.to_lowercase());
    }
    let is_shown = |(at, key): (usize, &String)| {
        let shown = |column: &&Column| column.name.as_deref() == Some(&*key.to_lowercase());
        let part = columns.iter().find(shown).and_then(|column| column.key);
        part.is_some_and(|part| part.at == at && part.firm)
    };
    if !called.is_placed_by_keys() || !called.keys().iter().enumerate().all(is_shown) {
        return Err(Why::Doubt("its own sharding columns do not show those of the table"));
    }
    prover.targets(rows.nodes).map(drop)
}

/// What an UPDATE or DELETE reads.
pub(crate) struct Change<'a> {
    /// Targets that stand outside FROM.
    pub(crate) targets: Vec<&'a Named>,
    /// Where targets are named that stand in FROM.
    pub(crate) labels: Vec<Span>,
    pub(crate) factors: Vec<&'a TableFactor>,
    pub(crate) filter: Option<&'a Expr>,
    pub(crate) values: Vec<&'a Expr>,
}

/// The route of a change each of whose rows is proven to find all it needs on its own shard.
pub(crate) fn change(asked: &Asked<'_>, change: &Change<'_>) -> Step<Units> {
    let prover = Prover::new(asked);
    prover.seen.borrow_mut().extend(&change.labels);
    let nodes = prover.change(change)?;
    let mut units = Units::new(prover.targets(nodes)?, Spread::Gather);
    units.alone.queries = true;
    Ok(units)
}
