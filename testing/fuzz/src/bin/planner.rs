//! Statements to plans over a sharded table, in both languages, with a budget: what takes more time or memory than in proportion to its text is a crash here. A part
//! of the input may be repeated, so that texts are long without long inputs.
#![no_main]

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use pando_config::{File, parse_one};
use pando_engine::plan::{Purpose, plan};
use pando_fake::{Still, table_column};
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Database, SessionView};
use pando_kernel::route::Place;
use pando_kernel::{Around, Context, Dialect, Kind, NoModules, States, UnitName};

/// A repeated part makes a text of so many bytes.
const LONG: usize = 256 << 10;
/// CPU of one text, which is planned twice. A release build takes up to 110 ms; coverage and debug assertions cost several times as much.
const MOST_TIME: Duration = Duration::from_secs(2);
/// Memory over what is there before, for a text: its trees and what is made of them take up to 200 times as much, and the allocator holds some anyway.
const fn most_memory(text: usize) -> usize {
    (32 << 20) + 256 * text
}

const RULES: &str = "
databaseName: shop
dataSources:
  ds_0: {url: 'URL', username: t, password: ''}
  ds_1: {url: 'URL', username: t, password: ''}
rules:
  - !SHARDING
    tables:
      t:
        actualDataNodes: ds_${0..1}.t_${0..1}
        databaseStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by}}
        tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by}}
    shardingAlgorithms:
      by: {type: MOD, props: {sharding-count: 2}}
";

#[derive(Debug)]
struct Known {
    columns: Arc<Vec<TableColumn>>,
    tables: Arc<HashMap<String, Vec<UnitName>>>,
}

impl Catalog for Known {
    fn columns(&self, _: &str) -> Option<Arc<Vec<TableColumn>>> {
        Some(Arc::clone(&self.columns))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::clone(&self.tables))
    }
}

fn database(url: &str, dialect: Arc<dyn Dialect>) -> Database {
    let text = RULES.trim_start().replace("URL", url);
    let file = File { name: "shop.yaml", text: &text };
    let configuration = parse_one(file, &|_| None).expect("a configuration");
    let rules = &configuration.databases[0].rules;
    let units: Vec<UnitName> = vec!["ds_0".into(), "ds_1".into()];
    let place = |unit: &UnitName| Place { name: unit.clone(), members: vec![unit.clone()] };
    let places: Vec<Place> = units.iter().map(place).collect();
    let around = Around {
        units: &units,
        places: &places,
        others: &[],
        states: &States::default(),
        fold: dialect.syntax().fold,
        modules: &NoModules,
    };
    let room = (pando_sharding::ROOM.build)(rules, &around).expect("rules").expect("a room");
    Database { name: "shop".into(), units, features: vec![room], dialect }
}

fn databases() -> &'static [Database; 2] {
    static DATABASES: OnceLock<[Database; 2]> = OnceLock::new();
    DATABASES.get_or_init(|| {
        [
            database("jdbc:mysql://127.0.0.1:1/u", Arc::new(pando_mysql::MySql::default())),
            database("jdbc:postgresql://127.0.0.1:1/u", Arc::new(pando_postgres::Postgres)),
        ]
    })
}

/// A figure of the process's status, in bytes.
fn memory(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find(|line| line.starts_with(name)).expect("a line");
    let figure = line.split_ascii_whitespace().nth(1).and_then(|kb| kb.parse::<usize>().ok());
    figure.expect("a figure") << 10
}

/// CPU that the process has taken so far: the machine may have other things to do.
fn spent() -> Duration {
    let status = fs::read_to_string("/proc/self/stat").expect("a status");
    let (_, figures) = status.rsplit_once(')').expect("a name");
    let figures = figures.split_ascii_whitespace().skip(11).take(2);
    // In hundredths of a second, on every Linux.
    Duration::from_millis(10 * figures.map(|ticks| ticks.parse::<u64>().expect("a figure")).sum::<u64>())
}

/// `a~b~c` is `a`, `b` as often as it fits into a long text, and `c`.
fn text(input: &str) -> String {
    let mut parts = input.splitn(3, '~');
    let (Some(before), Some(part), Some(behind)) = (parts.next(), parts.next(), parts.next()) else {
        return input.to_owned();
    };
    format!("{before}{}{behind}", part.repeat(LONG / part.len().max(1)))
}

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let Ok(input) = std::str::from_utf8(rest) else { return };
    let (text, database) = (text(input), &databases()[usize::from(first & 1)]);
    let is_long = text.len() > LONG / 2;
    if is_long {
        // The peak is counted from here.
        let _ = fs::write("/proc/self/clear_refs", "5");
    }
    let (before, began) = if is_long { (memory("VmRSS"), spent()) } else { (0, Duration::ZERO) };
    check(&text, database);
    if is_long {
        let took = spent() - began;
        assert!(took < MOST_TIME, "{took:?} for {} bytes", text.len());
        let taken = memory("VmHWM").saturating_sub(before);
        assert!(taken < most_memory(text.len()), "{taken} bytes for {}", text.len());
    }
});

fn check(text: &str, database: &Database) {
    let syntax = database.dialect.syntax();
    let Ok(statement) = pando_sql::parse(text, syntax) else { return };
    let column = |name: &str, kind| TableColumn { primary_key: name == "id", ..table_column(name, kind) };
    let columns = vec![column("id", Kind::Int), column("k", Kind::Int), column("c", Kind::Text)];
    let catalog = Known { columns: Arc::new(columns), tables: Arc::default() };
    let mut session = SessionView::default();
    Arc::make_mut(&mut session.facts).database = Some(database.name.clone());
    let context = Context {
        database,
        catalog: &catalog,
        dialect: database.dialect.as_ref(),
        parameters: None,
        session: &session,
        source: &Still,
    };
    for purpose in [Purpose::Run, Purpose::Describe] {
        drop(plan(&context, &statement, purpose));
    }
}
