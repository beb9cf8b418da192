//! INSERT … SELECT: whether each row that the query finds on a shard belongs there as a row of the other table, too.

use pando_kernel::route::{Spread, Units};
use pando_sql::Span;
use pando_sql::ast::Query;

use super::prover::Prover;
use super::{Env, Lie, Step, Why};
use crate::asked::Asked;
use crate::table::Table;

/// Where the rows of a query are to be written.
pub(crate) struct Into<'a> {
    pub(crate) table: &'a Table,
    /// Where the statement names it.
    pub(crate) named: Span,
    /// What the query's columns are assigned to, in order.
    pub(crate) columns: &'a [String],
}

/// The route of an INSERT whose rows are proven to stay on the shards where the query finds them.
pub(crate) fn carried<'a>(asked: &'a Asked<'a>, into: &Into<'a>, query: &Query) -> Step<Units> {
    let prover = Prover::new(asked);
    prover.meets(into.table, into.named)?;
    let rows = prover.query(query, None, &Env::new())?;
    if rows.lie != Lie::Parts {
        return Err(Why::Doubt("its rows come from tables that stand whole on every shard"));
    }
    let columns = rows.columns.ok_or(Why::Doubt("what its columns are cannot be told"))?;
    let is_given = |(at, key): (usize, &String)| {
        let place = into.columns.iter().position(|name| name.eq_ignore_ascii_case(key));
        let part = place.and_then(|place| columns.get(place)).and_then(|column| column.key);
        let kept = asked.keeper(into.table.logic(), key, |keeper| keeper.class());
        part.is_some_and(|part| part.at == at && part.firm && Some(part.kept) == kept)
    };
    let keys = into.table.keys();
    if keys.is_empty()
        || columns.len() != into.columns.len()
        || !keys.iter().enumerate().all(is_given)
    {
        return Err(Why::Doubt("its rows do not keep their sharding columns"));
    }
    let mut units = Units::new(prover.targets(rows.nodes)?, Spread::Gather);
    units.alone.queries = true;
    Ok(units)
}
