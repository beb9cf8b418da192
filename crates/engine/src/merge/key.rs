//! Keys: the decoded values by which rows sort, group and are told apart.

use std::cmp::Ordering;

use bytes::Bytes;
use pando_kernel::column::Columns;
use pando_kernel::dialect::{self, Compare};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::merge::{KeyCompare, Position, SortKey};
use pando_kernel::row::Glimpse;
use pando_kernel::value::{Kind, Value};

use super::number::Number;
use super::temporal::{Moment, moment};

/// One decoded key value.
#[derive(Debug, Clone)]
pub(super) enum Key {
    /// NULL: equal to itself when grouping.
    Null,
    /// Compares as a number.
    Number(Number),
    /// Compares bytewise.
    Bytes(Bytes),
    /// Compares as a point in time.
    Moment(Moment),
}

impl Key {
    /// The key of a value.
    ///
    /// # Errors
    /// `Value` when the value cannot be compared so.
    pub(super) fn of(value: Value, compare: Compare) -> Result<Self> {
        if value.is_null() {
            return Ok(Self::Null);
        }
        match compare {
            Compare::Number => Number::of(&value).map(Self::Number),
            Compare::Bytes | Compare::Weight | Compare::Padded => match value {
                Value::Text(text) => Ok(Self::counting(Bytes::from(text), compare)),
                Value::Bytes(bytes) => Ok(Self::counting(bytes, compare)),
                // Columns without a fixed type hold both; numbers sort before text and octets there.
                Value::Null
                | Value::Bool(_)
                | Value::Int(_)
                | Value::UInt(_)
                | Value::Float(_)
                | Value::Decimal(_) => Number::of(&value).map(Self::Number),
            },
            Compare::Temporal(kind) => match value {
                Value::Text(text) => moment(kind, &text).map(Self::Moment),
                Value::Null
                | Value::Bool(_)
                | Value::Int(_)
                | Value::UInt(_)
                | Value::Float(_)
                | Value::Decimal(_)
                | Value::Bytes(_) => {
                    Err(Error::new(ErrorKind::Value("a date or time did not come as text".into())))
                }
            },
        }
    }

    fn counting(mut bytes: Bytes, compare: Compare) -> Self {
        bytes.truncate(counting(&bytes, compare));
        Self::Bytes(bytes)
    }

    /// The key of a field of the row in `frame`, which its text or octets go on lying in.
    ///
    /// # Errors
    /// As [`Key::of`], and what decoding says.
    pub(super) fn of_field(
        frame: &Bytes,
        columns: &Columns,
        at: usize,
        field: Option<&[u8]>,
        compare: Compare,
    ) -> Result<Self> {
        let Some(field) = field else { return Ok(Self::Null) };
        let column = columns.list.get(at);
        let column = column.ok_or_else(|| Error::internal("a key has no column"))?;
        match (columns.codec.glimpse(column, field)?, compare) {
            (Glimpse::Value(value), _) => Self::of(value, compare),
            (Glimpse::Int(number), Compare::Temporal(_)) => Self::of(Value::Int(number), compare),
            (Glimpse::Int(number), _) => Ok(Self::Number(Number::Int(number.into()))),
            (Glimpse::Octets(octets), Compare::Bytes | Compare::Weight | Compare::Padded) => {
                let octets = octets.get(..counting(octets, compare)).unwrap_or(octets);
                Ok(Self::Bytes(part(frame, octets)))
            }
            (Glimpse::Octets(_), Compare::Number | Compare::Temporal(_)) => {
                Self::of(columns.codec.value(column, Some(field))?, compare)
            }
        }
    }

    /// Compares two keys; NULL is the least here.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.compare(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Moment(a), Self::Moment(b)) => a.cmp(b),
            _ => self.class().cmp(&other.class()),
        }
    }

    fn class(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Number(_) => 1,
            Self::Moment(_) => 2,
            Self::Bytes(_) => 3,
        }
    }

    /// Appends bytes that are the same for equal keys and differ for others, also when several keys follow one another.
    pub(super) fn canonical(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.push(b'0'),
            Self::Number(number) => number.canonical(out),
            Self::Bytes(bytes) => {
                out.push(b'b');
                out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
                out.extend_from_slice(bytes);
            }
            Self::Moment((nanos, zone)) => {
                out.push(b't');
                out.extend_from_slice(&nanos.to_le_bytes());
                out.extend_from_slice(&zone.to_le_bytes());
            }
        }
    }

    /// Bytes it holds in memory, roughly.
    pub(super) fn memory(&self) -> usize {
        let own = match self {
            Self::Null | Self::Moment(_) | Self::Number(Number::Int(_) | Number::Float(_)) => 0,
            Self::Number(Number::Decimal(number)) => {
                let (digits, _) = number.as_bigint_and_scale();
                usize::try_from(digits.bits() / 8).unwrap_or(usize::MAX)
            }
            Self::Bytes(bytes) => bytes.len(),
        };
        size_of::<Self>().saturating_add(own)
    }
}

