//! Random statements, of which it is known where they use which column.

#![allow(clippy::panic, reason = "test support functions")]

mod support;

use std::cell::Cell;

use pando_columns::{Reference, Stop};
use pando_sql::Span;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestError, TestRunner};
use support::making::make;

/// `None` where the analysis leaves the statement to be refused.
fn found(family: &str, sql: &str) -> Option<Vec<(Span, String)>> {
    match support::analyse(family, sql) {
        Ok((_, Ok(uses))) => {
            let written = |by| matches!(by, Reference::Column | Reference::Named);
            let uses = uses.columns.iter().filter(|one| written(one.by));
            let mut list: Vec<(Span, String)> =
                uses.map(|one| (one.span, format!("{}.{}", one.of.table, one.of.column))).collect();
            list.sort();
            Some(list)
        }
        Ok((_, Err(Stop::Unclear { .. } | Stop::Unknown { .. }))) => None,
        Ok((_, Err(Stop::Need(need)))) => panic!("needs {need:?}: {sql}"),
        Err(error) => panic!("{error:?}: {sql}"),
    }
}

/// Plays so many statements; the share that is not refused, in hundredths.
fn play(family: &str, cases: u32) -> u32 {
    let clear = Cell::new(0_u32);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let result = runner.run(&vec(any::<u8>(), 8..160), |bytes| {
        let made = make(family, &bytes);
        let mut expected: Vec<(Span, String)> =
            made.uses.iter().map(|(span, of)| (*span, (*of).to_owned())).collect();
        expected.sort();
        if let Some(found) = found(family, &made.sql) {
            clear.set(clear.get() + 1);
            proptest::prop_assert_eq!(found, expected, "{}", made.sql);
        }
        Ok(())
    });
    match result {
        Ok(()) => clear.get() * 100 / cases,
        Err(TestError::Fail(why, _)) => panic!("{why}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

#[test]
fn every_use_in_random_statements_is_found() {
    for family in ["my", "pg"] {
        let share = play(family, 20_000);
        assert!(share >= 95, "{family}: of a hundred statements {share} are clear");
    }
}
