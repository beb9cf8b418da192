//! What a session can tell of all sessions.

use pando_kernel::error::Result;
use pando_kernel::{Column, Kind, Value};

use crate::session::Session;
use crate::session::reply::made;

/// Whether SHOW asks for it, behind either door: PostgreSQL has no setting of this name.
pub(in crate::session) fn is_meant(what: &str) -> bool {
    ["PROCESSLIST", "FULL PROCESSLIST"].iter().any(|own| what.eq_ignore_ascii_case(own))
}

/// The sessions of this Pando, not those it has on storage units.
pub(in crate::session) fn processlist(session: &mut Session) -> Result<()> {
    let text = |text: &str| Value::Text(text.to_owned());
    let rows: Vec<Vec<Value>> = session
        .place
        .engine()
        .inner
        .registry
        .all()
        .into_iter()
        // What others ask for is told to administrators only.
        .filter(|handle| {
            session.place.login().is_administrator || handle.user == session.place.login().user
        })
        .map(|handle| {
            let activity = handle.activity();
            let seconds = activity.since.elapsed().as_secs();
            let (command, state) = match activity.statement {
                Some(_) => ("Query", "executing"),
                None => ("Sleep", ""),
            };
            // Whoever sends a password sends it to Pando alone.
            let told = activity.statement.as_deref();
            let told = told.map(|statement| pando_sql::redacted(statement).into_owned());
            vec![
                Value::UInt(u64::from(handle.key.id)),
                text(&handle.user),
                text(&handle.host),
                activity.database.as_deref().map_or(Value::Null, text),
                text(command),
                Value::Int(i64::try_from(seconds).unwrap_or(i64::MAX)),
                text(state),
                told.map_or(Value::Null, Value::Text),
            ]
        })
        .collect();
    let columns = [
        ("Id", Kind::UInt),
        ("User", Kind::Text),
        ("Host", Kind::Text),
        ("db", Kind::Text),
        ("Command", Kind::Text),
        ("Time", Kind::Int),
        ("State", Kind::Text),
        ("Info", Kind::Text),
    ];
    let list = columns.map(|(name, kind)| Column::computed(name, kind)).into();
    made::typed_rows(session, "SHOW", list, &rows)
}
