//! Taking changes back: the last one first, each after its rows are seen to stand as it left them.

use pando_kernel::dialect::TransactionVerb;
use pando_kernel::error::{Error, Result};
use pando_transaction::is_missing;

use crate::ask::{answer, text};
use crate::finish::TRIES;
use crate::image::Image;
use crate::restore::{Standing, Work, restoration};
use crate::unit::{Unit, is_collision, is_passing, server};

/// Rows of the undo log that are worked on at once.
const PAGE: usize = 8;
/// The savepoint in front of each step.
const STEP: &str = "pando_step";
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

/// Steps of one statement's images that could not be taken yet.
#[derive(Default)]
struct Late {
    statement: String,
    works: Vec<Work>,
    /// What stood in the way of the last of them.
    why: Option<Error>,
}

impl Late {
    /// The statement has no more images.
    fn ends(&mut self) -> Result<()> {
        match self.why.take() {
            Some(why) if !self.works.is_empty() => Err(why),
            Some(_) | None => Ok(()),
        }
    }
}

impl Unit<'_> {
    /// Takes back what a global transaction has done on this unit, from a statement on, in one local transaction. From 0 on it is everything, and its rows are
    /// let go; otherwise they stay held: a return to a savepoint. May be called again at any time, by anybody; nothing to take back is clean.
    ///
    /// # Errors
    /// The unit's own, when the same may succeed later; nothing is restored then.
    pub async fn rollback(&mut self, global: &str, from: u64) -> Result<Undone> {
        self.rollback_counted(global, from).await.map(|(undone, _)| undone)
    }

    /// As [`Unit::rollback`], with the number of statements that were taken back; `None` where there is no undo log.
    ///
    /// # Errors
    /// As [`Unit::rollback`].
    pub(crate) async fn rollback_counted(
        &mut self,
        global: &str,
        from: u64,
    ) -> Result<(Undone, Option<u64>)> {
        let (_, after) = self.undo.around();
        let mut tries = 0;
        let why = loop {
            match self.try_rollback(global, from).await {
                Ok(Ok(statements)) => return Ok((Undone::Clean, Some(statements))),
                Ok(Err(dirty)) => break dirty,
                Err(error) if is_missing_log(&error) => {
                    self.abandon(after).await;
                    if from == 0 {
                        // Nobody would find its locks without images.
                        self.release(global).await?;
                    }
                    return Ok((Undone::Clean, None));
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
        Ok((Undone::Dirty(why), Some(0)))
    }

    /// Result: the statements taken back, or else rows that stand otherwise; the local transaction is then still open.
    async fn try_rollback(
        &mut self,
        global: &str,
        from: u64,
    ) -> Result<std::result::Result<u64, Vec<String>>> {
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
        let (mut late, mut statements) = (Late::default(), 0);
        while !rows.is_empty() {
            for row in rows {
                let image = Image::decode(text(&row, 2)?)?;
                let part =
                    Part { statement: text(&row, 0)?.into(), part: text(&row, 1)?.into(), image };
                if part.statement != late.statement {
                    late.ends()?;
                    statements += 1;
                    late.statement.clone_from(&part.statement);
                }
                let dirty = self.restore(&part.image, &mut late).await?;
                if !dirty.is_empty() {
                    return Ok(Err(dirty));
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
        late.ends()?;
        let mut release = self.delete(tables.lock, &[global]);
        if from > 0 {
            // Nobody would find locks without images.
            let images =
                format!("SELECT 1 FROM {} WHERE global_id = {}", tables.undo, self.literal(global));
            release = format!("{release} AND NOT EXISTS ({images})");
        }
        self.ask(&release).await?;
        self.commit(after).await?;
        Ok(Ok(statements))
    }

    /// Restores one image, as far as nothing stands in the way. Result: rows that stand otherwise.
    async fn restore(&mut self, image: &Image, late: &mut Late) -> Result<Vec<String>> {
        if image.changes.is_empty() {
            return Ok(Vec::new());
        }
        let mut standing = Standing::of(image);
        let queries = standing.queries(self.written())?;
        let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
        for found in self.together(&queries).await? {
            standing.found(found?.rows)?;
        }
        let (steps, mut dirty) = standing.steps();
        if !dirty.is_empty() {
            dirty.truncate(NAMED);
            return Ok(dirty);
        }
        let works = restoration(&image.shape, &steps, self.written())?;
        late.works.extend(works);
        self.take(late).await?;
        Ok(Vec::new())
    }

    /// Takes the steps that are left, as far as it goes: a statement is judged by its end, or row by row in an order of its own, so what stands in the way of one
    /// step now may be gone after others.
    async fn take(&mut self, late: &mut Late) -> Result<()> {
        let savepoint = self.verb(&TransactionVerb::Savepoint(STEP));
        let texts = late.works.iter().map(|work| work.text.as_str());
        let texts: Vec<&str> = std::iter::once(savepoint.as_str()).chain(texts).collect();
        let mut told = self.together(&texts).await?.into_iter();
        if let Some(Err(error)) = told.next() {
            return Err(error);
        }
        let done = late.works.iter().zip(told).map(|(work, done)| work.is_done(&done?));
        let mut failed: Vec<Error> = done.filter_map(Result::err).collect();
        let release = self.verb(&TransactionVerb::Release(STEP));
        if failed.is_empty() {
            late.works.clear();
            return self.ask(&release).await.map(|_| ());
        }
        // A deadlock's victim has no savepoint any more.
        let worst = failed.iter().position(is_collision).unwrap_or(0);
        let error = failed.swap_remove(worst);
        if !is_integrity(&error) {
            return Err(error);
        }
        let return_to = self.verb(&TransactionVerb::RollbackTo(STEP));
        self.ask(&return_to).await?;
        self.ask(&release).await?;
        loop {
            let before = late.works.len();
            // The other way round: mostly each step waits for the next.
            late.works.reverse();
            for work in std::mem::take(&mut late.works) {
                if let Some(why) = self.step(&work).await? {
                    late.why = Some(why);
                    late.works.push(work);
                }
            }
            if late.works.is_empty() || late.works.len() == before {
                return Ok(());
            }
        }
    }

    /// Takes one step. Result: what stands in its way; nothing has happened then.
    async fn step(&mut self, work: &Work) -> Result<Option<Error>> {
        let verbs = [
            TransactionVerb::Savepoint(STEP),
            TransactionVerb::RollbackTo(STEP),
            TransactionVerb::Release(STEP),
        ];
        let [savepoint, return_to, release] = verbs.map(|verb| self.verb(&verb));
        self.ask(&savepoint).await?;
        let why = match self.ask(&work.text).await {
            Ok(done) => {
                work.is_done(&done)?;
                None
            }
            Err(error) if is_integrity(&error) => {
                self.ask(&return_to).await?;
                Some(error)
            }
            Err(error) => return Err(error),
        };
        self.ask(&release).await?;
        Ok(why)
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

/// Whether rows stand in each other's way, or one is missed by others.
fn is_integrity(error: &Error) -> bool {
    server(error).is_some_and(|(_, sqlstate)| sqlstate.starts_with("23"))
}

/// Whether the error says that there is no undo log, rather than that a changed table is gone.
fn is_missing_log(error: &Error) -> bool {
    let message = error.to_string();
    is_missing(error)
        && ["pando.undo", "pando_undo", "pando.row_lock", "pando_row_lock", "\"pando\""]
            .iter()
            .any(|name| message.contains(name))
}
