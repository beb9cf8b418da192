//! MySQL's mode PIPES_AS_CONCAT, which drivers set (sqlx does by default): what `||` means is spelled out as a client's
//! text comes in.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_sql::concatenate;

use crate::session::Session;
use crate::session::settings::Settings;

const MODE: &str = "PIPES_AS_CONCAT";

/// Whether `||` in this text is a concatenation where the family takes it for OR.
pub(in crate::session) fn is_piped(session: &Session, text: &str) -> bool {
    session.settings.variables().id() != 0
        && text.contains("||")
        && session.place.syntax().is_ok_and(|syntax| !syntax.pipes_concatenate)
        && session.settings.variables().list().iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("sql_mode") && value.to_ascii_uppercase().contains(MODE)
        })
}

impl Settings {
    /// Whether zero in a counted column is a value like others: MySQL's mode NO_AUTO_VALUE_ON_ZERO, which dumps set.
    pub(in crate::session) fn keeps_zero(&self) -> bool {
        let variables = self.variables();
        variables.id() != 0
            && variables.list().iter().any(|(name, value)| {
                name.eq_ignore_ascii_case("sql_mode")
                    && value.to_ascii_uppercase().contains("NO_AUTO_VALUE_ON_ZERO")
            })
    }
}

/// A statement's text in words that mean the same in every session. One that cannot be read stays as it is: whoever
/// reads it next says why.
pub(in crate::session) fn spelled_out(session: &Session, text: &Arc<str>) -> Arc<str> {
    if !is_piped(session, text) {
        return Arc::clone(text);
    }
    let spelled = session.place.syntax().ok().and_then(|syntax| concatenate(text, syntax).ok()?);
    spelled.map_or_else(|| Arc::clone(text), Arc::from)
}

/// Refuses a statement that was prepared when `||` was OR: on the units it would be read by the mode of now.
pub(in crate::session) fn refuse_older_pipes(session: &Session, text: &Arc<str>) -> Result<()> {
    if is_piped(session, text) && !Arc::ptr_eq(&spelled_out(session, text), text) {
        return Err(Error::unsupported(
            30001,
            format!("`||` was OR when this statement was prepared, before {MODE} was set"),
            "prepare it again",
        ));
    }
    Ok(())
}
