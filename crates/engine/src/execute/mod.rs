//! Running a plan's units: grouping by storage unit, θ of the paper's equation 1, and reading the replies side by side.

mod asked;
mod channel;
mod read;
mod renumber;

use std::sync::{Arc, Mutex, PoisonError};

use pando_kernel::Columns;
use pando_kernel::error::{Error, ErrorKind};
use pando_kernel::event::{Completion, Event};

pub(crate) use channel::{Channel, Loaded, Shared, Source};
pub(crate) use read::{Heads, Meanwhile, heads, load, run_out};
pub(crate) use renumber::Renumbering;

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
        total.info = added(&total.info, &one.info);
    }
    total
}

/// Texts of the same words, each before its number, with the numbers added up (`Records: 3  Duplicates: 0  Warnings: 0`); nothing where the words are others.
fn added(one: &str, other: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let words = |text: &str| {
        text.split(is_digit).filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let numbers = |text: &str| {
        let found = text.split(|c| !is_digit(c)).filter(|number| !number.is_empty());
        found.map(|number| number.parse().unwrap_or(0)).collect::<Vec<u64>>()
    };
    let (mut sums, others) = (numbers(one), numbers(other));
    if words(one) != words(other) || sums.len() != others.len() {
        return String::new();
    }
    sums.iter_mut().zip(others).for_each(|(sum, number)| *sum = sum.saturating_add(number));
    let mut sums = sums.iter();
    words(one)
        .into_iter()
        .map(|word| word + &sums.next().map_or_else(String::new, u64::to_string))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(statements: usize, max: usize, expected: &[usize]) {
        assert_eq!(spread_over(statements, max), expected, "{statements} over {max}");
    }

    #[test]
    fn numbers_in_like_texts_are_added_up() {
        let one = "Records: 3  Deleted: 0  Skipped: 1  Warnings: 2";
        let sum = "Records: 6  Deleted: 0  Skipped: 2  Warnings: 4";
        assert_eq!(added(one, one), sum);
        assert_eq!(added(one, "Records: 3"), "");
        assert_eq!(added("", ""), "");
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
