//! How transactions begin: for the client, or for what the session does as one.

use pando_kernel::error::Result;
use pando_kernel::session::TransactionState;

use crate::session::Session;
use crate::session::transaction::change_modes::Touched;
use crate::session::transaction::verbs::Opened;

impl Session {
    /// Opens a transaction for the client.
    pub(in crate::session) fn begin(&mut self, modes: Vec<String>) {
        let all = self.work.modes_for(modes);
        self.work.transaction.begin(all, self.course());
        self.work.touched = Touched::Nothing;
        self.work.names_tables = false;
        self.work.opened = Opened::Client;
        self.settings.at_begin = Some(self.settings.variables.clone());
        self.work.modes.at_begin.clone_from(&self.work.modes.session);
    }

    /// Opens a transaction for the client, which may have asked for a snapshot of this moment.
    pub(in crate::session) async fn begin_at_once(&mut self, modes: Vec<String>) -> Result<()> {
        self.begin(modes);
        match self.looks_at_once() {
            true => Box::pin(self.look_at_once()).await,
            false => Ok(()),
        }
    }

    /// Several statements of one request form one transaction where the language says so.
    pub(in crate::session) fn open_pipeline(&mut self) {
        let together =
            self.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction());
        if together
            && self.work.autocommit
            && self.work.transaction.state() == TransactionState::Idle
        {
            let modes = self.work.modes_for(Vec::new());
            self.work.transaction.begin(modes, self.course());
            self.work.touched = crate::session::transaction::change_modes::Touched::Nothing;
            self.work.opened = Opened::Pipeline;
            self.settings.at_begin = Some(self.settings.variables.clone());
            self.work.modes.at_begin.clone_from(&self.work.modes.session);
        }
    }

    /// Opens a transaction that ends with the statement.
    pub(in crate::session) fn open_for_statement(&mut self, modes: Vec<String>) {
        let modes = self.work.modes_for(modes);
        self.work.transaction.begin(modes, self.course());
        self.work.opened = Opened::Statement;
    }

    /// All batches are one transaction.
    pub(in crate::session) fn bulk_transaction(&mut self) {
        if self.work.transaction.state() == pando_kernel::session::TransactionState::Idle {
            if self.work.autocommit {
                let modes = self.work.modes_for(Vec::new());
                self.work.transaction.begin(modes, self.course());
                self.work.opened = Opened::Statement;
            } else {
                self.begin(Vec::new());
            }
        }
        self.work.transaction.wrote_if_open();
    }
}
