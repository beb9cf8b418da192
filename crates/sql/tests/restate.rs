//! Statements of sessions with modes of their own, as they are written in any other.
#![allow(clippy::panic, reason = "helpers of tests may panic like tests")]

mod common;

use common::{COLONS, COMMAS};
use pando_sql::{Likes, Misread, Modes, restate, split_under};

const NONE: Modes = Modes {
    ansi_quotes: false,
    plain_backslashes: false,
    ignore_space: false,
    pipes_concatenate: false,
};
const ANSI_QUOTES: Modes = Modes { ansi_quotes: true, ..NONE };
const PLAIN: Modes = Modes { plain_backslashes: true, ..NONE };
const SPACE: Modes = Modes { ignore_space: true, ..NONE };
const PIPES: Modes = Modes { pipes_concatenate: true, ..NONE };
const ALL: Modes = Modes {
    ansi_quotes: true,
    plain_backslashes: true,
    ignore_space: true,
    pipes_concatenate: true,
};

fn check(modes: Modes, likes: Likes, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let restated =
            restate(text, &COMMAS, modes, likes).unwrap_or_else(|why| panic!("{text}: {why:?}"));
        assert_eq!(restated.as_deref().unwrap_or("="), *expected, "{text}");
    }
}

#[test]
fn without_modes_nothing_changes() {
    for syntax in [&COMMAS, &COLONS] {
        let text = r#"SELECT "a" || 'b', count (*)"#;
        assert_eq!(restate(text, syntax, NONE, Likes::Plain), Ok(None));
    }
}

