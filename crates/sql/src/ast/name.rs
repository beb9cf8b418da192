//! Names, as they are written and as they are looked up.

use crate::span::Span;
#[cfg(doc)]
use crate::syntax::Syntax;

/// A name as written, with the quotes taken off and folded as the language says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ident {
    /// The whole token, quotes included.
    pub span: Span,
    /// The name that compares: unquoted, unescaped, folded when it was not quoted.
    pub value: String,
    /// It was quoted in the text.
    pub quoted: bool,
    /// Names of tables that differ from it by case only are others ([`Syntax::exact_tables`]).
    pub exact: bool,
}

impl Ident {
    /// What a table of this name, or one that is called so here, is looked up by: see [`Syntax::table_key`].
    pub fn key(&self) -> String {
        if self.exact { self.value.clone() } else { self.value.to_lowercase() }
    }

    /// Whether both mean one table where one of them may.
    pub fn is_alike(&self, other: &Self) -> bool {
        self.value == other.value
            || !(self.exact && other.exact) && self.value.eq_ignore_ascii_case(&other.value)
    }
}

/// A dotted name: `table`, `schema.table`, `catalog.schema.table`. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectName {
    /// The parts from left to right.
    pub parts: Vec<Ident>,
    /// From the first part's start to the last part's end.
    pub span: Span,
}

impl ObjectName {
    /// What a table of this name is looked up by, whatever its schema.
    pub fn key(&self) -> String {
        self.parts.last().map(Ident::key).unwrap_or_default()
    }
}
