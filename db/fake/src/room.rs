//! A kit for the tests of rooms: statements of a `.case` file, what each meets, and where the room sends it.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Context, Database, Feature, SessionView};
use pando_kernel::route::{Place, Route, Spread, Target, UnitName, Units};
use pando_kernel::session::TransactionState;
use pando_kernel::{Dialect, Error, Result};

use crate::dialect::{BACKTICK, FakeDialect};
use crate::source::Still;

/// What a case is played with.
#[derive(Debug)]
pub struct Scene {
    /// The room.
    pub room: Arc<dyn Feature>,
    /// What is known of tables.
    pub known: Known,
}

/// A catalogue that a test writes down.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Gives a table's columns; `None` while nothing was read.
    pub columns: Option<fn(&str) -> Vec<TableColumn>>,
    /// By actual table the units that have it; `None` while nothing was read.
    pub tables: Option<Arc<HashMap<String, Vec<UnitName>>>>,
}

impl Known {
    /// Tables with their units, and no columns.
    pub fn of(tables: &[(&str, &[&str])]) -> Self {
        let units = |units: &[&str]| units.iter().map(|unit| UnitName::from(*unit)).collect();
        let tables = tables.iter().map(|(table, on)| ((*table).to_owned(), units(on)));
        Self { columns: None, tables: Some(Arc::new(tables.collect())) }
    }
}

impl Catalog for Known {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        self.columns.map(|columns| Arc::new(columns(table)))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        self.tables.clone()
    }
}

/// A group of storage units, or one by itself.
pub fn place(name: &str, members: &[&str]) -> Place {
    Place { name: name.into(), members: members.iter().map(|unit| (*unit).into()).collect() }
}

/// Plays the cases of a text, which an empty line parts, and gives those that went otherwise, each with what became of
/// it.
///
/// A case is a statement and, behind `=>`, what becomes of it: `unclaimed`, `needs …`, the targets (`ds_0 ds_1`, with
/// `(same)` where one of them answers for all), or `error` and a part of the message. A line that starts with `#` says
/// what the case is about, one with `@` what the statement meets:
///
/// - `claimed ds_0 ds_1`: another room has sent it there, and `same`, where one of them answers for all
/// - `held ds_0`, `ticket 4`, `transaction`, `written`, `one state`: what the session is at
///
/// The scene is made from these lines too, so a test has words of its own.
///
/// # Errors
/// A case that cannot be read.
pub fn play(cases: &str, scene: impl Fn(&[&str]) -> Scene) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for case in cases.split("\n\n").map(str::trim).filter(|case| !case.is_empty()) {
        let lines = || case.lines().filter(|line| !line.starts_with('#'));
        let state: Vec<&str> = lines().filter_map(|line| line.strip_prefix("@ ")).collect();
        let expected = lines().filter_map(|line| line.strip_prefix("=> ")).next_back();
        let expected = expected.ok_or_else(|| unreadable(case))?;
        let is_text = |line: &&str| !line.starts_with("@ ") && !line.starts_with("=> ");
        let text: Vec<&str> = lines().filter(is_text).collect();
        let actual = outcome(&text.join("\n"), &state, &scene(&state))?;
        if !fits(&actual, expected) {
            wrong.push(format!("{case}\n   but: {actual}"));
        }
    }
    Ok(wrong)
}

fn unreadable(case: &str) -> Error {
    Error::internal(format!("this is no case, as nothing stands behind `=>`:\n{case}"))
}

fn fits(actual: &str, expected: &str) -> bool {
    match (expected.strip_prefix("error "), actual.strip_prefix("error ")) {
        (Some(part), Some(message)) => message.contains(part),
        (None, None) => actual == expected,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn outcome(text: &str, state: &[&str], scene: &Scene) -> Result<String> {
    let dialect: Arc<dyn Dialect> =
        Arc::new(FakeDialect { syntax: &BACKTICK, ..FakeDialect::default() });
    let stmt = pando_sql::parse(text, dialect.syntax())
        .map_err(|error| Error::internal(format!("{error}:\n{text}")))?;
    let database = Database {
        name: "shop".into(),
        units: Vec::new(),
        features: vec![Arc::clone(&scene.room)],
        dialect,
    };
    let session = session(state)?;
    let ctx = Context {
        database: &database,
        catalog: &scene.known,
        dialect: &*database.dialect,
        parameters: None,
        session: &session,
        source: &Still,
    };
    let mut route = claimed(state);
    Ok(match scene.room.route(&ctx, &stmt, &mut route) {
        Err(error) => format!("error {error}"),
        Ok(()) => told(&route),
    })
}

fn session(state: &[&str]) -> Result<SessionView> {
    let mut session = SessionView::default();
    for line in state {
        match (*line, line.split_once(' ')) {
            ("transaction", _) => session.transaction = TransactionState::Open,
            ("written", _) => session.has_written = true,
            ("one state", _) => session.sees_one_state = true,
            (_, Some(("held", unit))) => session.held.push(unit.into()),
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
    let Some(units) = state.iter().find_map(|line| line.strip_prefix("claimed ")) else {
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
