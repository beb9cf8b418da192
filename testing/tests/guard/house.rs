//! A logical database over one scripted unit, beside another one whose tables stand on the same server.

use std::collections::HashMap;
use std::sync::Arc;

use pando_engine::{Engine, LiveDatabase, Session, Settings, Snapshot};
use pando_fake::{FakeRuntime, Reply, Unit};
use pando_kernel::backend::{Backend, CancelToken, Connector, Place};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::{Context, Database, Feature, Room};
use pando_kernel::request::{Execute, Pipeline, Request};
use pando_kernel::route::{Route, Spread, Target, UnitName, Units};
use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_kernel::session::{Login, Session as _};
use pando_kernel::{Dialect, Kind};
use pando_pool::{Options, Pool};
use pando_sql::ast::Statement;
use pando_sql::visit;

/// The hint that sends a statement to the unit as it is.
pub(crate) const HINT: &str = "/* SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=ds_0 */ ";

/// A room that has every table on the first unit, but for the server's own.
#[derive(Debug)]
struct First;

impl Room for First {
    fn name(&self) -> &'static str {
        "first"
    }
}

impl Feature for First {
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        let vendors =
            |name| ctx.dialect.presentation().is_some_and(|shown| shown.holding(name).is_some());
        let named = visit::tables(&stmt.kind).iter().any(|table| !vendors(table.name));
        if let (true, Some(unit)) = (named, ctx.database.units.first()) {
            *route =
                Route::Units(Units::new(vec![Target::whole(Arc::clone(unit))], Spread::Gather));
        }
        Ok(())
    }
}

/// The scripted unit, said to stand in a schema of a database that others use, too.
#[derive(Debug)]
struct Placed {
    unit: Arc<dyn Connector>,
    schema: &'static str,
    dialect: Arc<dyn Dialect>,
}

impl Connector for Placed {
    fn connect<'a>(
        &'a self,
        runtime: &'a SharedRuntime,
    ) -> BoxFuture<'a, Result<Box<dyn Backend>>> {
        self.unit.connect(runtime)
    }

    fn cancel<'a>(
        &'a self,
        runtime: &'a SharedRuntime,
        token: CancelToken,
    ) -> BoxFuture<'a, Result<()>> {
        self.unit.cancel(runtime, token)
    }

    fn dialect(&self) -> Arc<dyn Dialect> {
        Arc::clone(&self.dialect)
    }

    fn place(&self) -> Option<Place> {
        Some(Place { database: "server/all".into(), schemas: vec![self.schema.into()] })
    }
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// May see `shop` alone.
    Limited,
    /// May see all databases.
    Plain,
    Administrator,
}

pub(crate) const ALL: [Who; 3] = [Who::Limited, Who::Plain, Who::Administrator];

/// How a text comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Text,
    Prepared,
    Hint,
    PreparedHint,
    /// Behind another statement of one text.
    Second,
    Preview,
}

pub(crate) const WAYS: [Way; 6] =
    [Way::Text, Way::Prepared, Way::Hint, Way::PreparedHint, Way::Second, Way::Preview];

/// An engine with two databases, and a session in `shop`.
pub(crate) struct House {
    runtime: FakeRuntime,
    engine: Engine,
    unit: Unit,
    dialect: Arc<dyn Dialect>,
    session: HashMap<&'static str, Session>,
}

impl House {
    pub(crate) fn new(dialect: Arc<dyn Dialect>) -> Self {
        assert!(dialect.guard().is_some());
        let runtime = FakeRuntime::new();
        let unit = Unit::new("unit");
        unit.otherwise(Reply::affected(1));
        // The server's own relations are empty.
        let is_of_server = |text: &str| {
            ["pg_", "information_schema"].iter().any(|of| text.to_lowercase().contains(of))
        };
        unit.when(is_of_server, |_, _| Reply::rows(&[("a", Kind::Text)], Vec::new()));
        let engine = Engine::new(runtime.handle());
        let live = |name: &str, schema| {
            let ds: UnitName = "ds_0".into();
            let connector =
                Placed { unit: unit.connector(), schema, dialect: Arc::clone(&dialect) };
            let options = Options { min: 0, max: 2, ..Options::default() };
            let pool = Pool::new(ds, Arc::new(connector), runtime.handle(), options);
            let database = Database {
                name: name.into(),
                units: vec!["ds_0".into()],
                features: vec![Arc::new(First)],
                dialect: Arc::clone(&dialect),
            };
            Arc::new(LiveDatabase::new(database, vec![pool]))
        };
        let databases = vec![live("shop", "public"), live("hr", "hr")];
        engine.publish(Snapshot { databases, settings: Settings::default() });
        Self { runtime, engine, unit, dialect, session: HashMap::new() }
    }

    /// What comes of a text, and what arrived at the unit meanwhile.
    pub(crate) fn ask(&mut self, who: Who, way: Way, text: &str) -> (Result<()>, Vec<String>) {
        let login = Login {
            user: "ann".into(),
            database: Some("shop".into()),
            databases: (who == Who::Limited).then(|| vec!["shop".to_owned()]),
            is_administrator: who == Who::Administrator,
            family: self.dialect.family(),
            language: Some(Arc::clone(&self.dialect)),
            ..Login::default()
        };
        // A session of its own: what one statement leaves behind must not answer for the next.
        self.session.clear();
        self.session.insert("now", self.engine.open(login).unwrap());
        self.unit.forget();
        let told = match way {
            Way::Text => self.run(Request::Query(text.into())),
            Way::Hint => self.run(Request::Query(format!("{HINT}{text}").into())),
            Way::Second => self.run(Request::Query(format!("SELECT 1; {text}").into())),
            Way::Preview => self.run(Request::Query(format!("PREVIEW {text}").into())),
            Way::Prepared => self.prepared(text),
            Way::PreparedHint => self.prepared(&format!("{HINT}{text}")),
        };
        self.session.clear();
        (told, self.unit.statements())
    }

