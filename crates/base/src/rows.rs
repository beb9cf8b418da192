//! The change itself where no statement tells its rows: they are read before and after it.

use std::collections::HashMap;

use pando_kernel::Execution;
use pando_kernel::error::{Error, Result};
use pando_kernel::event::Completion;

use crate::ask::{answer, too_much};
use crate::image::{Change, Row};
use crate::lock;
use crate::plan::{After, Counted, Plan, Work};
use crate::reply::{Cut, Reply, cut};
use crate::run::Did;
use crate::text::{Call, Text};
use crate::unit::Unit;

/// One run of a statement.
pub(crate) struct Round<'a> {
    pub(crate) call: &'a Call,
    /// Replies of the transaction's beginning that are still to be read.
    pub(crate) opening: usize,
    /// Bytes of the rows of one answer.
    pub(crate) limit: usize,
}

/// Everything of a statement on rows that are there.
struct Bound<'a> {
    plan: &'a Plan,
    before: &'a Text,
    change: &'a (Text, Text),
    owner: &'a str,
    moved: &'a [usize],
    deletes: bool,
}

/// Everything of a statement that brings rows.
struct Incoming<'a> {
    plan: &'a Plan,
    before: Option<&'a Text>,
    change: &'a Text,
    after: &'a After,
    counted: Counted,
    rows: u64,
}

