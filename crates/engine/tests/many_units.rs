//! A database of more storage units than a statement may ask for things to be found out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use pando_engine::{Engine, LiveDatabase, Settings, Snapshot};
use pando_fake::{FakeDialect, FakeRuntime, Reply, Unit, WHAT_HAS_EFFECTS};
use pando_kernel::error::Result;
use pando_kernel::event::Event;
use pando_kernel::feature::{Context, Database, Feature, Room};
use pando_kernel::request::Request;
use pando_kernel::route::{Route, Spread, Target, UnitName, Units};
use pando_kernel::session::{Login, Session as _};
use pando_kernel::{Kind, Value};
use pando_pool::{Options, Pool};
use pando_sql::ast::Statement;

const UNITS: usize = 100;

/// A room whose tables are on all units.
#[derive(Debug)]
struct Everywhere;

impl Room for Everywhere {
    fn name(&self) -> &'static str {
        "everywhere"
    }
}

impl Feature for Everywhere {
    fn route(&self, ctx: &Context<'_>, _: &Statement, route: &mut Route) -> Result<()> {
        let targets = ctx.database.units.iter().map(|unit| Target::whole(Arc::clone(unit)));
        *route = Route::Units(Units::new(targets.collect(), Spread::Gather));
        Ok(())
    }
}

#[test]
fn the_effects_on_all_units_are_learnt_by_the_first_statement() {
    let runtime = FakeRuntime::new();
    let dialect = FakeDialect { has_effects: true, ..FakeDialect::default() };
    let unit = Unit::with_dialect("ds", dialect);
    let rows = vec![vec![Value::Int(7)]];
    unit.otherwise(Reply::rows(&[("id", Kind::Int)], rows));
    unit.reply(WHAT_HAS_EFFECTS, Reply::rows(&[("name", Kind::Text)], Vec::new()));
    let names: Vec<UnitName> = (0..UNITS).map(|n| UnitName::from(format!("ds_{n}"))).collect();
    let pools = names.iter().map(|name| {
        let options = Options { min: 0, max: 1, ..Options::default() };
        Pool::new(Arc::clone(name), unit.connector(), runtime.handle(), options)
    });
    let pools = pools.collect();
    let database = Database {
        name: "shop".into(),
        units: names,
        features: vec![Arc::new(Everywhere)],
        dialect: Arc::new(dialect),
    };
    let engine = Engine::new(runtime.handle());
    let live = Arc::new(LiveDatabase::new(database, pools));
    engine.publish(Snapshot { databases: vec![live], settings: Settings::default() });
    let login = Login { database: Some("shop".into()), ..Login::default() };
    let mut session = engine.open(login).unwrap();
    let rows: Result<usize> = runtime.block_on(async {
        session.run(Request::Query("SELECT id FROM t".into())).await?;
        let mut rows = 0;
        while let Some(event) = session.next().await? {
            rows += if let Event::Rows(rows) = event { rows.count as usize } else { 0 };
        }
        Ok(rows)
    });
    assert_eq!(rows.unwrap(), UNITS);
    let asked = unit.statements().iter().filter(|text| *text == WHAT_HAS_EFFECTS).count();
    assert_eq!(asked, UNITS);
}
