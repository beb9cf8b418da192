//! Whether a statement is DistSQL or SQL, by its first words.

use pando_sql::{Token, TokenKind};

use crate::tables::{GONE, HEADS, STAYS_SQL};

/// A statement is one of the table's, right or wrong, and not SQL of a vendor.
pub(crate) fn is_distsql(text: &str, tokens: &[Token]) -> bool {
    let first = tokens.first().map_or("", |token| token.span.of(text)).as_bytes();
    let Some(letters) = letters(first) else { return false };
    // Most statements end here.
    if LETTERS.get(letters.0).is_none_or(|thirds| thirds & letters.1 == 0) {
        return false;
    }
    let begins = |head: &&str| self::letters(head.as_bytes()) == Some(letters);
    let heads = HEADS.iter().copied().chain(GONE.iter().map(|gone| gone.head));
    heads.filter(begins).any(|head| fits(head, text, tokens))
        && !STAYS_SQL.iter().any(|head| fits(head, text, tokens))
        || asks_for_help(text, tokens)
        || fits("HELP", text, tokens) && quoted_help(text).is_some()
}

/// What the mariadb and mysql clients make of `HELP DISTSQL LIKE '%x%'`, read back: they send the words behind HELP as
/// a string, `help 'DISTSQL LIKE \'%x%\''`.
pub(crate) fn quoted_help(text: &str) -> Option<String> {
    let (help, rest) = text.trim_start().split_at_checked(4)?;
    let words = rest.trim().trim_end_matches(';').trim_end();
    let words = words.strip_prefix('\'')?.strip_suffix('\'')?;
    let is_about_us = help.eq_ignore_ascii_case("HELP")
        && words.get(..7).is_some_and(|first| first.eq_ignore_ascii_case("DISTSQL"));
    is_about_us.then(|| format!("HELP {}", words.replace("\\'", "'")))
}

/// A statement is about the rules that these words stand for, right or wrong. `SHOW x` alone is a setting of PostgreSQL.
pub(crate) fn is_about(words: &str, text: &str, tokens: &[Token]) -> bool {
    let raw = |at: usize| tokens.get(at).map_or("", |token: &Token| token.span.of(text));
    let first = words.split(' ').next().unwrap_or_default();
    let is_changed =
        ["CREATE", "ALTER", "DROP"].iter().any(|verb| raw(0).eq_ignore_ascii_case(verb));
    let is_shown = raw(0).eq_ignore_ascii_case("SHOW") && !matches!(raw(2), "" | ";");
    (is_changed || is_shown) && raw(1).eq_ignore_ascii_case(first)
}

/// HELP alone, which no server answers: what it takes is told by the error.
fn asks_for_help(text: &str, tokens: &[Token]) -> bool {
    let behind = tokens.get(1..).unwrap_or_default();
    fits("HELP", text, tokens) && behind.iter().all(|token| token.span.of(text) == ";")
}

/// For each first letter of a head the third letters behind it, as bits: SELECT, INSERT, UPDATE and DELETE are told apart by these two.
static LETTERS: [u32; 32] = thirds();

const fn thirds() -> [u32; 32] {
    let mut all = [0; 32];
    let mut i = 0;
    while i < HEADS.len() {
        with(&mut all, HEADS[i]);
        i += 1;
    }
    let mut i = 0;
    while i < GONE.len() {
        with(&mut all, GONE[i].head);
        i += 1;
    }
    all
}

const fn with(all: &mut [u32; 32], head: &str) {
    if let Some((first, third)) = letters(head.as_bytes()) {
        all[first] |= third;
    }
}

/// The first letter's place and the third one's bit, in any case; none for shorter words.
const fn letters(word: &[u8]) -> Option<(usize, u32)> {
    match word {
        [first, _, third, ..] => Some(((*first & 31) as usize, 1 << (*third & 31))),
        _ => None,
    }
}

/// Why a statement that no entry reads is none of ours, where ShardingSphere has or had it.
pub(crate) fn gone(text: &str, tokens: &[Token]) -> Option<&'static str> {
    GONE.iter().find(|gone| fits(gone.head, text, tokens)).map(|gone| gone.why)
}

fn fits(head: &str, text: &str, tokens: &[Token]) -> bool {
    head.split(' ').enumerate().all(|(at, wanted)| {
        let Some(token) = tokens.get(at) else { return false };
        let raw = token.span.of(text);
        match wanted {
            "*" => raw != ";",
            "=" => raw == "=",
            word => token.kind == TokenKind::Word && raw.eq_ignore_ascii_case(word),
        }
    })
}

#[cfg(test)]
mod tests {
    use pando_sql::{Fold, Placeholder, Syntax};

    use super::*;
    use crate::error::ErrorKind;
    use crate::tables::entries;

