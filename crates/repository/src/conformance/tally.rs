//! What the tests came to.

use super::{Outcome, Stand, run};

/// How many tests held, and how many did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Those that ended well.
    pub held: usize,
    /// The others.
    pub failed: usize,
}

/// Runs all tests; `say` gets a line for each, `ok NAME/TEST` or `FAILED NAME/TEST: why`.
pub async fn report(stand: &dyn Stand, name: &str, say: &mut (dyn FnMut(String) + Send)) -> Tally {
    let mut tally = Tally::default();
    let mut tell = |(test, outcome): Outcome| match outcome {
        Ok(()) => {
            tally.held += 1;
            say(format!("ok {name}/{test}"));
        }
        Err(why) => {
            tally.failed += 1;
            say(format!("FAILED {name}/{test}: {why}"));
        }
    };
    run(stand, &mut tell).await;
    tally
}
