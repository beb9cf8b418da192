//! The two languages the tests speak. The constants that ship live in the database crates.

use pando_sql::{Fold, Placeholder, Syntax};

/// Backticks, `?`, backslash escapes, `@variables`.
pub(crate) const COMMAS: Syntax = Syntax {
    fold: Fold::Keep,
    exact_tables: false,
    placeholder: Placeholder::Question,
    backtick_identifiers: true,
    double_quoted_strings: true,
    backslash_escapes: true,
    dollar_strings: false,
    hash_comments: true,
    dash_comment_needs_space: true,
    nested_comments: false,
    executable_comments: true,
    casts_with_colons: false,
    limit_with_comma: true,
    pipes_concatenate: false,
};

/// Double quotes, `$n`, dollar strings, `::` casts.
pub(crate) const COLONS: Syntax = Syntax {
    fold: Fold::Lower,
    exact_tables: true,
    placeholder: Placeholder::Dollar,
    backtick_identifiers: false,
    double_quoted_strings: false,
    backslash_escapes: false,
    dollar_strings: true,
    hash_comments: false,
    dash_comment_needs_space: false,
    nested_comments: true,
    executable_comments: false,
    casts_with_colons: true,
    limit_with_comma: false,
    pipes_concatenate: true,
};
