//! User-level locks. <https://dev.mysql.com/doc/refman/8.0/en/locking-functions.html>

use pando_kernel::{LockAct, LockFunction, LockHold};

const fn function(name: &'static str, act: LockAct, undo: &'static str) -> LockFunction {
    LockFunction {
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
pub(super) const FUNCTIONS: [LockFunction; 5] = [
    function("get_lock", LockAct::Take, "release_lock"),
    function("is_free_lock", LockAct::Ask, ""),
    function("is_used_lock", LockAct::Holder, ""),
    LockFunction { keys: &[0], ..function("release_all_locks", LockAct::FreeAll, "") },
    function("release_lock", LockAct::Free, "release_lock"),
];

#[cfg(test)]
mod tests {
    use super::FUNCTIONS;

    #[test]
    fn the_list_is_sorted() {
        assert!(FUNCTIONS.is_sorted_by_key(|function| function.name));
    }
}
