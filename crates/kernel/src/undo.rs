//! Images of rows, by which a change that is committed on a storage unit can be taken back there: how a family reads and writes them, and where it
//! keeps them.

use std::fmt::Debug;

use crate::error::Result;
use crate::table::TableColumn;

/// How a column's values travel: as text that is exact, and back as a literal of the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The server's own text, written as a string.
    Plain,
    /// Text whose padding does not count.
    Padded,
    /// The server's own text, written as a bare number.
    Number,
    /// A float, read as a double.
    Float,
    /// The number that stands for a value: of a list, or bits.
    Coded,
    /// Octets as hexadecimal digits.
    Octets,
    /// A date, a time or both.
    Temporal,
    /// A moment, as seconds of the epoch or in UTC, whatever the session's time zone is.
    Moment,
    /// An amount of money as a number, whatever the session's locale is.
    Money,
}

impl Form {
    const ALL: [(Self, char); 9] = [
        (Self::Plain, 't'),
        (Self::Padded, 'c'),
        (Self::Number, 'n'),
        (Self::Float, 'f'),
        (Self::Coded, 'l'),
        (Self::Temporal, 'd'),
        (Self::Octets, 'x'),
        (Self::Moment, 'm'),
        (Self::Money, '$'),
    ];

    /// The letter it is stored as.
    pub fn letter(self) -> char {
        Self::ALL.iter().find(|(form, _)| *form == self).map_or('t', |(_, letter)| *letter)
    }

    /// The form stored as this letter.
    pub fn of_letter(letter: char) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == letter).map(|(form, _)| *form)
    }
}

/// How a family tells what a change did to rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// Every change may end in RETURNING, whose sub-queries see the rows as they were before the change.
    Returning,
    /// Rows are read under lock before the change, and once more after it.
    Reading,
}

/// How a family reads rows into images, and writes them back.
pub trait Images: Send + Sync + Debug {
    /// How changes are told.
    fn telling(&self) -> Telling;

    /// Refuses sessions under whose variables (name, value text) images would lose something.
    ///
    /// # Errors
    /// `Refused` with the variable.
    fn check(&self, variables: &[(String, String)]) -> Result<()>;

    /// A query whose rows are (what, name, detail) of everything about an actual table that matters to images of its rows:
    ///
    /// - `table`: its own name, and the schema where names have one;
    /// - `primary`: a column of the primary key; `unique`: a column of another unique index, and the index; the name is empty for an expression, and the
    ///   index is told once more as `part` where it holds only a part of a column;
    /// - `computed`, `always`, `stamped`, `reference`, `trigger` as [`crate::transfer::Obstacle`] has them;
    /// - `refused`: a reason why its rows have no images.
    fn facts_query(&self, schema: Option<&str>, table: &str) -> String;

    /// How a column's values travel.
    ///
    /// # Errors
    /// `Refused` for types whose values cannot.
    fn form(&self, column: &TableColumn) -> Result<Form>;

    /// The expression that reads a column (given as it is written in the statement) in its form.
    fn read(&self, form: Form, column: &str) -> String;

    /// The literal of a value that was read.
    ///
    /// # Errors
    /// `Value` when the text is none of this form.
    fn write(&self, form: Form, text: &str) -> Result<String>;
}

/// Names of Pando's own tables on a storage unit, as statements write them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoTables {
    /// Images, with the columns `global_id`, `statement_no`, `part_no`, `decider`, `deadline` (milliseconds of the epoch, by the unit's own clock), `state`,
    /// `note` and `image`; the first three are its key.
    pub undo: &'static str,
    /// Rows held by global transactions, with the columns `table_name`, `key_text` and `global_id`; the first two are its key.
    pub lock: &'static str,
}

/// Where a family keeps images, and what it says around restoring them.
pub trait Undo: Images {
    /// The names.
    fn tables(&self) -> UndoTables;

    /// A query with one row and one column: whether the tables are there.
    fn present_query(&self) -> &'static str;

    /// Statements that make the tables where they are missing. Run one after the other outside a transaction.
    fn definitions(&self) -> Vec<String>;

    /// The statement that claims these rows of the lock table (`('table', 'key', 'global'), …`), those that the same global transaction holds already
    /// included.
    fn claim(&self, rows: &str) -> String;

    /// Whether [`Undo::claim`] fails when another global transaction holds one of the rows, and the local transaction with it. Otherwise it leaves those
    /// rows as they are.
    fn claim_fails(&self) -> bool;

    /// A statement by which none of the session's statements is a transaction of its own any more, and the one that ends this: where a transaction may end
    /// by itself, what is already under way behind its end must not be committed alone. `None` where an error fails the transaction until its end.
    fn guard(&self) -> Option<(&'static str, &'static str)>;

    /// The unit's own clock as milliseconds of the epoch, a whole number.
    fn now(&self) -> &'static str;

    /// Statements before images are restored, and those that put the session back afterwards.
    fn around(&self) -> (&'static [&'static str], &'static [&'static str]);
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn every_form_has_its_own_letter() {
        for (form, letter) in Form::ALL {
            assert_eq!(form.letter(), letter);
            assert_eq!(Form::of_letter(letter), Some(form));
        }
        assert_eq!(Form::of_letter('?'), None);
    }
}
