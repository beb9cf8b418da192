//! How the rows of an image stand, and what puts them back. Pure.

use std::collections::HashMap;

use pando_kernel::dialect::Dialect;
use pando_kernel::error::{Error, Result};
use pando_kernel::undo::{Telling, Undo};

use crate::ask::Answer;
use crate::image::{Change, Image, Row, Shape, ShapeColumn};
use crate::packed::unpack;
use crate::plan::row_of;

/// Rows asked for in one query.
const CHUNK: usize = 200;

type Key = Vec<String>;

/// How a family of databases is written to.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a> {
    /// Its values.
    pub(crate) values: &'a dyn Undo,
    /// Its names.
    pub(crate) names: &'a dyn Dialect,
}

/// The rows of an image as they stand now.
#[derive(Debug)]
pub(crate) struct Standing<'a> {
    image: &'a Image,
    now: HashMap<Key, Row>,
    is_packed: bool,
}

/// What puts one row back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// It came in, and goes.
    Delete(&'a Row),
    /// It was changed, and changes back.
    Update {
        /// As it stands.
        from: &'a Row,
        /// As it was.
        to: &'a Row,
    },
    /// It is gone, and comes back.
    Insert(&'a Row),
}

impl<'a> Standing<'a> {
    pub(crate) fn of(image: &'a Image) -> Self {
        Self { image, now: HashMap::new(), is_packed: false }
    }

    /// Queries for all rows that the image is about, under lock.
    ///
    /// # Errors
    /// `Value` for an image that does not say what it should.
    pub(crate) fn queries(&mut self, written: Written<'_>) -> Result<Vec<String>> {
        let shape = &self.image.shape;
        let mut keys: Vec<Key> = Vec::new();
        for change in &self.image.changes {
            for row in [&change.before, &change.after].into_iter().flatten() {
                shape.fits(row)?;
                keys.push(key(shape, row));
            }
        }
        keys.sort_unstable();
        keys.dedup();
        let reads: Vec<String> = shape
            .columns
            .iter()
            .map(|column| written.values.read(column.form, &written.names.quote(&column.name)))
            .collect();
        self.is_packed = written.values.telling() == Telling::Returning;
        let items = if self.is_packed { row_of(&reads) } else { reads.join(", ") };
        locking(shape, &keys, &items, written)
    }

    /// Takes in what such a query found.
    ///
    /// # Errors
    /// `Protocol`, `Internal` for rows of another shape.
    pub(crate) fn found(&mut self, rows: Vec<Vec<Option<String>>>) -> Result<()> {
        for row in rows {
            let row = match (&row[..], self.is_packed) {
                ([Some(packed)], true) => unpack(packed)?,
                (_, _) => row,
            };
            self.image.shape.fits(&row)?;
            self.now.insert(key(&self.image.shape, &row), row);
        }
        Ok(())
    }

    /// What puts the rows back, the last change first; or the rows that stand otherwise than the image left them. Rows that stand already as they were
    /// before need nothing. A change whose row's place is still taken by another's waits for that one: keys may have moved in any order.
    pub(crate) fn steps(mut self) -> (Vec<Step<'a>>, Vec<String>) {
        let image = self.image;
        let mut steps = Vec::new();
        let mut left: Vec<&Change> = image.changes.iter().rev().collect();
        loop {
            let before = left.len();
            left.retain(|change| !self.takes(change, &mut steps));
            if left.is_empty() || left.len() == before {
                break;
            }
        }
        let shape = &image.shape;
        let dirty =
            left.into_iter().filter(|change| !self.stands_as_before(change)).map(|change| {
                let row = change.after.as_ref().or(change.before.as_ref());
                described(shape, row.map(|row| key(shape, row)).as_ref())
            });
        (steps, dirty.collect())
    }

    /// Notes what puts a change's row back, unless it stands otherwise than the image left it.
    fn takes(&mut self, change: &'a Change, steps: &mut Vec<Step<'a>>) -> bool {
        let shape = &self.image.shape;
        let (before, after) = (change.before.as_ref(), change.after.as_ref());
        let old_key = before.map(|row| key(shape, row));
        let new_key = after.map(|row| key(shape, row));
        let new_stands = match (&new_key, after) {
            (Some(key), Some(row)) => self.now.get(key) == Some(row),
            (_, _) => true,
        };
        let place_is_free = match &old_key {
            Some(key) if old_key != new_key => !self.now.contains_key(key),
            Some(_) | None => true,
        };
        if !(new_stands && place_is_free) {
            return false;
        }
        if let Some(key) = &new_key {
            self.now.remove(key);
        }
        if let (Some(key), Some(row)) = (old_key, before) {
            self.now.insert(key, row.clone());
        }
        match (before, after) {
            (Some(to), Some(from)) if to == from => {}
            (Some(to), Some(from)) => steps.push(Step::Update { from, to }),
            (Some(row), None) => steps.push(Step::Insert(row)),
            (None, Some(row)) => steps.push(Step::Delete(row)),
            (None, None) => {}
        }
        true
    }

    /// Whether a row stands as it did before the change.
    fn stands_as_before(&self, change: &Change) -> bool {
        let shape = &self.image.shape;
        let old_key = change.before.as_ref().map(|row| key(shape, row));
        let new_key = change.after.as_ref().map(|row| key(shape, row));
        let old_stands = match (&old_key, &change.before) {
            (Some(key), Some(row)) => self.now.get(key) == Some(row),
            (_, _) => true,
        };
        let new_is_gone = match &new_key {
            Some(key) if old_key != new_key => !self.now.contains_key(key),
            Some(_) | None => true,
        };
        old_stands && new_is_gone
    }
}

/// Queries that lock the rows of changes by which these are said to have been before. In the snapshot of the statement that made the changes they find the
/// rows it left; one that somebody else had taken away is an error of class 40001.
///
/// # Errors
/// `Value` for a key that is none of its form.
pub(crate) fn looks(
    shape: &Shape,
    changes: &[Change],
    written: Written<'_>,
) -> Result<Vec<String>> {
    let keys: Vec<Key> = changes
        .iter()
        .filter_map(|change| change.before.as_ref())
        .map(|row| key(shape, row))
        .collect();
    locking(shape, &keys, "1", written)
}

fn locking(shape: &Shape, keys: &[Key], items: &str, written: Written<'_>) -> Result<Vec<String>> {
    keys.chunks(CHUNK)
        .map(|chunk| {
            let conditions: Result<Vec<String>> =
                chunk.iter().map(|key| condition(shape, key, written)).collect();
            Ok(format!(
                "SELECT {items} FROM {} WHERE {} FOR UPDATE",
                shape.path,
                conditions?.join(" OR ")
            ))
        })
        .collect()
}

fn key(shape: &Shape, row: &Row) -> Key {
    shape.key_of(row).into_iter().map(str::to_owned).collect()
}

fn described(shape: &Shape, key: Option<&Key>) -> String {
    let columns = shape.key.iter().filter_map(|at| shape.columns.get(*at));
    let values = key.map(Vec::as_slice).unwrap_or_default();
    let parts: Vec<String> =
        columns.zip(values).map(|(column, value)| format!("{} = {value}", column.name)).collect();
    format!("the row with {} of {} was changed by somebody else", parts.join(", "), shape.path)
}

fn condition(shape: &Shape, key: &[String], written: Written<'_>) -> Result<String> {
    let columns = shape.key.iter().filter_map(|at| shape.columns.get(*at));
    let parts: Result<Vec<String>> = columns
        .zip(key)
        .map(|(column, value)| {
            let value = written.values.write(column.form, value)?;
            Ok(format!("{} = {value}", written.names.quote(&column.name)))
        })
        .collect();
    Ok(format!("({})", parts?.join(" AND ")))
}

/// A statement that takes some steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) text: String,
    /// The rows it must tell of. None for an UPDATE: a server may hold two values for one that are written differently.
    rows: Option<u64>,
}