impl Unit<'_> {
    /// Runs the change with its readings.
    pub(crate) async fn read_and_change(&mut self, plan: &Plan, round: &Round<'_>) -> Result<Did> {
        let (reply, changes) = match &plan.work {
            Work::Rows { before, change, owner, moved, deletes } => {
                let bound = Bound { plan, before, change, owner, moved, deletes: *deletes };
                self.change_rows(&bound, round).await?
            }
            Work::Insert { before, change, after, counted, rows } => {
                let before = before.as_ref();
                let (counted, rows) = (*counted, *rows);
                let incoming = Incoming { plan, before, change, after, counted, rows };
                self.insert_rows(&incoming, round).await?
            }
            Work::Returning { .. } | Work::Locking { .. } => {
                return Err(Error::internal("a statement that tells its rows was to be read for"));
            }
        };
        for row in changes.iter().flat_map(|change| [&change.before, &change.after]).flatten() {
            plan.table.shape.fits(row)?;
            for (column, value) in plan.table.shape.columns.iter().zip(row) {
                // Whatever cannot be written again has no image.
                if let Some(value) = value {
                    self.undo.write(column.form, value)?;
                }
            }
        }
        let names = lock::names(&plan.table, &changes);
        Ok(Did { reply, changes, names })
    }

    async fn change_rows(
        &mut self,
        bound: &Bound<'_>,
        round: &Round<'_>,
    ) -> Result<(Reply, Vec<Change>)> {
        let Bound { plan, .. } = bound;
        let Round { call, opening, limit } = *round;
        let shape = &plan.table.shape;
        self.connection.start(bound.before.query(call))?;
        self.succeed(opening).await?;
        let read = answer(self.connection, limit).await?.rows;
        let width = shape.columns.len();
        let mut before = Vec::new();
        let mut targets: Vec<Vec<Option<String>>> = Vec::new();
        for mut row in read {
            let news = row.split_off(width.min(row.len()));
            shape.fits(&row)?;
            let mut key: Vec<Option<String>> =
                shape.key.iter().map(|at| row[*at].clone()).collect();
            for (place, value) in bound.moved.iter().zip(news) {
                if let Some(slot) = key.get_mut(*place) {
                    *slot = value;
                }
            }
            targets.push(key);
            before.push(row);
        }
        let keys: Vec<Vec<Option<String>>> = before
            .iter()
            .map(|row| shape.key.iter().map(|at| row[*at].clone()).collect())
            .collect();
        let condition = format!(" WHERE {}", self.keyed(plan, bound.owner, &keys)?);
        let text = bound.change.0.and(&condition, &bound.change.1);
        if text.text.len() > limit.saturating_mul(4) {
            return Err(too_much(limit));
        }
        self.connection.start(text.execution(call, 0))?;
        let reads_after = !bound.deletes && !before.is_empty();
        if reads_after {
            let query = format!(
                "SELECT {} FROM {} WHERE {} FOR UPDATE",
                self.reads(plan).join(", "),
                shape.path,
                self.keyed(plan, &shape.path, &targets)?
            );
            self.start(&query)?;
        }
        let how = Cut { more: 0, has_result: true, limit };
        let changed = cut(self.connection, how).await;
        let after =
            if reads_after { answer(self.connection, limit).await?.rows } else { Vec::new() };
        let (reply, _) = changed?;
        let count = match bound.deletes {
            true => affected(&reply.completion),
            false => matched(&reply.completion),
        };
        if count != before.len() as u64 {
            return Err(untold("it changed other rows than were read for it"));
        }
        if bound.deletes {
            let gone = |row| Change { before: Some(row), after: None };
            return Ok((reply, before.into_iter().map(gone).collect()));
        }
        let mut by_key: HashMap<Vec<Option<String>>, Row> = HashMap::new();
        let found = after.len();
        for row in after {
            shape.fits(&row)?;
            by_key.insert(shape.key.iter().map(|at| row[*at].clone()).collect(), row);
        }
        if found != before.len() || by_key.len() != found {
            return Err(untold("its rows are not found again"));
        }
        let mut changes = Vec::new();
        for (before, key) in before.into_iter().zip(targets) {
            let after = by_key.remove(&key);
            let after =
                after.ok_or_else(|| untold("its new keys are not those that were foretold"))?;
            changes.push(Change { before: Some(before), after: Some(after) });
        }
        Ok((reply, changes))
    }

    async fn insert_rows(
        &mut self,
        incoming: &Incoming<'_>,
        round: &Round<'_>,
    ) -> Result<(Reply, Vec<Change>)> {
        let Incoming { plan, .. } = incoming;
        let Round { call, opening, limit } = *round;
        let shape = &plan.table.shape;
        if let Some(before) = incoming.before {
            self.connection.start(closed(before, "").query(call))?;
        }
        self.connection.start(incoming.change.execution(call, 0))?;
        self.succeed(opening).await?;
        let before = match incoming.before {
            Some(_) => answer(self.connection, limit).await,
            None => Ok(crate::ask::Answer::default()),
        };
        let changed = cut(self.connection, Cut { more: 0, has_result: true, limit }).await;
        let before = before?.rows;
        let (reply, _) = changed?;
        before.iter().try_for_each(|row| shape.fits(row))?;
        let execution = self.after(incoming, call, &before, &reply.completion)?;
        self.connection.start(execution)?;
        let after = answer(self.connection, limit).await?.rows;
        after.iter().try_for_each(|row| shape.fits(row))?;
        let changes = paired(plan, before, after);
        judge(incoming, &changes, reply.completion.affected.unwrap_or_default())?;
        Ok((reply, changes))
    }

    /// The query for the rows after they came in.
    fn after(
        &self,
        incoming: &Incoming<'_>,
        call: &Call,
        before: &[Row],
        completion: &Completion,
    ) -> Result<Execution> {
        let Incoming { plan, .. } = incoming;
        let shape = &plan.table.shape;
        match incoming.after {
            After::Query(query) => {
                let keys: Vec<Vec<Option<String>>> = before
                    .iter()
                    .map(|row| shape.key.iter().map(|at| row[*at].clone()).collect())
                    .collect();
                let more = match keys.is_empty() {
                    true => String::new(),
                    false => format!(" OR {}", self.keyed(plan, &shape.path, &keys)?),
                };
                Ok(closed(query, &more).query(call))
            }
            After::Generated { query, column } => {
                let first = completion.last_insert_id;
                if first == 0 {
                    return Err(untold("the server tells no generated key"));
                }
                let keys: Vec<String> = (0..incoming.rows)
                    .map(|number| {
                        format!("{first} + {number} * @@SESSION.auto_increment_increment")
                    })
                    .collect();
                let text = format!("{query}{column} IN ({}) FOR UPDATE", keys.join(", "));
                Ok(Execution::Text(text.into()))
            }
        }
    }

    fn reads(&self, plan: &Plan) -> Vec<String> {
        let shape = &plan.table.shape;
        let read = |column: &crate::image::ShapeColumn| {
            self.undo
                .read(column.form, &format!("{}.{}", shape.path, self.dialect.quote(&column.name)))
        };
        shape.columns.iter().map(read).collect()
    }

    /// The condition that a row of a table called `owner` has one of these keys.
    fn keyed(&self, plan: &Plan, owner: &str, keys: &[Vec<Option<String>>]) -> Result<String> {
        let shape = &plan.table.shape;
        if keys.is_empty() {
            return Ok("FALSE".to_owned());
        }
        let columns: Vec<&crate::image::ShapeColumn> =
            shape.key.iter().filter_map(|at| shape.columns.get(*at)).collect();
        let literal = |column: &crate::image::ShapeColumn, value: &Option<String>| match value {
            Some(value) => self.undo.write(column.form, value),
            None => Ok("NULL".to_owned()),
        };
        let name = |column: &crate::image::ShapeColumn| {
            format!("{owner}.{}", self.dialect.quote(&column.name))
        };
        if let [column] = columns[..] {
            let values: Result<Vec<String>> = keys
                .iter()
                .filter_map(|key| key.first())
                .map(|value| literal(column, value))
                .collect();
            return Ok(format!("{} IN ({})", name(column), values?.join(", ")));
        }
        // Not every server finds rows by an index in a list of tuples.
        let mut alternatives = Vec::with_capacity(keys.len());
        for key in keys {
            let equal: Result<Vec<String>> = columns
                .iter()
                .zip(key)
                .map(|(column, value)| {
                    Ok(format!("{} = {}", name(column), literal(column, value)?))
                })
                .collect();
            alternatives.push(format!("({})", equal?.join(" AND ")));
        }
        Ok(format!("({})", alternatives.join(" OR ")))
    }
}

