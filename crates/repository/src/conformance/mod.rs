//! The tests that every repository passes, so that the embedded store, ZooKeeper and etcd can stand in for each other.

mod case;
mod change;
mod outage;
mod relay;
mod remote;
mod script;
mod session;
mod stand;
mod tally;
mod together;
mod tokio;
mod view;

use std::time::Duration;

use pando_kernel::runtime::{BoxFuture, within};

use case::{Done, Failure, beside, hold, key, signal};

pub use relay::Relay;
pub use remote::{Kind, Remote};
pub use script::Script;
pub use stand::{Relayed, Server, Stand};
pub use tally::{Tally, report};
pub use tokio::Tokio;

/// One test and how it ended: `Ok`, or what was not as it must be.
pub type Outcome = (&'static str, std::result::Result<(), String>);

/// Runs all tests, one after the other; each leaves its keys behind, under its own name. `tell` gets every outcome as it comes. A test
/// that needs what the stand does not have is left out.
pub async fn run(stand: &dyn Stand, tell: &mut (dyn FnMut(Outcome) + Send)) {
    for (name, case) in CASES {
        let outcome = match within(&*stand.runtime(), CASE_LIMIT, case(stand)).await {
            Some(Ok(Some(()))) => Ok(()),
            Some(Ok(None)) => continue,
            Some(Err(Failure(why))) => Err(why),
            None => Err(format!("not done after {CASE_LIMIT:?}")),
        };
        tell((name, outcome));
    }
}

const CASE_LIMIT: Duration = Duration::from_secs(60);

type Case = for<'a> fn(&'a dyn Stand) -> BoxFuture<'a, Done>;

macro_rules! cases {
    ($($module:ident::$name:ident),* $(,)?) => {
        &[$((stringify!($name), |stand| Box::pin($module::$name(stand)))),*]
    };
}

const CASES: &[(&str, Case)] = cases![
    change::a_value_is_read_as_it_was_put,
    change::a_change_is_made_wholly_or_not_at_all,
    change::a_key_put_again_is_not_as_expected,
    change::a_deleted_key_leaves_those_above_and_below,
    change::the_largest_value_fits_and_a_larger_one_is_refused,
    change::a_closed_instance_says_so,
    view::a_prefix_gives_its_keys_in_order,
    view::a_thousand_keys_are_one_view,
    view::a_view_is_of_one_moment,
    together::no_increment_is_lost_among_writers,
    together::every_watch_comes_to_the_last_state,
    together::a_watch_tells_only_of_its_own_keys,
    session::a_closed_sessions_keys_go_at_once,
    session::an_abandoned_sessions_keys_go_with_time,
    session::a_session_key_can_become_lasting_and_back,
    outage::a_cut_session_expires_and_another_begins,
    outage::calls_end_while_the_server_is_stopped_and_work_after,
    outage::what_is_stored_survives_a_killed_server,
];
