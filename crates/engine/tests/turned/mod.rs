//! Two scripted units behind a room whose cells are turned around.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pando_engine::{Engine, LiveDatabase, Session, Settings, Snapshot};
use pando_fake::{FakeDialect, FakeRuntime, Reply, STANDARD, Unit};
use pando_kernel::cells::{CellMap, CellTurn};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::feature::{
    Admission, Context, Database, Entry, Feature, Footprint, Permits, Room,
};
use pando_kernel::merge::Position;
use pando_kernel::request::Request;
use pando_kernel::route::{Route, UnitName};
use pando_kernel::session::{Login, Session as _};
use pando_kernel::shortcut::{Always, Shortcut};
use pando_kernel::{Column, Columns, Value};
use pando_pool::{Options, Pool};
use pando_sql::ast::{InsertSource, Kind, Node, SelectItem, Statement};
use pando_sql::visit;

use crate::Asked;
use crate::by_name::ByName;

/// What a room turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turns {
    /// The items that are `name`, by their places; what a star stands for, by its label. Nothing goes back.
    Name,
    /// The same, and what a statement brings back is what was told.
    Back,
    /// Whatever is labelled `name`.
    ByLabel,
}

/// Texts are told from behind; one is never told.
#[derive(Debug)]
struct Around {
    goes_back: bool,
}

impl CellTurn for Around {
    fn column(&self, column: &mut Column) {
        column.name = format!("told {}", column.name);
    }

    fn value(&self, value: Value) -> Result<Value> {
        match value {
            Value::Text(text) if text == "never" => {
                Err(Error::new(ErrorKind::Value("`never` is never told".into())))
            }
            Value::Text(text) => Ok(Value::Text(text.chars().rev().collect())),
            other => Ok(other),
        }
    }

    fn goes_back(&self) -> bool {
        self.goes_back
    }
}

#[derive(Debug)]
struct Turned {
    turns: Turns,
    around: Arc<dyn CellTurn>,
    asked: Asked,
    admitted: Arc<Mutex<Vec<String>>>,
}

/// Executions that the room lets through at most.
pub(crate) const MOST: usize = 24;

impl Admission for Turned {
    fn admit(&self, _: &Context<'_>, footprint: &Footprint<'_>, _: &mut Permits) -> Result<Entry> {
        let mut admitted = self.admitted.lock().expect("the list of executions");
        if admitted.len() >= MOST {
            return Err(Error::forbidden(13200, "the room lets no more statements through", ""));
        }
        let writes = if footprint.writes { "writes" } else { "reads" };
        admitted.push(format!("{writes} {}", footprint.units.join(" ")).trim().to_owned());
        Ok(Entry::Now)
    }
}

impl Room for Turned {
    fn name(&self) -> &'static str {
        "turned"
    }
}

impl Feature for Turned {
    fn shown(&self, _: &Context<'_>, stmt: &Statement) -> Result<Vec<CellMap>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let cell = |at| CellMap { at, turn: Arc::clone(&self.around) };
        let by_label = || vec![cell(Position::Name("name".into()))];
        if self.turns == Turns::ByLabel {
            return Ok(by_label());
        }
        let (mut cells, mut at, mut has_star) = (Vec::new(), 0, false);
        visit::items(&stmt.kind, &mut |item| {
            match item {
                SelectItem::Star(_) | SelectItem::QualifiedStar(..) => has_star = true,
                SelectItem::Expr { expr, .. } => {
                    if let Node::Column(column) = &expr.node
                        && column.key() == "name"
                    {
                        cells.push(cell(Position::Index(at)));
                    }
                }
            }
            at += 1;
        });
        Ok(if has_star { by_label() } else { cells })
    }

    fn shortcut(&self, _: &Context<'_>, _: &Statement) -> Shortcut {
        Shortcut::Idle
    }

    fn admission(&self) -> Option<&dyn Admission> {
        Some(self)
    }
}

/// Claims tables as [`ByName`] does, and knows that `kept_t` is on the first unit.
#[derive(Debug)]
struct Claims;

impl Room for Claims {
    fn name(&self) -> &'static str {
        "claims"
    }
}

impl Feature for Claims {
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        if let Kind::Insert(insert) = &stmt.kind
            && matches!(insert.source, InsertSource::Query(_))
        {
            return Err(Error::spans_shards(20031, "its rows come from another table", ""));
        }
        if !is_kept(stmt) {
            return ByName.route(ctx, stmt, route);
        }
        let targets = vec![pando_kernel::Target::whole("ds_0".into())];
        let spread = pando_kernel::route::Spread::Gather;
        *route = Route::Units(pando_kernel::route::Units::new(targets, spread));
        Ok(())
    }

    fn shortcut(&self, _: &Context<'_>, stmt: &Statement) -> Shortcut {
        match is_kept(stmt) {
            true => Shortcut::Pick(Arc::new(Always("ds_0".into()))),
            false => Shortcut::None,
        }
    }
}

