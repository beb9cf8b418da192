//! Anomalies that one read, or two, show without any circle.

use std::collections::{HashMap, HashSet};

use crate::anomaly::Anomaly;
use crate::check::Findings;
use crate::history::{Key, Op, Value};
use crate::orders::{Index, Line, Orders};
use crate::words::{Name, list};

/// Adds what it finds.
pub(crate) fn judge(orders: &Orders<'_>, findings: &mut Findings) {
    lines(orders, findings);
    for index in orders.effective() {
        reads(orders, index, findings);
        repeated(orders, index, findings);
        torn(orders, index, findings);
        lost_append(orders, index, findings);
    }
    lost_updates(orders, findings);
}

/// What is wrong with the longest read of a list is told once, not by everyone who read it.
fn lines(orders: &Orders<'_>, findings: &mut Findings) {
    let mut keys: Vec<&Key> = orders.lines.keys().collect();
    keys.sort_unstable();
    for key in keys {
        let line = orders.line(*key);
        elements(orders, line.reader, (*key, &line.values), findings);
    }
}

/// Each value of a list by itself: appended by somebody, once, and not by a transaction that was undone.
fn elements(
    orders: &Orders<'_>,
    reader: Index,
    (key, values): (Key, &[Value]),
    findings: &mut Findings,
) -> bool {
    let mut seen = HashSet::new();
    let mut sound = true;
    for value in values {
        let Value(number) = value;
        let reader = Name(orders, reader);
        let (anomaly, rest) = match orders.writer(key, *value) {
            _ if !seen.insert(value) => (Anomaly::Duplicate, "stands there twice".to_owned()),
            None => (Anomaly::ThinAir, "was appended by nobody".to_owned()),
            Some(writer) if !orders.committed[writer as usize] => {
                (Anomaly::AbortedRead, format!("was appended by {}, undone", Name(orders, writer)))
            }
            Some(_) => continue,
        };
        sound = false;
        findings.add(anomaly, || {
            format!("{reader} read list {} as {}: {number} {rest}", key.0, list(values))
        });
    }
    sound
}

fn reads(orders: &Orders<'_>, index: Index, findings: &mut Findings) {
    let mut own: HashMap<Key, Vec<Value>> = HashMap::new();
    for op in orders.ops(index) {
        match op {
            Op::Append(key, value) => own.entry(*key).or_default().push(*value),
            Op::Read(key, values) => {
                let line = orders.line(*key);
                if !line.values.starts_with(values) {
                    misfit(orders, index, (*key, values), findings);
                    continue;
                }
                match own.get(key) {
                    Some(own) if !values.ends_with(own) => {
                        findings.add(Anomaly::OwnWriteUnseen, || {
                            let (name, values) = (Name(orders, index), list(values));
                            format!(
                                "{name} appended {} to list {} and then read it as {values}",
                                list(own),
                                key.0
                            )
                        });
                    }
                    Some(_) => {}
                    None => intermediate(orders, index, (*key, values.len()), findings),
                }
            }
        }
    }
}

/// A read that is not a beginning of its list's order.
fn misfit(
    orders: &Orders<'_>,
    index: Index,
    (key, values): (Key, &[Value]),
    findings: &mut Findings,
) {
    if elements(orders, index, (key, values), findings) {
        let line = orders.line(key);
        findings.add(Anomaly::IncompatibleOrders, || {
            let (name, other) = (Name(orders, index), Name(orders, line.reader));
            let (values, others) = (list(values), list(&line.values));
            format!("{name} read list {} as {values}, but {other} as {others}", key.0)
        });
    }
}

