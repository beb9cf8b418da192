//! User-level locks. <https://dev.mysql.com/doc/refman/8.0/en/locking-functions.html>

use pando_kernel::{LockHold, ServerAct, ServerFunction};

const fn function(name: &'static str, act: ServerAct, undo: &'static str) -> ServerFunction {
    ServerFunction {
        name,
        act,
        hold: LockHold::Session,
        call: name,
        undo,
        keys: &[1],
        is_numbered: false,
        unheld: "",
        gives: "",
    }
}

/// Sorted by name.
pub(super) const FUNCTIONS: [ServerFunction; 5] = [
    function("get_lock", ServerAct::Take, "release_lock"),
    function("is_free_lock", ServerAct::Ask, ""),
    function("is_used_lock", ServerAct::Holder, ""),
    ServerFunction { keys: &[0], ..function("release_all_locks", ServerAct::FreeAll, "") },
    function("release_lock", ServerAct::Free, "release_lock"),
];

#[cfg(test)]
mod tests {
    use super::FUNCTIONS;

    #[test]
    fn the_list_is_sorted() {
        assert!(FUNCTIONS.is_sorted_by_key(|function| function.name));
    }
}
