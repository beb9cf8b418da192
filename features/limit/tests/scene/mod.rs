//! A room out of a text of YAML, and statements that ask to be admitted at a moment of the test's choosing.
#![allow(dead_code, clippy::unwrap_used, reason = "test support functions; no test needs all")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use pando_config::{File, parse_one};
use pando_fake::room::Known;
use pando_fake::{BACKTICK, FakeDialect, Still};
use pando_kernel::feature::{
    Context, Database, Entry, Feature, Footprint, Permits, SessionView, Waiting,
};
use pando_kernel::{Around, Result, States, UnitName};
use pando_limit::ROOM;

pub(crate) fn units() -> Vec<UnitName> {
    ["ds_0", "ds_1"].map(UnitName::from).to_vec()
}

/// The room of these rules.
///
/// # Errors
/// Every problem, a line each.
pub(crate) fn built(rules: &str) -> Result<Arc<dyn Feature>, String> {
    let text = format!(
        "databaseName: shop
dataSources:
  ds_0: {{url: 'jdbc:mysql://a/x', username: u}}
rules:
- !LIMIT
  {rules}
"
    );
    let file = File { name: "shop.yaml", text: &text };
    let parsed = parse_one(file, &|_| None).map_err(|errors| errors.to_string())?;
    let (states, units) = (States::default(), units());
    let fold = pando_sql::Fold::Keep;
    let around = Around {
        units: &units,
        places: &[],
        others: &[],
        states: &states,
        fold,
        modules: &pando_kernel::NoModules,
    };
    let built = (ROOM.build)(&parsed.databases[0].rules, &around);
    built.map(Option::unwrap).map_err(|problems| {
        let lines = problems.iter().map(ToString::to_string);
        lines.collect::<Vec<_>>().join("\n")
    })
}

/// A statement that asks.
pub(crate) struct Ask<'a> {
    pub(crate) sql: &'a str,
    pub(crate) user: &'a str,
    pub(crate) units: Vec<&'a str>,
    pub(crate) now: Instant,
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Self { sql: "SELECT * FROM t", user: "", units: vec!["ds_0"], now: Instant::now() }
    }
}

pub(crate) fn ask(room: &dyn Feature, asked: &Ask<'_>, permits: &mut Permits) -> Result<Entry> {
    let stmt = pando_sql::parse(asked.sql, &BACKTICK).unwrap();
    let dialect = FakeDialect { syntax: &BACKTICK, ..FakeDialect::default() };
    let database = Database {
        name: "shop".into(),
        units: units(),
        features: Vec::new(),
        dialect: Arc::new(dialect),
    };
    let mut session = SessionView::default();
    Arc::make_mut(&mut session.facts).user = asked.user.to_owned();
    let ctx = Context {
        database: &database,
        catalog: &Known { columns: None, tables: None },
        dialect: &dialect,
        parameters: None,
        session: &session,
        source: &Still,
    };
    let units: Vec<UnitName> = asked.units.iter().map(|unit| UnitName::from(*unit)).collect();
    let footprint = Footprint {
        stmt: &stmt,
        writes: false,
        units: &units,
        shards: units.len(),
        now: asked.now,
    };
    room.admission().unwrap().admit(&ctx, &footprint, permits)
}

/// One that has to wait.
pub(crate) fn waits(entry: Result<Entry>) -> Box<dyn Waiting> {
    match entry.unwrap() {
        Entry::Later(waiting) => waiting,
        Entry::Now => unreachable!("it runs at once"),
    }
}

pub(crate) fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}