#[test]
fn names_between_double_quotes_stand_between_backticks() {
    check(
        ANSI_QUOTES,
        Likes::Escape,
        &[
            ("SELECT 1", "="),
            (r#"SELECT "a" FROM "b"."c""#, "SELECT `a` FROM `b`.`c`"),
            (r#"SELECT "a""b`c" x"#, r#"SELECT `a"b``c` x"#),
            // Two names stay two.
            (r#"SELECT `a`"b`c"`d`"#, "SELECT `a` `b``c` `d`"),
            (r#"SELECT "a""b" "c""d""#, r#"SELECT `a"b` `c"d`"#),
            (
                r#"SELECT 'a"' "b", "it's \", "c\\" -- "x""#,
                r#"SELECT 'a"' `b`, `it's \`, `c\\` -- "x""#,
            ),
            (r#"SELECT @"a""b", @'a"'"#, "SELECT @`a\"b` AS `@\"a\"\"b\"`, @'a\"'"),
            (
                r#"SELECT /*!50000 "a" */ /* " */ 'x\'"'"#,
                r#"SELECT /*!50000 `a` */ /* " */ 'x\'"'"#,
            ),
        ],
    );
}

#[test]
fn backslashes_that_are_characters_are_escaped() {
    check(
        PLAIN,
        Likes::Escape,
        &[
            ("SELECT 'a'", "="),
            (r"SELECT 'a\', '\'''", r"SELECT 'a\\', '\\'''"),
            (r#"SELECT "a\", N'\n', x'41'"#, r#"SELECT "a\\", N'\\n', x'41'"#),
            (r"SELECT @'a\', `b\`", r"SELECT @'a\\' AS `@'a\'`, `b\`"),
            (r"SELECT concat('\', 1) FROM t", r"SELECT concat('\\', 1) AS `concat('\', 1)` FROM t"),
            (r"SELECT a FROM t WHERE a LIKE 'x\_'", r"SELECT a FROM t WHERE a LIKE 'x\\_'"),
        ],
    );
    assert!(matches!(
        restate(r"SELECT 'a\'; x'", &COMMAS, PLAIN, Likes::Escape),
        Err(Misread::Syntax(_))
    ));
}

#[test]
fn a_pattern_in_which_a_backslash_is_a_character_says_so() {
    check(
        PLAIN,
        Likes::Plain,
        &[
            (r"SELECT a FROM t WHERE a LIKE 'x_'", "="),
            (r"SELECT a FROM t WHERE a LIKE b", r"SELECT a FROM t WHERE a LIKE b ESCAPE ''"),
            (
                r"SELECT a NOT LIKE ('\') FROM t",
                r"SELECT a NOT LIKE ('\\') ESCAPE '' AS `a NOT LIKE ('\')` FROM t",
            ),
            (r"SELECT a FROM t WHERE a LIKE concat(?, '%') ESCAPE '|'", "="),
            ("CREATE TABLE a LIKE b", "="),
            ("SHOW TABLES LIKE 'a%'", "="),
        ],
    );
    check(
        Modes { pipes_concatenate: true, ..PLAIN },
        Likes::Plain,
        &[
            (
                "SELECT a FROM t WHERE a LIKE '%' || b || '%'",
                "SELECT a FROM t WHERE a LIKE CONCAT('%', b, '%') ESCAPE ''",
            ),
            ("SELECT a FROM t WHERE a LIKE '%' AND b = ''", "="),
        ],
    );
    for (likes, text) in [
        (Likes::Unsure, "SELECT a FROM t WHERE a LIKE b"),
        (Likes::Plain, r"SHOW TABLES LIKE 'a\_'"),
        (Likes::Plain, "CREATE PROCEDURE p() SELECT 1 FROM t WHERE a LIKE b"),
    ] {
        let restated = restate(text, &COMMAS, PLAIN, likes);
        assert!(matches!(restated, Err(Misread::Differs(..))), "{text}: {restated:?}");
    }
    let text = "CREATE PROCEDURE p() SELECT 1 FROM t WHERE a LIKE '%' || b";
    assert_eq!(restate(text, &COMMAS, PLAIN, Likes::Plain), Ok(None));
    let modes = Modes { pipes_concatenate: true, ..PLAIN };
    let restated = restate(text, &COMMAS, modes, Likes::Plain);
    assert!(matches!(restated, Err(Misread::Differs(..))), "{restated:?}");
}

#[test]
fn functions_stand_in_front_of_their_parentheses() {
    check(
        SPACE,
        Likes::Escape,
        &[
            ("SELECT f (1), (2)", "="),
            (
                "SELECT count \t(*), max(a) FROM t HAVING NOW \n() IN (1)",
                "SELECT count(*) AS `count \t(*)`, max(a) FROM t HAVING NOW() IN (1)",
            ),
            ("SELECT count /* */ (*), x.count (1)", "="),
            ("CREATE TABLE count (a int)", "CREATE TABLE count(a int)"),
        ],
    );
}

#[test]
fn pipes_are_spelled_out_a_chain_as_one_call_and_items_keep_their_labels() {
    for (text, expected) in [
        ("SELECT a || b FROM t", Some("SELECT CONCAT(a, b) AS `a || b` FROM t")),
        ("SELECT a||b||c||1 x FROM t", Some("SELECT CONCAT(a, b, c, 1) x FROM t")),
        (
            "SELECT 1 FROM t WHERE (a || b) || c = 'x'",
            Some("SELECT 1 FROM t WHERE CONCAT((CONCAT(a, b)), c) = 'x'"),
        ),
        ("SELECT f(a || `b`) FROM t", Some("SELECT f(CONCAT(a, `b`)) AS `f(a || ``b``)` FROM t")),
        (
            "UPDATE t SET a = a || ? WHERE b OR c || d",
            Some("UPDATE t SET a = CONCAT(a, ?) WHERE b OR CONCAT(c, d)"),
        ),
        ("SELECT 'a || b' FROM t", None),
        ("SELECT 1 /* || */", None),
    ] {
        let spelled = restate(text, &COMMAS, PIPES, Likes::Escape).unwrap();
        assert_eq!(spelled.as_deref(), expected, "{text}");
    }
    // What cannot be parsed stays as it is.
    assert_eq!(restate("SELECT a ||", &COMMAS, PIPES, Likes::Escape), Ok(None));
    let long = format!("SELECT a{} FROM t", " || b".repeat(50_000));
    let spelled = restate(&long, &COMMAS, PIPES, Likes::Escape).unwrap().unwrap();
    assert!(spelled.starts_with("SELECT CONCAT(a, b, b") && !spelled.contains(") ||"));
}

#[test]
fn all_modes_hold_at_once() {
    check(
        ALL,
        Likes::Plain,
        &[(
            r#"SELECT "a" || '\' || trim ("b") FROM t WHERE "a" LIKE '\'"#,
            r#"SELECT CONCAT(`a`, '\\', trim(`b`)) AS `"a" || '\' || trim ("b")` FROM t WHERE `a` LIKE '\\' ESCAPE ''"#,
        )],
    );
}

#[test]
fn what_a_mode_would_decide_later_is_refused() {
    for text in [
        "CREATE PROCEDURE p() BEGIN PREPARE s FROM @x; EXECUTE s; END",
        "CREATE PROCEDURE p() EXECUTE IMMEDIATE 'x'",
        "SELECT 1 INTO OUTFILE 'x'",
        "LOAD DATA LOCAL INFILE 'x' INTO TABLE t",
    ] {
        let restated = restate(text, &COMMAS, PLAIN, Likes::Escape);
        assert!(matches!(restated, Err(Misread::Differs(..))), "{text}: {restated:?}");
    }
    check(
        PLAIN,
        Likes::Escape,
        &[
            ("PREPARE s FROM 'x'", "="),
            (
                r"LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS ESCAPED BY '\'",
                r"LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS ESCAPED BY '\\'",
            ),
        ],
    );
}

#[test]
fn long_lists_and_many_rows_are_restated_whole() {
    let rows = vec![r"(1, '\')"; 6000].join(", ");
    let list = vec![r"'\'"; 6000].join(", ");
    let text = format!("INSERT INTO t VALUES {rows}");
    let restated = restate(&text, &COMMAS, PLAIN, Likes::Escape).unwrap();
    assert_eq!(restated, Some(text.replace('\\', r"\\")));
    let text = format!("SELECT a FROM t WHERE a IN ({list}) AND b IN (1)");
    let restated = restate(&text, &COMMAS, PLAIN, Likes::Escape).unwrap();
    assert_eq!(restated, Some(text.replace('\\', r"\\")));
}

#[test]
fn texts_are_split_as_the_modes_cut_them() {
    let count = |text: &str, modes| split_under(text, &COMMAS, modes).map(|all| all.len()).ok();
    let text = r"SELECT 'a\'; SELECT 2 -- '";
    assert_eq!((count(text, NONE), count(text, PLAIN)), (Some(1), Some(2)));
    let text = r#"SELECT "a\"; SELECT 2 -- ""#;
    assert_eq!((count(text, NONE), count(text, ANSI_QUOTES)), (Some(1), Some(2)));
}
