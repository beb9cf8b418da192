//! What a statement has to do with temporary tables, before it is planned.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::session::TransactionState;
use pando_kernel::temporary::{Kept, Temporaries, is_temporary};
use pando_kernel::{TransactionType, Value};
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, ObjectName, Statement};
use pando_sql::visit;

use crate::handle::Manner;
use crate::own_columns::OwnColumns;
use crate::plan;
use crate::plan::names_unit;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::release;
use crate::session::cursors::settle;
use crate::session::run::{find_out, meant};
use crate::session::transaction::temporary::{Change, MAX, Temporary};
use crate::session::transaction::units;

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
    meant::look(session, live, stmt).await?;
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
    own.columns = columns(own, stmt);
    if !own.concerned {
        return Ok(());
    }
    if let Some(define) = define {
        own.change = change(define)?;
        refuse_another_spelling(own, define)?;
        refuse_name_of_part(own, live)?;
    }
    refuse_for_temporaries(session)?;
    settle::settle_cursors(session).await?;
    miss_connection(session);
    Ok(())
}

/// What the statement may have to know of the columns of temporary tables.
fn columns(own: &Temporary, stmt: &Statement) -> OwnColumns {
    if !own.concerned || own.shown.names.is_empty() {
        return OwnColumns::default();
    }
    let is_other =
        |name: &ObjectName| own.shown.names.contains(&name.key()) && !own.shown.is_one(name);
    let are_mixed = visit::tables(&stmt.kind).iter().any(|table| is_other(table.name));
    let mut columns = OwnColumns::of(own.shown.names.clone());
    columns.are_mixed = are_mixed;
    columns
}

/// Asks for the columns of a temporary table that the statement under way means by this key.
///
/// # Errors
/// `Refused` where they cannot be told; what the server says.
pub(in crate::session) async fn learn_own_columns(
    session: &mut Session,
    live: &LiveDatabase,
    table: String,
) -> Result<()> {
    let dialect = Arc::clone(&live.database.dialect);
    let Some(own) = &session.temporary.own else { return Err(unknown_columns(&table)) };
    // The key would be taken for the other table's.
    if own.columns.are_mixed {
        return Err(unknown_columns(&table));
    }
    let spelled = own.spelled.iter().find(|known| known.to_lowercase() == table);
    let told = dialect.relations().and_then(|own| own.query_tables());
    let Some(told) = told.map(|own| own.definitions()) else { return Err(unknown_columns(&table)) };
    let query = told.temporary_columns_query(spelled.unwrap_or(&table));
    let rows = ask_there(session, &query).await?.unwrap_or_default();
    let found: Result<Vec<_>> = rows.iter().map(|row| told.read_temporary_column(row)).collect();
    let found = found?;
    if found.is_empty() {
        return Err(unknown_columns(&table));
    }
    if let Some(own) = &mut session.temporary.own {
        own.columns.learn(table, found);
    }
    Ok(())
}

/// Nobody knows the columns of what this key means.
pub(in crate::session) fn unknown_columns(table: &str) -> Error {
    Error::unsupported(
        30001,
        format!("the columns of temporary table `{table}` are known to its server alone"),
        "use a table with a name of its own",
    )
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
        columns: OwnColumns::default(),
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
    settle::settle_cursors(session).await?;
    miss_connection(session);
    let Some(own) = &mut session.temporary.own else { return Ok(()) };
    if own.number.is_none() {
        own.stale = false;
        session.temporary.leave_temporaries();
        return Ok(());
    }
    let Some(rows) = ask_there(session, query).await? else { return Ok(()) };
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

/// Asks their connection; `None` where it is not to be had now.
async fn ask_there(session: &mut Session, query: &str) -> Result<Option<Vec<Vec<Value>>>> {
    let Some(own) = &session.temporary.own else { return Ok(None) };
    let unit = Arc::clone(&own.shown.unit);
    let connection = match session.temporary.lend_connection(session.place.current(), &unit) {
        Some(connection) => Some(connection),
        None => session.work.transaction.lend(&unit)?,
    };
    let Some(mut connection) = connection else { return Ok(None) };
    let asked = match session.place.handle().runs_on(&connection, Manner::Ask) {
        Ok(()) => pando_transaction::rows(&mut *connection, query).await,
        Err(error) => Err(error),
    };
    release::release(session, connection).await;
    asked.map(Some)
}

fn change(define: &Define) -> Result<Change> {
    let keys = || define.names.iter().map(ObjectName::key).collect();
    let last = |name: &ObjectName| name.parts.last().cloned();
    let is_table = matches!(define.object, ObjectKind::Table | ObjectKind::View);
    Ok(match define.action {
        DefineAction::Create if is_temporary(define) => {
            define.names.first().and_then(last).map_or(Change::None, Change::Made)
        }
        // PostgreSQL makes a view over temporary tables a temporary one.
        DefineAction::Create if define.object == ObjectKind::View && !define.materialized => {
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
