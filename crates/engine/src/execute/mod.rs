//! Running a plan's units: grouping by storage unit, θ of the paper's equation 1, and reading the replies side by side.

mod channel;
mod read;

use std::sync::{Arc, Mutex, PoisonError};

use pando_kernel::Columns;
use pando_kernel::error::{Error, ErrorKind};
use pando_kernel::event::{Completion, Event};

pub(crate) use channel::{Channel, Loaded, Shared, Source};
pub(crate) use read::{heads, load, run_out};

/// Connections one storage unit lends to one query, and how many statements each of them runs (θ = ⌈NumOfSQL ÷ MaxCon⌉, paper eq. 1).
pub(crate) fn spread_over(statements: usize, max_connections: usize) -> Vec<usize> {
    let max = max_connections.max(1);
    let theta = statements.div_ceil(max).max(1);
    let mut left = statements;
    let mut shares = Vec::new();
    while left > 0 {
        let share = left.min(theta);
        shares.push(share);
        left -= share;
    }
    shares
}

/// The error of a statement that would hold too much.
pub(crate) fn too_much(limit: usize) -> Error {
    ErrorKind::Memory(format!(
        "merging this statement needs more than {} MiB of memory; narrow it by the sharding key",
        limit >> 20
    ))
    .into()
}

/// Puts channels where a merge and the session can both reach them.
pub(crate) fn share(channels: Vec<Channel>) -> Vec<Shared> {
    channels.into_iter().map(|channel| Arc::new(Mutex::new(channel))).collect()
}

/// Takes channels back after the merge is gone.
pub(crate) fn unshare(shared: Vec<Shared>) -> Vec<Channel> {
    shared
        .into_iter()
        .filter_map(|one| Arc::try_unwrap(one).ok())
        .map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

/// The columns of a head, when it has any.
pub(crate) fn columns_of(head: &Option<Event>) -> Option<&Columns> {
    match head {
        Some(Event::Columns(columns)) => Some(columns),
        _ => None,
    }
}

/// Adds up how several targets ended.
pub(crate) fn sum<'a>(completions: impl Iterator<Item = &'a Completion>) -> Completion {
    let mut total = Completion::default();
    for (i, one) in completions.enumerate() {
        if i == 0 {
            total.clone_from(one);
            continue;
        }
        total.affected = match (total.affected, one.affected) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        total.matched = match (total.matched, one.matched) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        total.warnings = total.warnings.saturating_add(one.warnings);
        if total.last_insert_id == 0 {
            total.last_insert_id = one.last_insert_id;
        }
        total.info = String::new();
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(statements: usize, max: usize, expected: &[usize]) {
        assert_eq!(spread_over(statements, max), expected, "{statements} over {max}");
    }

    #[test]
    fn theta_follows_the_papers_equation() {
        check(1, 1, &[1]);
        check(5, 1, &[5]);
        check(5, 10, &[1, 1, 1, 1, 1]);
        check(5, 2, &[3, 2]);
        check(10, 3, &[4, 4, 2]);
        check(0, 3, &[]);
        check(3, 0, &[3]);
    }
}
