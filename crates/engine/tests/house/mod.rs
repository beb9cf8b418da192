//! An engine over one scripted unit, governed by somebody who does as told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use pando_engine::{Engine, LiveDatabase, Session, Settings, Snapshot};
use pando_fake::{BACKTICK, FakeDialect, FakeRuntime, Reply, STANDARD, Unit, table_column};
use pando_kernel::administration::{Administration, Answer, Caller, Order};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Description, Event};
use pando_kernel::feature::{Context, DataNode, Database, Feature, LogicTable, Room, TableKind};
use pando_kernel::request::{Prepared, Request};
use pando_kernel::route::{Route, Spread, Target, UnitName, Units};
use pando_kernel::runtime::BoxFuture;
use pando_kernel::session::{Login, Session as _};
use pando_kernel::{Columns, Kind};
use pando_pool::{Options, Pool};
use pando_sql::ast::Statement;
use pando_sql::{Syntax, visit};

/// What the scripted unit is asked for its tables.
pub(crate) const TABLES: &str = "SHOW TABLES";

/// How errors and databases behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manners {
    Postgres,
    MySql,
}

impl Manners {
    pub(crate) fn dialect(self) -> FakeDialect {
        let fails = self == Self::Postgres;
        let syntax = if fails { &STANDARD } else { &BACKTICK };
        FakeDialect { syntax, error_fails_transaction: fails, ..FakeDialect::default() }
    }
}

/// A room that has every table on the first unit; it says how the rows of `t_spread` are spread there, where they are.
#[derive(Debug)]
struct First(Option<String>);

impl Room for First {
    fn name(&self) -> &'static str {
        "first"
    }

    fn tables(&self) -> Vec<LogicTable> {
        let node = DataNode { unit: "ds_shop".into(), table: "t_spread".into() };
        let table = |spread: &String| LogicTable {
            name: "t_spread".into(),
            kind: TableKind::Sharded,
            nodes: vec![node.clone()],
            spread: spread.clone(),
            keys: Vec::new(),
        };
        self.0.iter().map(table).collect()
    }
}

impl Feature for First {
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        if let (false, Some(unit)) =
            (visit::tables(&stmt.kind).is_empty(), ctx.database.units.first())
        {
            let targets = vec![Target::whole(Arc::clone(unit))];
            *route = Route::Units(Units::new(targets, Spread::Gather));
        }
        Ok(())
    }
}

/// What builds databases.
#[derive(Debug, Clone)]
struct World {
    engine: Engine,
    unit: Unit,
    runtime: FakeRuntime,
    manners: Manners,
}

impl World {
    /// A database of this name on these units.
    fn database(&self, name: &str, units: Vec<UnitName>) -> Arc<LiveDatabase> {
        self.with_room(name, units, First(None))
    }

    fn with_room(&self, name: &str, units: Vec<UnitName>, room: First) -> Arc<LiveDatabase> {
        let pools = units.iter().map(|unit| {
            let options = Options { min: 0, max: 2, ..Options::default() };
            Pool::new(Arc::clone(unit), self.unit.connector(), self.runtime.handle(), options)
        });
        let pools = pools.collect();
        let database = Database {
            name: name.into(),
            units,
            features: vec![Arc::new(room)],
            dialect: Arc::new(self.manners.dialect()),
        };
        Arc::new(LiveDatabase::new(database, pools))
    }

    /// Databases of these names; those whose names begin with `empty` have no unit.
    fn publish(&self, names: &[&str]) {
        let one = |name: &&str| {
            let units = match name.starts_with("empty") {
                true => Vec::new(),
                false => vec![format!("ds_{name}").into()],
            };
            self.database(name, units)
        };
        self.serve(names.iter().map(one).collect());
    }

    fn serve(&self, databases: Vec<Arc<LiveDatabase>>) {
        self.engine.publish(Snapshot { databases, settings: Settings::default() });
    }
}

