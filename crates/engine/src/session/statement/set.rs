//! SET and RESET of session variables.

use std::sync::Arc;

use pando_kernel::dialect::{Dialect, MODE, VariableEffect};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_sql::ast::{Assignment, Kind, Scope, Statement};
use pando_sql::{Edits, Span, TokenKind, tokenize, variable_called};
use pando_transaction::finish;

use crate::handle::Manner;
use crate::plan::any_unit_of;
use crate::variables::{UNKNOWN, Variables};

use crate::session::Session;
use crate::session::connections::{dress, lend, release};
use crate::session::cursors::settle;
use crate::session::given::{Aim, Given};
use crate::session::reply::made;
use crate::session::settings::value_text::value_text;
use crate::session::statement::expression::is_expression;
use crate::session::statement::{change_modes, expression};
use crate::session::transaction::modes::{defaulted, next_mode};
use crate::session::transaction::{attend, base, commit};

/// A variable given at start-up.
pub(in crate::session) fn startup_variable(
    session: &mut Session,
    dialect: &dyn Dialect,
    name: &str,
    value: &str,
) -> Result<()> {
    session.place.guard_setting(&name.to_lowercase(), value)?;
    let text = value_text(name, value, dialect);
    for (name, value) in dialect.told(&name.to_lowercase(), &text) {
        session.place.facts_mut().tell(&name, &value);
    }
    match dialect.set(&name.to_lowercase(), &text)? {
        VariableEffect::Ignore | VariableEffect::LastInsertId(_) | VariableEffect::Back { .. } => {}
        VariableEffect::Autocommit(true) => session.work.commits_each(),
        VariableEffect::Autocommit(false) => session.work.commits_when_told(),
        VariableEffect::Replay => {
            session.settings.keep(&name.to_lowercase(), &text);
        }
        VariableEffect::Report { name: told, value } => {
            session.settings.keep(&name.to_lowercase(), &text);
            session.settings.shown_mut().set(&told, &value);
        }
        VariableEffect::Own { name, value } => session.settings.shown_mut().set(&name, &value),
        VariableEffect::As { name, value, over } => {
            over.iter().for_each(|other| session.settings.unset(other));
            session.settings.keep(name, &value);
        }
    }
    Ok(())
}

/// SET and RESET.
pub(in crate::session) async fn set(
    session: &mut Session,
    stmt: &Statement,
    assignments: &[Assignment],
    given: &Given,
) -> Result<()> {
    if !given.parameters.is_empty() {
        let own = with_values(session, stmt, given)?;
        let Kind::Set(assignments) = &own.kind else {
            return Err(Error::internal("a SET that is none any more"));
        };
        return Box::pin(set_all(session, &own, assignments)).await;
    }
    set_all(session, stmt, assignments).await
}

