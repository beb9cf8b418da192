//! What is asked of a session's transaction and done with it, as far as nothing else of the session takes part.

use std::sync::Arc;

use pando_kernel::Dialect;
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::session::TransactionState;
use pando_sql::ast::Kind;
use pando_transaction::{Transaction, no_savepoint};

use crate::locked_keys::{HeldKeys, LockedKeys};
use crate::mirror::Gatherings;

use crate::session::errors::no_transaction;
use crate::session::given::Run;
use crate::session::transaction::channels::Channels;
use crate::session::transaction::locks::HeldLocks;
use crate::session::transaction::modes::{SNAPSHOT, completed};
use crate::session::transaction::times::Times;
use crate::session::transaction::touched::Touched;
use crate::session::transaction::undo_list::Base;
use crate::session::transaction::{Definitions, End, Modes, Opened, Work};

impl Default for Work {
    fn default() -> Self {
        Self {
            transaction: Transaction::default(),
            base: Base::default(),
            kind: None,
            opened: Opened::Client,
            autocommit: true,
            modes: Modes::default(),
            touched: Touched::default(),
            definitions: Definitions::default(),
            names_tables: false,
            only_changes: false,
            times: Times::default(),
            environment: None,
            locks: HeldLocks::default(),
            table_locks: None,
            channels: Channels::default(),
            held_keys: None,
            gatherings: Gatherings::default(),
        }
    }
}

impl Work {
    pub(in crate::session) fn transaction(&self) -> &Transaction {
        &self.transaction
    }

    pub(in crate::session) fn transaction_mut(&mut self) -> &mut Transaction {
        &mut self.transaction
    }

    /// How a transaction ends that nobody but the session ends.
    pub(in crate::session) fn end_by_itself(&self) -> End {
        match self.transaction.is_told() {
            true => End::RollBack,
            false => End::Commit,
        }
    }

    /// Rows that the transaction has locked one by one, of a database.
    pub(in crate::session) fn held_keys(&mut self, all: &Arc<LockedKeys>) -> &mut HeldKeys {
        if self.held_keys.as_ref().is_some_and(|held| !held.are_of(all)) {
            self.held_keys = None;
        }
        self.held_keys.get_or_insert_with(|| all.holder())
    }

    /// What is kept of the open transaction for mirrors.
    pub(in crate::session) fn gatherings_mut(&mut self) -> &mut Gatherings {
        &mut self.gatherings
    }

    /// Some of them may not be locked any more.
    pub(in crate::session) fn forget_held_keys(&mut self) {
        self.held_keys = None;
    }

    /// Who opened the transaction.
    pub(in crate::session) fn opened(&self) -> Opened {
        self.opened
    }

    /// Whether statements outside of transactions are committed by themselves.
    pub(in crate::session) fn autocommit(&self) -> bool {
        self.autocommit
    }

    pub(in crate::session) fn commits_each(&mut self) {
        self.autocommit = true;
    }

    pub(in crate::session) fn commits_when_told(&mut self) {
        self.autocommit = false;
    }

    /// How transactions begin and end is as after login.
    pub(in crate::session) fn forget_choices(&mut self) {
        self.commits_each();
        self.modes.next.clear();
        self.modes.session.clear();
        self.kind = None;
    }

    /// A statement begins that may settle the transaction's modes.
    pub(in crate::session) fn touches(&mut self, kind: &Kind) {
        self.touched = self.touched.max(Touched::by(kind));
    }

    /// As [`Work::touches`], of one that is about data.
    pub(in crate::session) fn touches_data(&mut self) {
        self.touched = Touched::Data;
    }

    /// What the open transaction's statements have done that settles its modes.
    pub(in crate::session) fn touched(&self) -> Touched {
        self.touched
    }

    /// The open transaction is asked of a table.
    pub(in crate::session) fn names_tables(&mut self) {
        self.names_tables = true;
    }

    /// Whether the client's open transaction has changed nothing and was asked of no table.
    pub(in crate::session) fn has_read_no_table(&self) -> bool {
        !self.names_tables
            && self.opened == Opened::Client
            && self.transaction.state() == TransactionState::Open
            && !self.transaction.has_written()
    }

    /// A transaction of the statement's own is not ended by those that come before it. Returns who had opened it.
    pub(in crate::session) fn outlives_statements(&mut self) -> Opened {
        let opened = self.opened;
        if opened == Opened::Statement {
            self.opened = Opened::Pipeline;
        }
        opened
    }

