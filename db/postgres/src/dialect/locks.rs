//! Advisory locks, and what else is called before its statement runs.
//! <https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADVISORY-LOCKS>

use pando_kernel::{LockHold, ServerAct, ServerFunction};

const EXCLUSIVE: &str = "pg_catalog.pg_advisory_unlock";
const SHARED: &str = "pg_catalog.pg_advisory_unlock_shared";
const VOID: &str = "pg_catalog.void";
const BOOL: &str = "pg_catalog.bool";
/// One bigint, or two integers.
const KEYS: &[usize] = &[1, 2];

const fn takes(name: &'static str, hold: LockHold, call: &'static str) -> ServerFunction {
    let is_numbered = true;
    ServerFunction {
        name,
        act: ServerAct::Take,
        hold,
        call,
        undo: EXCLUSIVE,
        keys: KEYS,
        is_numbered,
        unheld: "",
        gives: VOID,
    }
}

const fn shared(function: ServerFunction) -> ServerFunction {
    ServerFunction { undo: SHARED, ..function }
}

/// It says whether it has the lock, and does not wait.
const fn tries(function: ServerFunction) -> ServerFunction {
    ServerFunction { gives: BOOL, ..function }
}

const fn frees(name: &'static str, call: &'static str, unheld: &'static str) -> ServerFunction {
    let (act, hold) = (ServerAct::Free, LockHold::Session);
    let is_numbered = true;
    ServerFunction {
        name,
        act,
        hold,
        call,
        undo: call,
        keys: KEYS,
        is_numbered,
        unheld,
        gives: BOOL,
    }
}

const LOCK: &str = "pg_catalog.pg_advisory_lock";
const LOCK_SHARED: &str = "pg_catalog.pg_advisory_lock_shared";
const TRY: &str = "pg_catalog.pg_try_advisory_lock";
const TRY_SHARED: &str = "pg_catalog.pg_try_advisory_lock_shared";

/// Sorted by name.
pub(super) const FUNCTIONS: [ServerFunction; 12] = [
    takes("pg_advisory_lock", LockHold::Session, LOCK),
    shared(takes("pg_advisory_lock_shared", LockHold::Session, LOCK_SHARED)),
    frees("pg_advisory_unlock", EXCLUSIVE, "you don't own a lock of type ExclusiveLock"),
    ServerFunction {
        name: "pg_advisory_unlock_all",
        act: ServerAct::FreeAll,
        hold: LockHold::Session,
        call: "pg_catalog.pg_advisory_unlock_all",
        undo: "",
        keys: &[0],
        is_numbered: true,
        unheld: "",
        gives: VOID,
    },
    frees("pg_advisory_unlock_shared", SHARED, "you don't own a lock of type ShareLock"),
    takes("pg_advisory_xact_lock", LockHold::Transaction, LOCK),
    shared(takes("pg_advisory_xact_lock_shared", LockHold::Transaction, LOCK_SHARED)),
    ServerFunction {
        name: "pg_notify",
        act: ServerAct::Tell,
        hold: LockHold::Transaction,
        call: "pg_catalog.pg_notify",
        undo: "",
        keys: &[2],
        is_numbered: false,
        unheld: "",
        gives: VOID,
    },
    tries(takes("pg_try_advisory_lock", LockHold::Session, TRY)),
    tries(shared(takes("pg_try_advisory_lock_shared", LockHold::Session, TRY_SHARED))),
    tries(takes("pg_try_advisory_xact_lock", LockHold::Transaction, TRY)),
    tries(shared(takes("pg_try_advisory_xact_lock_shared", LockHold::Transaction, TRY_SHARED))),
];

#[cfg(test)]
mod tests {
    use super::FUNCTIONS;

    #[test]
    fn the_list_is_sorted() {
        assert!(FUNCTIONS.is_sorted_by_key(|function| function.name));
    }
}
