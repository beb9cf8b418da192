//! SET ROLE and its like to oneself: storage units know their own user, and need not know who logs in at Pando.

use pando_kernel::error::{Error, Result};
use pando_sql::Edits;
use pando_sql::ast::{Assignment, Kind, Statement};

use crate::session::Session;

/// A SET as storage units are to run it.
#[derive(Debug)]
pub(in crate::session) struct Oneself {
    pub(in crate::session) stmt: Statement,
    pub(in crate::session) assignments: Vec<Assignment>,
}

/// The SET without a role, where it names the one that the client has anyway.
///
/// # Errors
/// None that a client could cause.
pub(in crate::session) fn as_oneself(
    session: &Session,
    stmt: &Statement,
    assignments: &[Assignment],
) -> Result<Option<Oneself>> {
    let (Some(dialect), [one]) = (session.place.dialect(), assignments) else { return Ok(None) };
    let Some(roles) = dialect.roles() else { return Ok(None) };
    // Whoever has become another user may become again whom the servers know.
    let is_other = session.settings.with_local_roles().iter().any(|(name, _)| {
        name != &one.name && name != "role" && roles.named_by().contains(&name.as_str())
    });
    let value = one.value_span.of(&stmt.text);
    let own = roles.oneself(&one.name, value, &session.place.login().user);
    let Some(word) = own.filter(|_| !is_other) else { return Ok(None) };
    let mut edits = Edits::default();
    edits.replace(one.value_span, word);
    let stmt = pando_sql::parse(&edits.apply(&stmt.text), dialect.syntax());
    let stmt = stmt.map_err(crate::plan::unread)?;
    let Kind::Set(assignments) = &stmt.kind else {
        return Err(Error::internal("a SET that is none any more"));
    };
    let assignments = assignments.clone();
    Ok(Some(Oneself { stmt, assignments }))
}
