//! What a statement's conditions say about a sharding column: never less than the rows it can touch.

use std::ops::Bound;

use pando_kernel::Value;

/// The values a column can have in the rows a statement touches. Always a superset of the true ones.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Domain {
    /// Anything.
    #[default]
    Any,
    /// One of these parts; no part means that no row can match.
    Parts(Vec<Part>),
}

/// A part of a domain.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// This value.
    Value(Value),
    /// Everything between two bounds, the lower one first. In a box, because lists of values may be long.
    Range(Box<[Bound<Value>; 2]>),
}

/// Parts a domain may have; larger ones become `Any`, which is always right.
const MAX_PARTS: usize = 200_000;

impl Domain {
    /// Exactly this value. NULL equals nothing.
    pub fn equal(value: Value) -> Self {
        if value.is_null() { Self::nothing() } else { Self::Parts(vec![Part::Value(value)]) }
    }

    /// No value at all.
    pub fn nothing() -> Self {
        Self::Parts(Vec::new())
    }

    /// Values between two bounds; a NULL bound matches nothing.
    pub fn range(low: Bound<Value>, high: Bound<Value>) -> Self {
        let null = |bound: &Bound<Value>| match bound {
            Bound::Included(value) | Bound::Excluded(value) => value.is_null(),
            Bound::Unbounded => false,
        };
        if null(&low) || null(&high) {
            return Self::nothing();
        }
        Self::Parts(vec![Part::Range(Box::new([low, high]))])
    }

    /// Values of either.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Parts(mut a), Self::Parts(b)) => {
                if a.len() + b.len() > MAX_PARTS {
                    return Self::Any;
                }
                a.extend(b);
                Self::Parts(a)
            }
            (Self::Any, _) | (_, Self::Any) => Self::Any,
        }
    }

    /// Values of both. Where two parts cannot be compared for sure, the left one stays whole.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, domain) | (domain, Self::Any) => domain,
            (Self::Parts(a), Self::Parts(b)) => {
                if a.len().saturating_mul(b.len()) > MAX_PARTS {
                    let narrower = if a.len() <= b.len() { a } else { b };
                    return Self::Parts(narrower);
                }
                let meet = |part: &Part| b.iter().any(|other| may_meet(part, other));
                let values = a.iter().all(|part| matches!(part, Part::Value(_)));
                if values || !b.iter().all(|part| matches!(part, Part::Value(_))) {
                    return Self::Parts(narrowed(a, &b, &meet));
                }
                let meet = |part: &Part| a.iter().any(|other| may_meet(part, other));
                Self::Parts(b.into_iter().filter(|part| meet(part)).collect())
            }
        }
    }

    /// Whether no row can match.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Parts(parts) if parts.is_empty())
    }
}

/// Left parts that can meet the right ones; a single range meeting a single range is cut to the narrower bounds.
fn narrowed(a: Vec<Part>, b: &[Part], meet: &dyn Fn(&Part) -> bool) -> Vec<Part> {
    if let ([Part::Range(own)], [Part::Range(other)]) = (&a[..], b) {
        let ([low, high], [other_low, other_high]) = (&**own, &**other);
        let low = tighter(low, other_low, std::cmp::Ordering::Greater);
        let high = tighter(high, other_high, std::cmp::Ordering::Less);
        return vec![Part::Range(Box::new([low, high]))];
    }
    a.into_iter().filter(|part| meet(part)).collect()
}

fn tighter(a: &Bound<Value>, b: &Bound<Value>, wanted: std::cmp::Ordering) -> Bound<Value> {
    match (a, b) {
        (Bound::Unbounded, other) | (other, Bound::Unbounded) => other.clone(),
        (Bound::Included(x) | Bound::Excluded(x), Bound::Included(y) | Bound::Excluded(y)) => {
            match compare(x, y) {
                Some(order) if order == wanted => a.clone(),
                Some(std::cmp::Ordering::Equal) => {
                    if matches!(a, Bound::Excluded(_)) {
                        a.clone()
                    } else {
                        b.clone()
                    }
                }
                Some(_) => b.clone(),
                None => a.clone(),
            }
        }
    }
}

/// Whether two parts can have a value in common. True when in doubt.
fn may_meet(a: &Part, b: &Part) -> bool {
    match (a, b) {
        (Part::Value(x), Part::Value(y)) => compare(x, y).is_none_or(|order| order.is_eq()),
        (Part::Value(v), Part::Range(range)) | (Part::Range(range), Part::Value(v)) => {
            let [low, high] = &**range;
            let above = match low {
                Bound::Included(low) => compare(v, low).is_none_or(|o| o.is_ge()),
                Bound::Excluded(low) => compare(v, low).is_none_or(|o| o.is_gt()),
                Bound::Unbounded => true,
            };
            let below = match high {
                Bound::Included(high) => compare(v, high).is_none_or(|o| o.is_le()),
                Bound::Excluded(high) => compare(v, high).is_none_or(|o| o.is_lt()),
                Bound::Unbounded => true,
            };
            above && below
        }
        (Part::Range(..), Part::Range(..)) => true,
    }
}

/// The order of two numbers. Text has no order here: it belongs to the column's collation, where different texts may even be equal.
fn compare(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    let whole = |value: &Value| match value {
        Value::Int(n) => Some(i128::from(*n)),
        Value::UInt(n) => Some(i128::from(*n)),
        Value::Null
        | Value::Bool(_)
        | Value::Float(_)
        | Value::Decimal(_)
        | Value::Text(_)
        | Value::Bytes(_) => None,
    };
    Some(whole(a)?.cmp(&whole(b)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(list: &[i64]) -> Domain {
        Domain::Parts(list.iter().map(|n| Part::Value(Value::Int(*n))).collect())
    }

    #[test]
    fn two_equalities_on_one_column_meet_only_when_equal() {
        assert!(values(&[1]).and(values(&[2])).is_empty());
        assert_eq!(values(&[1, 2, 3]).and(values(&[2, 5])), values(&[2]));
    }

    #[test]
    fn a_range_filters_a_list() {
        let range = Domain::range(Bound::Excluded(Value::Int(1)), Bound::Included(Value::Int(3)));
        assert_eq!(values(&[1, 2, 3, 4]).and(range.clone()), values(&[2, 3]));
        assert_eq!(range.and(values(&[1, 2, 3, 4])), values(&[2, 3]));
    }

    #[test]
    fn one_open_branch_opens_everything() {
        assert_eq!(values(&[1]).or(Domain::Any), Domain::Any);
    }

    #[test]
    fn texts_that_a_collation_may_call_equal_stay() {
        let text = |t: &str| Domain::equal(Value::Text(t.into()));
        assert!(!text("a").and(text("A")).is_empty());
    }

    #[test]
    fn null_matches_nothing() {
        assert!(Domain::equal(Value::Null).is_empty());
        assert!(Domain::range(Bound::Included(Value::Null), Bound::Unbounded).is_empty());
    }
}
