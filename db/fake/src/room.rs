//! A kit for the tests of rooms: statements of a `.case` file, what each meets, and what the room makes of it.

mod asked;

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Feature};
use pando_kernel::route::{Place, UnitName};
use pando_kernel::{Error, Result};

use asked::Asked;

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
/// `(same)` where one of them answers for all), or `error` and a part of the message. That is what `route` gives. Further
/// lines with `=>` tell what the other methods give, each of which may be an `error` as well:
///
/// - `=> rewritten SELECT …`: the text that each target gets, with the values that literals become; where targets get
///   other ones, `ds_0: SELECT … / ds_1: SELECT …`. What nobody has claimed is rewritten for `ds_0`
/// - `=> shown name, 2`: the columns whose cells are told otherwise than they are stored, by label or by place from 1;
///   `=> shown as stored` where there is none
/// - `=> admitted`: it may run now; of a room that is not asked, too. `=> admitted later`: it waits for its turn
///
/// A line that starts with `#` says what the case is about, one with `@` what the statement meets:
///
/// - `claimed ds_0 ds_1`: another room has sent it there, and `same`, where one of them answers for all
/// - `hinted ds_0`: a hint sends it there, so that `route` is not asked
/// - `held ds_0`, `shut ds_1`, `ticket 4`, `user bob`, `transaction`, `written`, `one state`: what the session is at
/// - `standard`: the statement is read by [`crate::STANDARD`], else by [`crate::BACKTICK`]
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
        let expected: Vec<&str> = lines().filter_map(|line| line.strip_prefix("=> ")).collect();
        if expected.is_empty() {
            return Err(unreadable(case));
        }
        let is_text = |line: &&str| !line.starts_with("@ ") && !line.starts_with("=> ");
        let text: Vec<&str> = lines().filter(is_text).collect();
        let asked = Asked::new(&text.join("\n"), &state, scene(&state))?;
        for expected in expected {
            let (actual, expected) = match expected.split_once(' ').unwrap_or((expected, "")) {
                ("rewritten", text) => (asked.rewritten(), text),
                ("shown", columns) => (asked.shown(), columns),
                ("admitted", rest) => (asked.admitted(), rest),
                _ => (asked.routed(), expected),
            };
            if !fits(&actual, expected) {
                wrong.push(format!("{case}\n   but: {actual}"));
            }
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