type Calls = Arc<Mutex<Vec<(String, Caller)>>>;

/// Answers as told, and really makes and drops databases.
#[derive(Debug)]
struct Told {
    world: World,
    answers: Arc<Mutex<HashMap<String, Answer>>>,
    calls: Calls,
}

const VERBS: [&str; 6] = ["SHOW TREES", "PLANT", "EXPLORE", "PRUNE", "SURVEY", "FORGET"];

impl Told {
    fn answer(&self, order: Order<'_>) -> Result<Answer> {
        let snapshot = self.world.engine.snapshot();
        let mut names: Vec<&str> =
            snapshot.databases.iter().map(|live| live.database.name.as_str()).collect();
        match order {
            Order::Statement(text) => {
                let answer = self.answers.lock().unwrap().get(text).cloned();
                return answer.ok_or_else(|| Error::unsupported(1, "there is no such tree", ""));
            }
            Order::CreateDatabase { name, .. } if !names.contains(&name) => names.push(name),
            Order::CreateDatabase { .. } => {}
            Order::DropDatabase { name, .. } => names.retain(|known| *known != name),
        }
        self.world.publish(&names);
        Ok(Answer::Done(String::new()))
    }
}

impl Administration for Told {
    fn takes(&self, text: &str, _: &Syntax) -> bool {
        VERBS.iter().any(|verb| text.starts_with(verb))
    }

    fn labels(&self, _: &Caller, text: &str) -> Result<Option<Vec<String>>> {
        Ok(match self.answers.lock().unwrap().get(text) {
            Some(Answer::Rows { labels, .. }) => Some(labels.clone()),
            _ => None,
        })
    }

    fn carry_out<'a>(
        &'a self,
        caller: &'a Caller,
        order: Order<'a>,
    ) -> BoxFuture<'a, Result<Answer>> {
        let told = match order {
            Order::Statement(text) => text.to_owned(),
            Order::CreateDatabase { name, present } => format!("create {name} {present:?}"),
            Order::DropDatabase { name, missing } => format!("drop {name} {missing:?}"),
        };
        self.calls.lock().unwrap().push((told, caller.clone()));
        Box::pin(std::future::ready(self.answer(order)))
    }
}

/// A session and what stands behind it.
pub(crate) struct House {
    pub(crate) runtime: FakeRuntime,
    pub(crate) engine: Engine,
    pub(crate) unit: Unit,
    pub(crate) session: Session,
    world: World,
    answers: Arc<Mutex<HashMap<String, Answer>>>,
    calls: Calls,
    columns: Option<Columns>,
}

/// A governed engine with these databases, and a session in the first.
pub(crate) fn house(manners: Manners, databases: &[&str]) -> House {
    let house = House::ungoverned(manners, databases);
    let (answers, calls) = (Arc::clone(&house.answers), Arc::clone(&house.calls));
    house.engine.govern(Arc::new(Told { world: house.world.clone(), answers, calls }));
    house
}

/// Who logs in.
pub(crate) fn login(manners: Manners, database: Option<&str>) -> Login {
    Login {
        user: "ann".into(),
        database: database.map(str::to_owned),
        is_administrator: true,
        family: "fake",
        language: Some(Arc::new(manners.dialect())),
        ..Login::default()
    }
}

impl House {
    pub(crate) fn ungoverned(manners: Manners, databases: &[&str]) -> Self {
        let runtime = FakeRuntime::new();
        let unit = Unit::with_dialect("unit", manners.dialect());
        unit.otherwise(Reply::affected(1));
        let engine = Engine::new(runtime.handle());
        let world =
            World { engine: engine.clone(), unit: unit.clone(), runtime: runtime.clone(), manners };
        world.publish(databases);
        let session = engine.open(login(manners, databases.first().copied())).unwrap();
        let (answers, calls) = (Arc::default(), Arc::default());
        Self { runtime, engine, unit, session, world, answers, calls, columns: None }
    }

