//! Open files: each client and each connection of a storage unit is one. They are shared out, so that clients leave enough for the storage units' pools.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the process's own limit of open files as far as the system lets it: shells and service units often start with 1024, for the sake of
/// programs that use select(2).
pub(crate) fn raise() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!(%error, ?current, "the limit of open files cannot be raised");
    }
}

/// What the process has open beside clients and pools: event loops, what listens, what is kept, logs.
const OWN: usize = 48;
/// What each storage unit has open beside its pool: probes, requests to cancel, what looks for deadlocks and ends transactions.
const OWN_OF_UNIT: usize = 4;
/// So many clients may be logging in, however many files there are: what each sends is held.
const MOST_ENTERING: usize = 1024;

/// How many clients the process has files for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Who has logged in.
    pub(crate) sessions: usize,
    /// Who has not.
    pub(crate) entering: usize,
}

/// What the pools of all storage units may have open.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pooled {
    pub(crate) units: usize,
    /// Their largest sizes together.
    pub(crate) connections: usize,
}

/// How many files the process may open.
pub(crate) fn limit() -> usize {
    let most = getrlimit(Resource::Nofile).current;
    most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX))
}

/// Shares so many files out. Where there are few, pools get half of what is left, whatever they ask for.
pub(crate) fn shares(limit: usize, pooled: Pooled) -> Shares {
    let own = OWN.saturating_add(pooled.units.saturating_mul(OWN_OF_UNIT));
    let left = limit.saturating_sub(own);
    let clients = left - pooled.connections.min(left / 2);
    let entering = (clients / 4).clamp(1, MOST_ENTERING);
    Shares { sessions: clients.saturating_sub(entering).max(1), entering }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_leave_files_for_the_pools() {
        let pooled = Pooled { units: 2, connections: 100 };
        let check = |limit, sessions, entering| {
            assert_eq!(shares(limit, pooled), Shares { sessions, entering }, "{limit}");
        };
        check(128, 27, 9);
        check(1024, 651, 217);
        check(1 << 20, (1 << 20) - 56 - 100 - 1024, 1024);
        check(usize::MAX, usize::MAX - 56 - 100 - 1024, 1024);
        // Too few for anything: somebody is let in all the same.
        check(16, 1, 1);
        for limit in 0..2000 {
            let Shares { sessions, entering } = shares(limit, pooled);
            let left = limit.saturating_sub(56);
            assert!(left < 4 || left - (sessions + entering) >= 100.min(left / 2), "{limit}");
        }
    }

    #[test]
    fn the_limit_of_open_files_ends_at_what_the_system_allows() {
        raise();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }
}
