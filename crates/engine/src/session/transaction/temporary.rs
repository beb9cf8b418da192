//! Temporary tables: the session keeps the one connection that has them for as long as there are any.

pub(in crate::session) mod look;

use std::sync::Arc;

use pando_kernel::dialect::{Dialect, MODE};
use pando_kernel::route::UnitName;
use pando_kernel::session::TransactionState;
use pando_kernel::temporary::{Kept, Temporaries};
use pando_pool::Connection;
use pando_sql::ast::Ident;

use crate::own_columns::OwnColumns;
use crate::snapshot::LiveDatabase;
use crate::variables::Variables;

/// Temporary tables one session may have.
const MAX: usize = 1_000;

/// The temporary tables of a session, if it has any.
#[derive(Debug, Default)]
pub(in crate::session) struct TemporaryTables {
    own: Option<Box<Temporary>>,
}

/// How a statement has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Ran {
    Well,
    Badly,
}

/// The temporary tables of a session, and their connection.
#[derive(Debug)]
struct Temporary {
    shown: Arc<Temporaries>,
    /// As they are spelled, where servers may tell names apart that are one to planning.
    spelled: Vec<String>,
    kept: Kept,
    /// The number of their connection on its server, once there is one.
    number: Option<u64>,
    /// Their connection; `None` while a statement or a transaction has it.
    connection: Option<Connection>,
    /// What has ever been set on it: no reset takes that back.
    worn: Vec<String>,
    /// A cancel of it may have been under way.
    tainted: bool,
    /// The server has to be asked which there are.
    stale: bool,
    /// The statement under way is about one of them.
    concerned: bool,
    /// What the statement under way does to their names.
    change: Change,
    /// What that statement has to know of their columns.
    columns: OwnColumns,
}

/// What a statement does to the names of temporary tables.
#[derive(Debug, Default)]
enum Change {
    #[default]
    None,
    Made(Ident),
    Dropped(Vec<String>),
    Renamed(String, Ident),
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.tainted
            && let Some(connection) = self.connection.take()
        {
            connection.discard();
        }
    }
}

impl Temporary {
    fn forgets(&mut self, key: &str) {
        let shown = Arc::make_mut(&mut self.shown);
        shown.names.retain(|known| known != key);
        self.spelled.retain(|known| known.to_lowercase() != key);
    }

    fn learns(&mut self, name: &Ident) {
        let key = name.key();
        self.forgets(&key);
        Arc::make_mut(&mut self.shown).names.push(key);
        self.spelled.push(name.value.clone());
    }

    fn finds_again(&mut self, keys: &[String]) {
        Arc::make_mut(&mut self.shown).lost.retain(|known| !keys.contains(known));
    }

    /// Their connection is gone, and they with it.
    fn loses(&mut self) {
        self.number = None;
        self.worn.clear();
        self.tainted = false;
        self.spelled.clear();
        let shown = Arc::make_mut(&mut self.shown);
        shown.lost.append(&mut shown.names);
    }

    fn is_empty(&self) -> bool {
        self.shown.names.is_empty() && self.shown.lost.is_empty()
    }

    fn wears(&mut self, variables: &Variables) {
        for (name, _) in variables.list() {
            if !self.worn.contains(name) {
                self.worn.push(name.clone());
            }
        }
    }
}

impl TemporaryTables {
    /// Whether the session may have some.
    pub(in crate::session) fn are_there(&self) -> bool {
        self.own.is_some()
    }

