//! MySQL's modes that decide how texts are read: what they mean is spelled out as a client's text comes in. Storage
//! units have none of them but PIPES_AS_CONCAT, which drivers set (sqlx does by default), for routines' bodies.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_sql::{Likes, Misread, Modes, restate, split_under};

use crate::plan::unread as syntax_error;
use crate::session::Session;
use crate::session::given::Cut;
use crate::session::settings::Settings;

const PIPES: &str = "PIPES_AS_CONCAT";

/// By which modes the client's next text is read.
pub(in crate::session) fn modes(session: &Session) -> Modes {
    if session.settings.variables().id() == 0 {
        return Modes::default();
    }
    let told = &session.place.facts().told;
    let modes = session.place.dialect().map(|dialect| dialect.modes(told)).unwrap_or_default();
    Modes { pipes_concatenate: is_set(session, PIPES) || modes.pipes_concatenate, ..modes }
}

fn is_set(session: &Session, mode: &str) -> bool {
    session.settings.has_mode(mode)
        && session.place.syntax().is_ok_and(|syntax| !syntax.pipes_concatenate)
}

impl Settings {
    /// Whether zero in a counted column is a value like others: MySQL's mode NO_AUTO_VALUE_ON_ZERO, which dumps set.
    pub(in crate::session) fn keeps_zero(&self) -> bool {
        self.has_mode("NO_AUTO_VALUE_ON_ZERO")
    }

    fn has_mode(&self, mode: &str) -> bool {
        let variables = self.variables();
        variables.id() != 0
            && variables
                .list()
                .iter()
                .any(|(name, value)| name.eq_ignore_ascii_case("sql_mode") && names(value, mode))
    }
}

/// Whether a list of modes has this one. Asked with each statement, so that nothing is copied for it.
fn names(list: &str, mode: &str) -> bool {
    let mut parts = list.as_bytes().windows(mode.len());
    parts.any(|part| part.eq_ignore_ascii_case(mode.as_bytes()))
}

/// Whether a text has no meaning of its own in this session: a template must not be looked up by it.
pub(in crate::session) fn restates(session: &Session, text: &str) -> bool {
    let modes = modes(session);
    modes.lex_otherwise() || modes.pipes_concatenate && text.contains("||")
}

/// A client's text in words that mean the same in every session. One that cannot be parsed stays as it is: whoever
/// reads it next says why.
///
/// # Errors
/// `Syntax` of a text that cannot be cut; `Refused` where it would mean something else on the storage units.
pub(in crate::session) fn spelled_out(session: &Session, text: &Arc<str>) -> Result<Arc<str>> {
    if !restates(session, text) {
        return Ok(Arc::clone(text));
    }
    spelled(session, text, modes(session))
}

fn spelled(session: &Session, text: &Arc<str>, modes: Modes) -> Result<Arc<str>> {
    let syntax = session.place.syntax()?;
    match restate(text, syntax, modes, likes(session)) {
        Ok(restated) => Ok(restated.map_or_else(|| Arc::clone(text), Arc::from)),
        Err(Misread::Syntax(error)) => Err(syntax_error(error)),
        Err(Misread::Differs(what, instead)) => {
            Err(Error::unsupported(30001, format!("{what} is not supported"), instead))
        }
    }
}

/// What the session's storage units make of backslashes behind LIKE.
fn likes(session: &Session) -> Likes {
    let Some(live) = session.place.current() else { return Likes::Unsure };
    let Some(presentation) = live.database.dialect.presentation() else { return Likes::Escape };
    let mut forks = live
        .servers()
        .into_iter()
        .filter_map(|server| presentation.release(&server))
        .map(|release| release.is_fork);
    match forks.next() {
        None => Likes::Unsure,
        Some(first) if forks.all(|other| other == first) => {
            if first {
                Likes::Escape
            } else {
                Likes::Plain
            }
        }
        Some(_) => Likes::Unsure,
    }
}

/// Refuses a statement that was prepared when `||` was OR: on the units it would be read by the mode of now.
pub(in crate::session) fn refuse_older_pipes(session: &Session, text: &Arc<str>) -> Result<()> {
    if !text.contains("||") || !modes(session).pipes_concatenate {
        return Ok(());
    }
    let modes = Modes { pipes_concatenate: true, ..Modes::default() };
    if !Arc::ptr_eq(&spelled(session, text, modes)?, text) {
        return Err(Error::unsupported(
            30001,
            "`||` was OR when this statement was prepared: by the session's sql_mode of now it joins texts",
            "prepare it again",
        ));
    }
    Ok(())
}

/// Refuses a statement that ends elsewhere since one before it in the same text has set other modes: servers cut such a
/// text as they go.
pub(in crate::session) fn refuse_other_cut(session: &Session, text: &str, cut: Cut) -> Result<()> {
    let now = modes(session);
    let as_cut = |modes: Modes| (modes.ansi_quotes, modes.plain_backslashes);
    if as_cut(now) == as_cut(cut.modes) {
        return Ok(());
    }
    let syntax = session.place.syntax()?;
    // What stands behind it begins with the semicolon that ended it.
    let whole = format!("{text};1");
    let ends_there = |spans: Vec<pando_sql::Span>| {
        spans.len() == 2 && spans.first().is_some_and(|first| first.end as usize == text.len())
    };
    let is_alike = !cut.is_settled && split_under(&whole, syntax, now).is_ok_and(ends_there);
    match is_alike {
        true => Ok(()),
        false => Err(Error::unsupported(
            30001,
            "a statement behind one that sets how strings and names are quoted, in the same text",
            "send it by itself",
        )),
    }
}