async fn set_all(
    session: &mut Session,
    stmt: &Statement,
    assignments: &[Assignment],
) -> Result<()> {
    let dialect = session.place.dialect().ok_or_else(|| Error::new(ErrorKind::NoDatabase))?;
    change_modes::reset_modes(session, assignments).await?;
    let (mut variables, overruled) = overruled(assignments, session.settings.variables());
    let (mut shown, mut told) = (Vec::new(), Vec::new());
    let (mut autocommit, mut last_insert_id, mut computes) = (None, None, false);
    let mut holds = Holds::InSession;
    let (mut applied, mut next) = (Vec::new(), Vec::new());
    let resets = assignments.iter().any(|one| one.value.is_none());
    for one in assignments {
        match one.scope {
            Scope::Global => return Err(of_units(one)),
            Scope::Local => holds = Holds::InTransaction,
            Scope::Session | Scope::User => {}
        }
        let name = match one.scope {
            Scope::User => variable_called(&one.name),
            Scope::Session | Scope::Local | Scope::Global => one.name.clone(),
        };
        let Some(_) = &one.value else {
            applied.extend(as_at_login(session, dialect.as_ref(), &one.name, &mut variables)?);
            told.extend(back(session, dialect.told(&one.name, "DEFAULT")));
            shown.push(Change::AtLogin(one.name.clone()));
            continue;
        };
        let mut text = one.value_span.of(&stmt.text).to_owned();
        let mut effect = dialect.set(&name, &text);
        if is_expression(dialect.as_ref(), one.scope, one.value.as_ref(), &text, &effect) {
            computes = true;
            text = computed(session, one.scope, &text).await?;
            effect = dialect.set(&name, &text);
        }
        let assigned = Span::new(one.span.start, one.value_span.start);
        if let Some(mode) = next_mode(dialect.as_ref(), assigned.of(&stmt.text), &text) {
            next.push(mode);
            continue;
        }
        let whole = dialect.completed(&name, &text, variables.list());
        let effect = whole.as_ref().map_or(effect, |whole| dialect.set(&name, whole))?;
        text = whole.unwrap_or(text);
        told.extend(news(session, dialect.told(&name, &text)));
        match effect {
            VariableEffect::Ignore => {}
            VariableEffect::Autocommit(on) => autocommit = Some(on),
            VariableEffect::LastInsertId(key) => last_insert_id = Some(key),
            VariableEffect::Replay if one.scope == Scope::Local => {}
            VariableEffect::Report { name, value } if one.scope == Scope::Local => {
                shown.push(Change::Local(name, value));
            }
            VariableEffect::Own { name, value } => return set_own(session, one.scope, name, value),
            VariableEffect::Replay => {
                keep(&mut variables, &name, &text)?;
                applied.push((name, text));
            }
            VariableEffect::As { .. } | VariableEffect::Back { .. }
                if one.scope == Scope::Local => {}
            VariableEffect::As { name, value, over } => {
                over.iter().for_each(|other| variables.unset(other));
                keep(&mut variables, name, &value)?;
                applied.push((name.to_owned(), value));
            }
            VariableEffect::Back { names, by } => {
                names.iter().for_each(|name| variables.unset(name));
                applied.push((by.0.to_owned(), by.1.to_owned()));
            }
            VariableEffect::Report { name, value } => {
                keep(&mut variables, &name, &text)?;
                applied.push((name.clone(), text));
                shown.push(Change::Lasting(name, value));
            }
        }
    }
    if !next.is_empty() {
        session.work.set_next_modes(next)?;
    }
    if resets && !session.work.is_idle() {
        session.settings.is_set_here();
    }
    // A value that the session has already may be hidden by one that SET LOCAL has set.
    let may_be_hidden = !session.settings.local().is_empty();
    let is_local = holds == Holds::InTransaction;
    if is_local || may_be_hidden || variables.id() != session.settings.variables().id() {
        // What was computed once must not be computed again by each unit, and what is not the unit's must not reach it.
        let text = match computes || !dialect.error_fails_transaction() {
            true => dialect.set_statement(&applied),
            false if applied.is_empty() || !resets => stmt.text.to_string(),
            false => format!("{}; {}", stmt.text, dialect.set_statement(&applied)),
        };
        apply(session, &text, holds, variables).await?;
    }
    note_roles(session, dialect.as_ref(), stmt, assignments);
    session.work.overrule_modes(&overruled);
    if let Some(key) = last_insert_id {
        session.place.facts_mut().last_insert_id = key;
    }
    choose_autocommit(session, autocommit).await?;
    tell(session, told);
    show(session, dialect.as_ref(), shown);
    let resets = stmt.text.get(..5).is_some_and(|verb| verb.eq_ignore_ascii_case("reset"));
    made::complete(session, if resets { "RESET" } else { "SET" });
    Ok(())
}