    /// Whether the statement under way is about temporary tables.
    pub(in crate::session) fn concerns_temporaries(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.concerned)
    }

    /// What the statement under way knows of their columns; `None` where it is not about any.
    pub(in crate::session) fn own_columns(&self) -> Option<&OwnColumns> {
        self.own.as_ref().map(|own| &own.columns).filter(|columns| !columns.are_none())
    }

    /// Whether a connection is that of the temporary tables.
    pub(in crate::session) fn has_temporaries(&self, connection: &Connection) -> bool {
        self.own.as_ref().is_some_and(|own| {
            own.number == Some(connection.token().id) && own.shown.unit == *connection.unit()
        })
    }

    /// Whether their connection is with a statement or a transaction.
    pub(in crate::session) fn lent_temporaries(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.number.is_some() && own.connection.is_none())
    }

    /// What planning sees of them where this database is the current one.
    pub(in crate::session) fn shown(
        &self,
        current: Option<&Arc<LiveDatabase>>,
    ) -> Option<Arc<Temporaries>> {
        let own = self.own.as_ref()?;
        let is_here = own.shown.database.eq_ignore_ascii_case(&current?.database.name);
        is_here.then(|| Arc::clone(&own.shown))
    }

    /// Their connection, where it is one of this unit of the current database, and at home.
    pub(in crate::session) fn lend_connection(
        &mut self,
        current: Option<&Arc<LiveDatabase>>,
        unit: &UnitName,
    ) -> Option<Connection> {
        self.shown(current)?;
        let own = self.own.as_mut().filter(|own| own.shown.unit == *unit)?;
        own.connection.take()
    }

    /// Where the statement under way makes the first of them, this is their connection from here on.
    pub(in crate::session) fn keep_connection(
        &mut self,
        connection: &mut Connection,
        variables: &Variables,
    ) {
        let Some(own) = &mut self.own else { return };
        if own.concerned && own.number.is_none() && own.shown.unit == *connection.unit() {
            own.number = Some(connection.token().id);
            own.wears(variables);
            connection.spoil();
        }
    }

    /// Their connection comes home from a statement or a transaction.
    pub(in crate::session) fn take_connection_home(
        &mut self,
        connection: Connection,
        variables: &Variables,
    ) {
        let now = connection.condition();
        let is_well =
            now.usable && now.outstanding == 0 && now.transaction == TransactionState::Idle;
        let Some(own) = &mut self.own else { return };
        own.wears(variables);
        if is_well {
            own.connection = Some(connection);
        } else {
            connection.discard();
            own.loses();
        }
        if own.is_empty() && !own.stale && matches!(own.change, Change::None) {
            self.own = None;
        }
    }

    /// What must be set on their connection, which no reset may reach, so that it has these variables and no others;
    /// nothing where there is nothing.
    pub(in crate::session) fn dress_of_temporaries(
        &self,
        dialect: &dyn Dialect,
        variables: &Variables,
    ) -> Option<String> {
        let own = self.own.as_ref()?;
        let is_set = |name: &String| variables.list().iter().any(|(known, _)| known == name);
        let back = own.worn.iter().filter(|name| !is_set(name) && !name.starts_with(MODE));
        let none = |name: &String| if name.starts_with('@') { "NULL" } else { "DEFAULT" };
        let back = back.map(|name| (name.clone(), none(name).to_owned()));
        let all: Vec<(String, String)> = back.chain(variables.list().iter().cloned()).collect();
        (!all.is_empty()).then(|| dialect.set_statement(&all))
    }

    /// Their connection was disturbed: it serves nobody else afterwards.
    pub(in crate::session) fn taint_temporaries(&mut self) {
        if let Some(own) = &mut self.own {
            own.tainted = true;
        }
    }

    /// A statement has ended: what it has done to their names is noted.
    pub(in crate::session) fn note_temporaries(&mut self, ran: Ran) {
        let succeeded = ran == Ran::Well;
        let Some(own) = &mut self.own else { return };
        let change = std::mem::take(&mut own.change);
        own.concerned = false;
        // Nobody waits any more for one that is gone, whatever the server says of it.
        match &change {
            Change::Dropped(keys) => own.finds_again(keys),
            Change::Made(name) if succeeded => own.finds_again(&[name.key()]),
            Change::None | Change::Made(_) | Change::Renamed(..) => {}
        }
        if own.kept != Kept::Noted {
            own.stale |= !matches!(change, Change::None);
        } else if succeeded {
            match change {
                Change::None => {}
                Change::Made(name) => own.learns(&name),
                Change::Dropped(keys) => keys.iter().for_each(|key| own.forgets(key)),
                Change::Renamed(old, new) => {
                    own.forgets(&old);
                    own.learns(&new);
                }
            }
        }
        self.leave_temporaries();
    }

    /// A transaction, or a part of it, has ended: where that takes definitions back, the server is to be asked which
    /// there are.
    pub(in crate::session) fn doubt_temporaries(&mut self) {
        if let Some(own) = &mut self.own {
            own.stale |= own.kept != Kept::Noted;
        }
    }

    /// Gives the connection back when it is at home and nothing is left.
    fn leave_temporaries(&mut self) {
        let is_over = |own: &Temporary| own.is_empty() && !own.stale && !own.concerned;
        let is_lent = self.lent_temporaries();
        if !is_lent && self.own.as_deref().is_some_and(is_over) {
            self.own = None;
        }
    }

    /// Drops all of them, as a reset does. Outside of transactions only.
    pub(in crate::session) fn drop_temporaries(&mut self) {
        self.own = None;
    }
}
