//! What aggregates remember of the partial results they have seen, and what they make of them.

use std::cmp::Ordering;
use std::collections::HashSet;

use bytes::Bytes;
use pando_kernel::column::Column;
use pando_kernel::dialect::Compare;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::merge::{Aggregate, AggregateFunction, DistinctOf, KeyCompare};
use pando_kernel::value::Kind;

use super::average::Division;
use super::key::{Key, KeySpec, Resolver};
use super::limit::Budget;
use super::number::{Number, Sum};
use super::row::{Field, Layout};

/// What one entry of a hash table takes beside its content, roughly.
pub(super) const ENTRY: usize = 64;

/// An aggregate with its places resolved.
#[derive(Debug)]
pub(super) struct AggregateSpec {
    /// The column that gets the result.
    pub(super) output: usize,
    kind: Kind,
    what: What,
}

#[derive(Debug)]
enum What {
    Count,
    Sum,
    Extreme { column: usize, compare: Compare, wanted: Ordering },
    Average { sum: usize, count: usize, division: Division },
    Distinct { column: usize, compare: Compare, of: DistinctOf, division: Division, run: bool },
}

/// Refuses partial sums that are no numbers: intervals, money, …
fn adds(partial: &Column, shown: &Column, resolver: Resolver<'_>) -> Result<()> {
    if resolver.dialect.adds(partial) {
        return Ok(());
    }
    Err(Error::unmerged(
        30001,
        format!("`{}` of several shards is no number and cannot be added up", shown.name),
        "narrow it to one shard by an equality on the sharding key",
    ))
}

/// What one aggregate of one group remembers.
#[derive(Debug)]
pub(super) enum State {
    Count(i128),
    Sum(Sum),
    /// The winning key, and the output field that came with it.
    Extreme(Option<(Key, Option<Bytes>)>),
    Average {
        sum: Sum,
        count: i128,
    },
    Distinct {
        seen: HashSet<Vec<u8>>,
        count: i128,
        sum: Sum,
    },
}

impl AggregateSpec {
    /// Resolves an aggregate. `sorted` are the keys behind the group's own by which the rows come sorted.
    ///
    /// # Errors
    /// What the resolver says.
    pub(super) fn new(
        aggregate: &Aggregate,
        resolver: Resolver<'_>,
        sorted: &[KeySpec],
    ) -> Result<Self> {
        let output = resolver.column(&aggregate.output)?;
        let Some(column) = resolver.columns.list.get(output) else {
            return Err(Error::internal("a resolved column is not there"));
        };
        let division = Division::of(column);
        let extreme = |by: &KeyCompare, wanted| {
            let (column, compare) = resolver.compare(&aggregate.output, by)?;
            Ok::<_, Error>(What::Extreme { column, compare, wanted })
        };
        let what = match &aggregate.function {
            AggregateFunction::Count => What::Count,
            AggregateFunction::Sum => {
                adds(column, column, resolver)?;
                What::Sum
            }
            AggregateFunction::Min(by) => extreme(by, Ordering::Less)?,
            AggregateFunction::Max(by) => extreme(by, Ordering::Greater)?,
            AggregateFunction::Average { sum, count } => {
                let (sum, count) = (resolver.column(sum)?, resolver.column(count)?);
                if let Some(partial) = resolver.columns.list.get(sum) {
                    adds(partial, column, resolver)?;
                }
                if !resolver.columns.list.get(sum).is_none_or(|sum| resolver.dialect.averages(sum))
                {
                    return Err(Error::unmerged(
                        30001,
                        format!(
                            "the average `{}` of several shards would lose digits",
                            column.name
                        ),
                        "cast the averaged value to double precision",
                    ));
                }
                What::Average { sum, count, division }
            }
            AggregateFunction::Distinct { values, of } => {
                let key = resolver.key(values)?;
                let run = sorted.first().is_some_and(|first| first.same(&key));
                if *of != DistinctOf::Count {
                    adds(column, column, resolver)?;
                }
                let KeySpec { column, compare, .. } = key;
                What::Distinct { column, compare, of: *of, division, run }
            }
        };
        let kind = result_kind(&what, column);
        Ok(Self { output, kind, what })
    }

    /// The kind of the result: the column's own, unless that cannot hold it.
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Nothing seen yet.
    pub(super) fn start(&self) -> State {
        match self.what {
            What::Count => State::Count(0),
            What::Sum => State::Sum(Sum::default()),
            What::Extreme { .. } => State::Extreme(None),
            What::Average { .. } => State::Average { sum: Sum::default(), count: 0 },
            What::Distinct { .. } => {
                State::Distinct { seen: HashSet::new(), count: 0, sum: Sum::default() }
            }
        }
    }

