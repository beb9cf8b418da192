//! Open files: each client and each connection of a storage unit is one.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_open_files_ends_at_what_the_system_allows() {
        raise();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }
}
