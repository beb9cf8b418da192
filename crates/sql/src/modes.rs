//! What a session may change of how its texts are read. <https://dev.mysql.com/doc/refman/8.0/en/sql-mode.html>

use crate::syntax::Syntax;

/// The modes of a session that decide how its texts are read. The default reads as [`Syntax`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Modes {
    /// `"name"` is an identifier where it would be a string.
    pub ansi_quotes: bool,
    /// A backslash is a character like any other in strings.
    pub plain_backslashes: bool,
    /// White space may stand between a function's name and its parenthesis.
    pub ignore_space: bool,
    /// `||` joins strings where it would be OR.
    pub pipes_concatenate: bool,
}

impl Modes {
    /// Whether texts are cut otherwise than by default, or names are read otherwise.
    pub fn lex_otherwise(self) -> bool {
        self.ansi_quotes || self.plain_backslashes || self.ignore_space
    }
}

/// By what a text is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) syntax: &'a Syntax,
    pub(crate) modes: Modes,
}

impl<'a> From<&'a Syntax> for Reading<'a> {
    fn from(syntax: &'a Syntax) -> Self {
        Self { syntax, modes: Modes::default() }
    }
}
