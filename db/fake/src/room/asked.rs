//! A statement that a room is asked about, by each of its methods.

use std::sync::Arc;
use std::time::Instant;

use pando_kernel::changes::{Changes, write_literals};
use pando_kernel::feature::{Context, Database, Entry, Footprint, Permits, SessionView};
use pando_kernel::merge::Position;
use pando_kernel::route::{Route, Spread, Target, UnitName, Units};
use pando_kernel::session::TransactionState;
use pando_kernel::{Error, Result};
use pando_sql::ast::Statement;
use pando_sql::{Edits, Span, visit};

use super::Scene;
use crate::dialect::{BACKTICK, FakeDialect, STANDARD};
use crate::source::Still;

/// One statement before one room. What the methods give is told in the words of cases.
pub(super) struct Asked {
    text: String,
    stmt: Statement,
    scene: Scene,
    database: Database,
    session: SessionView,
    before: Route,
    is_hinted: bool,
}

impl Asked {
    /// # Errors
    /// A statement or a state that cannot be read.
    pub(super) fn new(text: &str, state: &[&str], scene: Scene) -> Result<Self> {
        let syntax = if state.contains(&"standard") { &STANDARD } else { &BACKTICK };
        let stmt = pando_sql::parse(text, syntax)
            .map_err(|error| Error::internal(format!("{error}:\n{text}")))?;
        let database = Database {
            name: "shop".into(),
            units: Vec::new(),
            features: vec![Arc::clone(&scene.room)],
            dialect: Arc::new(FakeDialect { syntax, ..FakeDialect::default() }),
        };
        Ok(Self {
            text: text.to_owned(),
            stmt,
            scene,
            database,
            session: session(state)?,
            before: claimed(state),
            is_hinted: state.iter().any(|line| line.starts_with("hinted ")),
        })
    }

    pub(super) fn routed(&self) -> String {
        self.route().map_or_else(|error| failed(&error), |route| told(&route))
    }

    pub(super) fn rewritten(&self) -> String {
        self.texts().unwrap_or_else(|error| failed(&error))
    }

    pub(super) fn shown(&self) -> String {
        match self.scene.room.shown(&self.context(), &self.stmt) {
            Err(error) => failed(&error),
            Ok(maps) if maps.is_empty() => "as stored".to_owned(),
            Ok(maps) => {
                let columns = maps.iter().map(|map| match &map.at {
                    Position::Name(label) => label.clone(),
                    Position::Index(place) | Position::Derived(place) => (place + 1).to_string(),
                });
                columns.collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// Empty where it may run at once.
    pub(super) fn admitted(&self) -> String {
        let Some(admission) = self.scene.room.admission() else { return String::new() };
        let units: Vec<UnitName> = match self.targets() {
            Err(error) => return failed(&error),
            Ok(targets) => targets.into_iter().map(|target| target.unit).collect(),
        };
        let writes = !visit::written(&self.stmt.kind).is_empty();
        let now = Instant::now();
        let footprint =
            Footprint { stmt: &self.stmt, writes, units: &units, shards: units.len(), now };
        match admission.admit(&self.context(), &footprint, &mut Permits::default()) {
            Err(error) => failed(&error),
            Ok(Entry::Now) => String::new(),
            Ok(Entry::Later(_)) => "later".to_owned(),
        }
    }

    fn context(&self) -> Context<'_> {
        Context {
            database: &self.database,
            catalog: &self.scene.known,
            dialect: &*self.database.dialect,
            parameters: None,
            session: &self.session,
            source: &Still,
        }
    }

    fn route(&self) -> Result<Route> {
        let mut route = self.before.clone();
        if !self.is_hinted {
            self.scene.room.route(&self.context(), &self.stmt, &mut route)?;
        }
        Ok(route)
    }

    fn targets(&self) -> Result<Vec<Target>> {
        Ok(match self.route()? {
            Route::Units(units) => units.targets,
            Route::Unclaimed => vec![Target::whole("ds_0".into())],
            Route::Needs(need) => return Err(Error::internal(format!("needs {need:?}"))),
        })
    }

    fn texts(&self) -> Result<String> {
        let targets = self.targets()?;
        let texts: Vec<String> =
            targets.iter().map(|target| self.text_for(target)).collect::<Result<_>>()?;
        if let Some(first) = texts.first()
            && texts.iter().all(|text| text == first)
        {
            return Ok(first.clone());
        }
        let each = targets.iter().zip(&texts).map(|(to, text)| format!("{}: {text}", to.unit));
        Ok(each.collect::<Vec<_>>().join(" / "))
    }

    fn text_for(&self, target: &Target) -> Result<String> {
        let mut changes = Changes::default();
        changes.begin(self.scene.room.name());
        self.scene.room.rewrite(&self.context(), &self.stmt, target, &mut changes)?;
        let mut edits = changes.edits(&Edits::default(), &Edits::default())?;
        write_literals(changes.literals(), &*self.database.dialect, &mut edits)?;
        for one in changes.parameters() {
            if let Some(front) = one.put.front() {
                edits.replace(Span::at(one.span.end), format!("{front}?"));
            }
        }
        Ok(edits.apply(&self.text))
    }
}

fn failed(error: &Error) -> String {
    format!("error {error}")
}

fn session(state: &[&str]) -> Result<SessionView> {
    let mut session = SessionView::default();
    for line in state {
        match (*line, line.split_once(' ')) {
            ("transaction", _) => session.transaction = TransactionState::Open,
            ("written", _) => session.has_written = true,
            ("one state", _) => session.sees_one_state = true,
            (_, Some(("held", unit))) => session.held.push(unit.into()),
            (_, Some(("shut", units))) => {
                session.shut = Some(units.split(' ').map(UnitName::from).collect());
            }
            (_, Some(("user", user))) => Arc::make_mut(&mut session.facts).user = user.to_owned(),
            (_, Some(("ticket", number))) => {
                session.ticket = number
                    .parse()
                    .map_err(|_| Error::internal(format!("`{number}` is no ticket")))?;
            }
            _ => {}
        }
    }
    Ok(session)
}

fn claimed(state: &[&str]) -> Route {
    let units = |word: &str| state.iter().find_map(|line| line.strip_prefix(word));
    let Some(units) = units("claimed ").or_else(|| units("hinted ")) else {
        return Route::Unclaimed;
    };
    let targets = units.split(' ').map(|unit| Target::whole(unit.into())).collect();
    let spread = if state.contains(&"same") { Spread::Same } else { Spread::Gather };
    Route::Units(Units::new(targets, spread))
}

fn told(route: &Route) -> String {
    match route {
        Route::Unclaimed => "unclaimed".to_owned(),
        Route::Needs(need) => format!("needs {need:?}"),
        Route::Units(units) => {
            let names: Vec<&str> = units.targets.iter().map(|target| &*target.unit).collect();
            let same = if units.spread == Spread::Same { " (same)" } else { "" };
            format!("{}{same}", names.join(" "))
        }
    }
}
