//! What is found in a unit's undo log by whoever looks: any instance, at any time.

use pando_kernel::Value;
use pando_kernel::error::Result;
use pando_kernel::two_phase::Standing;
use pando_transaction::is_missing;

use crate::ask::{text, values};
use crate::unit::{OWN_BYTES, Unit};

/// Transactions told at once.
const MOST: usize = 1000;

/// A global transaction that has images on a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Which.
    pub global: String,
    /// The storage unit that holds its decision.
    pub decider: String,
    /// Its time is over by the unit's own clock: unless its commit is decided, anybody may take it back.
    pub is_overdue: bool,
    /// Why it could not be taken back; it waits for a person. Empty for all others.
    pub dirty: Option<String>,
    /// Rows of the undo log.
    pub images: u64,
}

impl Open {
    /// Whether it waits for a person or for recovery.
    pub(crate) fn waits(&self) -> bool {
        self.is_overdue || self.dirty.is_some()
    }
}

impl Unit<'_> {
    /// The global transactions with images here, those first whose time is over, then those that wait for a person, and the others last; at most 1,000.
    ///
    /// # Errors
    /// The unit's own. A unit without an undo log has none open.
    pub async fn open(&mut self) -> Result<Vec<Open>> {
        let query = format!(
            "SELECT global_id, min(decider), CASE WHEN min(deadline) <= {0} THEN 'over' ELSE 'open' END, min(state), max(note), count(*) \
             FROM {1} GROUP BY global_id ORDER BY CASE WHEN min(state) = 'dirty' THEN 1 WHEN min(deadline) <= {0} THEN 0 ELSE 2 END, min(deadline), global_id LIMIT {MOST}",
            self.undo.now(),
            self.undo.tables().undo
        );
        let rows = match self.ask(&query).await {
            Ok(answer) => answer.rows,
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        rows.iter()
            .map(|row| {
                Ok(Open {
                    global: text(row, 0)?.to_owned(),
                    decider: text(row, 1)?.to_owned(),
                    is_overdue: text(row, 2)? == "over",
                    dirty: (text(row, 3)? == "dirty")
                        .then(|| text(row, 4).unwrap_or("").to_owned()),
                    images: text(row, 5)?.parse().unwrap_or_default(),
                })
            })
            .collect()
    }

    /// Whether the unit takes writes: what stands in the log of one that does not is its primary's.
    ///
    /// # Errors
    /// The unit's own.
    pub(crate) async fn takes_writes(&mut self) -> Result<bool> {
        let Some(family) = self.dialect.two_phase() else { return Ok(true) };
        let standing = self.values(family.standing_query()).await?.concat();
        // Whether it may prepare is no matter here.
        Ok(!matches!(family.read_standing(&standing), Ok(Standing::ReadOnly)))
    }

    /// Who the unit is, by its ledger; `None` where it has none.
    ///
    /// # Errors
    /// The unit's own.
    pub(crate) async fn identity(&mut self) -> Result<Option<String>> {
        let Some(family) = self.dialect.two_phase() else { return Ok(None) };
        let there = self.values(family.ledger().present_query()).await?.concat();
        if !matches!(there[..], [Value::Bool(true) | Value::Int(1)]) {
            return Ok(None);
        }
        let told = self.values(family.ledger().identity_query()).await?.concat();
        Ok(match told.into_iter().next() {
            Some(Value::Text(identity)) => Some(identity),
            _ => None,
        })
    }

    async fn values(&mut self, text: &str) -> Result<Vec<Vec<Value>>> {
        self.start(text)?;
        values(self.connection, OWN_BYTES).await
    }

    /// Whether anything can be found here at all.
    ///
    /// # Errors
    /// The unit's own.
    pub async fn is_prepared(&mut self) -> Result<bool> {
        let told = self.ask(self.undo.present_query()).await?;
        Ok(told.rows.first().is_some_and(|row| text(row, 0).is_ok_and(|one| one == "1")))
    }

    /// A person has looked: the rows of a transaction that could not be taken back here stay as they are now, its images are dropped and its rows let go.
    ///
    /// # Errors
    /// The unit's own.
    pub async fn accept(&mut self, global: &str) -> Result<()> {
        self.conclude(global, &[]).await
    }
}
