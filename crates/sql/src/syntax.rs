//! What differs between the SQL languages, as plain switches. No vendor is named here: each database crate declares its own constant.

/// How unquoted identifiers compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// Unquoted identifiers fold to lower case, quoted ones keep theirs.
    Lower,
    /// Identifiers keep their case and compare without regard to it.
    Keep,
}

/// How parameters are written in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder {
    /// `?`, numbered by position.
    Question,
    /// `$1`, `$2`, …
    Dollar,
}

/// The lexical and grammatical switches of one SQL language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    /// How unquoted identifiers compare.
    pub fold: Fold,
    /// Tables and aliases whose names differ by case only are different ones.
    pub exact_tables: bool,
    /// How parameters are written.
    pub placeholder: Placeholder,
    /// `` `name` `` is an identifier.
    pub backtick_identifiers: bool,
    /// `"text"` is a string, not an identifier.
    pub double_quoted_strings: bool,
    /// A backslash escapes inside plain strings (otherwise only inside `E'…'`).
    pub backslash_escapes: bool,
    /// `$tag$ … $tag$` is a string.
    pub dollar_strings: bool,
    /// `#` starts a comment to the end of the line.
    pub hash_comments: bool,
    /// `--` starts a comment only when white space or the end follows.
    pub dash_comment_needs_space: bool,
    /// `/* /* */ */` nests.
    pub nested_comments: bool,
    /// `/*! … */` and `/*!50100 … */`: the content is part of the statement.
    pub executable_comments: bool,
    /// `expr::type`, `ILIKE`, `RETURNING`, `DISTINCT ON`, `@>` and the like.
    pub casts_with_colons: bool,
    /// `LIMIT offset, count`, `ON DUPLICATE KEY UPDATE`, `@variable`, `REPLACE`.
    pub limit_with_comma: bool,
    /// `||` joins strings (otherwise it is OR).
    pub pipes_concatenate: bool,
}

impl Syntax {
    /// What the table of this name is looked up by: the name itself, in lower case where case does not tell tables apart.
    pub fn table_key(&self, name: &str) -> String {
        if self.exact_tables { name.to_owned() } else { name.to_lowercase() }
    }
}
