//! One FROM as names see it: its sources, and which of their columns carry sharding keys.

use std::cell::Cell;
use std::ops::Range;

use pando_sql::Fold;
use pando_sql::ast::{BinaryOp, Expr, Ident, Node, ObjectName};

use super::{Column, Part, Prover};
use crate::kept::Class as Kept;
use crate::literal::unwrapped;
use crate::scope::conjuncts;
use crate::table::Table;

/// A source of a level.
pub(super) struct Source<'a> {
    /// What its columns are qualified with, as it compares; empty when it has no name.
    pub(super) label: String,
    pub(super) origin: Origin<'a>,
    /// An outer join may fill it with NULL.
    pub(super) optional: Cell<bool>,
    /// Nodes that can have its rows, where it is split.
    pub(super) nodes: Option<Vec<usize>>,
}

/// Where a source's columns come from.
pub(super) enum Origin<'a> {
    /// A sharded table.
    Sharded(&'a Table),
    /// A table that stands whole on every shard, lower-cased.
    Whole(String),
    /// A query; `None` when its columns are not known.
    Query(Option<Vec<Column>>),
}

/// A FROM inside its outer ones.
pub(super) struct Level<'l, 'a> {
    pub(super) outer: Option<&'l Level<'l, 'a>>,
    pub(super) depth: usize,
    pub(super) sources: Vec<Source<'a>>,
    /// Names that joins with USING merge.
    pub(super) merged: Vec<String>,
    pub(super) has_natural: bool,
    /// A RIGHT or FULL join decides anew what a merged name means.
    pub(super) has_late: bool,
    /// Something in it hangs on rows of an outer level.
    pub(super) is_local: Cell<bool>,
}

/// A column that carries a key: level, source, and what it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyOf {
    pub(super) depth: usize,
    pub(super) source: usize,
    pub(super) part: Part,
}

/// Two columns of keys that are equal, and not NULL, in every row that counts.
pub(super) type Pair = (KeyOf, KeyOf);

enum Has {
    Key(Part),
    Other,
    No,
    Unknown,
}

impl<'l, 'a> Level<'l, 'a> {
    pub(super) fn new(outer: Option<&'l Self>) -> Self {
        Self {
            outer,
            depth: outer.map_or(0, |outer| outer.depth + 1),
            sources: Vec::new(),
            merged: Vec::new(),
            has_natural: false,
            has_late: false,
            is_local: Cell::new(false),
        }
    }

    pub(super) fn all(&self) -> Range<usize> {
        0..self.sources.len()
    }
}

impl<'a> Prover<'a> {
    fn same(&self, a: &str, b: &str) -> bool {
        a == b || self.asked.ctx.dialect.syntax().fold == Fold::Keep && a.eq_ignore_ascii_case(b)
    }

    /// The key that the column `name` carries, when it is certain which column is meant.
    pub(super) fn key(
        &self,
        level: &Level<'_, 'a>,
        visible: Range<usize>,
        name: &ObjectName,
    ) -> Option<KeyOf> {
        match &name.parts[..] {
            [column] => self.bare(level, visible, column),
            [.., owner, column] => {
                let mut fitting = visible
                    .filter(|at| self.same(&level.sources[*at].label, &owner.value))
                    .peekable();
                if fitting.peek().is_none() {
                    let outer = level.outer?;
                    return self.key(outer, outer.all(), name);
                }
                let at = fitting.next()?;
                // Labels that differ in case only may be two.
                if fitting.next().is_some() || level.sources[at].label != owner.value {
                    return None;
                }
                match self.has(&level.sources[at], &column.value) {
                    Has::Key(part) => Some(self.key_of(level, at, part)),
                    Has::Other | Has::No | Has::Unknown => None,
                }
            }
            [] => None,
        }
    }

    fn bare(&self, level: &Level<'_, 'a>, visible: Range<usize>, column: &Ident) -> Option<KeyOf> {
        let (mut keys, mut others) = (Vec::new(), Vec::new());
        for at in visible.clone() {
            match self.carries(&level.sources[at], &column.value) {
                Some(part) => keys.push((at, part)),
                None => others.push(at),
            }
        }
        let is_merged = level.merged.iter().any(|name| name.eq_ignore_ascii_case(&column.value));
        match keys[..] {
            _ if level.has_natural => None,
            // Another source that had a column of this name would make it ambiguous.
            [(at, part)] if !is_merged => Some(self.key_of(level, at, part)),
            [(at, part), _, ..] if is_merged && !level.has_late && others.is_empty() => {
                Some(self.key_of(level, at, part))
            }
            [] => {
                let outer = level.outer?;
                let absent = |at: &usize| self.lacks(&level.sources[*at], &column.value);
                others.iter().all(absent).then_some(())?;
                self.bare(outer, outer.all(), column)
            }
            _ => None,
        }
    }

