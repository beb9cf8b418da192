//! `!LIMIT`, validated.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use pando_config::{Entry, Fields, Placed, Report, Rules, suggest};
use pando_kernel::feature::{Context, Footprint};
use pando_kernel::{Around, UnitName, circuit};

use crate::bucket::Rate;
use crate::meter::Meters;

/// Longest time of any kind, in milliseconds: a day.
pub(crate) const LONGEST: u64 = 86_400_000;
/// Statements that may wait under one rule, and how long, where the rule does not say.
const QUEUE: usize = 1_000;
const WAIT: Duration = Duration::from_secs(1);
/// Largest number of statements, at once or in a second.
pub(crate) const MOST: u64 = 1_000_000;

/// Largest number of rows.
pub(crate) const MOST_ROWS: u64 = 1_000_000_000_000;

/// The rules of a database.
#[derive(Debug, Default)]
pub(crate) struct Section {
    /// Those that concern the fewest statements first: who waits under one of them holds nothing of the wider ones.
    pub(crate) limits: Vec<Arc<Limit>>,
    pub(crate) circuits: Vec<(UnitName, circuit::Settings)>,
}

/// One limit.
#[derive(Debug)]
pub(crate) struct Limit {
    pub(crate) name: String,
    pub(crate) of: Of,
    /// Users whom it concerns; empty: all.
    users: HashSet<String>,
    /// Storage units that it concerns; empty: all.
    units: Vec<UnitName>,
    /// A statement that it concerns, as written, and its digest; without it, all.
    statement: Option<(String, OnceLock<u64>)>,
    pub(crate) rate: Option<Rate>,
    /// Statements at once.
    pub(crate) most: Option<usize>,
    /// Statements that may wait.
    pub(crate) queue: usize,
    /// Time that one may wait.
    pub(crate) wait: Duration,
    /// Time that one may run.
    pub(crate) time: Option<Duration>,
    /// Rows that one may tell.
    pub(crate) rows: Option<u64>,
    /// What the client of one that ran longer is told, and of one that has more rows.
    pub(crate) told: Told,
    meters: OnceLock<Arc<Meters>>,
}

/// What clients are told whose statements are ended.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) time: Arc<str>,
    pub(crate) rows: Arc<str>,
}

impl Told {
    fn new(name: &str, time: u64, rows: u64) -> Self {
        let ended = format!("the statement was ended: limit `{name}` lets none");
        Self {
            time: format!("{ended} run longer than {time} ms").into(),
            rows: format!("{ended} tell more than {rows} rows").into(),
        }
    }
}

/// What is counted by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// All statements of the database together.
    Database,
    /// Those of each user.
    User,
    /// Those that go to each storage unit.
    Unit,
    /// Those that differ in nothing but literals.
    Statement,
}

const OF: [(&str, Of); 4] = [
    ("DATABASE", Of::Database),
    ("USER", Of::User),
    ("STORAGE_UNIT", Of::Unit),
    ("STATEMENT", Of::Statement),
];

impl Section {
    /// `None` where there is no such section.
    ///
    /// # Errors
    /// Every problem, in file order.
    pub(crate) fn read(
        rules: &Rules,
        around: &Around<'_>,
    ) -> Result<Option<Self>, Vec<pando_config::Problem>> {
        rules.read_section("LIMIT", |fields| {
            let mut limits = fields.map("limits", |entry, report| limit(entry, around, report));
            limits.sort_by_key(|limit| limit.width());
            Self {
                limits: limits.into_iter().map(Arc::new).collect(),
                circuits: fields
                    .map("circuitBreakers", |entry, report| breaker(entry, around, report)),
            }
        })
    }
}

