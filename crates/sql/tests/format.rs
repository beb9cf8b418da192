//! Statements in a standard form: how it looks, and that it says the same.
#![allow(clippy::expect_used, clippy::panic, reason = "helpers of tests may panic like tests")]

mod common;
#[path = "common/dump.rs"]
mod dump;

use common::{COLONS, COMMAS};
use pando_sql::{Syntax, format, parse};

fn check(text: &str, expected: &str) {
    assert_eq!(format(text, &COMMAS).expect(text), expected);
}

#[test]
fn clauses_stand_on_lines_of_their_own() {
    check(
        "select a, count(*) as n from t  left join u using (id) where a = 'x from y' and b in (select c from v where d is distinct from 1) group by a order by n limit 5;",
        "SELECT a, count(*) AS n\nFROM t\nLEFT JOIN u USING (id)\nWHERE a = 'x from y' AND b IN (SELECT c\n  FROM v\n  WHERE d IS DISTINCT FROM 1)\nGROUP BY a\nORDER BY n\nLIMIT 5",
    );
    check(
        "insert into t (a, `from`) values (1, left(b, 2)), (2, t.select) on duplicate key update a = values(a)",
        "INSERT INTO t (a, `from`)\nVALUES (1, left(b, 2)), (2, t.select) ON DUPLICATE KEY UPDATE a = values(a)",
    );
    check("delete from t where a=1", "DELETE FROM t\nWHERE a=1");
    check("select 1 union all select 2", "SELECT 1\nUNION ALL\nSELECT 2");
}

#[test]
fn comments_and_what_is_no_query_stay() {
    check("select 1 -- from\n from t", "SELECT 1 -- from\n FROM t");
    check("create table t (a int)", "create table t (a int)");
    assert!(format("select from where from", &COMMAS).is_err());
}

fn corpus(corpus: &str, syntax: &Syntax) {
    let lines = corpus.lines().filter(|line| !line.is_empty() && !line.starts_with("== "));
    let mut changed = 0;
    for line in lines {
        let Ok(statement) = parse(line, syntax) else { continue };
        let formatted = format(line, syntax).expect(line);
        let again = parse(&formatted, syntax).unwrap_or_else(|error| panic!("{line}: {error}"));
        let (one, two) = (dump::statement(&statement), dump::statement(&again));
        // The dump cites pieces of the text, in which keywords and gaps differ.
        let plain = |dump: String| dump.split_whitespace().collect::<String>().to_lowercase();
        assert_eq!(plain(one), plain(two), "{line}");
        assert_eq!(format(&formatted, syntax).expect(&formatted), formatted, "{line}");
        changed += usize::from(formatted != line);
    }
    assert!(changed > 50, "{changed}");
}

#[test]
fn a_formatted_statement_says_the_same_and_stays_formatted() {
    corpus(include_str!("commas.corpus"), &COMMAS);
    corpus(include_str!("colons.corpus"), &COLONS);
}
