//! `!MIRROR`, validated.

use std::time::Duration;

use pando_config::{Entry, Fields, Placed, Problem, Report, Rules, suggest};
use pando_kernel::mirror::{Compared, Copies, Sampled, Settings};
use pando_kernel::{Around, UnitName};

/// Longest time for a transaction's copy, in milliseconds: an hour.
pub(crate) const LONGEST: u64 = 3_600_000;
/// Most statements at once on a mirror.
pub(crate) const MOST_CONNECTIONS: u64 = 64;
/// Most statements that may wait for their turn.
pub(crate) const MOST_WAITING: u64 = 1_000_000;
/// Most bytes of those.
pub(crate) const MOST_BYTES: u64 = 1 << 32;

/// Where the rule does not say.
const CONNECTIONS: u64 = 4;
const WAITING: u64 = 1_000;
const BYTES: u64 = 16 << 20;
const TIME: u64 = 10_000;

const SAMPLED: [(&str, Sampled); 2] =
    [("TRANSACTION", Sampled::Transaction), ("SESSION", Sampled::Session)];
const COPIES: [(&str, Copies); 2] = [("READS", Copies::Reads), ("ALL", Copies::Everything)];
const COMPARES: [(&str, Compared); 3] = [
    ("COUNTS", Compared::Counts),
    ("ROWS", Compared::Rows),
    ("ORDERED_ROWS", Compared::OrderedRows),
];

/// The mirrors, by name; `None` where there is no such section.
///
/// # Errors
/// Every problem, in file order.
pub(crate) fn read(
    rules: &Rules,
    around: &Around<'_>,
) -> Result<Option<Vec<Settings>>, Vec<Problem>> {
    rules.read_section("MIRROR", |fields| {
        let mut mirrors = fields.map("mirrors", |entry, report| {
            let settings = mirror(entry, around, report)?;
            Some((settings, entry.at.clone()))
        });
        mirrors.sort_by(|(a, _), (b, _)| a.rule.cmp(&b.rule));
        for (own, at) in &mirrors {
            if mirrors.iter().any(|(other, _)| other.source == own.mirror) {
                let message = format!(
                    "storage unit `{}` is the mirror of rule `{}` and the source of another: copies are not copied",
                    own.mirror, own.rule
                );
                fields.report().error(at.problem(message));
            }
        }
        mirrors.into_iter().map(|(settings, _)| settings).collect()
    })
}

fn mirror(entry: &Entry, around: &Around<'_>, report: &mut Report) -> Option<Settings> {
    let mut fields = Fields::of(&entry.value, report)?;
    let (source, mirror) = (fields.name("source"), fields.name("mirror"));
    let tables = fields.names("tables");
    let share = share(&mut fields);
    let sampled = choice(&mut fields, "sampledBy", &SAMPLED);
    let copies = choice(&mut fields, "copies", &COPIES);
    let compares = choice(&mut fields, "compares", &COMPARES);
    let connections = number(&mut fields, "connections", MOST_CONNECTIONS);
    let queue = number(&mut fields, "queue", MOST_WAITING).unwrap_or(WAITING);
    let queue_bytes = number(&mut fields, "queueBytes", MOST_BYTES).unwrap_or(BYTES);
    let time = number(&mut fields, "runMilliseconds", LONGEST).unwrap_or(TIME);
    let mut known = |named: Option<Placed<String>>| known_unit(&named?, around, fields.report());
    let (source, mirror) = (known(source), known(mirror));
    if source.is_some() && source == mirror {
        fields.report().error(entry.at.problem("`source` and `mirror` are the same storage unit"));
    }
    let copies = copies.unwrap_or(Copies::Reads);
    if copies == Copies::Everything && connections.is_some_and(|count| count > 1) {
        let message =
            "changes are copied one after the other: `connections` must be 1 where `copies` is ALL";
        fields.report().error(entry.at.problem(message));
    }
    fields.finish();
    let least = if copies == Copies::Everything { 1 } else { CONNECTIONS };
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Some(Settings {
        rule: entry.key.clone(),
        source: source?,
        mirror: mirror?,
        // A key is in lower case unless the client's language tells tables apart by case.
        tables: tables
            .into_iter()
            .flat_map(|name| [name.value.to_lowercase(), name.value])
            .collect(),
        per_million: share?,
        sampled: sampled.unwrap_or(Sampled::Transaction),
        copies,
        compares: compares.unwrap_or(Compared::Rows),
        connections: count(connections.unwrap_or(least)),
        queue: count(queue),
        queue_bytes: count(queue_bytes),
        time: Duration::from_millis(time),
    })
}

/// Of a million so many; `None` where that is wrong, which is reported.
fn share(fields: &mut Fields<'_, '_>) -> Option<u32> {
    let Some(said) = fields.optional_string("share") else { return Some(1_000_000) };
    let share = said.value.trim().parse::<f64>().ok();
    let share = share.map(|share| (share * 1_000_000.0).round());
    match share {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is a whole number between these"
        )]
        Some(share) if (1.0..=1_000_000.0).contains(&share) => Some(share as u32),
        Some(_) | None => {
            let message =
                format!("`{}` is no share: a number from 0.000001 to 1, as 0.1", said.value);
            fields.report().error(said.at.problem(message));
            None
        }
    }
}

/// `None` where nothing is said, and for an unknown word, which is reported.
fn choice<T: Copy>(
    fields: &mut Fields<'_, '_>,
    name: &'static str,
    words: &[(&str, T)],
) -> Option<T> {
    let word = fields.optional_name(name)?;
    let found = words.iter().find(|(known, _)| known.eq_ignore_ascii_case(&word));
    if found.is_none() {
        let known: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
        let hint = suggest::hint(&word.to_uppercase(), known.iter().copied());
        let message = format!("`{}` is none of {}{hint}", word.value, known.join(", "));
        fields.report().error(word.at.problem(message));
    }
    found.map(|(_, meant)| *meant)
}

fn number(fields: &mut Fields<'_, '_>, name: &'static str, most: u64) -> Option<u64> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    u64::try_from(fields.optional_integer(name, 1..=most)?).ok()
}

fn known_unit(unit: &Placed<String>, around: &Around<'_>, report: &mut Report) -> Option<UnitName> {
    let found = around.units.iter().find(|own| ***own == *unit.value).cloned();
    if found.is_none() {
        let hint = suggest::hint(&unit.value, around.units.iter().map(|own| &**own));
        report.error(unit.at.problem(format!("no storage unit `{}`{hint}", unit.value)));
    }
    found
}
