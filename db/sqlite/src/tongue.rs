//! In which language a statement is written.

use pando_sql::{Fold, Placeholder, Syntax};

/// What is the same in all languages, as far as there is such a thing; where they differ, standard SQL.
pub const SYNTAX: Syntax = Syntax {
    fold: Fold::Keep,
    exact_tables: false,
    placeholder: Placeholder::Question,
    backtick_identifiers: true,
    double_quoted_strings: false,
    backslash_escapes: false,
    dollar_strings: false,
    hash_comments: false,
    dash_comment_needs_space: false,
    nested_comments: false,
    executable_comments: false,
    casts_with_colons: true,
    limit_with_comma: true,
    pipes_concatenate: true,
};

const MYSQL: Syntax = Syntax {
    double_quoted_strings: true,
    backslash_escapes: true,
    hash_comments: true,
    dash_comment_needs_space: true,
    executable_comments: true,
    casts_with_colons: false,
    pipes_concatenate: false,
    ..SYNTAX
};

/// Names compare without regard to case in SQLite, so they are folded like those of its own clients.
const POSTGRES: Syntax = Syntax {
    fold: Fold::Lower,
    placeholder: Placeholder::Dollar,
    backtick_identifiers: false,
    dollar_strings: true,
    nested_comments: true,
    limit_with_comma: false,
    ..SYNTAX
};

/// A language statements may be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Tongue {
    /// Not known.
    #[default]
    Any,
    /// That of the door `mysql`.
    MySql,
    /// That of the door `postgres`.
    Postgres,
}

impl Tongue {
    /// The language of a door, named by its family.
    pub(crate) fn of(door: &str) -> Option<Self> {
        match door {
            "mysql" => Some(Self::MySql),
            "postgres" => Some(Self::Postgres),
            _ => None,
        }
    }

    pub(crate) fn syntax(self) -> &'static Syntax {
        match self {
            Self::Any => &SYNTAX,
            Self::MySql => &MYSQL,
            Self::Postgres => &POSTGRES,
        }
    }
}
