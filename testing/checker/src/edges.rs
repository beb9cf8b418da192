//! Why one transaction comes before another.

use std::collections::HashMap;

use crate::history::{Key, Value};
use crate::level::Order;
use crate::orders::{Index, Orders};

/// Adya's dependencies, with the list and the value that show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// The second appended right after the first (ww).
    WriteWrite(Key, Value),
    /// The second read, last in the list, what the first had appended (wr).
    WriteRead(Key, Value),
    /// The first read the version that the second appended to (rw).
    ReadWrite(Key, Value),
    /// One process ran them in this order.
    Process,
    /// The first had ended before the second began.
    Time,
}

/// `from` comes before `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: Index,
    pub(crate) to: Index,
    pub(crate) link: Link,
}

/// All that the data tells, and the order of processes when asked for. Time is left to [`crate::points`], which needs no edge for each pair.
pub(crate) fn edges(orders: &Orders<'_>, order: Order) -> Vec<Edge> {
    let mut found = Vec::new();
    for (key, line) in &orders.lines {
        let writers = line.values.iter().zip(&line.writers);
        let known: Vec<(Value, Index)> = writers
            .filter_map(|(value, writer)| writer.map(|writer| (*value, writer)))
            .filter(|(_, writer)| orders.committed[*writer as usize])
            .collect();
        for pair in known.windows(2) {
            let [(_, from), (value, to)] = pair else { continue };
            add(&mut found, Edge { from: *from, to: *to, link: Link::WriteWrite(*key, *value) });
        }
    }
    for index in orders.effective() {
        for (key, length) in orders.plain_reads(index) {
            read(orders, &mut found, (index, key, length));
        }
    }
    match order {
        Order::Data => {}
        // Of the order of time this is a part.
        Order::Process | Order::Time => processes(orders, &mut found),
    }
    found
}

fn read(orders: &Orders<'_>, found: &mut Vec<Edge>, (index, key, length): (Index, Key, usize)) {
    let line = orders.line(key);
    let writer = |place: usize| {
        let writer = line.writers[place].filter(|writer| orders.committed[*writer as usize]);
        writer.map(|writer| (line.values[place], writer))
    };
    if let Some((value, from)) = length.checked_sub(1).and_then(writer) {
        add(found, Edge { from, to: index, link: Link::WriteRead(key, value) });
    }
    // What it appended itself is no news to it, but what follows on that is.
    if let Some((value, to)) = (length..line.values.len()).find_map(writer) {
        add(found, Edge { from: index, to, link: Link::ReadWrite(key, value) });
    }
}

fn processes(orders: &Orders<'_>, found: &mut Vec<Edge>) {
    let mut by_begin: Vec<Index> = orders.effective().collect();
    by_begin.sort_by_key(|index| orders.history.transactions[*index as usize].begin);
    let mut last: HashMap<u64, Index> = HashMap::new();
    for index in by_begin {
        let process = orders.history.transactions[index as usize].process;
        if let Some(from) = last.insert(process, index) {
            add(found, Edge { from, to: index, link: Link::Process });
        }
    }
}

fn add(found: &mut Vec<Edge>, edge: Edge) {
    if edge.from != edge.to {
        found.push(edge);
    }
}
