//! The names in a text, and whether they are called there.

use pando_sql::{Token, TokenKind};

/// A name as it stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// In lower case.
    pub name: String,
    /// What it is there.
    pub stands: Stands,
}

/// What a name is where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// Without a parenthesis behind it.
    Alone,
    /// Before a parenthesis, as a keyword, a table, an alias or a type; a function that users have made under this name
    /// may be meant all the same.
    Before,
    /// It calls a function.
    Called,
}

/// Names of more bytes are cut by some servers: they may mean another thing than they say.
const LONGEST: usize = 63;

/// Words behind which a name with a parenthesis is a table, an alias or a type.
const NAMING: &[&str] =
    &["as", "ignore", "insert", "into", "ordinality", "recursive", "table", "with"];

/// Words that stand in front of a parenthesis and call nothing. Sorted.
const UNCALLED: &[&str] = &[
    "all",
    "and",
    "any",
    "as",
    "bernoulli",
    "between",
    "binary",
    "bit",
    "by",
    "case",
    "character",
    "columns",
    "conflict",
    "constraint",
    "cube",
    "dec",
    "decimal",
    "distinct",
    "double",
    "else",
    "escape",
    "except",
    "exists",
    "fields",
    "filter",
    "from",
    "group",
    "having",
    "ignore",
    "ilike",
    "in",
    "index",
    "inner",
    "insert",
    "int2",
    "int4",
    "int8",
    "integer",
    "intersect",
    "into",
    "is",
    "join",
    "key",
    "lateral",
    "like",
    "limit",
    "lines",
    "materialized",
    "nchar",
    "not",
    "numeric",
    "of",
    "offset",
    "on",
    "or",
    "order",
    "over",
    "partition",
    "precision",
    "returning",
    "rollup",
    "select",
    "set",
    "sets",
    "signed",
    "similar",
    "smallint",
    "some",
    "system",
    "tablesample",
    "then",
    "tinyint",
    "to",
    "union",
    "unsigned",
    "update",
    "using",
    "value",
    "values",
    "varbinary",
    "varying",
    "when",
    "where",
    "with",
    "within",
    "xor",
];

/// The names in a text, in its order; `None` where one of them is written so that only the server can say what it
/// means. By the words, wherever they stand: a function may be called without parentheses (`t.f`), and a table may be
/// named where no table was expected. `uncalled`: further words, sorted, that call nothing before a parenthesis.
pub fn said(text: &str, tokens: &[Token], uncalled: &[&str]) -> Option<Vec<Said>> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Some(name) = token.name(text).map(|name| name.to_lowercase()) else {
            if token.kind == TokenKind::UnicodeIdentifier {
                return None;
            }
            continue;
        };
        if name.len() > LONGEST {
            return None;
        }
        let is_before = tokens.get(at + 1).is_some_and(|next| next.span.of(text) == "(");
        let is_keyword = token.kind == TokenKind::Word
            && (UNCALLED.binary_search(&&*name).is_ok() || uncalled.binary_search(&&*name).is_ok());
        let stands = match is_before {
            false => Stands::Alone,
            true if is_keyword || is_named(tokens, at, text) => Stands::Before,
            true => Stands::Called,
        };
        found.push(Said { name, stands });
    }
    Some(found)
}

/// Whether the name here, with a parenthesis behind it, is that of a table, an alias or a type.
fn is_named(list: &[Token], at: usize, text: &str) -> bool {
    let said = |at: usize| list.get(at).map_or("", |token| token.span.of(text));
    let is_name = |at: usize| list.get(at).is_some_and(|token| token.name(text).is_some());
    let mut at = at;
    while at >= 2 && said(at - 1) == "." && is_name(at - 2) {
        at -= 2;
    }
    let Some(before) = at.checked_sub(1) else { return false };
    match said(before) {
        ")" => !is_distinct_on(list, before, text),
        word => NAMING.contains(&&*word.to_lowercase()),
    }
}

/// Whether a parenthesis closes that of DISTINCT ON: what is selected stands right behind it.
fn is_distinct_on(list: &[Token], close: usize, text: &str) -> bool {
    let said = |at: usize| list.get(at).map_or("", |token| token.span.of(text));
    let mut depth = 0_u32;
    for at in (0..=close).rev() {
        match said(at) {
            ")" => depth += 1,
            "(" if depth == 1 => {
                return at >= 2
                    && said(at - 1).eq_ignore_ascii_case("on")
                    && said(at - 2).eq_ignore_ascii_case("distinct");
            }
            "(" => depth -= 1,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use pando_sql::{Fold, Placeholder, Syntax, tokenize};

    use super::*;

    const SYNTAX: Syntax = Syntax {
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

    /// The names that call something.
    fn called(text: &str) -> Option<Vec<String>> {
        let tokens = tokenize(text, &SYNTAX).unwrap();
        let said = said(text, &tokens.list, &["if"])?;
        let called = said.into_iter().filter(|one| one.stands == Stands::Called);
        Some(called.map(|one| one.name).collect())
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(UNCALLED.is_sorted());
    }

    #[test]
    fn calls_are_told_from_tables_aliases_and_types() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(called(text).unwrap(), expected, "{text}");
        };
        check("insert into s.t (a) values (f(1))", &["f"]);
        check("select g(x) from f(1) a (b), (select 1) c (d)", &["g", "f"]);
        check("with w (a) as (select 1) select \"F\"(a) from w", &["f"]);
        check("select distinct on (a, (b)) f(1), (a) as g from t", &["f"]);
        check("select a from t join u on (t.a = u.a) c (d)", &[]);
        check("for i in (1)..f(2) loop", &["f"]);
        check("if (a) then", &[]);
        check("select s . f (1)", &["f"]);
    }

    #[test]
    fn names_that_a_server_reads_otherwise_are_not_read() {
        assert_eq!(called("select U&\"f\\0061\"(1)"), None);
        assert_eq!(called(&format!("select * from {}", "a".repeat(64))), None);
        assert!(called(&format!("select * from {}", "a".repeat(63))).is_some());
    }
}
