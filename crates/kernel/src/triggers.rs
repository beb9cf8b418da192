//! What triggers run: a table of several parts has each trigger on every part, where its function sees one row of one
//! part. What hangs on more than that row has another outcome there than on one server.

mod made;
mod written;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Debug;

use crate::route::UnitName;
use crate::value::Value;

pub use made::Made;
pub use written::Written;

/// How a family tells what triggers run.
pub trait TriggerTexts: Send + Sync + Debug {
    /// A query for what [`TriggerTexts::read_triggers`] reads: users' routines, and which of them triggers run.
    fn triggers_query(&self) -> &'static str;

    /// What the rows of [`TriggerTexts::triggers_query`] say.
    fn read_triggers(&self, rows: &[Vec<Value>]) -> Triggers;

    /// What a routine would do that this text defines, where what it calls is as known.
    fn defined(&self, text: &str, known: &Triggers) -> Work;

    /// What an expression in a trigger's own text calls.
    fn condition(&self, text: &str, known: &Triggers) -> Work;
}

/// What is known of routines that triggers may run, on some storage units together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Triggers {
    /// By a routine's name, in lower case, what it does with all that it calls; of several of one name all of it.
    pub routines: HashMap<String, Work>,
    /// By a routine's name, in lower case, the triggers that run it, also where another one calls it.
    pub uses: HashMap<String, Vec<Use>>,
    /// Which storage units have each of these routines that is no vendor's, where what is told is of several.
    pub stand: HashMap<String, Vec<UnitName>>,
}

/// A trigger that runs a routine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// The actual table, in lower case.
    pub table: String,
    /// When it runs.
    pub fires: Fires,
}

/// When a trigger runs its function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fires {
    /// Before each row is written, which is what the function returns.
    BeforeRow,
    /// After each row.
    AfterRow,
    /// Once for a statement.
    Statement,
}

/// What a routine does, as far as its text tells. The empty one does nothing but with the values that it is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Work {
    /// Why it hangs on more than its row, where it does: the first thing that was found.
    pub beyond: Option<Beyond>,
    /// The tables that it reads and changes nothing of, in lower case.
    pub reads: BTreeSet<String>,
    /// Which columns of the row that is written it may change.
    pub assigns: Assigns,
    /// It tells something each time that it runs, by a notice or a notification.
    pub tells: bool,
    /// It takes the first row of a query over tables, whichever that is.
    pub picks: bool,
    /// All that it names or calls, in lower case.
    pub names: BTreeSet<String>,
}

/// Why a routine hangs on more than the row it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beyond {
    /// It changes tables, or reads them in a way of which not all tables are known.
    Tables,
    /// It asks what its table is called, which is another name on each part.
    PartName,
    /// Its text cannot be read for what it does.
    Unread,
    /// It calls this, of which that is not known, or which is of one storage unit alone.
    Calls(String),
}

/// Which columns of a row a routine may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assigns {
    /// These, in lower case.
    Fields(BTreeSet<String>),
    /// The one that the trigger's first argument names.
    FirstArgument,
    /// Any.
    Any,
}

impl Default for Assigns {
    fn default() -> Self {
        Self::Fields(BTreeSet::new())
    }
}

impl Beyond {
    /// What is said of a function that does so.
    pub fn told(&self, function: &str) -> String {
        match self {
            Self::Tables => format!("function `{function}` works with tables"),
            Self::PartName => {
                format!(
                    "function `{function}` asks what its table is called, which each part answers otherwise"
                )
            }
            Self::Unread => format!("it cannot be seen what function `{function}` does"),
            Self::Calls(name) => {
                format!(
                    "function `{function}` calls `{name}`, which is another thing on each storage unit or not known"
                )
            }
        }
    }
}

impl Triggers {
    /// A routine that reads the table, or view, of this key, in lower case; where it is not known which tables it works
    /// with, one that names it.
    pub fn reader_of(&self, key: &str) -> Option<&str> {
        let reads = |work: &Work| {
            let is_known = matches!(work.beyond, None | Some(Beyond::PartName | Beyond::Calls(_)));
            work.reads.contains(key) || !is_known && work.names.contains(key)
        };
        let mut all: Vec<&String> =
            self.routines.iter().filter(|(_, work)| reads(work)).map(|(name, _)| name).collect();
        all.sort_unstable();
        all.first().map(|name| name.as_str())
    }

    /// Takes in those of another storage unit.
    pub fn add(&mut self, other: Self) {
        for (name, units) in other.stand {
            self.stand.entry(name).or_default().extend(units);
        }
        for (name, work) in other.routines {
            self.routines.entry(name).or_default().add(&work);
        }
        for (name, uses) in other.uses {
            let own = self.uses.entry(name).or_default();
            for one in uses {
                if !own.contains(&one) {
                    own.push(one);
                }
            }
        }
    }
}

impl Work {
    /// Takes in what another one does.
    pub fn add(&mut self, other: &Self) {
        if self.beyond.is_none() {
            self.beyond.clone_from(&other.beyond);
        }
        self.reads.extend(other.reads.iter().cloned());
        self.names.extend(other.names.iter().cloned());
        self.tells |= other.tells;
        self.picks |= other.picks;
        self.assigns = match (std::mem::take(&mut self.assigns), &other.assigns) {
            (Assigns::Fields(mut own), Assigns::Fields(fields)) => {
                own.extend(fields.iter().cloned());
                Assigns::Fields(own)
            }
            (Assigns::FirstArgument, Assigns::FirstArgument) => Assigns::FirstArgument,
            (Assigns::Fields(own), Assigns::FirstArgument) if own.is_empty() => {
                Assigns::FirstArgument
            }
            (Assigns::FirstArgument, Assigns::Fields(own)) if own.is_empty() => {
                Assigns::FirstArgument
            }
            _ => Assigns::Any,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_unit_does_the_other_may_do() {
        let fields =
            |list: &[&str]| Assigns::Fields(list.iter().map(|name| (*name).to_owned()).collect());
        let check = |one: Assigns, other: Assigns, expected: Assigns| {
            let mut work = Work { assigns: one, ..Work::default() };
            work.add(&Work { assigns: other, ..Work::default() });
            assert_eq!(work.assigns, expected);
        };
        check(fields(&["a"]), fields(&["b"]), fields(&["a", "b"]));
        check(fields(&["a"]), Assigns::FirstArgument, Assigns::Any);
        check(fields(&[]), Assigns::FirstArgument, Assigns::FirstArgument);
        check(Assigns::Any, fields(&[]), Assigns::Any);
    }
}