fn limit(entry: &Entry, around: &Around<'_>, report: &mut Report) -> Option<Limit> {
    let mut fields = Fields::of(&entry.value, report)?;
    let of = choice(&mut fields);
    let users = fields.names("users").into_iter().map(|user| user.value).collect();
    let units = fields.names("storageUnits");
    let statement = fields.optional_string("statement");
    let per_second = number(&mut fields, "statementsPerSecond", 1..=MOST);
    let burst = number(&mut fields, "burst", 1..=MOST);
    let most = number(&mut fields, "concurrency", 1..=MOST);
    let queue = number(&mut fields, "queue", 0..=MOST);
    let wait = number(&mut fields, "waitMilliseconds", 0..=LONGEST);
    let time = number(&mut fields, "runMilliseconds", 1..=LONGEST);
    let rows = number(&mut fields, "rows", 1..=MOST_ROWS);
    if [per_second, most, time, rows].iter().all(Option::is_none) {
        let message = format!(
            "limit `{}` limits nothing: say `statementsPerSecond`, `concurrency`, `runMilliseconds` or `rows`",
            entry.key
        );
        fields.report().error(entry.at.problem(message));
    }
    if burst.is_some() && per_second.is_none() {
        let message = "`burst` needs `statementsPerSecond`";
        fields.report().error(entry.at.problem(message));
    }
    let units = units.iter().filter_map(|unit| known_unit(unit, around, fields.report())).collect();
    fields.finish();
    let rate = per_second.map(|per_second| Rate {
        each: Duration::from_secs(1) / u32::try_from(per_second).unwrap_or(u32::MAX),
        burst: u32::try_from(burst.unwrap_or(per_second)).unwrap_or(u32::MAX),
    });
    Some(Limit {
        name: entry.key.clone(),
        of: of?,
        users,
        units,
        statement: statement.map(|text| (text.value, OnceLock::new())),
        rate,
        most: most.map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
        queue: queue.map_or(QUEUE, |queue| usize::try_from(queue).unwrap_or(usize::MAX)),
        wait: wait.map_or(WAIT, Duration::from_millis),
        time: time.map(Duration::from_millis),
        rows,
        told: Told::new(&entry.key, time.unwrap_or_default(), rows.unwrap_or_default()),
        meters: OnceLock::new(),
    })
}

/// What is counted by itself; `None` for an unknown word, which is reported.
fn choice(fields: &mut Fields<'_, '_>) -> Option<Of> {
    let Some(word) = fields.optional_name("countedBy") else { return Some(Of::Database) };
    let found = OF.iter().find(|(known, _)| known.eq_ignore_ascii_case(&word));
    if found.is_none() {
        let known = OF.map(|(known, _)| known);
        let hint = suggest::hint(&word.to_uppercase(), known.iter().copied());
        let message = format!("`{}` is none of {}{hint}", word.value, known.join(", "));
        fields.report().error(word.at.problem(message));
    }
    found.map(|(_, of)| *of)
}

fn number(
    fields: &mut Fields<'_, '_>,
    name: &'static str,
    range: std::ops::RangeInclusive<u64>,
) -> Option<u64> {
    let bound = |bound: u64| i64::try_from(bound).unwrap_or(i64::MAX);
    let found = fields.optional_integer(name, bound(*range.start())..=bound(*range.end()))?;
    u64::try_from(found).ok()
}

fn known_unit(unit: &Placed<String>, around: &Around<'_>, report: &mut Report) -> Option<UnitName> {
    let found = around.units.iter().find(|own| ***own == *unit.value).cloned();
    if found.is_none() {
        let hint = suggest::hint(&unit.value, around.units.iter().map(|own| &**own));
        report.error(unit.at.problem(format!("no storage unit `{}`{hint}", unit.value)));
    }
    found
}

