//! The second phase of a commit: locks are let go, images are cleaned away.

use pando_kernel::dialect::TransactionVerb;
use pando_kernel::error::Result;
use pando_transaction::is_missing;

use crate::unit::{Unit, is_collision};

/// Letting go of a row and claiming it may close a cycle between gaps of an index, of which the server ends either: it is done once more then. Somebody gets
/// further each time, so that nobody needs to pause.
pub(crate) const TRIES: usize = 50;

impl Unit<'_> {
    /// Lets go of the rows of a global transaction whose commit is decided. May be called again at any time.
    ///
    /// # Errors
    /// The unit's own: the rows stay held until somebody calls again.
    pub async fn release(&mut self, global: &str) -> Result<()> {
        let text = self.delete(self.undo.tables().lock, &[global]);
        self.unless_missing(&text).await
    }

    /// Deletes the images of global transactions whose commit is decided. May be called again at any time.
    ///
    /// # Errors
    /// The unit's own: the images stay until somebody calls again.
    pub async fn clean(&mut self, globals: &[&str]) -> Result<()> {
        if globals.is_empty() {
            return Ok(());
        }
        let text = self.delete(self.undo.tables().undo, globals);
        self.unless_missing(&text).await
    }

    /// Does both in one local transaction, together with statements that may forbid it: where a transaction has changed one unit alone, a decision that is
    /// written here is the commit itself.
    ///
    /// # Errors
    /// That of the first statement that failed; nothing is done then. When the connection is lost, what is written tells.
    pub async fn conclude(&mut self, global: &str, within: &[String]) -> Result<()> {
        let mut is_prepared = false;
        let mut tries = 0;
        loop {
            let Err(error) = self.try_conclude(global, within).await else { return Ok(()) };
            self.abandon(&[]).await;
            tries += 1;
            if is_missing(&error) && !is_prepared {
                // Nothing was ever changed here: the log that has nothing to clean must be there all the same.
                self.prepare().await?;
                is_prepared = true;
            } else if !is_collision(&error) || tries > TRIES {
                return Err(error);
            }
        }
    }

    async fn try_conclude(&mut self, global: &str, within: &[String]) -> Result<()> {
        let tables = self.undo.tables();
        let modes = ["ISOLATION LEVEL READ COMMITTED"];
        let mut texts = self.opening(&modes);
        texts.extend_from_slice(within);
        texts.extend([tables.undo, tables.lock].map(|table| self.delete(table, &[global])));
        if self.undo.guard().is_none() {
            // In one text nothing happens behind an error.
            texts.push(self.verb(&TransactionVerb::Commit));
            return self.ask(&texts.join("; ")).await.map(|_| ());
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.together(&texts).await?.into_iter().try_for_each(|told| told.map(|_| ()))?;
        self.commit(&[]).await
    }

    pub(crate) fn delete(&self, table: &str, globals: &[&str]) -> String {
        let list: Vec<String> = globals.iter().map(|global| self.literal(global)).collect();
        format!("DELETE FROM {table} WHERE global_id IN ({})", list.join(", "))
    }

    async fn unless_missing(&mut self, text: &str) -> Result<()> {
        let mut tries = 0;
        loop {
            match self.ask(text).await {
                Err(error) if is_collision(&error) && tries < TRIES => tries += 1,
                Err(error) if !is_missing(&error) => return Err(error),
                Ok(_) | Err(_) => return Ok(()),
            }
        }
    }
}
