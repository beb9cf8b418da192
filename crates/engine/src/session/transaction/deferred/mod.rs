//! What is checked at the end of a transaction only: SET CONSTRAINTS, and having it checked before the first of several storage units commits.

pub(in crate::session) mod constraints;

use std::sync::Arc;

use pando_kernel::error::Result;
use pando_kernel::session::TransactionState;
use pando_kernel::{TransactionType, UnitName, Value};
use pando_sql::ast::Statement;

use crate::snapshot::LiveDatabase;

use crate::session::Session;

/// The tag of the verb.
const VERB: &str = "SET CONSTRAINTS";

impl Session {
    /// SET CONSTRAINTS: ALL is for every unit of the transaction, those that join it later included, and names are for the units that have them. False when the statement goes the usual way.
    ///
    /// # Errors
    /// `Refused` for constraints that have other names on the units; what a unit says of what it checks then.
    pub(in crate::session) async fn set_constraints(&mut self, stmt: &Statement) -> Result<bool> {
        self.work.refuse_if_failed(false)?;
        let live = self.place.live()?;
        // Behind SET and CONSTRAINTS.
        let tokens = pando_sql::tokenize(&stmt.text, live.database.dialect.syntax());
        let named = tokens.ok().and_then(|tokens| Some(tokens.list.get(2)?.span));
        if !named.is_some_and(|word| word.of(&stmt.text).eq_ignore_ascii_case("all")) {
            if live.database.units.len() < 2 {
                return Ok(false);
            }
            self.refuse_in_base(VERB)?;
            self.set_named(&live, stmt).await?;
            self.complete(VERB);
            return Ok(true);
        }
        if self.work.transaction.state() == TransactionState::Idle {
            self.outbox.warn("25P01", "SET CONSTRAINTS can only be used in transaction blocks");
            self.complete(VERB);
            return Ok(true);
        }
        self.refuse_in_base(VERB)?;
        let variables = self.settings.variables.clone();
        self.apply(&stmt.text, true, variables).await?;
        self.complete(VERB);
        Ok(true)
    }

    /// Whether a commit may fail on one unit by what was left unchecked until then, after others have committed, as far as that is known.
    pub(in crate::session) fn may_defer(&self) -> bool {
        let is_asked = self.work.transaction.state() == TransactionState::Open
            && self.work.transaction.kind() == TransactionType::Local
            && self.work.transaction.has_written()
            && self.place.dialect().is_some_and(|dialect| dialect.deferred().is_some());
        let Some(live) = self.place.live.as_ref().filter(|_| is_asked) else { return false };
        let units = self.work.transaction.units();
        let none_defers =
            || units.iter().all(|unit| self.work.catalog(live).defers(unit) == Some(false));
        units.len() > 1 && !none_defers()
    }

    /// Has the units check what they left to the end of the transaction, which has failed where one finds a fault or
    /// cannot be asked. What was lost meanwhile
    /// the commit itself finds, and tells.
    ///
    /// # Errors
    /// The fault found; what keeps a unit from being asked.
    pub(in crate::session) async fn check_deferred(&mut self) -> Result<()> {
        let Some((query, check)) = self.place.dialect().and_then(|dialect| dialect.deferred())
        else {
            return Ok(());
        };
        let live = self.place.live()?;
        let checked = self.checked(&live, query, check).await;
        self.let_go().await;
        match checked {
            Ok(()) => Ok(()),
            Err(_) if self.work.transaction.has_lost_connection() => Ok(()),
            Err(error) => {
                self.work.transaction.fail();
                Err(self.place.in_logic_names(error))
            }
        }
    }

    async fn checked(&mut self, live: &Arc<LiveDatabase>, query: &str, check: &str) -> Result<()> {
        let mut any = false;
        for unit in self.work.transaction.units() {
            any |= self.defers(live, unit, query).await?;
        }
        if !any {
            return Ok(());
        }
        self.attend_transaction()?;
        self.work.transaction.run_everywhere(check).await
    }

    async fn defers(
        &mut self,
        live: &Arc<LiveDatabase>,
        unit: UnitName,
        query: &str,
    ) -> Result<bool> {
        if let Some(known) = self.work.catalog(live).defers(&unit) {
            return Ok(known);
        }
        let epoch = self.work.catalog(live).epoch();
        let rows = self.ask(live, &unit, query).await?;
        let defers = rows.first().and_then(|row| row.first()) != Some(&Value::Bool(false));
        self.work.catalog(live).learn_defers(epoch, unit, defers);
        Ok(defers)
    }
}