fn breaker(
    entry: &Entry,
    around: &Around<'_>,
    report: &mut Report,
) -> Option<(UnitName, circuit::Settings)> {
    let named = Placed { value: entry.key.clone(), at: entry.at.clone() };
    let mut fields = Fields::of(&entry.value, report)?;
    let unit = known_unit(&named, around, fields.report());
    let failed = number(&mut fields, "failedPercent", 1..=100);
    let slow = number(&mut fields, "slowPercent", 1..=100);
    let limit = number(&mut fields, "slowMilliseconds", 1..=LONGEST);
    let window = number(&mut fields, "windowMilliseconds", 100..=LONGEST).unwrap_or(10_000);
    let least = number(&mut fields, "minimumStatements", 1..=MOST).unwrap_or(20);
    let open = number(&mut fields, "openMilliseconds", 1..=LONGEST).unwrap_or(5_000);
    let probes = number(&mut fields, "probes", 1..=1_000).unwrap_or(3);
    if slow.is_some() != limit.is_some() {
        let message = "`slowPercent` and `slowMilliseconds` need each other";
        fields.report().error(entry.at.problem(message));
    }
    fields.finish();
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    // A breaker that says neither opens when every second statement fails.
    let failed = failed.unwrap_or(if slow.is_some() { 0 } else { 50 });
    let settings = circuit::Settings {
        window: Duration::from_millis(window),
        least: small(least),
        failed_percent: small(failed),
        slow_percent: small(slow.unwrap_or(0)),
        slow: Duration::from_millis(limit.unwrap_or(open)),
        open: Duration::from_millis(open),
        probes: small(probes),
    };
    Some((unit?, settings))
}

impl Limit {
    /// How many statements it concerns, beside others.
    fn width(&self) -> u8 {
        let narrows = [
            self.statement.is_some() || self.of == Of::Statement,
            !self.units.is_empty() || self.of == Of::Unit,
            !self.users.is_empty() || self.of == Of::User,
        ];
        narrows.into_iter().fold(0, |width, narrows| width * 2 + u8::from(!narrows))
    }

    /// Whether the statement is one of those it concerns.
    pub(crate) fn concerns(&self, ctx: &Context<'_>, footprint: &Footprint<'_>) -> bool {
        let is_own_user = || self.users.is_empty() || self.users.contains(&ctx.session.facts.user);
        // Where the units show in the statement's steps only, it may go to any.
        let is_on = || {
            let units = footprint.units;
            self.units.is_empty()
                || units.is_empty()
                || units.iter().any(|unit| self.units.contains(unit))
        };
        let is_own_text = || match &self.statement {
            None => true,
            Some((text, digest)) => {
                let own = digest.get_or_init(|| digest_of(text, ctx));
                footprint.stmt.digest == *own
            }
        };
        is_own_text() && is_on() && is_own_user()
    }

    /// The units of the statement that it concerns.
    pub(crate) fn on<'a>(
        &'a self,
        ctx: &'a Context<'_>,
        footprint: &'a Footprint<'_>,
    ) -> impl Iterator<Item = &'a UnitName> {
        let units = match footprint.units {
            [] => &ctx.database.units[..],
            units => units,
        };
        units.iter().filter(|unit| self.units.is_empty() || self.units.contains(unit))
    }

    /// Those by which something was counted.
    pub(crate) fn known_meters(&self) -> Option<&Arc<Meters>> {
        self.meters.get()
    }

    pub(crate) fn meters(&self, now: Instant) -> &Arc<Meters> {
        self.meters.get_or_init(|| {
            let made = Meters::new(now);
            made.allow(self.most.unwrap_or(usize::MAX));
            Arc::new(made)
        })
    }

    /// Goes on with what was counted before.
    pub(crate) fn takes_over(&self, known: Arc<Meters>) {
        known.allow(self.most.unwrap_or(usize::MAX));
        if self.meters.set(known).is_err() {
            // Somebody was admitted by it before: that is counted there.
        }
    }
}

/// The digest of a statement as a rule has it; of a text that is none, one that no statement has.
fn digest_of(text: &str, ctx: &Context<'_>) -> u64 {
    let parsed = pando_sql::parse(text.trim().trim_end_matches(';'), ctx.dialect.syntax());
    parsed.map_or(0, |stmt| stmt.digest)
}
