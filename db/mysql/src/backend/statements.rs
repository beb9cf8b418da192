//! The prepared statements of one connection.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use pando_kernel::{Column, Native};

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
        let replaced = self.kept.insert(sql, Kept { statement, used: self.clock });
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