    const BACKTICKS: Syntax = Syntax {
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
    const DOLLARS: Syntax = Syntax {
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

    fn belongs(text: &str) -> [bool; 2] {
        [BACKTICKS, DOLLARS].map(|syntax| {
            let tokens = pando_sql::tokenize(text, &syntax).expect("an example that can be cut");
            is_distsql(text, &tokens.list)
        })
    }

    #[test]
    fn every_example_belongs_behind_either_door() {
        for example in entries().flat_map(|entry| entry.examples) {
            assert_eq!(belongs(example), [true, true], "{example}");
        }
    }

    #[test]
    fn statements_of_the_vendors_stay_sql() {
        for text in [
            "SHOW TABLES",
            "SHOW FULL TABLES",
            "SHOW VARIABLES",
            "SHOW VARIABLES LIKE 'x'",
            "SHOW GLOBAL VARIABLES",
            "SHOW ALL",
            "SHOW variable",
            "SHOW sharding;",
            "SHOW single",
            "SHOW STATUS",
            "SHOW STATUS LIKE 'Q%'",
            "SHOW STORAGE ENGINES",
            "SHOW PLUGINS",
            "SHOW DATABASES",
            "SHOW TABLE STATUS",
            "SHOW TABLE STATUS FROM d",
            "SHOW TRANSACTION ISOLATION LEVEL",
            "SHOW KEYS FROM t",
            "SHOW CREATE TABLE t",
            "SHOW DEFAULT_TRANSACTION_ISOLATION",
            "SET variable = 1",
            "SET variable TO 1",
            "SET DEFAULT ROLE ALL TO u",
            "SET x = 1",
            "CREATE TABLE sharding (id INT)",
            "CREATE DATABASE shop",
            "DROP DATABASE shop",
            "USE shop",
            "CREATE DEFAULT CONVERSION c FOR 'a' TO 'b' FROM f",
            "CREATE RULE r AS ON INSERT TO t DO NOTHING",
            "CREATE SHARDED_TABLE",
            "ALTER TABLE t ADD c INT",
            "ALTER DATABASE d SET x = 1",
            "ALTER RESOURCE GROUP g DISABLE",
            "DROP RESOURCE GROUP g",
            "DROP TABLE broadcast",
            "LOCK cluster",
            "LOCK TABLE cluster IN SHARE MODE",
            "LOCK TABLES t READ",
            "UNLOCK TABLES",
            "LOAD DATA INFILE 'f' INTO TABLE t",
            "LOAD 'lib'",
            "IMPORT FOREIGN SCHEMA s FROM SERVER x INTO y",
            "IMPORT TABLE FROM 'f'",
            "REFRESH MATERIALIZED VIEW v",
            "HELP 'contents'",
            "START TRANSACTION",
            "START REPLICA",
            "STOP REPLICA",
            "COMMIT",
            "COMMIT PREPARED 'x'",
            "ROLLBACK TO migration",
            "CHECK TABLE t",
            "DROP TABLE migration",
            "ALTER TABLE streaming ADD c INT",
            "RESET scaling",
            "RESET ALL",
            "SHOW migration",
            "SHOW traffic;",
            "SET sharding = 1",
            "CREATE TABLE traffic (id INT)",
            "SELECT count(*) FROM register",
            "\"REGISTER\"",
            "",
            ";",
        ] {
            assert_eq!(belongs(text), [false, false], "{text}");
        }
    }

    #[test]
    fn a_slip_behind_the_first_words_still_belongs() {
        for text in [
            "HELP",
            "help 'DISTSQL'",
            "help;",
            "create sharding tabel rule",
            "REGISTER STORAGE UNITS x",
            "count x",
            "show mask x",
        ] {
            assert_eq!(belongs(text), [true, true], "{text}");
        }
    }

    #[test]
    fn what_there_is_no_more_belongs_and_is_told_from_a_slip() {
        for gone in GONE {
            assert_eq!(belongs(gone.example), [true, true], "{}", gone.example);
            let error = crate::parse(gone.example).expect_err(gone.example);
            assert_eq!((error.kind, error.message.as_str()), (ErrorKind::NotSupported, gone.why));
            let tokens = pando_sql::tokenize(gone.example, &BACKTICKS).expect("it can be cut");
            assert!(fits(gone.head, gone.example, &tokens.list), "{}", gone.example);
        }
        let slip = crate::parse("SHOW SHARDING TABEL RULES").expect_err("a slip");
        assert_eq!(slip.kind, ErrorKind::Syntax);
    }

    #[test]
    fn the_common_statements_of_sql_are_told_apart_by_two_letters() {
        for word in ["SELECT", "insert", "UPDATE", "delete", "BEGIN", "REPLACE", "WITH", "VALUES"] {
            let (first, third) = letters(word.as_bytes()).expect("three letters");
            assert_eq!(LETTERS[first] & third, 0, "{word}");
        }
    }

    #[test]
    fn every_head_begins_an_example() {
        let texts: Vec<&str> = entries().flat_map(|entry| entry.examples).copied().collect();
        for head in HEADS {
            let begins = |text: &&str| {
                let tokens =
                    pando_sql::tokenize(text, &BACKTICKS).expect("an example that can be cut");
                fits(head, text, &tokens.list)
            };
            assert!(texts.iter().any(begins), "no example begins with {head}");
        }
    }

    #[test]
    fn help_that_a_client_has_put_in_quotes_is_read() {
        for (text, expected) in [
            ("help 'DISTSQL'", Some("HELP DISTSQL")),
            ("help 'distsql';", Some("HELP distsql")),
            ("HELP  'DISTSQL LIKE \\'%UNIT%\\''", Some("HELP DISTSQL LIKE '%UNIT%'")),
            ("help 'contents'", None),
            ("help", None),
        ] {
            assert_eq!(quoted_help(text).as_deref(), expected, "{text}");
        }
        assert!(crate::parse("help 'DISTSQL LIKE \\'%UNIT%\\''").is_ok());
    }
}
