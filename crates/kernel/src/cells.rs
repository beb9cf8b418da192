//! Cells of a reply that are told otherwise than the storage unit has them: a column that is kept encrypted, or shown
//! in part.

use std::fmt::Debug;
use std::sync::Arc;

use crate::column::Column;
use crate::declared::DeclaredType;
use crate::error::Result;
use crate::merge::Position;
use crate::value::Value;

/// What becomes of the cells of one column. A room keeps one for each of its columns and gives it again for each
/// statement: a plan is known again by it. Pure.
pub trait CellTurn: Send + Sync + Debug {
    /// Changes what the client is told of the column: by default nothing. Its format stays as it is: values are written
    /// in that.
    fn column(&self, _column: &mut Column) {}

    /// The type that the client is told of the column, where it is not the stored one's.
    fn declared(&self) -> Option<DeclaredType> {
        None
    }

    /// What is told in the place of a stored value. NULL is not asked for: it stays.
    ///
    /// # Errors
    /// `Value` when it is not one that could have been stored. The statement has then failed, but what it has changed
    /// on a storage unit outside a transaction stays.
    fn value(&self, value: Value) -> Result<Value>;

    /// Whether what is told becomes what was stored when a statement brings it back as a literal. By default it does
    /// not, and statements that write what they have read before are refused.
    fn goes_back(&self) -> bool {
        false
    }
}

/// Which column is turned, and how.
#[derive(Debug, Clone)]
pub struct CellMap {
    /// The column, by its place among the visible ones or by its label. Who returns rows of a change knows the place.
    pub at: Position,
    /// What becomes of its cells.
    pub turn: Arc<dyn CellTurn>,
}

impl PartialEq for CellMap {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at && Arc::ptr_eq(&self.turn, &other.turn)
    }
}