    fn prepared(&mut self, text: &str) -> Result<()> {
        let session = self.session.get_mut("now").unwrap();
        let prepared = self.runtime.block_on(async {
            let prepared = session.prepare(text.into(), Vec::new()).await?;
            // What it takes and gives is asked of the unit, too.
            let _ = session.describe(&prepared).await;
            Ok::<_, Error>(prepared)
        })?;
        let execute = Execute {
            prepared,
            parameters: Vec::new(),
            result_formats: Vec::new(),
            limit: None,
            cursor: None,
            pipeline: Pipeline::Alone,
        };
        self.run(Request::Execute(execute))
    }

    fn run(&mut self, request: Request) -> Result<()> {
        let session = self.session.get_mut("now").unwrap();
        self.runtime.block_on(async {
            session.run(request).await?;
            while session.next().await?.is_some() {}
            Ok(())
        })
    }
}

/// Holds for every template, way and user: what names something else never arrives, and a name of the user's own is no reason to refuse.
pub(crate) struct Product<'a> {
    pub(crate) templates: &'a [&'a str],
    /// Spellings of what nobody in `by` may reach.
    pub(crate) others: &'a [&'a str],
    /// How these look in [`plain`].
    pub(crate) marks: &'a [&'a str],
    /// What may be reached instead.
    pub(crate) own: &'a str,
    pub(crate) by: &'a [Who],
}

impl Product<'_> {
    pub(crate) fn check(&self, house: &mut House) {
        let mut wrong: Vec<String> = Vec::new();
        let mut arrived = 0;
        for (template, who) in pairs(self.templates, self.by) {
            for way in WAYS {
                for name in self.others {
                    let text = filled(template, name);
                    let (told, sent) = house.ask(who, way, &text);
                    let reached = sent.iter().find(|sent| {
                        let sent = plain(sent);
                        self.marks.iter().any(|mark| sent.contains(mark)) && !is_catalogue(&sent)
                    });
                    if let Some(reached) = reached {
                        wrong.push(format!("{who:?} {way:?}: {text} reached the unit: {reached}"));
                    } else if told.is_ok()
                        && way != Way::Preview
                        && !template.starts_with("PREPARE")
                    {
                        wrong.push(format!("{who:?} {way:?}: {text} is said to be done"));
                    }
                }
                let text = filled(template, self.own);
                let (told, sent) = house.ask(who, way, &text);
                arrived += usize::from(sent.iter().any(|sent| plain(sent).contains(self.own)));
                if let Err(error) = told
                    && is_of_reach(&error)
                {
                    wrong.push(format!("{who:?} {way:?}: {text} is refused: {error}"));
                }
            }
        }
        let control = self.templates.len() * self.by.len() * WAYS.len();
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
        // Some are refused for other reasons, and PREVIEW sends nothing.
        assert!(arrived * 2 > control, "of {control} allowed statements {arrived} arrived");
    }
}

fn pairs<'a>(templates: &'a [&'a str], by: &'a [Who]) -> impl Iterator<Item = (&'a str, Who)> {
    templates.iter().flat_map(move |template| by.iter().map(move |who| (*template, *who)))
}

/// Pando's own questions leave the ledgers out by their names.
fn is_catalogue(sent: &str) -> bool {
    sent.contains("pg_catalog") || sent.contains("information_schema.tables")
}

/// Fixed texts: refused for their reach, or not, for these users on every way.
pub(crate) fn check_texts(house: &mut House, texts: &[&str], (refused, free): (&[Who], &[Who])) {
    let mut wrong: Vec<String> = Vec::new();
    for text in texts {
        for way in WAYS {
            for who in refused {
                match house.ask(*who, way, text).0 {
                    Err(error) if is_of_reach(&error) => {}
                    told if way == Way::Preview => drop(told),
                    told => wrong.push(format!("{who:?} {way:?}: {text} gives {told:?}")),
                }
            }
            for who in free {
                if let (Err(error), _) = house.ask(*who, way, text)
                    && is_of_reach(&error)
                {
                    wrong.push(format!("{who:?} {way:?}: {text} is refused: {error}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// What a unit received, without quotes, blanks and comments, in lower case.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("/*") {
        out.push_str(&rest[..at]);
        rest = rest[at..].find("*/").map_or("", |end| &rest[at + end + 2..]);
    }
    out.push_str(rest);
    out.retain(|c| !c.is_whitespace() && !matches!(c, '"' | '`' | '\''));
    out.to_lowercase()
}

/// A template with a name in its hole, if it has one.
pub(crate) fn filled(template: &str, name: &str) -> String {
    template.replace("{t}", name)
}

/// Whether an error is one of reach, not of the fake server.
pub(crate) fn is_of_reach(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::AccessDenied(_) | ErrorKind::UnknownDatabase(_))
}
