//! Definitions concern other instances: what they know of a database's tables may be of yesterday.

use std::sync::Arc;

use pando_kernel::TransactionType;
use pando_kernel::error::Result;
use pando_kernel::temporary::is_temporary_routine;
use pando_sql::ast::{Kind, ObjectKind, Statement};

use crate::catalog::UnitCatalog;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::transaction::own_catalog::Own;
use crate::session::transaction::{Work, units};

/// Words of definitions that PostgreSQL does not let stand in a transaction.
const ALONE: [&str; 5] = ["CONCURRENTLY", "DATABASE", "SUBSCRIPTION", "SYSTEM", "TABLESPACE"];

/// Other statements than definitions that a transaction takes back.
const TAKEN_BACK: [&str; 4] = ["COMMENT", "DO", "GRANT", "REVOKE"];

impl Work {
    /// What the session knows of a database's tables.
    pub(in crate::session) fn catalog<'a>(
        &'a self,
        live: &'a LiveDatabase,
    ) -> &'a Arc<UnitCatalog> {
        let own =
            self.definitions.own.as_ref().filter(|own| Arc::ptr_eq(&own.others, &live.catalog));
        own.map_or(&live.catalog, |own| &own.catalog)
    }

    /// The open transaction has changed a definition.
    pub(in crate::session) fn has_defined(&mut self, live: &LiveDatabase) {
        self.definitions.own = Some(Own::beside(&live.catalog));
    }

    /// Begins to read anew what only the open transaction sees, where anybody has defined something since.
    pub(in crate::session) fn keep_own_up(&mut self, live: &LiveDatabase) {
        if let Some(own) = &mut self.definitions.own
            && (!Arc::ptr_eq(&own.others, &live.catalog) || own.epoch != live.catalog.epoch())
        {
            *own = Own::beside(&live.catalog);
        }
    }
}

/// Whether a definition on several nodes is all done or not at all: a transaction of its own takes it back where one of
/// them fails. Only PostgreSQL's can be taken back, and BASE, which commits at once, has no part in definitions.
pub(in crate::session) fn is_taken_back(
    session: &Session,
    live: &LiveDatabase,
    stmt: &Statement,
) -> bool {
    let undoes = if let Kind::Utility { verb, .. } = &stmt.kind {
        TAKEN_BACK.contains(&verb.as_str())
    } else {
        matches!(&stmt.kind, Kind::Define(define) if define.object != ObjectKind::Database)
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = stmt.text.split(|c| !is_word(c));
    undoes
        && live.database.dialect.error_fails_transaction()
        && units::transaction_type(session) != TransactionType::Base
        && !words.any(|word| ALONE.iter().any(|alone| word.eq_ignore_ascii_case(alone)))
}

/// A definition is about to be run: others will be told, however it ends.
///
/// # Errors
/// When others could not be told.
pub(in crate::session) fn begin_definition(
    session: &mut Session,
    live: &LiveDatabase,
) -> Result<()> {
    if let Some(administration) = session.place.engine().administration() {
        administration.may_define(&live.database.name)?;
    }
    session.work.definitions.under_way = true;
    Ok(())
}

/// Forgets what is known of the current database's tables, here and, once a definition has come into force, at other
/// instances.
pub(in crate::session) async fn forget_tables(session: &mut Session, live: &LiveDatabase) {
    live.catalog.forget();
    session.work.definitions.under_way = false;
    if let Some(administration) = session.place.engine().administration()
        && let Some(telling) = administration.defined(&live.database.name)
    {
        telling.await;
    }
}

/// What a definition that failed may have done on some units is told, too.
pub(in crate::session) async fn end_definition(session: &mut Session) {
    if std::mem::take(&mut session.work.definitions.under_way)
        && let Ok(live) = session.place.live()
    {
        Box::pin(forget_tables(session, &live)).await;
    }
}

/// A definition of lasting tables begins: refused where a cursor reads what it changes.
///
/// # Errors
/// As one server's; when other instances could not be told.
pub(in crate::session) fn begin_if_defined(
    session: &mut Session,
    live: &LiveDatabase,
    stmt: &Statement,
) -> Result<()> {
    if let Kind::Define(define) = &stmt.kind
        && !session.temporary.concerns_temporaries()
        && !is_temporary_routine(define)
    {
        session.cursors.refuse_in_use(define)?;
        begin_definition(session, live)?;
        live.catalog.forget();
    }
    Ok(())
}
