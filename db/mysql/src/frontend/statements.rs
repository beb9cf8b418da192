//! The prepared statements of one client.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use pando_kernel::Prepared;

use super::shape::Shape;
use crate::codec::ParameterType;

/// Statements one client may keep open, as MySQL's `max_prepared_stmt_count` allows for all of them.
const MAX_STATEMENTS: usize = 16_382;

/// The number by which MariaDB's clients mean the statement prepared last, in what they send before its number is known.
///
/// Source: <https://mariadb.com/kb/en/com_stmt_execute/#statement-id>
const LATEST: u32 = u32::MAX;

/// One prepared statement.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) prepared: Arc<Prepared>,
    pub(super) parameters: usize,
    /// Types of the last execution that sent some.
    pub(super) types: Vec<ParameterType>,
    /// Parameters that came in pieces.
    long: BTreeMap<u16, BytesMut>,
    /// A long parameter went over the bound; tells the next execution.
    overflow: bool,
    /// The open cursor.
    pub(super) cursor: Option<Shape>,
}

impl Statement {
    pub(super) fn new(prepared: Arc<Prepared>, parameters: usize) -> Self {
        Self {
            prepared,
            parameters,
            types: Vec::new(),
            long: BTreeMap::new(),
            overflow: false,
            cursor: None,
        }
    }

    /// Bytes of the long parameters.
    fn held(&self) -> usize {
        self.long.values().map(BytesMut::len).sum()
    }
}

/// A client's statements by number.
#[derive(Debug)]
pub(super) struct Statements {
    open: BTreeMap<u32, Statement>,
    /// The last number that was given.
    last: u32,
    /// What the last preparation made, if it made something that is still open.
    latest: Option<u32>,
    bound: usize,
    /// Bytes of the long parameters of all statements.
    held: usize,
}

impl Statements {
    /// No statements yet; long parameters of all of them may take `bound` bytes together.
    pub(super) fn new(bound: usize) -> Self {
        Self { open: BTreeMap::new(), last: 0, latest: None, bound, held: 0 }
    }

    /// Whether one more may be opened.
    pub(super) fn has_room(&self) -> bool {
        self.open.len() < MAX_STATEMENTS
    }

    /// Keeps a statement; returns its number.
    pub(super) fn add(&mut self, statement: Statement) -> u32 {
        loop {
            self.last = if self.last >= LATEST - 1 { 1 } else { self.last + 1 };
            if !self.open.contains_key(&self.last) {
                break;
            }
        }
        self.open.insert(self.last, statement);
        self.latest = Some(self.last);
        self.last
    }

    /// A preparation begins: should it fail, there is no latest statement.
    pub(super) fn forget_latest(&mut self) {
        self.latest = None;
    }

    /// The number of the statement that a client means by this one.
    pub(super) fn meant(&self, id: u32) -> u32 {
        if id == LATEST { self.latest.unwrap_or(LATEST) } else { id }
    }

    pub(super) fn get(&mut self, id: u32) -> Option<&mut Statement> {
        self.open.get_mut(&id)
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<Statement> {
        let removed = self.open.remove(&id)?;
        self.latest = self.latest.filter(|latest| *latest != id);
        self.held -= removed.held();
        Some(removed)
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.latest = None;
        self.held = 0;
    }

    /// Takes a statement's long parameters; `None` when one of them went over the bound.
    pub(super) fn take_long(&mut self, id: u32) -> Option<BTreeMap<u16, Bytes>> {
        let Some(statement) = self.open.get_mut(&id) else { return Some(BTreeMap::new()) };
        self.held -= statement.held();
        let long = std::mem::take(&mut statement.long);
        if std::mem::take(&mut statement.overflow) {
            return None;
        }
        Some(long.into_iter().map(|(index, data)| (index, data.freeze())).collect())
    }

    /// Appends a piece of a long parameter. There is no answer to it: errors wait for the execution.
    pub(super) fn long_data(&mut self, id: u32, parameter: u16, data: &[u8]) {
        let Some(statement) = self.open.get_mut(&self.meant(id)) else { return };
        if usize::from(parameter) >= statement.parameters {
            return;
        }
        if self.held + data.len() > self.bound {
            statement.overflow = true;
            self.held -= statement.held();
            statement.long.clear();
        }
        if !statement.overflow {
            self.held += data.len();
            statement.long.entry(parameter).or_default().extend_from_slice(data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement() -> Statement {
        let statement = pando_sql::parse("SELECT ?", &crate::dialect::SYNTAX).unwrap();
        let prepared = Prepared::new("SELECT ?".into(), statement, Vec::new());
        Statement::new(Arc::new(prepared), 1)
    }

    #[test]
    fn long_parameters_of_all_statements_share_one_bound() {
        let mut statements = Statements::new(10);
        let (a, b) = (statements.add(statement()), statements.add(statement()));
        statements.long_data(a, 0, b"123456");
        statements.long_data(b, 0, b"12345");
        statements.long_data(b, 0, b"1");
        assert!(statements.take_long(b).is_none());
        statements.long_data(b, 0, b"1234");
        assert_eq!(statements.take_long(b).unwrap()[&0], b"1234"[..]);
        assert_eq!(statements.take_long(a).unwrap()[&0], b"123456"[..]);
        statements.long_data(a, 0, b"0123456789");
        statements.remove(a);
        statements.long_data(b, 0, b"0123456789");
        assert_eq!(statements.take_long(b).unwrap()[&0].len(), 10);
    }
}
