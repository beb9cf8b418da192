//! A statement taken apart: which rows are read first, and where they stand in it.

use pando_kernel::column::Column;
use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, Result};
use pando_kernel::relation::{Carried, Inline, PREFIX, Relations, Stands};
use pando_kernel::route::UnitName;
use pando_sql::ast::{Kind, Statement};
use pando_sql::{Edits, Span};

/// A statement to be answered at one unit over rows read before.
#[derive(Debug, Clone)]
pub struct Assembly {
    /// What is read first: each logic table once.
    pub reads: Vec<Read>,
    pub(super) places: Vec<Place>,
    pub(super) rest: Statement,
    /// What else changes in the statement's text.
    pub(super) edits: Edits,
    pub(super) at: UnitName,
    /// That is the connection of the session's temporary tables.
    pub(super) is_beside: bool,
}

/// One table's rows.
#[derive(Debug, Clone)]
pub struct Read {
    /// The table as the statement names it; empty where it is read in groups.
    pub table: String,
    /// The query that gives them, over logic tables; its rows must come as text.
    pub text: String,
    /// What its columns are.
    pub columns: Vec<Typed>,
    /// It names what is stored: it goes past the rooms that have columns stored otherwise than clients see them.
    pub is_about_stored: bool,
}

/// What is known of a column's type before it is read.
#[derive(Debug, Clone)]
pub enum Typed {
    /// All.
    Known(Carried),
    /// It is that of the answer; of a text the collation is that of this column.
    AsRead {
        /// What it is called among the rows.
        name: String,
        /// The column whose least or greatest value it is.
        like: Option<TableColumn>,
    },
}

impl Typed {
    /// The column as it travels, once the answer's columns are there.
    ///
    /// # Errors
    /// `Refused` when the answer's type cannot travel.
    pub fn settled(&self, relations: &dyn Relations, answer: &Column) -> Result<Carried> {
        let (name, like) = match self {
            Self::Known(carried) => return Ok(carried.clone()),
            Self::AsRead { name, like } => (name, like),
        };
        let column = relations.answered(answer, like.as_ref()).ok_or_else(|| {
            Error::uncarried(
                30001,
                format!(
                    "values like those of `{}` cannot travel between storage units",
                    answer.name
                ),
                "narrow it to one shard by an equality on the sharding key",
            )
        })?;
        let column = TableColumn { name: name.clone(), ..column };
        Ok(Carried { column, is_key: false, is_compared: false })
    }
}

/// Where a table stands in the statement.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) span: Span,
    /// What stands around the table there.
    pub(super) before: String,
    pub(super) after: String,
    pub(super) read: usize,
}

impl Assembly {
    /// The tables to be written, in order of their places: which read fills each.
    pub fn tables(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().map(|place| place.read)
    }

    /// Names for its tables while nothing is read.
    pub fn unread(&self) -> Vec<Inline> {
        let named = |read: usize| Inline { before: Vec::new(), table: format!("{PREFIX}{read}") };
        self.tables().map(named).collect()
    }

    /// Whether there is another form of it, which does not hang on the types of answers.
    pub fn is_of_groups(&self) -> bool {
        let as_read = |typed: &Typed| matches!(typed, Typed::AsRead { .. });
        self.reads.iter().any(|read| read.columns.iter().any(as_read))
    }

    /// Whether it changes a table: it then goes to that table's shards, each of which gets the tables of rows.
    pub fn changes(&self) -> bool {
        !matches!(self.rest.kind, Kind::Select(_))
    }

    /// Where its tables stand.
    pub fn stands(&self) -> Stands {
        match self.changes() || self.is_beside {
            true => Stands::InTransaction,
            false => Stands::Apart,
        }
    }
}