/// How many bytes count.
fn counting(bytes: &[u8], compare: Compare) -> usize {
    if compare == Compare::Padded {
        return bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    }
    bytes.len()
}

/// These bytes, without a copy where they lie inside the frame; a row of several packets has been joined elsewhere.
fn part(frame: &Bytes, bytes: &[u8]) -> Bytes {
    let (outer, inner) = (frame.as_ptr_range(), bytes.as_ptr_range());
    if outer.start <= inner.start && inner.end <= outer.end {
        frame.slice_ref(bytes)
    } else {
        Bytes::copy_from_slice(bytes)
    }
}

/// Where a key stands and how it compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeySpec {
    /// The column.
    pub(super) column: usize,
    /// How its values compare.
    pub(super) compare: Compare,
    /// Descending.
    pub(super) descending: bool,
    /// NULL comes before everything else.
    pub(super) nulls_first: bool,
    /// The units may sort it otherwise than we compare: their order is only followed, not relied upon.
    pub(super) loose: bool,
}

impl KeySpec {
    /// Whether both tell the same rows apart, in whatever order.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.column == other.column && self.compare == other.compare
    }

    fn order(&self, a: &Key, b: &Key) -> Ordering {
        match (a, b) {
            (Key::Null, Key::Null) => Ordering::Equal,
            (Key::Null, _) if self.nulls_first => Ordering::Less,
            (Key::Null, _) => Ordering::Greater,
            (_, Key::Null) if self.nulls_first => Ordering::Greater,
            (_, Key::Null) => Ordering::Less,
            _ if self.descending => b.compare(a),
            _ => a.compare(b),
        }
    }
}

/// Compares two rows' keys by their specifications.
pub(super) fn order(specs: &[KeySpec], a: &[Key], b: &[Key]) -> Ordering {
    diverge(specs, a, b).1
}

/// How many of two rows' first keys are equal, and how the next ones compare.
pub(super) fn diverge(specs: &[KeySpec], a: &[Key], b: &[Key]) -> (usize, Ordering) {
    let orders = specs.iter().zip(a.iter().zip(b)).map(|(spec, (a, b))| spec.order(a, b));
    let first = orders.enumerate().find(|(_, order)| order.is_ne());
    first.unwrap_or((specs.len(), Ordering::Equal))
}

/// The canonical bytes of several keys.
pub(super) fn canonical(keys: &[Key]) -> Vec<u8> {
    let mut out = Vec::new();
    keys.iter().for_each(|key| key.canonical(&mut out));
    out
}

/// Turns positions of a plan into places in the rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolver<'a> {
    /// All columns of the streams, derived ones included.
    pub(super) columns: &'a Columns,
    /// How many of them are visible.
    pub(super) visible: usize,
    /// The family's rules.
    pub(super) dialect: &'a dyn dialect::Ordering,
}

