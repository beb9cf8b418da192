//! Comments that some servers run (`/*!80000 … */`): what the storage units would run of them is settled as a client's
//! text comes in.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_sql::{Modes, Release, Settled, Span, settle_under, tokenize_under};

use crate::plan::unread as syntax_error;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::ask;
use crate::session::place::Place;
use crate::session::settings::modes::modes;

impl Place {
    /// The text as the storage units would read it, without such comments.
    ///
    /// # Errors
    /// `Syntax` of a text that cannot be read; `Refused` where units would run different statements, or nobody knows
    /// what they would run.
    pub(in crate::session) fn settled(&self, text: &Arc<str>, modes: Modes) -> Result<Arc<str>> {
        let Ok(syntax) = self.syntax() else { return Ok(Arc::clone(text)) };
        if !syntax.executable_comments {
            return Ok(Arc::clone(text));
        }
        let releases = self.current().map(|live| releases(live)).unwrap_or_default();
        match settle_under(text, syntax, modes, &releases).map_err(syntax_error)? {
            Settled::AsIs => Ok(Arc::clone(text)),
            Settled::Text(settled) => Ok(settled.into()),
            Settled::Unsure => Err(Error::unsupported(
                30001,
                "a comment of the statement is for servers of some versions, and what the storage \
                 units would run of it is not known or not the same",
                "write what is meant without `/*!`",
            )),
        }
    }
}

/// As [`Place::settled`], and asks units that nobody has talked to for their versions first.
pub(in crate::session) async fn settle_text(
    session: &mut Session,
    text: &Arc<str>,
) -> Result<Arc<str>> {
    let Ok(syntax) = session.place.syntax() else { return Ok(Arc::clone(text)) };
    let modes = modes(session);
    let is_open =
        settle_under(text, syntax, modes, &[]).is_ok_and(|settled| settled == Settled::Unsure);
    if let Some(live) = session.place.current().cloned().filter(|_| is_open) {
        for unit in live.unheard() {
            // One that cannot be reached runs nothing now.
            if let Err(error) = ask::ask(session, &live, &unit, "SELECT 1").await {
                tracing::debug!(%unit, %error, "a storage unit does not tell its version");
            }
        }
    }
    session.place.settled(text, modes)
}

/// Those of a database's units, as far as these have been heard.
fn releases(live: &LiveDatabase) -> Vec<Release> {
    let Some(presentation) = live.database.dialect.presentation() else { return Vec::new() };
    let mut all: Vec<Release> =
        live.servers().iter().filter_map(|server| presentation.release(server)).collect();
    if all.is_empty() && live.has_units() {
        all.extend(presentation.own_release());
    }
    all.dedup();
    all
}

/// Refuses to go to another database within a text whose comments were settled for the units of this one.
pub(in crate::session) fn refuse_other_units(
    session: &Session,
    text: &str,
    spans: &[Span],
) -> Result<()> {
    let (syntax, modes) = (session.place.syntax()?, modes(session));
    let uses = |span: &Span| {
        let tokens = tokenize_under(span.of(text), syntax, modes);
        let first = tokens.ok().and_then(|tokens| tokens.list.first().map(|token| token.span));
        first.is_some_and(|word| word.of(span.of(text)).eq_ignore_ascii_case("use"))
    };
    match spans.split_last().is_some_and(|(_, others)| others.iter().any(uses)) {
        false => Ok(()),
        true => Err(Error::unsupported(
            30001,
            "a text with comments for servers of some versions goes to another database",
            "send its statements one by one",
        )),
    }
}