fn closed(query: &Text, more: &str) -> Text {
    let end = Text { text: ") FOR UPDATE".to_owned(), parameters: Vec::new() };
    query.and(more, &end)
}

fn affected(completion: &Completion) -> u64 {
    completion.matched.or(completion.affected).unwrap_or_default()
}

/// How many rows an UPDATE met, whether or not it changed them.
fn matched(completion: &Completion) -> u64 {
    let told = completion.info.strip_prefix("Rows matched: ");
    let digits = told.and_then(|rest| rest.split_whitespace().next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| affected(completion))
}

/// Rows before and after, by their keys: those that are gone first, those that are new last.
fn paired(plan: &Plan, before: Vec<Row>, after: Vec<Row>) -> Vec<Change> {
    let shape = &plan.table.shape;
    let key = |row: &Row| -> Vec<Option<String>> {
        shape.key.iter().map(|at| row[*at].clone()).collect()
    };
    let mut news: Vec<(Vec<Option<String>>, Option<Row>)> =
        after.into_iter().map(|row| (key(&row), Some(row))).collect();
    let places: HashMap<Vec<Option<String>>, usize> =
        news.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
    let (mut gone, mut kept) = (Vec::new(), Vec::new());
    for row in before {
        let after =
            places.get(&key(&row)).and_then(|at| news.get_mut(*at)).and_then(|(_, row)| row.take());
        match after {
            Some(after) => kept.push(Change { before: Some(row), after: Some(after) }),
            None => gone.push(Change { before: Some(row), after: None }),
        }
    }
    let new = news.into_iter().filter_map(|(_, row)| row);
    let new = new.map(|row| Change { before: None, after: Some(row) });
    gone.into_iter().chain(kept).chain(new).collect()
}

/// Whether what was read accounts for what the server counted: otherwise a row was changed that has no image.
fn judge(incoming: &Incoming<'_>, changes: &[Change], affected: u64) -> Result<()> {
    let many =
        |test: &dyn Fn(&Change) -> bool| changes.iter().filter(|one| test(one)).count() as u64;
    let new = many(&|one| one.before.is_none());
    let gone = many(&|one| one.after.is_none());
    let changed =
        many(&|one| one.before.is_some() && one.after.is_some() && one.before != one.after);
    let fits = match incoming.counted {
        Counted::Inserted => affected == new && new == incoming.rows && gone + changed == 0,
        Counted::Ignored => affected == new && gone + changed == 0,
        Counted::Updated => affected == new + 2 * changed && gone == 0,
        Counted::Replaced => affected == incoming.rows + gone + changed,
    };
    if fits { Ok(()) } else { Err(untold("its rows cannot all be told by their keys")) }
}

fn untold(why: &str) -> Error {
    Error::unsupported(
        30001,
        format!("the statement cannot be taken back in a BASE transaction: {why}"),
        "change fewer rows at once, by keys as they are stored",
    )
}
