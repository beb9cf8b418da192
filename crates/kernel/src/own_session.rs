//! What belongs to a session of a server: what it is told for one statement alone, whose rights count in it, what it is
//! told by others.

use std::fmt::Debug;

use pando_sql::Modes;

use crate::notifications::Notifications;
use crate::roles::Roles;
use crate::value::Value;

/// A session variable of a server's that is set for a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aside {
    /// The variable, in lower case: a session that has set it keeps its own.
    pub variable: &'static str,
    /// The statement that sets it.
    pub sets: &'static str,
    /// The statement that takes it back.
    pub takes_back: &'static str,
}

/// What sessions of a family's servers have.
pub trait OwnSession: Send + Sync + Debug {
    /// How a client's texts are read in a session that has been told these parameters.
    fn modes(&self, _told: &[(String, String)]) -> Modes {
        Modes::default()
    }

    /// What a server is told before a question about its catalogue that is answered as one of all units, and what takes
    /// it back; `None` where that is nothing.
    fn aside(&self) -> Option<Aside> {
        None
    }

    /// Whose rights may count beside those of who has logged in; `None` where a session is whoever it began as.
    fn roles(&self) -> Option<&dyn Roles> {
        None
    }

    /// How sessions tell each other over channels; `None` where there are none.
    fn notifications(&self) -> Option<&dyn Notifications> {
        None
    }

    /// What asks a server by which collation an expression's text compares, where user variables keep one; `None` where
    /// servers have no such variables.
    fn collation_of(&self, _expression: &str) -> Option<String> {
        None
    }

    /// The text under which a user variable keeps a value, `literal`, whose text compares by this collation, so that it
    /// is of the same type and collation wherever it is set again.
    fn kept_value(&self, _value: &Value, literal: String, _collation: &str) -> String {
        literal
    }

    /// The literal in such a text.
    fn literal_in<'a>(&self, kept: &'a str) -> &'a str {
        kept
    }
}