impl Resolver<'_> {
    /// The column at a position.
    ///
    /// # Errors
    /// `UnknownColumn` when no visible column has the name, `Refused` when several have, `Internal` for a place that does not exist.
    pub(super) fn column(&self, position: &Position) -> Result<usize> {
        let at = match position {
            Position::Index(at) => Some(*at),
            Position::Derived(at) => self.visible.checked_add(*at),
            Position::Name(name) => return self.named(name),
        };
        at.filter(|at| *at < self.columns.list.len()).ok_or_else(|| {
            Error::internal("a merge plan speaks of a column that the rows do not have")
        })
    }

    /// A name as written wins over one that differs in case.
    fn named(&self, name: &str) -> Result<usize> {
        let visible = || self.columns.list.iter().take(self.visible).enumerate();
        let exact: Vec<usize> =
            visible().filter(|(_, column)| column.name == name).map(|(at, _)| at).collect();
        let found = if exact.is_empty() {
            visible()
                .filter(|(_, column)| column.name.eq_ignore_ascii_case(name))
                .map(|(at, _)| at)
                .collect()
        } else {
            exact
        };
        match found[..] {
            [at] => Ok(at),
            [] => Err(Error::new(ErrorKind::UnknownColumn(name.to_owned()))),
            [..] => Err(Error::unmerged(
                30001,
                format!("several columns of the result are called `{name}`"),
                "name the columns instead of `*`, or give them aliases",
            )),
        }
    }

    /// Where a value at `position` compares, and how.
    ///
    /// # Errors
    /// As [`Resolver::column`], and `Refused` when the dialect cannot compare the column.
    pub(super) fn compare(&self, position: &Position, by: &KeyCompare) -> Result<(usize, Compare)> {
        let at = self.column(position)?;
        match by {
            KeyCompare::Known(compare) => Ok((at, *compare)),
            KeyCompare::ByResult { weights } => {
                let Some(column) = self.columns.list.get(at) else {
                    return Err(Error::internal("a resolved column is not there"));
                };
                match weights {
                    Some(weights) if column.kind == Kind::Text => {
                        Ok((self.column(weights)?, Compare::Weight))
                    }
                    Some(_) | None => Ok((at, self.dialect.compare_result(column)?)),
                }
            }
            KeyCompare::Loose { weights } => {
                let by = KeyCompare::ByResult { weights: weights.clone() };
                self.compare(position, &by).or(Ok((at, Compare::Bytes)))
            }
        }
    }

    /// A sort, group or distinct item.
    ///
    /// # Errors
    /// As [`Resolver::compare`].
    pub(super) fn key(&self, key: &SortKey) -> Result<KeySpec> {
        let (column, compare) = self.compare(&key.position, &key.compare)?;
        let SortKey { descending, nulls_first, .. } = *key;
        let loose = match &key.compare {
            KeyCompare::Loose { weights } => {
                let by = KeyCompare::ByResult { weights: weights.clone() };
                self.compare(&key.position, &by).is_err()
            }
            KeyCompare::Known(_) | KeyCompare::ByResult { .. } => false,
        };
        Ok(KeySpec { column, compare, descending, nulls_first, loose })
    }

    /// Several of them.
    ///
    /// # Errors
    /// As [`Resolver::key`].
    pub(super) fn keys(&self, keys: &[SortKey]) -> Result<Vec<KeySpec>> {
        keys.iter().map(|key| self.key(key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: Value) -> Key {
        Key::of(value, Compare::Bytes).unwrap()
    }

    #[test]
    fn spaces_at_the_end_of_padded_text_do_not_count() {
        let padded = |text: &str| Key::of(Value::Text(text.into()), Compare::Padded).unwrap();
        let canonical = |key: &Key| {
            let mut bytes = Vec::new();
            key.canonical(&mut bytes);
            bytes
        };
        assert_eq!(padded("a  ").compare(&padded("a")), Ordering::Equal);
        assert_eq!(canonical(&padded("a  ")), canonical(&padded("a")));
        // A tab is less than a space, but here there is nothing behind the shorter one.
        assert_eq!(padded("a\t").compare(&padded("a ")), Ordering::Greater);
        assert_eq!(padded("  ").compare(&padded("")), Ordering::Equal);
        assert_eq!(padded(" a").compare(&padded("a")), Ordering::Less);
        assert_eq!(key(Value::Text("a ".into())).compare(&padded("a ")), Ordering::Greater);
    }

    #[test]
    fn nulls_stand_where_the_plan_says_in_both_directions() {
        let (null, one) = (Key::Null, key(Value::Text("1".into())));
        for (descending, nulls_first, expected) in [
            (false, true, Ordering::Less),
            (false, false, Ordering::Greater),
            (true, true, Ordering::Less),
            (true, false, Ordering::Greater),
        ] {
            let spec = KeySpec {
                column: 0,
                compare: Compare::Bytes,
                descending,
                nulls_first,
                loose: false,
            };
            assert_eq!(spec.order(&null, &one), expected);
            assert_eq!(spec.order(&one, &null), expected.reverse());
            assert_eq!(spec.order(&null, &null), Ordering::Equal);
        }
    }

    #[test]
    fn canonical_keys_do_not_run_into_each_other() {
        let text = |text: &str| key(Value::Text(text.into()));
        let joined = |keys: &[Key]| canonical(keys);
        assert_ne!(joined(&[text("ab"), text("c")]), joined(&[text("a"), text("bc")]));
        assert_ne!(joined(&[Key::Null, text("")]), joined(&[text(""), Key::Null]));
        assert_eq!(joined(&[key(Value::Int(1))]), joined(&[key(Value::UInt(1))]));
    }

    #[test]
    fn numbers_in_an_untyped_column_sort_before_text() {
        assert_eq!(key(Value::Int(9)).compare(&key(Value::Text("1".into()))), Ordering::Less);
        assert!(Key::of(Value::Bytes(Bytes::new()), Compare::Number).is_err());
        assert!(Key::of(Value::Int(1), Compare::Temporal(Kind::Date)).is_err());
    }
}
