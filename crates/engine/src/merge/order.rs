//! Sorted streams merged into one sorted stream with a loser tree: as many comparisons per row as the tree is high.

use std::cmp::Ordering;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use pando_kernel::error::{Error, Result};

use super::RowSource;
use super::key::{Key, KeySpec, diverge, order};
use super::row::{Layout, Row};
use super::stream::Stream;

/// The k-way merge. Equal rows come in the order of their streams.
#[derive(Debug)]
pub(super) struct Ordered<S> {
    specs: Vec<KeySpec>,
    /// The units sort as we compare, or are broken.
    strict: bool,
    lanes: Vec<Lane<S>>,
    /// `None` until every lane has its first row.
    tree: Option<Tree>,
    /// Keys of the row given last; none before the first.
    last: Vec<Key>,
}

/// One stream with its next row.
#[derive(Debug)]
struct Lane<S> {
    stream: Stream<S>,
    head: Head,
    /// The keys of the next row.
    keys: Vec<Key>,
}

#[derive(Debug)]
enum Head {
    Wanted,
    Row(Bytes),
    Ended,
}

impl<S: RowSource> Lane<S> {
    fn poll_head(
        &mut self,
        cx: &mut Context<'_>,
        specs: &[KeySpec],
        layout: &mut Layout,
    ) -> Poll<Result<()>> {
        if !matches!(self.head, Head::Wanted) {
            return Poll::Ready(Ok(()));
        }
        let Some(frame) = ready!(self.stream.poll_frame(cx, &layout.all))? else {
            self.head = Head::Ended;
            return Poll::Ready(Ok(()));
        };
        layout.keys(&frame, specs, &mut self.keys)?;
        self.head = Head::Row(frame);
        Poll::Ready(Ok(()))
    }
}

impl<S: RowSource> Ordered<S> {
    /// Merges streams that are all sorted by `specs`.
    pub(super) fn new(streams: Vec<Stream<S>>, specs: Vec<KeySpec>) -> Self {
        let lane = |stream| Lane { stream, head: Head::Wanted, keys: Vec::new() };
        let lanes = streams.into_iter().map(lane).collect();
        let strict = specs.iter().all(|spec| !spec.loose);
        Self { specs, strict, lanes, tree: None, last: Vec::new() }
    }

    /// Bytes of rows that have come and have not been given.
    pub(super) fn at_hand(&self) -> usize {
        let of = |lane: &Lane<S>| {
            let head = match &lane.head {
                Head::Row(frame) => frame.len(),
                Head::Wanted | Head::Ended => 0,
            };
            head + lane.stream.at_hand()
        };
        self.lanes.iter().map(of).sum()
    }

    /// The next row; `None` at the end.
    pub(super) fn poll_row(
        &mut self,
        cx: &mut Context<'_>,
        layout: &mut Layout,
    ) -> Poll<Result<Option<Row>>> {
        let Self { specs, strict, lanes, tree, last } = self;
        let tree = match tree {
            None => {
                let mut waiting = false;
                for lane in lanes.iter_mut() {
                    waiting |= lane.poll_head(cx, specs, layout)?.is_pending();
                }
                if waiting {
                    return Poll::Pending;
                }
                tree.insert(Tree::new(lanes.len(), |a, b| before(specs, lanes, a, b)))
            }
            Some(tree) => {
                let winner = tree.winner;
                let Some(lane) = lanes.get_mut(winner) else {
                    return Poll::Ready(Ok(None));
                };
                if matches!(lane.head, Head::Wanted) {
                    ready!(lane.poll_head(cx, specs, layout))?;
                    tree.replay(|a, b| before(specs, lanes, a, b));
                }
                tree
            }
        };
        let Some(lane) = lanes.get_mut(tree.winner) else {
            return Poll::Ready(Ok(None));
        };
        match std::mem::replace(&mut lane.head, Head::Wanted) {
            Head::Row(frame) => {
                let mut row = Row::plain(frame);
                if !last.is_empty() {
                    let (equal, order) = diverge(specs, last, &lane.keys);
                    // A unit that sorts otherwise than we compare would make wrong groups and a wrong order without a sign of it. The least of the next rows
                    // comes before the last one just when its lane is not sorted.
                    if *strict && order.is_gt() {
                        return Poll::Ready(Err(unsorted()));
                    }
                    row.equal = equal;
                }
                std::mem::swap(last, &mut lane.keys);
                // They lie in the chunks of their rows, which would stay with them.
                lane.keys.clear();
                Poll::Ready(Ok(Some(row)))
            }
            Head::Ended | Head::Wanted => {
                lane.head = Head::Ended;
                Poll::Ready(Ok(None))
            }
        }
    }
}

fn unsorted() -> Error {
    Error::unmerged(
        30001,
        "a storage unit sorts rows in another order than Pando compares them",
        "sort by a number or a column with a binary collation",
    )
}

/// Whether the row of lane `a` comes before that of lane `b`. Ended lanes come last.
fn before<S>(specs: &[KeySpec], lanes: &[Lane<S>], a: usize, b: usize) -> bool {
    let head = |at: usize| lanes.get(at).filter(|lane| matches!(lane.head, Head::Row(_)));
    let order = match (head(a), head(b)) {
        (Some(x), Some(y)) => order(specs, &x.keys, &y.keys),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    order.then(a.cmp(&b)).is_lt()
}

/// A tournament in which each inner node remembers who lost there. Leaf `i` of `n` is node `n + i`, the parent of `i` is `i / 2`.
#[derive(Debug)]
pub(super) struct Tree {
    /// Node 0 is not used.
    losers: Vec<usize>,
    winner: usize,
}

impl Tree {
    /// Plays all matches.
    pub(super) fn new(leaves: usize, before: impl Fn(usize, usize) -> bool) -> Self {
        let mut losers = vec![0; leaves];
        let mut winners: Vec<usize> = vec![0; leaves];
        winners.extend(0..leaves);
        for node in (1..leaves).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            let (winner, loser) = if before(left, right) { (left, right) } else { (right, left) };
            winners[node] = winner;
            losers[node] = loser;
        }
        let winner = winners.get(1).copied().unwrap_or(0);
        Self { losers, winner: if leaves < 2 { 0 } else { winner } }
    }

    /// The leaf whose row comes first; 0 when there is none.
    pub(super) fn winner(&self) -> usize {
        self.winner
    }

    /// Plays the last winner's way up again, after its row has changed.
    pub(super) fn replay(&mut self, before: impl Fn(usize, usize) -> bool) {
        let mut node = (self.losers.len() + self.winner) / 2;
        while node > 0 {
            let loser = &mut self.losers[node];
            if before(*loser, self.winner) {
                std::mem::swap(loser, &mut self.winner);
            }
            node /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn the_tree_always_gives_the_least_leaf() {
        for leaves in 1..12 {
            let lists: Vec<Vec<usize>> = (0..leaves)
                .map(|leaf| (0..leaf % 4).map(|at| at * 7 + leaf * 3 % 5).collect())
                .collect();
            let at = RefCell::new(vec![0; leaves]);
            let head =
                |leaf: usize| lists[leaf].get(at.borrow()[leaf]).copied().unwrap_or(usize::MAX);
            let before = |a, b| (head(a), a) < (head(b), b);
            let mut tree = Tree::new(leaves, before);
            let mut seen = Vec::new();
            while head(tree.winner) != usize::MAX {
                seen.push(head(tree.winner));
                at.borrow_mut()[tree.winner] += 1;
                tree.replay(before);
            }
            let mut expected = lists.concat();
            expected.sort_unstable();
            assert_eq!(seen, expected, "{leaves} leaves");
        }
    }
}