/// Sets what no storage unit hears of. Where there is such a thing, SET has one assignment.
fn set_own(session: &mut Session, scope: Scope, name: String, value: String) -> Result<()> {
    let dialect = session.place.dialect().ok_or_else(|| Error::new(ErrorKind::NoDatabase))?;
    let is_servers = dialect.shown_at_first(&name) == Some(&*value);
    let change = match scope {
        Scope::Local => Change::Local(name, value),
        Scope::Session | Scope::User | Scope::Global if is_servers => Change::ServersOwn(name),
        Scope::Session | Scope::User | Scope::Global => Change::Lasting(name, value),
    };
    if !session.work.is_idle() {
        session.settings.is_set_here();
    } else if scope == Scope::Local {
        warn_of_local(session);
    }
    show(session, dialect.as_ref(), vec![change]);
    made::complete(session, "SET");
    Ok(())
}

fn of_units(one: &Assignment) -> Error {
    Error::unsupported(
        30001,
        format!("the global variable `{}` belongs to each storage unit", one.name),
        "set it on the storage units themselves",
    )
}

/// The value of an expression: as a literal, or as user variables keep it.
async fn computed(session: &mut Session, scope: Scope, text: &str) -> Result<String> {
    let kept = expression::computed(session, text).await?;
    Ok(match session.place.dialect() {
        Some(dialect) if scope != Scope::User => dialect.literal_in(&kept).to_owned(),
        Some(_) | None => kept,
    })
}

/// A prepared SET with its values in its text.
fn with_values(session: &Session, stmt: &Statement, given: &Given) -> Result<Statement> {
    let dialect = session.place.dialect().ok_or_else(|| Error::new(ErrorKind::NoDatabase))?;
    if dialect.error_fails_transaction() {
        return Err(Error::unsupported(
            30001,
            "SET takes no parameters",
            "write the value into the text",
        ));
    }
    let tokens = tokenize(&stmt.text, dialect.syntax()).map_err(crate::plan::unread)?;
    let places = tokens.list.iter().filter(|token| token.kind == TokenKind::Parameter);
    let mut edits = Edits::default();
    for (place, parameter) in places.zip(&given.parameters) {
        edits.replace(place.span, dialect.literal(&parameter.value));
    }
    pando_sql::parse(&edits.apply(&stmt.text), dialect.syntax()).map_err(crate::plan::unread)
}

/// Whose rights count in the transaction is asked of Pando.
fn note_roles(session: &mut Session, dialect: &dyn Dialect, stmt: &Statement, set: &[Assignment]) {
    let Some(roles) = dialect.roles() else { return };
    for one in set.iter().filter(|one| roles.named_by().contains(&one.name.as_str())) {
        session.settings.has_role(&one.name, one.value_span.of(&stmt.text));
    }
}

async fn choose_autocommit(session: &mut Session, chosen: Option<bool>) -> Result<()> {
    match chosen {
        Some(true) => commit::commit_each(session).await,
        Some(false) => {
            commit::commit_when_told(session);
            Ok(())
        }
        None => Ok(()),
    }
}

/// Those that say nothing any more.
fn back(session: &Session, told: Vec<(String, String)>) -> Vec<(String, String)> {
    news(session, told).into_iter().filter(|(_, value)| value.is_empty()).collect()
}

/// Without those that say nothing and never said anything.
fn news(session: &Session, mut told: Vec<(String, String)>) -> Vec<(String, String)> {
    told.retain(|(name, value)| !value.is_empty() || session.place.facts().told(name).is_some());
    told
}

fn tell(session: &mut Session, told: Vec<(String, String)>) {
    for (name, value) in told {
        session.place.facts_mut().tell(&name, &value);
        session.outbox.tell(Event::Parameter { name, value });
    }
}

/// What a SET changes of the settings that the client is told of.
enum Change {
    Lasting(String, String),
    Local(String, String),
    AtLogin(String),
    ServersOwn(String),
}

fn show(session: &mut Session, dialect: &dyn Dialect, changes: Vec<Change>) {
    let is_idle = session.work.is_idle();
    for change in changes {
        match change {
            Change::Lasting(name, value) => {
                session.settings.shown_mut().set(&name, &value);
                // Families without a transaction's settings tell it each time.
                if !dialect.error_fails_transaction() {
                    session.outbox.tell(Event::Parameter { name, value });
                }
            }
            Change::Local(name, value) if !is_idle => {
                session.settings.shown_mut().set_locally(&name, &value);
            }
            Change::Local(..) => {}
            Change::ServersOwn(name) => session.settings.shown_mut().unset(&name),
            Change::AtLogin(name) => show_as_at_login(session, dialect, &name),
        }
    }
    if !dialect.error_fails_transaction() {
        session.settings.shown_mut().is_known();
    }
}

