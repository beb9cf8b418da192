//! Conditions over rows, in SQL's logic of three values. `None` is unknown.

use std::sync::Arc;

use pando_kernel::dialect::Compare;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::merge::{Computed, Condition, Relation};
use pando_kernel::value::Value;

use super::compute::Compute;
use super::key::{Key, Resolver};
use super::row::{Layout, Row};
use crate::evaluate;

/// Steps that a comparison of one text with a pattern may take: some tens of milliseconds.
const MOST_STEPS: usize = 1 << 24;

/// A condition with its places resolved.
#[derive(Debug)]
pub(super) enum Filter {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Said(usize),
    Is(Box<Self>, Option<bool>),
    Compared { left: Side, compare: Compare, is: Relation, right: Side },
    Like { text: Compute, pattern: Option<Arc<[char]>> },
}

/// A side of a comparison.
#[derive(Debug)]
pub(super) enum Side {
    Key(Key),
    Computed(Compute),
}

impl Side {
    fn new(computed: &Computed, compare: Compare, resolver: Resolver<'_>) -> Result<Self> {
        if let Computed::Constant(value) = computed {
            return Key::of(value.clone(), compare).map(Self::Key);
        }
        Compute::new(computed, resolver).map(Self::Computed)
    }

    fn key(&self, compare: Compare, body: &[u8], layout: &Layout) -> Result<Key> {
        match self {
            Self::Key(key) => Ok(key.clone()),
            Self::Computed(computed) => Key::of(computed.value(body, layout)?, compare),
        }
    }
}

impl Filter {
    /// Resolves a condition.
    ///
    /// # Errors
    /// What the resolver says of its columns, and `Value` for a constant that does not compare so.
    pub(super) fn new(condition: &Condition, resolver: Resolver<'_>) -> Result<Self> {
        let all = |list: &[Condition]| {
            list.iter().map(|one| Self::new(one, resolver)).collect::<Result<Vec<_>>>()
        };
        Ok(match condition {
            Condition::All(list) => Self::All(all(list)?),
            Condition::Any(list) => Self::Any(all(list)?),
            Condition::Not(inner) => Self::Not(Box::new(Self::new(inner, resolver)?)),
            Condition::Said(position) => Self::Said(resolver.column(position)?),
            Condition::Is(inner, value) => Self::Is(Box::new(Self::new(inner, resolver)?), *value),
            Condition::Compared { left, compare, is, right } => Self::Compared {
                left: Side::new(left, *compare, resolver)?,
                compare: *compare,
                is: *is,
                right: Side::new(right, *compare, resolver)?,
            },
            Condition::Like { text, pattern } => Self::Like {
                text: Compute::new(text, resolver)?,
                pattern: pattern.as_ref().map(|pattern| pattern.chars().collect()),
            },
        })
    }

    /// Whether a row that has just come passes.
    ///
    /// # Errors
    /// What reading the row says, and `TooLarge` for a text that is too long for its pattern.
    pub(super) fn passes(&self, row: &Row, layout: &mut Layout) -> Result<bool> {
        let body = layout.open(&row.frame)?;
        Ok(self.truth(&body, layout)? == Some(true))
    }

    /// What is true of a row that has been opened.
    ///
    /// # Errors
    /// As [`Filter::passes`].
    pub(super) fn truth(&self, body: &[u8], layout: &Layout) -> Result<Option<bool>> {
        match self {
            Self::All(list) => decided(list, Decides::False, body, layout),
            Self::Any(list) => decided(list, Decides::True, body, layout),
            Self::Not(inner) => Ok(inner.truth(body, layout)?.map(|truth| !truth)),
            Self::Said(column) => said(&layout.value(body, *column)?),
            Self::Is(inner, value) => Ok(Some(inner.truth(body, layout)? == *value)),
            Self::Compared { left, compare, is, right } => {
                let left = left.key(*compare, body, layout)?;
                Ok(holds(*is, &left, &right.key(*compare, body, layout)?))
            }
            Self::Like { text, pattern } => match (text.value(body, layout)?, pattern) {
                (Value::Null, _) | (_, None) => Ok(None),
                (Value::Text(text), Some(pattern)) => like(&text, pattern).map(Some),
                (_, Some(_)) => Err(Error::internal("what is no text is compared with a pattern")),
            },
        }
    }
}

/// Which one of several decides what all of them are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decides {
    /// A false one, where all must be true.
    False,
    /// A true one, where some must be.
    True,
}

fn decided(list: &[Filter], by: Decides, body: &[u8], layout: &Layout) -> Result<Option<bool>> {
    let decides = by == Decides::True;
    let mut found = Some(!decides);
    for one in list {
        match one.truth(body, layout)? {
            Some(truth) if truth == decides => return Ok(Some(decides)),
            Some(_) => {}
            None => found = None,
        }
    }
    Ok(found)
}

fn said(value: &Value) -> Result<Option<bool>> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(yes) => Ok(Some(*yes)),
        Value::Int(number) => Ok(Some(*number != 0)),
        Value::UInt(number) => Ok(Some(*number != 0)),
        Value::Float(_) | Value::Decimal(_) | Value::Text(_) | Value::Bytes(_) => {
            Err(Error::internal("a condition that a storage unit answers with no truth"))
        }
    }
}

/// Whether one value is to another what it should be.
fn holds(is: Relation, own: &Key, other: &Key) -> Option<bool> {
    let is_null = |key: &Key| matches!(key, Key::Null);
    let order = own.compare(other);
    if is != Relation::Same && (is_null(own) || is_null(other)) {
        return None;
    }
    Some(match is {
        Relation::Same | Relation::Equal => order.is_eq(),
        Relation::Less => order.is_lt(),
        Relation::LessOrEqual => order.is_le(),
        Relation::Greater => order.is_gt(),
        Relation::GreaterOrEqual => order.is_ge(),
    })
}

fn like(text: &str, pattern: &[char]) -> Result<bool> {
    if text.len().saturating_mul(pattern.len()) > MOST_STEPS {
        let what = "a text is too long for the pattern that it is compared with";
        return Err(Error::new(ErrorKind::TooLarge(what.into())));
    }
    let text: Vec<char> = text.chars().collect();
    Ok(evaluate::matches(&text, pattern))
}