    /// Takes in the partial result of the row that `layout` has open.
    ///
    /// # Errors
    /// `Value` for partial results of another type, `Memory` when the distinct values are too many.
    pub(super) fn add(
        &self,
        state: &mut State,
        layout: &Layout,
        body: &[u8],
        budget: &mut Budget,
    ) -> Result<()> {
        match (&self.what, state) {
            (What::Count, State::Count(total)) => {
                *total = total.saturating_add(whole(layout.number(body, self.output)?)?);
                Ok(())
            }
            (What::Sum, State::Sum(total)) => {
                layout.number(body, self.output)?.into_iter().for_each(|number| total.add(number));
                Ok(())
            }
            (What::Extreme { column, compare, wanted }, State::Extreme(best)) => {
                let key = Key::of(layout.value(body, *column)?, *compare)?;
                let better = match best {
                    _ if matches!(key, Key::Null) => false,
                    None => true,
                    Some((held, _)) => key.compare(held) == *wanted,
                };
                if better {
                    let raw = layout.raw(body, self.output)?.map(Bytes::copy_from_slice);
                    replace(best, key, raw, budget)?;
                }
                Ok(())
            }
            (What::Average { sum, count, .. }, State::Average { sum: total, count: values }) => {
                layout.number(body, *sum)?.into_iter().for_each(|number| total.add(number));
                *values = values.saturating_add(whole(layout.number(body, *count)?)?);
                Ok(())
            }
            (
                What::Distinct { column, compare, of, run, .. },
                State::Distinct { seen, count, sum },
            ) => {
                let value = layout.value(body, *column)?;
                if value.is_null() {
                    return Ok(());
                }
                let number = match of {
                    DistinctOf::Count => None,
                    DistinctOf::Sum | DistinctOf::Average => Some(Number::of(&value)?),
                };
                let key = Key::of(value, *compare)?;
                let is_new = match *run {
                    true => begins_run(seen, &key, budget)?,
                    false => is_new(seen, &key, budget)?,
                };
                if is_new {
                    *count += 1;
                    number.into_iter().for_each(|number| sum.add(number));
                }
                Ok(())
            }
            _ => Err(Error::internal("an aggregate and its state do not belong together")),
        }
    }

    /// The result.
    ///
    /// # Errors
    /// `Value` when it does not fit its column.
    pub(super) fn finish(&self, state: State) -> Result<Field> {
        let division = match self.what {
            What::Average { division, .. } | What::Distinct { division, .. } => division,
            What::Count | What::Sum | What::Extreme { .. } => Division::ByValue,
        };
        match state {
            State::Extreme(best) => Ok(Field::Raw(best.and_then(|(_, raw)| raw))),
            State::Count(total) => self.number(Some(Number::Int(total))),
            State::Sum(sum) => self.number(sum.total()),
            State::Average { sum, count } => self.average(division, &sum, count),
            State::Distinct { count, sum, .. } => match self.what {
                What::Distinct { of: DistinctOf::Count, .. } => {
                    self.number(Some(Number::Int(count)))
                }
                What::Distinct { of: DistinctOf::Average, .. } => {
                    self.average(division, &sum, count)
                }
                What::Distinct { of: DistinctOf::Sum, .. }
                | What::Count
                | What::Sum
                | What::Extreme { .. }
                | What::Average { .. } => self.number(sum.total()),
            },
        }
    }

    fn number(&self, number: Option<Number>) -> Result<Field> {
        match number {
            None => Ok(Field::Raw(None)),
            Some(number) => number.into_value(self.kind).map(Field::Value),
        }
    }

    fn average(&self, division: Division, sum: &Sum, count: i128) -> Result<Field> {
        match sum.total() {
            None => Ok(Field::Raw(None)),
            Some(sum) => division.divide(&sum, count).map(Field::Value),
        }
    }
}

/// A count needs a column of numbers, and an average of whole numbers one with digits after the point.
fn result_kind(what: &What, column: &Column) -> Kind {
    let counts = matches!(what, What::Count | What::Distinct { of: DistinctOf::Count, .. });
    let averages =
        matches!(what, What::Average { .. } | What::Distinct { of: DistinctOf::Average, .. });
    match column.kind {
        Kind::Int | Kind::UInt if averages => Kind::Decimal,
        Kind::Int | Kind::UInt | Kind::Decimal | Kind::Float => column.kind,
        Kind::Bool
        | Kind::Text
        | Kind::Bytes
        | Kind::Date
        | Kind::Time
        | Kind::Timestamp
        | Kind::TimestampTz
        | Kind::Other => {
            if counts {
                Kind::Int
            } else {
                column.kind
            }
        }
    }
}

fn whole(number: Option<Number>) -> Result<i128> {
    number
        .map_or(Some(0), |number| number.whole())
        .ok_or_else(|| Error::new(ErrorKind::Value("a partial count is not a whole number".into())))
}

fn replace(
    best: &mut Option<(Key, Option<Bytes>)>,
    key: Key,
    raw: Option<Bytes>,
    budget: &mut Budget,
) -> Result<()> {
    let size = |key: &Key, raw: &Option<Bytes>| key.memory() + raw.as_ref().map_or(0, Bytes::len);
    let taken = size(&key, &raw);
    if let Some((key, raw)) = best.replace((key, raw)) {
        budget.give(size(&key, &raw));
    }
    budget.take(taken)
}

/// Whether a value was not seen before.
fn is_new(seen: &mut HashSet<Vec<u8>>, key: &Key, budget: &mut Budget) -> Result<bool> {
    let bytes = canonical(key);
    if seen.contains(&bytes) {
        return Ok(false);
    }
    remember(seen, bytes, budget)?;
    Ok(true)
}

/// The same of values that come sorted: only the last one needs to be remembered.
fn begins_run(seen: &mut HashSet<Vec<u8>>, key: &Key, budget: &mut Budget) -> Result<bool> {
    let bytes = canonical(key);
    if seen.contains(&bytes) {
        return Ok(false);
    }
    let held: usize = seen.drain().map(|held| held.len() + ENTRY).sum();
    budget.give(held);
    remember(seen, bytes, budget)?;
    Ok(true)
}

fn canonical(key: &Key) -> Vec<u8> {
    let mut bytes = Vec::new();
    key.canonical(&mut bytes);
    bytes
}

fn remember(seen: &mut HashSet<Vec<u8>>, bytes: Vec<u8>, budget: &mut Budget) -> Result<()> {
    budget.take(bytes.len() + ENTRY)?;
    seen.insert(bytes);
    Ok(())
}