/// The client is told again what it was told at login.
fn show_as_at_login(session: &mut Session, dialect: &dyn Dialect, name: &str) {
    let told = |known: &str, value: &str| {
        let known = known.to_lowercase();
        match dialect.set(&known, &value_text(&known, value, dialect)) {
            Ok(VariableEffect::Report { name, value } | VariableEffect::Own { name, value }) => {
                Some((name, value))
            }
            Ok(
                VariableEffect::Replay
                | VariableEffect::Autocommit(_)
                | VariableEffect::As { .. }
                | VariableEffect::Back { .. }
                | VariableEffect::Ignore
                | VariableEffect::LastInsertId(_),
            )
            | Err(_) => None,
        }
    };
    let is_all = name.eq_ignore_ascii_case("all");
    match told(name, "") {
        _ if is_all => session.settings.shown_mut().unset_all(),
        Some((name, _)) => session.settings.shown_mut().unset(&name),
        None => session.settings.shown_mut().unset(name),
    }
    let login = session.place.login().variables.iter();
    let meant = login.filter(|(known, _)| is_all || known.eq_ignore_ascii_case(name));
    let again: Vec<_> = meant.filter_map(|(known, value)| told(known, value)).collect();
    for (name, value) in again {
        session.settings.shown_mut().set(&name, &value);
    }
}

/// Takes variables back to what they were at login. Returns what has to be set for that behind a unit's own reset,
/// which knows nothing of the login.
fn as_at_login(
    session: &Session,
    dialect: &dyn Dialect,
    name: &str,
    variables: &mut Variables,
) -> Result<Vec<(String, String)>> {
    if !dialect.error_fails_transaction() {
        // What cannot be set has no default that could be had.
        let effect = dialect.set(name, "DEFAULT")?;
        if let VariableEffect::Back { names, by } = effect {
            names.iter().for_each(|name| variables.unset(name));
            return Ok(vec![(by.0.to_owned(), by.1.to_owned())]);
        }
        variables.unset(name);
        return Ok(vec![(name.to_owned(), "DEFAULT".to_owned())]);
    }
    let is_meant = |known: &str| name == "all" || known.eq_ignore_ascii_case(name);
    if name == "all" {
        // Roles are no settings that RESET ALL knows.
        let is_role =
            |name: &str| dialect.roles().is_some_and(|own| own.named_by().contains(&name));
        let roles = variables.list().iter().filter(|(known, _)| is_role(known));
        let roles: Vec<_> = roles.cloned().collect();
        variables.clear();
        if let Some(language) = session.place.current().and_then(|live| live.client_language) {
            variables.set(pando_kernel::dialect::CLIENT_LANGUAGE, language);
        }
        for (name, value) in &roles {
            keep(variables, name, value)?;
        }
    } else {
        variables.unset(name);
        if let Ok(VariableEffect::As { over, .. }) = dialect.set(name, "DEFAULT") {
            over.iter().for_each(|other| variables.unset(other));
        }
    }
    let mut again = Vec::new();
    for (known, value) in
        session.place.login().variables.iter().filter(|(known, _)| is_meant(known))
    {
        let known = known.to_lowercase();
        let text = value_text(&known, value, dialect);
        if matches!(
            dialect.set(&known, &text)?,
            VariableEffect::Replay | VariableEffect::Report { .. }
        ) {
            keep(variables, &known, &text)?;
            again.push((known, text));
        }
    }
    Ok(again)
}

/// For how long a setting holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Holds {
    InSession,
    /// SET LOCAL.
    InTransaction,
}