    /// Makes these the databases.
    pub(crate) fn publish(&self, names: &[&str]) {
        self.world.publish(names);
    }

    /// Makes `shop` the database, with rows of `t_spread` spread in this way.
    pub(crate) fn publish_spread(&self, spread: &str) {
        let room = First(Some(spread.to_owned()));
        self.world.serve(vec![self.world.with_room("shop", vec!["ds_shop".into()], room)]);
    }

    /// Makes these the databases, and none of them has a unit.
    pub(crate) fn publish_without_units(&self, names: &[&str]) {
        let world = &self.world;
        world.serve(names.iter().map(|name| world.database(name, Vec::new())).collect());
    }

    pub(crate) fn answers(&self, text: &str, answer: Answer) {
        self.answers.lock().unwrap().insert(text.to_owned(), answer);
    }

    /// What was ordered since the beginning, and by whom.
    pub(crate) fn calls(&self) -> Vec<(String, Caller)> {
        self.calls.lock().unwrap().clone()
    }

    pub(crate) fn table(&self, name: &str, columns: &[&str]) {
        let columns = columns.iter().map(|column| table_column(column, Kind::Int)).collect();
        self.unit.table(name, columns);
    }

    pub(crate) fn ask(&mut self, request: Request) -> Result<Vec<String>> {
        let (session, columns) = (&mut self.session, &mut self.columns);
        self.runtime.block_on(async {
            session.run(request).await?;
            let mut lines = Vec::new();
            while let Some(event) = session.next().await? {
                show(event, columns, &mut lines);
            }
            Ok(lines)
        })
    }

    /// The labels of the last rows.
    pub(crate) fn labels(&self) -> Vec<String> {
        let columns = self.columns.as_ref().expect("rows came");
        columns.list.iter().map(|column| column.name.clone()).collect()
    }

    pub(crate) fn ok(&mut self, sql: &str) -> Vec<String> {
        self.ask(Request::Query(sql.into())).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    pub(crate) fn fails(&mut self, sql: &str) -> Error {
        self.ask(Request::Query(sql.into())).expect_err(sql)
    }

    pub(crate) fn prepare(&mut self, sql: &str) -> Result<Arc<Prepared>> {
        self.runtime.block_on(self.session.prepare(sql.into(), Vec::new()))
    }

    pub(crate) fn describe(&mut self, prepared: &Arc<Prepared>) -> Description {
        self.runtime.block_on(self.session.describe(prepared)).unwrap()
    }

    /// What the unit received since the last look.
    pub(crate) fn sent(&self) -> Vec<String> {
        let sent = self.unit.statements();
        self.unit.forget();
        sent
    }
}

/// A piece of a reply as text: rows by their values, completions by tag and count.
fn show(event: Event, columns: &mut Option<Columns>, lines: &mut Vec<String>) {
    match event {
        Event::Columns(found) => *columns = Some(found),
        Event::Rows(rows) => {
            let columns = columns.as_ref().unwrap();
            let mut fields = Vec::new();
            rows.for_each(columns, |body| {
                columns.codec.fields(&columns.list, body, &mut fields)?;
                let values = columns.list.iter().zip(&fields).map(|(column, field)| {
                    let raw = field.clone().map(|range| &body[range]);
                    columns.codec.value(column, raw).map(|value| format!("{value:?}"))
                });
                lines.push(values.collect::<Result<Vec<_>>>()?.join(" "));
                Ok(())
            })
            .unwrap();
        }
        Event::Complete(done) => {
            lines.push(format!("{} {}", done.tag, done.affected.unwrap_or(0)));
        }
        Event::Notice(notice) => lines.push(notice.message),
        Event::Parameter { name, value } => lines.push(format!("{name}={value}")),
        _ => {}
    }
}

/// Whether it says that there is no storage unit.
pub(crate) fn is_without_units(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Refused { code: 10101, .. })
}