fn is_kept(stmt: &Statement) -> bool {
    visit::tables(&stmt.kind).iter().any(|table| table.name.key() == "kept_t")
}

/// Two scripted units and a session.
pub(crate) struct House {
    pub(crate) runtime: FakeRuntime,
    pub(crate) units: [Unit; 2],
    pub(crate) session: Session,
    pub(crate) asked: Asked,
    admitted: Arc<Mutex<Vec<String>>>,
    /// Of the last reply that had any: a fetch does not repeat them.
    pub(crate) columns: Option<Columns>,
}

/// A house with these rooms behind the one that claims tables.
pub(crate) fn house(rooms: &[Turns]) -> House {
    built(rooms, FakeDialect { error_fails_transaction: true, ..FakeDialect::default() })
}

/// The same, where rows can be read and written elsewhere.
pub(crate) fn transferring(rooms: &[Turns]) -> House {
    let dialect =
        FakeDialect { transfers: true, error_fails_transaction: true, ..FakeDialect::default() };
    built(rooms, dialect)
}

fn built(rooms: &[Turns], dialect: FakeDialect) -> House {
    let dialect = FakeDialect { syntax: &STANDARD, ..dialect };
    let runtime = FakeRuntime::new();
    let units = [0, 1].map(|n| Unit::with_dialect(&format!("ds_{n}"), dialect));
    for unit in &units {
        unit.otherwise(Reply::affected(1));
        let columns = [("id", pando_kernel::Kind::Int), ("name", pando_kernel::Kind::Text)];
        let columns = columns.map(|(name, kind)| pando_fake::table_column(name, kind));
        for table in ["all_t", "zero_t", "one_t"] {
            unit.table(table, columns.to_vec());
        }
    }
    let pools = [0, 1].map(|n| {
        let name = UnitName::from(format!("ds_{n}"));
        let options = Options { min: 0, max: 2, ..Options::default() };
        Pool::new(name, units[n].connector(), runtime.handle(), options)
    });
    let asked = Arc::new(AtomicUsize::new(0));
    let admitted = Arc::<Mutex<Vec<String>>>::default();
    let turned = rooms.iter().map(|turns| {
        let (turns, around) = (*turns, Arc::new(Around { goes_back: *turns == Turns::Back }));
        let (asked, admitted) = (Arc::clone(&asked), Arc::clone(&admitted));
        Arc::new(Turned { turns, around, asked, admitted }) as Arc<dyn Feature>
    });
    let claims: Arc<dyn Feature> = Arc::new(Claims);
    let database = Database {
        name: "shop".into(),
        units: vec!["ds_0".into(), "ds_1".into()],
        features: std::iter::once(claims).chain(turned).collect(),
        dialect: Arc::new(dialect),
    };
    let engine = Engine::new(runtime.handle());
    let live = Arc::new(LiveDatabase::new(database, pools.into()));
    engine.publish(Snapshot { databases: vec![live], settings: Settings::default() });
    let login = Login { database: Some("shop".into()), ..Login::default() };
    let session = engine.open(login).unwrap();
    House { runtime, units, session, asked, admitted, columns: None }
}

impl House {
    pub(crate) fn ask(&mut self, request: Request) -> Result<Vec<String>> {
        let (session, columns) = (&mut self.session, &mut self.columns);
        self.runtime.block_on(async {
            session.run(request).await?;
            let mut events = Vec::new();
            while let Some(event) = session.next().await? {
                events.push(event);
            }
            Ok(show(&events, columns))
        })
    }

    /// What has been admitted since this was asked last.
    pub(crate) fn admitted(&self) -> Vec<String> {
        std::mem::take(&mut *self.admitted.lock().expect("the list of executions"))
    }

    pub(crate) fn query(&mut self, sql: &str) -> Result<Vec<String>> {
        self.ask(Request::Query(sql.into()))
    }

    pub(crate) fn ok(&mut self, sql: &str) -> Vec<String> {
        self.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    pub(crate) fn fails(&mut self, sql: &str) -> Error {
        self.query(sql).expect_err(sql)
    }

    /// The labels of the last rows.
    pub(crate) fn labels(&self) -> Vec<String> {
        let columns = self.columns.as_ref().expect("rows came");
        columns.list.iter().map(|column| column.name.clone()).collect()
    }
}

/// A reply as text: rows by their values, completions by tag and count.
pub(crate) fn show(events: &[Event], columns: &mut Option<Columns>) -> Vec<String> {
    let mut lines = Vec::new();
    for event in events {
        match event {
            Event::Columns(found) => *columns = Some(found.clone()),
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
            Event::Suspended => lines.push("suspended".into()),
            _ => {}
        }
    }
    lines
}
