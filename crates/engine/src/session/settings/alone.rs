//! Expressions and queries over what the session knows of itself, computed without a storage unit.

use std::sync::Arc;

use pando_kernel::Parameter;
use pando_kernel::dialect::{Facts, MODE};
use pando_kernel::error::Result;
use pando_sql::ast::Statement;

use crate::evaluate::{Answer, Source};
use crate::plan::{unread as syntax_error, without_units};

use crate::session::Session;

/// The value of an expression as a literal.
pub(in crate::session) fn compute_alone(session: &Session, text: &str) -> Result<String> {
    let live = session.place.live()?;
    let dialect = &live.database.dialect;
    let stmt =
        pando_sql::parse(&format!("SELECT {text}"), dialect.syntax()).map_err(syntax_error)?;
    let answer = alone(session, &stmt, Some(&[]))?;
    let value = answer.rows.first().and_then(|row| row.first());
    value.map(|value| dialect.literal(value)).ok_or_else(|| without_units(&live.database.name))
}

/// What is answered here. The parameters are not given where only the answer's form is asked for.
pub(in crate::session) fn alone(
    session: &Session,
    stmt: &Statement,
    parameters: Option<&[Parameter]>,
) -> Result<Answer> {
    let live = session.place.live()?;
    let facts = Facts { settings: told_settings(session), ..(**session.place.facts()).clone() };
    let source = Source::new(live.database.dialect.as_ref(), &facts, parameters);
    let answer = source.and_then(|source| source.answer(stmt));
    answer.ok_or_else(|| without_units(&live.database.name))
}

/// The session's variables, and the modes of the open transaction as such.
fn told_settings(session: &Session) -> Arc<[(String, String)]> {
    let shared = session.settings.variables().shared();
    if session.work.is_idle() {
        return shared;
    }
    let modes = session.work.transaction().modes().iter().map(|mode| {
        let kind = mode.split(' ').next().unwrap_or_default().to_lowercase();
        (format!("{MODE}{kind}"), mode.clone())
    });
    shared.iter().cloned().chain(modes).collect()
}