/// Lets a storage unit judge the variables, then keeps them. Inside a transaction every enlisted unit takes them at
/// once.
pub(in crate::session) async fn apply(
    session: &mut Session,
    text: &str,
    holds: Holds,
    variables: Variables,
) -> Result<()> {
    let local = holds == Holds::InTransaction;
    let live = session.place.live()?;
    if !session.work.is_idle() {
        settle::settle_cursors(session).await?;
        if session.work.transaction().units().is_empty() && live.has_units() {
            let unit = any_unit_of(&live.database)?;
            let (mut connection, swallow) =
                lend::enlisted(session, &live, &unit, Aim::Reads).await?;
            let mut result = Ok(());
            for _ in 0..swallow {
                result = result.and(finish(&mut connection).await.map(|_| ()));
            }
            release::release(session, connection).await;
            result?;
        }
        if local {
            base::refuse_in_base(session, "SET LOCAL")?;
        }
        dress::change_dress(session).await?;
        attend::attend_transaction(session)?;
        // Where it fails on one unit it may have been done on others.
        let connections = session.work.transaction_mut().connections();
        connections.for_each(|connection| connection.set_session_state(UNKNOWN));
        let taken = session.work.transaction_mut().run_everywhere(text).await;
        attend::let_go(session).await;
        taken?;
        if local {
            session.settings.is_set_locally(text);
            return Ok(());
        }
        session.settings.is_set(text);
        let known = session.settings.variables().list();
        let mut set = variables.list().iter().filter(|one| !known.contains(one));
        let only_users = set.all(|(name, _)| name.starts_with('@'));
        session.settings.exchange(variables);
        session.settings.are_worn();
        // Where a rollback takes it back, what they wear in the end is not known yet; and what was prepared before it
        // was set must serve nobody else.
        let dialect = &live.database.dialect;
        let id = if dialect.error_fails_transaction()
            || dialect.prepares().with_settings && !only_users
        {
            UNKNOWN
        } else {
            session.settings.variables().id()
        };
        session
            .work
            .transaction_mut()
            .connections()
            .for_each(|connection| connection.set_session_state(id));
        return Ok(());
    }
    if local {
        warn_of_local(session);
        return Ok(());
    }
    let before = session.settings.exchange(variables);
    if !live.has_units() {
        // The first unit that serves the session will judge them.
        return Ok(());
    }
    match try_variables(session, &live).await {
        Ok(()) => Ok(()),
        Err(error) => {
            session.settings.go_back_to(before);
            Err(error)
        }
    }
}

fn warn_of_local(session: &mut Session) {
    session.outbox.warn("25P01", "SET LOCAL can only be used in transaction blocks");
}

async fn try_variables(
    session: &mut Session,
    live: &Arc<crate::snapshot::LiveDatabase>,
) -> Result<()> {
    let unit = any_unit_of(&live.database)?;
    let mut connection = session.place.take(live.pool(&unit)?).await?;
    session.place.handle().runs_on(&connection, Manner::Ask)?;
    let replies = dress::dress(session, live, &mut connection)?;
    let mut tried = Ok(());
    for _ in 0..replies {
        if let Err(error) = finish(&mut connection).await {
            connection.set_session_state(UNKNOWN);
            tried = Err(error);
            break;
        }
    }
    release::release(session, connection).await;
    tried
}

/// The kinds of modes of which these are the defaults, and the variables without what they have kept of such modes.
fn overruled(assignments: &[Assignment], variables: &Variables) -> (Variables, Vec<&'static str>) {
    let mut variables = variables.clone();
    let session = assignments.iter().filter(|one| one.scope == Scope::Session);
    let kinds: Vec<_> = session.flat_map(|one| defaulted(&one.name.to_lowercase())).collect();
    kinds.iter().for_each(|kind| variables.unset(&format!("{MODE}{}", kind.to_lowercase())));
    (variables, kinds.into_iter().copied().collect())
}

fn keep(variables: &mut Variables, name: &str, text: &str) -> Result<()> {
    if variables.set(name, text) {
        return Ok(());
    }
    Err(ErrorKind::TooLarge("too many session variables".into()).into())
}
