//! Witnesses in words.

use std::fmt;

use crate::edges::{Edge, Link};
use crate::history::Value;
use crate::orders::{Index, Orders};

/// A list's values shown of at most this many.
const SHOWN: usize = 12;

/// A transaction's name: its place in the history and its process.
pub(crate) struct Name<'a>(pub(crate) &'a Orders<'a>, pub(crate) Index);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(orders, index) = self;
        let process = orders.history.transactions[*index as usize].process;
        write!(f, "T{} (process {process})", u64::from(*index) + 1)
    }
}

/// `[… 4 5 6]`: the end of a list, where the news is.
pub(crate) fn list(values: &[Value]) -> String {
    let shown = values.len().min(SHOWN);
    let mut words: Vec<String> = Vec::with_capacity(shown + 1);
    if shown < values.len() {
        words.push(format!("… {} more …", values.len() - shown));
    }
    words.extend(values[values.len() - shown..].iter().map(|value| value.0.to_string()));
    format!("[{}]", words.join(" "))
}

/// A circle: each part says why its first transaction comes before the next.
pub(crate) fn circle(orders: &Orders<'_>, edges: &[Edge]) -> String {
    let parts: Vec<String> = edges.iter().map(|edge| part(orders, edge)).collect();
    format!("{}: none can come first", parts.join("; "))
}

fn part(orders: &Orders<'_>, edge: &Edge) -> String {
    let (from, to) = (Name(orders, edge.from), Name(orders, edge.to));
    match edge.link {
        Link::WriteWrite(key, value) => {
            format!("{to} appended {} to list {} right after {from}", value.0, key.0)
        }
        Link::WriteRead(key, value) => {
            format!("{to} read list {} up to {}, which {from} had appended", key.0, value.0)
        }
        Link::ReadWrite(key, value) => {
            format!("{from} read list {} without {}, which {to} appended next", key.0, value.0)
        }
        Link::Process => format!("{from} came before {to} in one process"),
        Link::Time => format!("{from} had ended before {to} began"),
    }
}