    /// Whether a source certainly has no such column.
    pub(super) fn lacks(&self, source: &Source<'a>, column: &str) -> bool {
        matches!(self.has(source, column), Has::No)
    }

    pub(super) fn key_of(&self, level: &Level<'_, 'a>, source: usize, part: Part) -> KeyOf {
        let firm = part.firm && !level.sources[source].optional.get();
        KeyOf { depth: level.depth, source, part: Part { firm, ..part } }
    }

    /// The key in a source's column, without asking for anything the catalogue has not told yet.
    pub(super) fn carries(&self, source: &Source<'a>, column: &str) -> Option<Part> {
        match &source.origin {
            Origin::Sharded(table) => self.part(table, column),
            Origin::Whole(_) | Origin::Query(None) => None,
            Origin::Query(Some(columns)) => {
                let named = |known: &&Column| {
                    known.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(column))
                };
                let mut named = columns.iter().filter(named);
                let first = named.next()?;
                first.key.filter(|_| named.next().is_none())
            }
        }
    }

    fn has(&self, source: &Source<'a>, column: &str) -> Has {
        if let Some(part) = self.carries(source, column) {
            return Has::Key(part);
        }
        let logic = match &source.origin {
            Origin::Sharded(table) => &**table.logic(),
            Origin::Whole(logic) => logic,
            Origin::Query(None) => return Has::Unknown,
            Origin::Query(Some(columns)) => {
                let is = |known: &Column| {
                    known.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(column))
                };
                return match columns {
                    _ if columns.iter().any(is) => Has::Other,
                    _ if columns.iter().all(|known| known.name.is_some()) => Has::No,
                    _ => Has::Unknown,
                };
            }
        };
        match self.asked.columns(logic) {
            Some(columns) if columns.is_empty() => Has::Unknown,
            Some(columns) if columns.iter().any(|c| c.name.eq_ignore_ascii_case(column)) => {
                Has::Other
            }
            Some(_) => Has::No,
            None => Has::Unknown,
        }
    }

    /// Which key a table's column is.
    pub(super) fn part(&self, table: &Table, column: &str) -> Option<Part> {
        if !table.is_placed_by_keys() {
            return None;
        }
        let at = table.keys().iter().position(|key| key.eq_ignore_ascii_case(column))?;
        let kept: Option<Kept> = self.asked.keeper(table.logic(), column, |keeper| keeper.class());
        Some(Part { at, kept: kept?, firm: true })
    }

    /// Whether a column can only be one of this level's own.
    pub(super) fn is_own(&self, level: &Level<'_, 'a>, name: &ObjectName) -> bool {
        match &name.parts[..] {
            [column] => {
                let owns =
                    |source| matches!(self.has(source, &column.value), Has::Key(_) | Has::Other);
                level.sources.iter().any(owns)
            }
            [.., owner, _] => level.sources.iter().any(|source| source.label == owner.value),
            [] => false,
        }
    }

    /// Equalities between columns of keys in a chain of AND.
    pub(super) fn pairs(
        &self,
        level: &Level<'_, 'a>,
        visible: Range<usize>,
        condition: &Expr,
    ) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for part in conjuncts(condition) {
            let Node::Binary { op: BinaryOp::Equal, left, right } = &part.node else { continue };
            let (left, right) = (unwrapped(left), unwrapped(right));
            match (&left.node, &right.node) {
                (Node::Row(left), Node::Row(right)) if left.len() == right.len() => {
                    for (left, right) in left.iter().zip(right) {
                        pairs.extend(self.pair(level, visible.clone(), left, right));
                    }
                }
                _ => pairs.extend(self.pair(level, visible.clone(), left, right)),
            }
        }
        pairs
    }

    fn pair(
        &self,
        level: &Level<'_, 'a>,
        visible: Range<usize>,
        left: &Expr,
        right: &Expr,
    ) -> Option<Pair> {
        let (Node::Column(a), Node::Column(b)) = (&unwrapped(left).node, &unwrapped(right).node)
        else {
            return None;
        };
        let a = self.key(level, visible.clone(), a)?;
        let b = self.key(level, visible, b)?;
        let one_is_own = a.depth == level.depth || b.depth == level.depth;
        (one_is_own && a.part.kept == b.part.kept).then_some((a, b))
    }
}
