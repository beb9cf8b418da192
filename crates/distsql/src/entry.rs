//! One line of the grammar table.

use crate::command::Command;
use crate::error::Result;
use crate::tree::Part;

/// Which of DistSQL's four languages a statement belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// Resource and rule definition: changes a database's configuration.
    Rdl,
    /// Resource and rule query: answers rows about a database's configuration.
    Rql,
    /// Resource and rule administration: changes or shows what belongs to no one database.
    Ral,
    /// Resource utility: tells about a statement without running it.
    Rul,
}

impl Category {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::Rdl, Self::Rql, Self::Ral, Self::Rul];

    /// `RDL`, `RQL`, `RAL` or `RUL`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rdl => "RDL",
            Self::Rql => "RQL",
            Self::Ral => "RAL",
            Self::Rul => "RUL",
        }
    }

    /// What the letters stand for.
    pub fn title(self) -> &'static str {
        match self {
            Self::Rdl => "Resource and rule definition",
            Self::Rql => "Resource and rule query",
            Self::Ral => "Resource and rule administration",
            Self::Rul => "Utilities",
        }
    }
}

/// Which releases of ShardingSphere write a statement so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Age {
    /// Only current ones (5.2 and later), or Pando alone.
    Current,
    /// Only those of the paper's time (5.0 and 5.1), and a few up to 5.4.
    Old,
    /// Both.
    Both,
}

impl Age {
    /// `current`, `5.0` or `both`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Old => "5.0",
            Self::Both => "both",
        }
    }
}

/// One statement of the grammar. Parser, help, documentation and tests all come from this.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The words by which people know the statement; unique in the table.
    pub name: &'static str,
    /// Which of the four languages it belongs to.
    pub category: Category,
    /// Which releases write it so.
    pub age: Age,
    /// The grammar, in the notation that [`crate::help::NOTATION`] explains. The parser runs this very text.
    pub syntax: &'static str,
    /// Names of the result's columns, in order; empty for a statement that answers no rows.
    pub columns: &'static [&'static str],
    /// One line for people; whether the rules it makes are served, [`crate::help`] adds.
    pub help: &'static str,
    /// Statements that it accepts; never empty.
    pub examples: &'static [&'static str],
    /// Statements that it must not accept, each with the error it gives; never empty in the table, and none
    /// of what rooms bring.
    pub wrong: &'static [(&'static str, &'static str)],
    /// From what the grammar found to a command.
    pub(crate) build: fn(Part<'_>) -> Result<Command>,
}

/// A piece of grammar that several statements share.
#[derive(Debug, Clone, Copy)]
pub struct Fragment {
    /// How other syntax texts call it.
    pub name: &'static str,
    /// Its grammar, in the same notation.
    pub syntax: &'static str,
    /// What an error says was expected where it could have begun, such as `a table`. Empty: its first words are named instead.
    pub title: &'static str,
}
