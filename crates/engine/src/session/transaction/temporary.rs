//! Temporary tables: the session keeps the one connection that has them for as long as there are any.

use std::sync::Arc;

use pando_kernel::dialect::{Dialect, MODE};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::route::UnitName;
use pando_kernel::session::TransactionState;
use pando_kernel::temporary::{Kept, Temporaries, is_temporary};
use pando_kernel::{TransactionType, Value};
use pando_pool::Connection;
use pando_sql::ast::{Define, DefineAction, Ident, Kind, ObjectKind, ObjectName, Statement};

use crate::handle::Manner;
use crate::plan;
use crate::plan::names_unit;
use crate::snapshot::LiveDatabase;
use crate::variables::Variables;

use crate::session::Session;
use crate::session::cursors::portals;
use crate::session::run::{find_out, release};
use crate::session::transaction::units;

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
pub(in crate::session) struct Temporary {
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

/// Looks whether a statement is about temporary tables, and where the first one goes.
///
/// # Errors
/// `Refused` where they cannot be had.
#[expect(clippy::wildcard_enum_match_arm, reason = "only definitions make them")]
pub(in crate::session) async fn look_at_temporaries(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
) -> Result<()> {
    let define = match &stmt.kind {
        Kind::Define(define) => Some(&**define),
        _ => None,
    };
    let begins = define.is_some_and(is_temporary) && !names_unit(stmt);
    if session.temporary.own.is_none() && !begins {
        return Ok(());
    }
    let Some(kept) = live.database.dialect.temporaries() else { return Ok(()) };
    let elsewhere = |own: &Temporary| !own.shown.database.eq_ignore_ascii_case(&live.database.name);
    if session.temporary.own.as_deref().is_some_and(elsewhere) {
        return match begins {
            true => Err(in_one_database()),
            false => Ok(()),
        };
    }
    Box::pin(ask_for_temporaries(session, live)).await?;
    if session.temporary.own.is_none() && begins {
        begin_temporaries(session, live, stmt, kept).await?;
    }
    let Some(own) = &mut session.temporary.own else { return Ok(()) };
    own.change = Change::None;
    own.concerned = own.shown.concern(stmt);
    if !own.concerned {
        return Ok(());
    }
    if let Some(define) = define {
        own.change = change(define)?;
        refuse_another_spelling(own, define)?;
        refuse_name_of_part(own, live)?;
    }
    refuse_for_temporaries(session)?;
    portals::settle_cursors(session).await?;
    miss_connection(session);
    Ok(())
}

async fn begin_temporaries(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    kept: Kept,
) -> Result<()> {
    let unit =
        find_out::find_out_until(session, live, None, |ctx| plan::unit_for(ctx, stmt)).await?;
    let shown = Temporaries {
        unit,
        database: live.database.name.clone(),
        has_database_in_front: live.database.dialect.default_schema().is_none(),
        names: Vec::new(),
        lost: Vec::new(),
    };
    session.temporary.own = Some(Box::new(Temporary {
        shown: Arc::new(shown),
        spelled: Vec::new(),
        kept,
        number: None,
        connection: None,
        worn: Vec::new(),
        tainted: false,
        stale: false,
        concerned: true,
        change: Change::None,
    }));
    Ok(())
}

/// Two-phase commit and BASE have no part in them.
fn refuse_for_temporaries(session: &Session) -> Result<()> {
    let opens = session.work.is_idle() && !session.work.autocommit;
    let kind = match session.work.transaction.state() {
        TransactionState::Idle => units::transaction_type(session),
        TransactionState::Open | TransactionState::Failed => session.work.transaction.kind(),
    };
    let is_inside = opens || !session.work.is_idle();
    let refuses = match kind {
        TransactionType::Local => false,
        TransactionType::Xa => is_inside,
        TransactionType::Base => true,
    };
    if !refuses {
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        "temporary tables take no part in transactions of type XA and BASE",
        "use SET VARIABLE transaction_type = 'LOCAL'",
    ))
}

/// Notes when their connection is neither here nor with the transaction.
fn miss_connection(session: &mut Session) {
    let Some(own) = &mut session.temporary.own else { return };
    let is_held = session.work.transaction.units().contains(&own.shown.unit);
    if own.number.is_some() && own.connection.is_none() && !is_held {
        own.loses();
    }
}

/// What planning sees of them.
pub(in crate::session) fn temporaries(session: &Session) -> Option<Arc<Temporaries>> {
    let own = session.temporary.own.as_ref()?;
    let live = session.place.current()?;
    let is_here = own.shown.database.eq_ignore_ascii_case(&live.database.name);
    is_here.then(|| Arc::clone(&own.shown))
}

/// Their connection, where it is one of this unit and at home.
pub(in crate::session) fn temporary_connection(
    session: &mut Session,
    unit: &UnitName,
) -> Option<Connection> {
    temporaries(session)?;
    let own = session.temporary.own.as_mut().filter(|own| own.shown.unit == *unit)?;
    own.connection.take()
}

/// Where the statement under way makes the first of them, this is their connection from here on.
pub(in crate::session) fn keep_for_temporaries(session: &mut Session, connection: &mut Connection) {
    let Some(own) = &mut session.temporary.own else { return };
    if own.concerned && own.number.is_none() && own.shown.unit == *connection.unit() {
        own.number = Some(connection.token().id);
        own.wears(session.settings.variables());
        connection.spoil();
    }
}