impl Work {
    /// # Errors
    /// `Internal` when not all its rows were there.
    pub(crate) fn is_done(&self, done: &Answer) -> Result<()> {
        match (self.rows, done.completion.affected) {
            (Some(rows), Some(affected)) if rows != affected => {
                Err(Error::internal("a row that was locked is gone"))
            }
            (_, _) => Ok(()),
        }
    }
}

/// The statements of the steps. Where the server looks at references between rows when a statement ends, rows that come back one after the other come back
/// together, and so do those that go.
///
/// # Errors
/// `Value` for a value that is none of its form.
pub(crate) fn restoration(
    shape: &Shape,
    steps: &[Step<'_>],
    written: Written<'_>,
) -> Result<Vec<Work>> {
    let judges_by_its_end = written.values.telling() == Telling::Returning;
    let is_alike = |a: &Step<'_>, b: &Step<'_>| {
        judges_by_its_end
            && matches!(
                (a, b),
                (Step::Delete(_), Step::Delete(_)) | (Step::Insert(_), Step::Insert(_))
            )
    };
    let alike = steps.chunk_by(is_alike).flat_map(|alike| alike.chunks(CHUNK));
    alike.map(|steps| work(shape, steps, written)).collect()
}

/// The statement of steps that are alike.
fn work(shape: &Shape, steps: &[Step<'_>], written: Written<'_>) -> Result<Work> {
    let by_key = |row: &Row| condition(shape, &key(shape, row), written);
    let (mut conditions, mut values) = (Vec::new(), Vec::new());
    for step in steps {
        match step {
            Step::Update { from, to } => {
                let sets = sets(shape, from, to, written)?;
                let text = format!("UPDATE {} SET {sets} WHERE {}", shape.path, by_key(from)?);
                return Ok(Work { text, rows: None });
            }
            Step::Delete(row) => conditions.push(by_key(row)?),
            Step::Insert(row) => {
                let own: Result<Vec<String>> = shape
                    .columns
                    .iter()
                    .zip(*row)
                    .map(|(column, value)| literal(column, value, written.values))
                    .collect();
                values.push(format!("({})", own?.join(", ")));
            }
        }
    }
    let text = if values.is_empty() {
        format!("DELETE FROM {} WHERE {}", shape.path, conditions.join(" OR "))
    } else {
        let names: Vec<String> =
            shape.columns.iter().map(|column| written.names.quote(&column.name)).collect();
        let keep = written.names.transfer().map_or("", |transfer| transfer.keep_given());
        format!(
            "INSERT INTO {} ({}){keep} VALUES {}",
            shape.path,
            names.join(", "),
            values.join(", ")
        )
    };
    Ok(Work { text, rows: u64::try_from(steps.len()).ok() })
}

fn literal(column: &ShapeColumn, value: &Option<String>, undo: &dyn Undo) -> Result<String> {
    match value {
        Some(value) => undo.write(column.form, value),
        None => Ok("NULL".to_owned()),
    }
}

/// What an UPDATE assigns.
fn sets(shape: &Shape, from: &Row, to: &Row, written: Written<'_>) -> Result<String> {
    let mut sets = Vec::new();
    for ((column, old), new) in shape.columns.iter().zip(to).zip(from) {
        if old != new || column.stamped {
            let value = literal(column, old, written.values)?;
            sets.push(format!("{} = {value}", written.names.quote(&column.name)));
        }
    }
    Ok(sets.join(", "))
}
