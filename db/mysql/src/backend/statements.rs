//! The prepared statements of one connection.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use pando_kernel::{Column, Format, Native, Parameter, Value};

use crate::types::{ColumnType, FAMILY};

/// Uses of statements, as a multiple of those kept, after which one that was not among them gives way to a text's.
const PATIENCE: u64 = 4;

/// A statement the server has prepared.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) id: u32,
    pub(super) parameters: Arc<[Native]>,
    pub(super) columns: Arc<[Column]>,
    /// Its rows can be told in the form of texts.
    pub(super) tells: bool,
}

#[derive(Debug)]
struct Kept {
    statement: Statement,
    used: u64,
    /// What each parameter has been so far, but for NULL.
    kinds: Vec<Option<Kind>>,
}

/// What a parameter is: MySQL gives those of a statement the types that come first, and reads what comes later as that, an integer as a floating
/// point number or a date, where it can.
/// <https://dev.mysql.com/doc/refman/8.0/en/prepare.html#prepare-parameter-types>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Float,
    Decimal,
    Text,
    Date,
    Time,
}

impl Kind {
    /// `None` for NULL, which is of any.
    fn of(parameter: &Parameter) -> Option<Self> {
        let is_own = parameter.native.family == FAMILY && parameter.format == Format::Binary;
        if parameter.raw.is_some() && is_own {
            return Self::of_type(ColumnType::of(&parameter.native));
        }
        match &parameter.value {
            Value::Null => None,
            Value::Bool(_) | Value::Int(_) | Value::UInt(_) => Some(Self::Integer),
            Value::Float(_) => Some(Self::Float),
            Value::Decimal(_) => Some(Self::Decimal),
            Value::Text(_) | Value::Bytes(_) => Some(Self::Text),
        }
    }

    fn of_type(column_type: ColumnType) -> Option<Self> {
        use ColumnType as T;
        Some(match column_type {
            T::Null => return None,
            T::Tiny | T::Short | T::Long | T::LongLong | T::Int24 | T::Year | T::Bool => {
                Self::Integer
            }
            T::Float | T::Double => Self::Float,
            T::Decimal | T::NewDecimal => Self::Decimal,
            T::Date | T::NewDate | T::DateTime | T::DateTime2 | T::Timestamp | T::Timestamp2 => {
                Self::Date
            }
            T::Time | T::Time2 => Self::Time,
            T::VarChar
            | T::Bit
            | T::Vector
            | T::Json
            | T::Enum
            | T::Set
            | T::TinyBlob
            | T::MediumBlob
            | T::LongBlob
            | T::Blob
            | T::VarString
            | T::String
            | T::Geometry => Self::Text,
        })
    }
}

/// What a kept statement is to parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suits {
    /// It runs with them: its number, and how many it has.
    Yes(u32, usize),
    /// It has had parameters of other types, and is forgotten: its number, which has to be closed.
    No(u32),
}

/// Statements by text; the least recently used one gives way.
#[derive(Debug)]
pub(super) struct Statements {
    kept: HashMap<Arc<str>, Kept, RandomState>,
    clock: u64,
    bound: usize,
}

impl Statements {
    pub(super) fn new(bound: usize) -> Self {
        Self { kept: HashMap::default(), clock: 0, bound: bound.max(1) }
    }

    /// The statement for these parameters, of which it takes note.
    pub(super) fn suited(&mut self, sql: &str, parameters: &[Parameter]) -> Option<Suits> {
        self.clock += 1;
        let kept = self.kept.get_mut(sql)?;
        kept.used = self.clock;
        kept.kinds.resize(parameters.len(), None);
        for (known, parameter) in kept.kinds.iter_mut().zip(parameters) {
            let Some(kind) = Kind::of(parameter) else { continue };
            if known.get_or_insert(kind) != &kind {
                return self.forget(sql).map(Suits::No);
            }
        }
        Some(Suits::Yes(kept.statement.id, kept.statement.parameters.len()))
    }

