//! Texts of several statements come apart at the right semicolons.
#![allow(clippy::panic, reason = "helpers of tests may panic like tests")]

mod common;

use common::{COLONS, COMMAS};
use pando_sql::{Syntax, split};

fn check(syntax: &Syntax, text: &str, expected: &[&str]) {
    let pieces = split(text, syntax).unwrap_or_else(|error| panic!("{text}: {error}"));
    let pieces: Vec<&str> = pieces.iter().map(|span| span.of(text).trim()).collect();
    assert_eq!(pieces, expected, "{text}");
}

#[test]
fn empty_pieces_are_dropped() {
    for syntax in [&COMMAS, &COLONS] {
        check(syntax, "", &[]);
        check(syntax, " ; ;; /* x */ ; -- y\n", &[]);
        check(syntax, "SELECT 1", &["SELECT 1"]);
        check(syntax, ";SELECT 1;;SELECT 2;", &["SELECT 1", "SELECT 2"]);
    }
}

#[test]
fn quotes_and_comments_hide_semicolons() {
    check(
        &COMMAS,
        r#"SELECT ';', ";", `;`, '\';'; SELECT 2"#,
        &[r#"SELECT ';', ";", `;`, '\';'"#, "SELECT 2"],
    );
    check(
        &COMMAS,
        "SELECT 1 /* ; */; # ;\nSELECT 2 -- ;",
        &["SELECT 1 /* ; */", "# ;\nSELECT 2 -- ;"],
    );
    check(
        &COLONS,
        "SELECT $$;$$, E'\\';', \";\"; SELECT 2",
        &["SELECT $$;$$, E'\\';', \";\"", "SELECT 2"],
    );
    check(
        &COLONS,
        "DO $x$ BEGIN a; b; END $x$; SELECT 1",
        &["DO $x$ BEGIN a; b; END $x$", "SELECT 1"],
    );
}

#[test]
fn transactions_are_no_blocks() {
    check(&COMMAS, "BEGIN; SELECT 1; END", &["BEGIN", "SELECT 1", "END"]);
    check(
        &COLONS,
        "BEGIN; SELECT CASE WHEN a THEN b END; COMMIT",
        &["BEGIN", "SELECT CASE WHEN a THEN b END", "COMMIT"],
    );
    check(
        &COMMAS,
        "CREATE TABLE event (a INT); SELECT 1",
        &["CREATE TABLE event (a INT)", "SELECT 1"],
    );
}

#[test]
fn bodies_of_routines_stay_whole() {
    let bodies = [
        "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END",
        "CREATE DEFINER=`a`@`b` PROCEDURE p() BEGIN IF a THEN SELECT 1; ELSEIF b THEN SELECT 2; END IF; END",
        "CREATE FUNCTION f() RETURNS INT BEGIN DECLARE x INT; SET x = IF(a, 1, 2); RETURN x; END",
        "CREATE TRIGGER t BEFORE INSERT ON u FOR EACH ROW BEGIN SET NEW.a = 1; SET NEW.b = 2; END",
        "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO BEGIN DELETE FROM t; END",
        "CREATE PROCEDURE p() BEGIN WHILE a DO SET a = 0; END WHILE; l: LOOP LEAVE l; END LOOP l; REPEAT SET a = 1; UNTIL a END REPEAT; END",
        "CREATE PROCEDURE p() BEGIN CASE a WHEN 1 THEN SELECT 1; ELSE BEGIN END; END CASE; SELECT CASE WHEN a THEN 1 END; END",
        "CREATE PROCEDURE p() IF a THEN SELECT 1; SELECT 2; END IF",
        "BEGIN NOT ATOMIC SELECT 1; SELECT 2; END",
        "CREATE PROCEDURE p() BEGIN BEGIN SELECT 1; END; IF (a) THEN SELECT 2; END IF; END",
    ];
    for body in bodies {
        check(&COMMAS, &format!("SELECT 0; {body}; SELECT 9"), &["SELECT 0", body, "SELECT 9"]);
    }
    check(
        &COMMAS,
        "CREATE PROCEDURE p() SELECT 1; SELECT 2",
        &["CREATE PROCEDURE p() SELECT 1", "SELECT 2"],
    );
    check(
        &COLONS,
        "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE a WHEN 1 THEN 2 END; SELECT 2; END; SELECT 1",
        &[
            "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE a WHEN 1 THEN 2 END; SELECT 2; END",
            "SELECT 1",
        ],
    );
    check(
        &COLONS,
        "CREATE FUNCTION f() RETURNS int AS 'SELECT 1;' LANGUAGE sql; SELECT 1",
        &["CREATE FUNCTION f() RETURNS int AS 'SELECT 1;' LANGUAGE sql", "SELECT 1"],
    );
}

#[test]
fn an_unterminated_body_is_one_piece() {
    check(
        &COMMAS,
        "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2;",
        &["CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2;"],
    );
}
