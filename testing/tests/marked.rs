//! The first few thousand statements of the fuzz target `encrypted`, from fixed seeds: what it would find in a minute is
//! found by every run of the tests.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test support functions"
)]

#[allow(unreachable_pub, reason = "a library of the fuzzer has it, too")]
#[path = "../fuzz/src/marked.rs"]
mod marked;

use marked::{Family, Outcome, Rules, Shop};

const STATEMENTS: u64 = 2_000;

/// Bytes that a number makes. <https://doi.org/10.18637/jss.v008.i14>
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32).to_le_bytes()[0]
    };
    (0..64).map(|_| next()).collect()
}

fn no_marked_value_is_sent(family: Family) {
    let shop = Shop::new(family, Rules::Encrypt);
    let outcomes = (0..STATEMENTS).map(|seed| shop.check(&bytes(seed)));
    let outcomes: Vec<Outcome> =
        outcomes.collect::<Result<_, _>>().unwrap_or_else(|leak| panic!("{leak}"));
    let count = |wanted| outcomes.iter().filter(|own| **own == wanted).count();
    let counts = [Outcome::Sent, Outcome::Refused, Outcome::Unread, Outcome::Stepped].map(count);
    // A rule that refuses everything, or statements that nobody can read, would show nothing.
    let [sent, refused, unread, _] = counts;
    assert!(sent > 150 && refused > 300 && unread < 500, "{counts:?}");
}

#[test]
fn no_marked_value_is_sent_to_mysql() {
    no_marked_value_is_sent(Family::MySql);
}

#[test]
fn no_marked_value_is_sent_to_postgres() {
    no_marked_value_is_sent(Family::Postgres);
}

/// MySQL's servers name a column of a result by its text, and are told that text where another one is sent.
#[test]
fn no_column_is_named_by_a_value() {
    let shop = Shop::new(Family::MySql, Rules::Encrypt);
    for (text, expected) in [
        ("SELECT note = 'Zqmarkzq' FROM t", Outcome::Refused),
        ("SELECT SUM(CASE WHEN note = 'Zqmarkzq' THEN 1 ELSE 0 END) FROM s", Outcome::Refused),
        ("SELECT x.* FROM (SELECT id, note = 'Zqmarkzq' FROM s) AS x", Outcome::Refused),
        ("SELECT note = 'Zqmarkzq' AS found FROM t", Outcome::Sent),
        ("SELECT note IS NULL FROM t WHERE note = 'Zqmarkzq'", Outcome::Sent),
        ("EXPLAIN SELECT note = 'Zqmarkzq' FROM s", Outcome::Sent),
    ] {
        assert_eq!(shop.check_text(text), Ok(expected), "{text}");
    }
}

/// Units are asked what type a computed item has, and hear of no value by that.
#[test]
fn no_value_is_in_an_expression_that_is_computed_here() {
    for family in [Family::MySql, Family::Postgres] {
        let shop = Shop::new(family, Rules::Encrypt);
        for text in [
            "SELECT COALESCE(note, 'Zqmarkzq') AS own FROM t",
            "SELECT NULLIF(note, 'Zqmarkzq') AS own FROM t ORDER BY 1",
            "SELECT CASE WHEN note > 'Zqmarkzq' THEN note ELSE 'Zqmarkzq' END AS own FROM t",
            "SELECT MAX(REPLACE(note, 'Zqmarkzq', 'x')) AS own FROM s",
            "SELECT COUNT(*) FROM t GROUP BY CONCAT(note, 'Zqmarkzq')",
            "SELECT id FROM s ORDER BY CONCAT('Zqmarkzq', note)",
        ] {
            assert_eq!(shop.check_text(text), Ok(Outcome::Sent), "{text}");
        }
    }
    let shop = Shop::new(Family::MySql, Rules::Encrypt);
    let unnamed = "SELECT CONCAT(note, 'Zqmarkzq') FROM t";
    assert_eq!(shop.check_text(unnamed), Ok(Outcome::Refused));
}

/// The tests above can fail: without the rule every second statement sends a value.
#[test]
fn a_value_that_is_sent_is_found() {
    for family in [Family::MySql, Family::Postgres] {
        let shop = Shop::new(family, Rules::Nothing);
        let found = (0..40).filter(|seed| shop.check(&bytes(*seed)).is_err());
        assert!(found.count() > 10, "{family:?}");
    }
}
