//! Taking changes back: the last one first, each after its rows are seen to stand as it left them.

use pando_kernel::error::{Error, Result};

use crate::ask::{answer, text};
use crate::finish::TRIES;
use crate::image::Image;
use crate::restore::{Standing, Step, restoration};
use crate::unit::{Unit, is_collision, is_missing, is_passing};

/// Rows of the undo log that are worked on at once.
const PAGE: usize = 8;
/// Rows that a report names.
const NAMED: usize = 20;

/// What taking a transaction back came to on one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undone {
    /// Everything is as it was before.
    Clean,
    /// Somebody else has changed what the transaction changed: nothing was restored here; its images and locks are kept, and its images marked. One line for
    /// each of the first 20 rows, or for what the unit said.
    Dirty(Vec<String>),
}

/// One row of the undo log.
struct Part {
    statement: String,
    part: String,
    image: Image,
}

impl Unit<'_> {
    /// Takes back what a global transaction has done on this unit, from a statement on, in one local transaction. From 0 on it is everything, and its rows are
    /// let go; otherwise they stay held: a return to a savepoint. May be called again at any time, by anybody; nothing to take back is clean.
    ///
    /// # Errors
    /// The unit's own, when the same may succeed later; nothing is restored then.
    pub async fn rollback(&mut self, global: &str, from: u64) -> Result<Undone> {
        let (_, after) = self.undo.around();
        let mut tries = 0;
        let why = loop {
            match self.try_rollback(global, from).await {
                Ok(dirty) if dirty.is_empty() => return Ok(Undone::Clean),
                Ok(dirty) => break dirty,
                Err(error) if is_missing_log(&error) => {
                    self.abandon(after).await;
                    return Ok(Undone::Clean);
                }
                Err(error) if is_passing(&error) => {
                    self.abandon(after).await;
                    if !is_collision(&error) || tries == TRIES {
                        return Err(error);
                    }
                    tries += 1;
                }
                Err(error) => break vec![error.to_string()],
            }
        };
        self.abandon(after).await;
        self.mark(global, from, &why).await?;
        Ok(Undone::Dirty(why))
    }

    /// Result: rows that stand otherwise; the local transaction is then still open.
    async fn try_rollback(&mut self, global: &str, from: u64) -> Result<Vec<String>> {
        let (before, after) = self.undo.around();
        let tables = self.undo.tables();
        let mut opening = self.begin(&["ISOLATION LEVEL READ COMMITTED", "READ WRITE"])?;
        for text in before {
            self.start(text)?;
            opening += 1;
        }
        let own = format!("global_id = {} AND statement_no >= {from}", self.literal(global));
        let page = format!(
            "SELECT statement_no, part_no, image FROM {} WHERE {own} ORDER BY statement_no DESC, part_no DESC LIMIT {PAGE} FOR UPDATE",
            tables.undo
        );
        self.start(&page)?;
        self.succeed(opening).await?;
        let mut rows = answer(self.connection, usize::MAX).await?.rows;
        while !rows.is_empty() {
            for row in rows {
                let image = Image::decode(text(&row, 2)?)?;
                let part =
                    Part { statement: text(&row, 0)?.into(), part: text(&row, 1)?.into(), image };
                let dirty = self.restore(&part.image).await?;
                if !dirty.is_empty() {
                    return Ok(dirty);
                }
                self.start(&format!(
                    "DELETE FROM {} WHERE global_id = {} AND statement_no = {} AND part_no = {}",
                    tables.undo,
                    self.literal(global),
                    part.statement,
                    part.part
                ))?;
                self.succeed(1).await?;
            }
            self.start(&page)?;
            rows = answer(self.connection, usize::MAX).await?.rows;
        }
        if from == 0 {
            let release = self.delete(tables.lock, &[global]);
            self.ask(&release).await?;
        }
        self.commit(after).await?;
        Ok(Vec::new())
    }

    /// Restores one image. Result: rows that stand otherwise.
    async fn restore(&mut self, image: &Image) -> Result<Vec<String>> {
        if image.changes.is_empty() {
            return Ok(Vec::new());
        }
        let mut standing = Standing::of(image);
        let queries = standing.queries(self.undo, self.dialect)?;
        let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
        for found in self.together(&queries).await? {
            standing.found(found?.rows)?;
        }
        let (steps, mut dirty) = standing.steps();
        if !dirty.is_empty() {
            dirty.truncate(NAMED);
            return Ok(dirty);
        }
        let texts = restoration(&image.shape, &steps, (self.undo, self.dialect))?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (step, done) in steps.iter().zip(self.together(&texts).await?) {
            // A server may hold two values for one that are written differently.
            let counts = !matches!(step, Step::Update { .. });
            if done?.completion.affected == Some(0) && counts {
                return Err(Error::internal("a row that was locked is gone"));
            }
        }
        Ok(Vec::new())
    }

    /// Marks images as not to be restored by themselves.
    async fn mark(&mut self, global: &str, from: u64, why: &[String]) -> Result<()> {
        let note: String = why.join("; ").chars().take(4000).collect();
        let text = format!(
            "UPDATE {} SET state = 'dirty', note = {} WHERE global_id = {} AND statement_no >= {from}",
            self.undo.tables().undo,
            self.literal(&note),
            self.literal(global)
        );
        self.ask(&text).await.map(|_| ())
    }
}

/// Whether the error says that there is no undo log, rather than that a changed table is gone.
fn is_missing_log(error: &Error) -> bool {
    let message = error.to_string();
    is_missing(error)
        && ["pando.undo", "pando_undo", "pando.row_lock", "pando_row_lock", "\"pando\""]
            .iter()
            .any(|name| message.contains(name))
}