    /// Whether there is room for one more without closing one that is in use.
    pub(super) fn has_room(&self) -> bool {
        let oldest = || self.kept.values().map(|kept| kept.used).min().unwrap_or(0);
        self.kept.len() < self.bound || self.clock - oldest() > PATIENCE * self.bound as u64
    }

    pub(super) fn get(&mut self, sql: &str) -> Option<&Statement> {
        self.clock += 1;
        let kept = self.kept.get_mut(sql)?;
        kept.used = self.clock;
        Some(&kept.statement)
    }

    /// Whether the rows of a kept statement can be told in the form of texts.
    pub(super) fn tells(&self, sql: &str) -> Option<bool> {
        self.kept.get(sql).map(|kept| kept.statement.tells)
    }

    /// Keeps a statement; returns the number of the one that has to be closed for it.
    pub(super) fn keep(&mut self, sql: Arc<str>, statement: Statement) -> Option<u32> {
        self.clock += 1;
        let mut closed = None;
        if self.kept.len() >= self.bound && !self.kept.contains_key(&sql) {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.used);
            let oldest = oldest.map(|(sql, _)| sql.clone());
            closed = oldest.and_then(|sql| self.kept.remove(&sql));
        }
        let replaced =
            self.kept.insert(sql, Kept { statement, used: self.clock, kinds: Vec::new() });
        closed.or(replaced).map(|kept| kept.statement.id)
    }

    pub(super) fn forget(&mut self, sql: &str) -> Option<u32> {
        self.kept.remove(sql).map(|kept| kept.statement.id)
    }

    /// Forgets all of them; returns their numbers, which have to be closed.
    pub(super) fn take_all(&mut self) -> Vec<u32> {
        self.kept.drain().map(|(_, kept)| kept.statement.id).collect()
    }

    /// Forgets all of them: the server has dropped them itself.
    pub(super) fn clear(&mut self) {
        self.kept.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(id: u32) -> Statement {
        Statement { id, parameters: Arc::new([]), columns: Arc::new([]), tells: true }
    }

    #[test]
    fn a_statement_that_had_parameters_of_other_types_is_closed() {
        let mut statements = Statements::new(2);
        let asked = |statements: &mut Statements, values: [Value; 2]| {
            statements.suited("a", &values.map(Parameter::made))
        };
        assert_eq!(asked(&mut statements, [Value::Null, Value::Null]), None);
        statements.keep("a".into(), statement(1));
        let runs = Some(Suits::Yes(1, 0));
        for values in [
            [Value::Null, Value::Int(1)],
            [Value::Float(1.5), Value::UInt(1)],
            [Value::Null, Value::Bool(true)],
        ] {
            assert_eq!(asked(&mut statements, values), runs);
        }
        let other = [Value::Int(1), Value::Int(1)];
        assert_eq!(asked(&mut statements, other.clone()), Some(Suits::No(1)));
        assert_eq!(asked(&mut statements, other), None);
    }

    #[test]
    fn texts_close_no_statement_in_use() {
        let mut statements = Statements::new(2);
        statements.keep("a".into(), statement(1));
        assert!(statements.has_room());
        statements.keep("b".into(), statement(2));
        for _ in 0..20 {
            assert!(statements.get("a").is_some() && statements.get("b").is_some());
            assert!(!statements.has_room());
        }
        for _ in 0..9 {
            statements.get("a");
        }
        assert!(statements.has_room(), "`b` is long unused");
    }

    #[test]
    fn the_least_recently_used_statement_gives_way() {
        let mut statements = Statements::new(2);
        assert_eq!(statements.keep("a".into(), statement(1)), None);
        assert_eq!(statements.keep("b".into(), statement(2)), None);
        assert_eq!(statements.get("a").map(|found| found.id), Some(1));
        assert_eq!(statements.keep("c".into(), statement(3)), Some(2));
        assert!(statements.get("b").is_none());
        assert_eq!(statements.keep("a".into(), statement(4)), Some(1));
        assert_eq!(statements.forget("a"), Some(4));
        statements.keep("d".into(), statement(5));
        let mut all = statements.take_all();
        all.sort_unstable();
        assert_eq!(all, [3, 5]);
        statements.clear();
        assert!(statements.get("c").is_none());
    }
}
