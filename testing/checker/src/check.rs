//! The whole judgement.

use std::collections::{BTreeMap, HashSet};

use crate::anomaly::{Anomaly, Finding};
use crate::cycle;
use crate::edges::{Edge, Link, edges};
use crate::history::{History, Outcome};
use crate::level::{Level, Order};
use crate::orders::{Index, Orders};
use crate::points::{Points, View};
use crate::{reads, words};

/// Witnesses kept of each kind; the rest is counted.
const KEPT: usize = 4;

/// What a history shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// At most four of each kind, the gravest kinds first.
    pub findings: Vec<Finding>,
    /// How often each kind was found; circles are counted once for each knot of transactions.
    pub counts: BTreeMap<Anomaly, usize>,
    /// Transactions that took effect.
    pub committed: usize,
    /// Transactions that were undone.
    pub aborted: usize,
    /// Transactions that nothing is known of.
    pub unknown: usize,
    /// Dependencies between those that took effect.
    pub dependencies: usize,
}

impl Report {
    /// Whether something was found that the level forbids.
    pub fn breaks(&self, level: Level) -> bool {
        self.counts.keys().any(|anomaly| level.forbids(*anomaly))
    }
}

/// Findings on their way.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    kept: Vec<Finding>,
    counts: BTreeMap<Anomaly, usize>,
}

impl Findings {
    /// Counts one, and keeps its words while there are few of its kind.
    pub(crate) fn add(&mut self, anomaly: Anomaly, witness: impl FnOnce() -> String) {
        let count = self.counts.entry(anomaly).or_default();
        *count += 1;
        if *count <= KEPT {
            self.kept.push(Finding { anomaly, witness: witness() });
        }
    }
}

/// Judges a history. Finds every kind of anomaly whatever the level; which of them count is [`Level::forbids`]'s to say.
pub fn check(history: &History, order: Order) -> Report {
    let orders = Orders::of(history);
    let mut findings = Findings::default();
    reads::judge(&orders, &mut findings);
    let edges = edges(&orders, order);
    let mut known = HashSet::new();
    for view in [View::Writes, View::Flow, View::PlainSnapshot, View::Snapshot, View::Serial] {
        // No server promises more than an order that the data knows at SERIALIZABLE; its snapshots follow time at every level.
        let with_time = order == Order::Time && view != View::Serial;
        let points = Points::of(view, history, &edges, with_time);
        let (knots, ways) = cycle::circles(&points);
        let told = ways.len();
        let mut last = None;
        for way in ways {
            let circle = points.edges(&way, &edges);
            let anomaly = name(&circle);
            last = Some(anomaly);
            if known.insert(members(&circle)) {
                findings.add(anomaly, || words::circle(&orders, &circle));
            }
        }
        if let Some(anomaly) = last {
            *findings.counts.entry(anomaly).or_default() += knots - told;
        }
    }
    findings.kept.sort_by_key(|finding| finding.anomaly);
    let outcome = |outcome| history.transactions.iter().filter(|t| t.outcome == outcome).count();
    let committed = orders.effective().count();
    let aborted = outcome(Outcome::Aborted);
    let unknown = history.transactions.len() - committed - aborted;
    let dependencies = edges.len();
    let Findings { kept, counts } = findings;
    Report { findings: kept, counts, committed, aborted, unknown, dependencies }
}

/// A circle is the same wherever one enters it.
fn members(circle: &[Edge]) -> Vec<Index> {
    let mut members: Vec<Index> = circle.iter().map(|edge| edge.from).collect();
    members.sort_unstable();
    members
}

/// What a circle is called.
fn name(circle: &[Edge]) -> Anomaly {
    let is_stale = |link: &Link| matches!(link, Link::ReadWrite(..));
    let stale_reads = circle.iter().filter(|edge| is_stale(&edge.link)).count();
    let is_late = |edge: &Edge| matches!(edge.link, Link::Time | Link::Process);
    let by_time = circle.iter().any(is_late);
    if by_time && (stale_reads == 0 || circle.len() == 2) {
        return Anomaly::StaleRead;
    }
    if stale_reads == 0 {
        let flows = circle.iter().any(|edge| matches!(edge.link, Link::WriteRead(..)));
        return if flows { Anomaly::CircularFlow } else { Anomaly::DirtyWrite };
    }
    // What leads to each transaction whose read is stale.
    let places = (0..circle.len()).filter(|place| is_stale(&circle[*place].link));
    let before: Vec<Link> =
        places.map(|place| circle[(place + circle.len() - 1) % circle.len()].link).collect();
    if stale_reads > 1 && before.iter().any(is_stale) {
        return Anomaly::WriteSkew;
    }
    let through_writes = before.iter().any(|link| matches!(link, Link::WriteWrite(..)));
    match (through_writes, stale_reads) {
        (false, _) if by_time => Anomaly::OutOfTime,
        (false, 1) => Anomaly::ReadSkew,
        (false, _) => Anomaly::LongFork,
        (true, 1) if circle.len() == 2 && one_list(circle) => Anomaly::LostUpdate,
        (true, 1) => Anomaly::StaleWrite,
        (true, _) => Anomaly::NonAdjacent,
    }
}

fn one_list(circle: &[Edge]) -> bool {
    let mut lists = circle.iter().filter_map(|edge| match edge.link {
        Link::WriteWrite(key, _) | Link::ReadWrite(key, _) => Some(key),
        Link::WriteRead(..) | Link::Process | Link::Time => None,
    });
    let first = lists.next();
    lists.all(|key| Some(key) == first)
}