/// Their connection comes home from a statement or a transaction.
pub(in crate::session) fn temporaries_come_home(session: &mut Session, connection: Connection) {
    let now = connection.condition();
    let is_well = now.usable && now.outstanding == 0 && now.transaction == TransactionState::Idle;
    let Some(own) = &mut session.temporary.own else { return };
    own.wears(session.settings.variables());
    if is_well {
        own.connection = Some(connection);
    } else {
        connection.discard();
        own.loses();
    }
    if own.is_empty() && !own.stale && matches!(own.change, Change::None) {
        session.temporary.own = None;
    }
}

/// DISCARD TEMP.
///
/// # Errors
/// `Refused` inside a transaction, which could take it back.
pub(in crate::session) fn discard_temporaries(session: &mut Session) -> Result<()> {
    if session.temporary.own.is_some() && !session.work.is_idle() {
        return Err(Error::unsupported(
            30001,
            "DISCARD TEMP inside a transaction is not possible",
            "drop the tables one by one, or commit first",
        ));
    }
    session.temporary.drop_temporaries();
    Ok(())
}

/// Asks the server which there are, where that may have changed.
async fn ask_for_temporaries(session: &mut Session, live: &Arc<LiveDatabase>) -> Result<()> {
    let Some(own) = &session.temporary.own else { return Ok(()) };
    let Kept::Asked(query) = own.kept else { return Ok(()) };
    if !own.stale || session.work.transaction.state() == TransactionState::Failed {
        return Ok(());
    }
    portals::settle_cursors(session).await?;
    miss_connection(session);
    let Some(own) = &mut session.temporary.own else { return Ok(()) };
    if own.number.is_none() {
        own.stale = false;
        session.temporary.leave_temporaries();
        return Ok(());
    }
    let unit = Arc::clone(&own.shown.unit);
    let connection = match temporary_connection(session, &unit) {
        Some(connection) => Some(connection),
        None => session.work.transaction.lend(&unit)?,
    };
    let Some(mut connection) = connection else { return Ok(()) };
    let asked = match session.place.handle().runs_on(&connection, Manner::Ask) {
        Ok(()) => pando_transaction::rows(&mut *connection, query).await,
        Err(error) => Err(error),
    };
    release::release(session, connection).await;
    let rows = asked?;
    let syntax = live.database.dialect.syntax();
    let name = |row: Vec<Value>| match row.into_iter().next() {
        Some(Value::Text(name)) => Some(syntax.table_key(&name)),
        _ => None,
    };
    let names: Vec<String> = rows.into_iter().filter_map(name).collect();
    if let Some(own) = &mut session.temporary.own {
        own.stale = false;
        Arc::make_mut(&mut own.shown).names = names
            .into_iter()
            .filter(|name| !name.starts_with(pando_kernel::relation::PREFIX))
            .collect();
    }
    session.temporary.leave_temporaries();
    Ok(())
}

fn change(define: &Define) -> Result<Change> {
    let keys = || define.names.iter().map(ObjectName::key).collect();
    let last = |name: &ObjectName| name.parts.last().cloned();
    let is_table = matches!(define.object, ObjectKind::Table | ObjectKind::View);
    Ok(match define.action {
        DefineAction::Create if is_temporary(define) => {
            define.names.first().and_then(last).map_or(Change::None, Change::Made)
        }
        DefineAction::Drop if is_table => Change::Dropped(keys()),
        DefineAction::Alter | DefineAction::Rename if !define.renamed_to.is_empty() => {
            let ([old], [new]) = (&define.names[..], &define.renamed_to[..]) else {
                return Err(Error::unsupported(
                    30001,
                    "several tables cannot be renamed at once where one of them is temporary",
                    "rename them one by one",
                ));
            };
            last(new).map_or(Change::None, |new| Change::Renamed(old.key(), new))
        }
        DefineAction::Create
        | DefineAction::Alter
        | DefineAction::Drop
        | DefineAction::Truncate
        | DefineAction::Rename
        | DefineAction::Comment => Change::None,
    })
}

/// Refuses a name that differs from another one's by case only: to planning they are one.
fn refuse_another_spelling(own: &Temporary, define: &Define) -> Result<()> {
    let new = match &own.change {
        Change::Made(name) | Change::Renamed(_, name) => name,
        Change::None | Change::Dropped(_) => return Ok(()),
    };
    if own.shown.names.len() >= MAX {
        return Err(ErrorKind::TooLarge(format!("more than {MAX} temporary tables")).into());
    }
    let key = new.key();
    let is_other = |known: &&String| known.to_lowercase() == key && **known != new.value;
    match own.spelled.iter().find(is_other).filter(|_| define.action == DefineAction::Create) {
        None => Ok(()),
        Some(other) => Err(Error::unsupported(
            20032,
            format!("temporary tables `{other}` and `{}` differ by case only", new.value),
            "give one of them another name",
        )),
    }
}

/// Refuses the name of a part of a sharded table: on their connection it would hide that from statements about the
/// whole.
fn refuse_name_of_part(own: &Temporary, live: &LiveDatabase) -> Result<()> {
    let (Change::Made(new) | Change::Renamed(_, new)) = &own.change else { return Ok(()) };
    let syntax = live.database.dialect.syntax();
    let key = new.key();
    let mut tables = live.database.features.iter().flat_map(|feature| feature.tables());
    let is_part = tables.any(|table| {
        let is_it = |name: &str| syntax.table_key(name) == key;
        !is_it(&table.name) && table.nodes.iter().any(|node| is_it(&node.table))
    });
    match is_part {
        false => Ok(()),
        true => Err(Error::unsupported(
            30001,
            format!("temporary table `{}` would hide a part of a sharded table", new.value),
            "give it another name",
        )),
    }
}

fn in_one_database() -> Error {
    Error::unsupported(
        30001,
        "the session has temporary tables in another logical database",
        "drop them first",
    )
}