fn intermediate(
    orders: &Orders<'_>,
    index: Index,
    (key, length): (Key, usize),
    findings: &mut Findings,
) {
    let line = orders.line(key);
    let Some(last) = length.checked_sub(1) else { return };
    let Some(writer) = line.writers[last].filter(|writer| *writer != index) else { return };
    let latest = orders.ops(writer).iter().rev().find_map(|op| match op {
        Op::Append(to, value) if *to == key => Some(*value),
        Op::Append(..) | Op::Read(..) => None,
    });
    if let Some(latest) = latest.filter(|latest| *latest != line.values[last]) {
        findings.add(Anomaly::IntermediateRead, || {
            let (name, writer) = (Name(orders, index), Name(orders, writer));
            let Value(seen) = line.values[last];
            format!(
                "{name} read list {} up to {seen}, to which {writer} then appended {}",
                key.0, latest.0
            )
        });
    }
}

fn repeated(orders: &Orders<'_>, index: Index, findings: &mut Findings) {
    let mut first: HashMap<Key, usize> = HashMap::new();
    for (key, length) in orders.plain_reads(index) {
        let before = *first.entry(key).or_insert(length);
        if before != length {
            findings.add(Anomaly::NonRepeatableRead, || {
                let values = &orders.line(key).values;
                let (one, other) = (list(&values[..before]), list(&values[..length]));
                format!("{} read list {} as {one} and then as {other}", Name(orders, index), key.0)
            });
        }
    }
}

/// Whoever sees one of a transaction's values must see all of them, as far as it looks.
fn torn(orders: &Orders<'_>, index: Index, findings: &mut Findings) {
    let reads = orders.plain_reads(index);
    for (key, length) in &reads {
        let line = orders.line(*key);
        for place in (0..*length).rev() {
            let Some(writer) = line.writers[place].filter(|writer| *writer != index) else {
                continue;
            };
            let unseen = |op: &Op| match op {
                Op::Append(to, value) if to != key => missing(orders, &reads, (*to, *value)),
                Op::Append(..) | Op::Read(..) => None,
            };
            if let Some((other, value)) = orders.ops(writer).iter().find_map(unseen) {
                findings.add(Anomaly::TornRead, || {
                    let Value(seen) = line.values[place];
                    format!(
                        "{} read list {} with {seen} of {}, and list {} without {}, which that transaction appended, too",
                        Name(orders, index), key.0, Name(orders, writer), other.0, value.0,
                    )
                });
                return;
            }
        }
    }
}

/// The append, if it is missing in one of the reads although it is in the list.
fn missing(
    orders: &Orders<'_>,
    reads: &[(Key, usize)],
    (key, value): (Key, Value),
) -> Option<(Key, Value)> {
    let (_, length) = reads.iter().find(|(read, _)| *read == key)?;
    let Line { values, .. } = orders.line(key);
    (!values[..*length].contains(&value) && values.contains(&value)).then_some((key, value))
}

fn lost_append(orders: &Orders<'_>, index: Index, findings: &mut Findings) {
    let Some(known) = orders.known(index) else { return };
    for op in orders.ops(index) {
        let Op::Append(key, value) = op else { continue };
        let line = orders.line(*key);
        if line.last_read > known && !line.values.contains(value) {
            findings.add(Anomaly::LostAppend, || {
                let (name, values) = (Name(orders, index), list(&line.values));
                format!(
                    "{name} appended {} to list {}, which was read as {values} afterwards",
                    value.0, key.0
                )
            });
        }
    }
}

fn lost_updates(orders: &Orders<'_>, findings: &mut Findings) {
    let mut first: HashMap<(Key, usize), Index> = HashMap::new();
    for index in orders.effective() {
        let appends = |key: Key| {
            let appends = |op: &Op| matches!(op, Op::Append(to, _) if *to == key);
            orders.ops(index).iter().any(appends)
        };
        for (key, length) in orders.plain_reads(index).into_iter().filter(|(key, _)| appends(*key))
        {
            let other = *first.entry((key, length)).or_insert(index);
            if other != index {
                findings.add(Anomaly::LostUpdate, || {
                    let values = list(&orders.line(key).values[..length]);
                    let (one, other) = (Name(orders, other), Name(orders, index));
                    format!(
                        "{one} and {other} both read list {} as {values} and appended to it",
                        key.0
                    )
                });
            }
        }
    }
}
