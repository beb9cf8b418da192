//! The prepared statements of one client.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use pando_kernel::Prepared;

use super::shape::Shape;
use crate::codec::ParameterType;

/// Statements one client may keep open, as MySQL's `max_prepared_stmt_count` allows for all of them.
const MAX_STATEMENTS: usize = 16_382;

/// One prepared statement.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) prepared: Arc<Prepared>,
    pub(super) parameters: usize,
    /// Types of the last execution that sent some.
    pub(super) types: Vec<ParameterType>,
    /// Parameters that came in pieces.
    long: HashMap<u16, BytesMut>,
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
            long: HashMap::new(),
            overflow: false,
            cursor: None,
        }
    }

    /// Takes the long parameters; `None` when one of them went over the bound.
    pub(super) fn take_long(&mut self) -> Option<HashMap<u16, Bytes>> {
        let long = std::mem::take(&mut self.long);
        if std::mem::take(&mut self.overflow) {
            return None;
        }
        Some(long.into_iter().map(|(index, data)| (index, data.freeze())).collect())
    }

    /// Forgets long parameters.
    pub(super) fn reset(&mut self) {
        self.long.clear();
        self.overflow = false;
    }
}

/// A client's statements by number.
#[derive(Debug)]
pub(super) struct Statements {
    open: HashMap<u32, Statement>,
    last: u32,
    bound: usize,
}

impl Statements {
    /// No statements yet; long parameters of one statement may take `bound` bytes together.
    pub(super) fn new(bound: usize) -> Self {
        Self { open: HashMap::new(), last: 0, bound }
    }

    /// Whether one more may be opened.
    pub(super) fn has_room(&self) -> bool {
        self.open.len() < MAX_STATEMENTS
    }

    /// Keeps a statement; returns its number.
    pub(super) fn add(&mut self, statement: Statement) -> u32 {
        loop {
            // The number with all bits set means `the last one` to MariaDB's clients.
            self.last = if self.last >= u32::MAX - 1 { 1 } else { self.last + 1 };
            if !self.open.contains_key(&self.last) {
                break;
            }
        }
        self.open.insert(self.last, statement);
        self.last
    }

    pub(super) fn get(&mut self, id: u32) -> Option<&mut Statement> {
        self.open.get_mut(&id)
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<Statement> {
        self.open.remove(&id)
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    /// Appends a piece of a long parameter. There is no answer to it: errors wait for the execution.
    pub(super) fn long_data(&mut self, id: u32, parameter: u16, data: &[u8]) {
        let bound = self.bound;
        let Some(statement) = self.open.get_mut(&id) else { return };
        if usize::from(parameter) >= statement.parameters {
            return;
        }
        let held: usize = statement.long.values().map(BytesMut::len).sum();
        if held + data.len() > bound {
            statement.overflow = true;
            statement.long.clear();
        }
        if !statement.overflow {
            statement.long.entry(parameter).or_default().extend_from_slice(data);
        }
    }
}