    /// The other half of [`Work::outlives_statements`].
    pub(in crate::session) fn is_opened_for(&mut self, opened: Opened) {
        self.opened = opened;
    }

    /// The last step is done: a transaction of the steps' own ends like one of a statement.
    pub(in crate::session) fn ends_steps(&mut self) {
        if self.opened == Opened::Steps {
            self.opened = Opened::Statement;
        }
    }

    /// Whether the open transaction has changed definitions.
    pub(in crate::session) fn has_definitions_of_its_own(&self) -> bool {
        self.definitions.own.is_some()
    }

    /// Whether a definition is under way, of which other instances have not been told.
    pub(in crate::session) fn is_defining(&self) -> bool {
        self.definitions.under_way
    }

    /// A planned statement is about to be sent.
    pub(in crate::session) fn starts(&mut self, run: Run<'_>) {
        let kind = &run.stmt.kind;
        self.only_changes = matches!(kind, Kind::Insert(_) | Kind::Update(_) | Kind::Delete(_));
        if run.plan.writes {
            self.transaction.wrote_if_open();
        }
    }

    /// Whether no transaction is open.
    pub(in crate::session) fn is_idle(&self) -> bool {
        self.transaction.state() == TransactionState::Idle
    }

    /// Refuses a change in a session whose transactions only read.
    ///
    /// # Errors
    /// `TransactionState`.
    pub(in crate::session) fn refuse_if_read_only(&self) -> Result<()> {
        match self.modes.session.iter().any(|mode| mode == "READ ONLY") {
            true => Err(ErrorKind::TransactionState("the session is read only".into()).into()),
            false => Ok(()),
        }
    }

    /// Whether no storage unit of the current configuration is held: outside a transaction, and in one that a request
    /// opened around its statements while none of them has reached a unit.
    pub(in crate::session) fn stands_free(&self) -> bool {
        match self.transaction.state() {
            TransactionState::Idle => true,
            TransactionState::Open => self.opened == Opened::Pipeline && self.has_reached_none(),
            TransactionState::Failed => false,
        }
    }

    /// Whether a transaction is open that has not met a storage unit yet.
    pub(in crate::session) fn has_begun_only(&self) -> bool {
        self.transaction.state() == TransactionState::Open && self.has_reached_none()
    }

    /// Whether no statement of the transaction has been at a storage unit. One of type BASE holds no connection to
    /// those it has changed.
    pub(in crate::session) fn has_reached_none(&self) -> bool {
        self.transaction.units().is_empty() && !self.base.has_changed()
    }

    /// Refuses what a failed transaction does not run: all but what ends it.
    ///
    /// # Errors
    /// `TransactionFailed`.
    pub(in crate::session) fn refuse_if_failed(&self) -> Result<()> {
        if self.transaction.state() == TransactionState::Failed {
            return Err(ErrorKind::TransactionFailed.into());
        }
        Ok(())
    }

    /// The statement's own modes, then those set for the next transaction, then those of the session: the first of each
    /// kind counts.
    pub(in crate::session) fn modes_for(&mut self, own: Vec<String>) -> Vec<String> {
        let further = std::mem::take(&mut self.modes.next);
        completed(own, further.iter().chain(&self.modes.session))
    }

    /// The modes of a transaction that AND CHAIN begins: those of the one before, which has left no snapshot. Where
    /// none was open, as only the MySQL family has it, one begins all the same.
    pub(in crate::session) fn chained_modes(&self) -> Vec<String> {
        self.transaction.modes().iter().filter(|mode| *mode != SNAPSHOT).cloned().collect()
    }

    /// Whether a transaction is open that the client has begun.
    pub(in crate::session) fn is_in_block(&self) -> bool {
        self.transaction.state() != TransactionState::Idle && self.opened != Opened::Pipeline
    }

    /// Refuses a verb about a savepoint where none can be.
    pub(in crate::session) fn refuse_outside(
        &self,
        verb: &str,
        name: &str,
        dialect: &dyn Dialect,
    ) -> Result<()> {
        if self.is_in_block() {
            return Ok(());
        }
        let fails = dialect.error_fails_transaction();
        Err(if fails { no_transaction(verb) } else { no_savepoint(name, dialect) })
    }
}
