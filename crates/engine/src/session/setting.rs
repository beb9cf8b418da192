//! Session variables, the current database, and putting a session back to its start.

use std::sync::Arc;

use pando_kernel::backend::Execution;
use pando_kernel::dialect::{Dialect, MODE, VariableEffect};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::runtime::{LONG, Runtime, aside};
use pando_kernel::session::TransactionState;
use pando_kernel::{Effectful, Effects, Value};
use pando_sql::Span;
use pando_sql::ast::{Assignment, Scope, Statement};
use pando_transaction::finish;

use crate::handle::Manner;
use crate::plan::any_unit_of;
use crate::variables::{UNKNOWN, Variables};

use super::acquire::Aim;
use super::computed::is_expression;
use super::config::value_text;
use super::home::{home, move_to};
use super::local::server_error;
use super::modes::{defaulted, kind, next_mode};
use super::{Bound, Session};

impl Session {
    /// A variable given at start-up.
    pub(super) fn startup_variable(
        &mut self,
        dialect: &dyn Dialect,
        name: &str,
        value: &str,
    ) -> Result<()> {
        self.guard_setting(&name.to_lowercase(), value)?;
        let text = value_text(name, value, dialect);
        for (name, value) in dialect.told(&name.to_lowercase(), &text) {
            self.facts_mut().tell(&name, &value);
        }
        match dialect.set(&name.to_lowercase(), &text)? {
            VariableEffect::Ignore
            | VariableEffect::LastInsertId(_)
            | VariableEffect::Back { .. } => {}
            VariableEffect::Autocommit(on) => self.autocommit = on,
            VariableEffect::Replay | VariableEffect::Report { .. } => {
                self.variables.set(&name.to_lowercase(), &text);
            }
            VariableEffect::As { name, value, over } => {
                over.iter().for_each(|other| self.variables.unset(other));
                self.variables.set(name, &value);
            }
        }
        Ok(())
    }

    /// SET and RESET.
    pub(super) async fn set(
        &mut self,
        stmt: &Statement,
        assignments: &[Assignment],
        bound: &Bound,
    ) -> Result<()> {
        if !bound.parameters.is_empty() {
            return Err(Error::refused(
                30001,
                "SET takes no parameters",
                "write the value into the text",
            ));
        }
        let dialect = self.dialect().ok_or_else(|| Error::new(ErrorKind::NoDatabase))?;
        let (mut variables, overruled) = overruled(assignments, &self.variables);
        let (mut reports, mut told) = (Vec::new(), Vec::new());
        let (mut autocommit, mut last_insert_id, mut local, mut computes) =
            (None, None, false, false);
        let (mut applied, mut next) = (Vec::new(), Vec::new());
        let resets = assignments.iter().any(|one| one.value.is_none());
        for one in assignments {
            match one.scope {
                Scope::Global => {
                    return Err(Error::refused(
                        30001,
                        format!("the global variable `{}` belongs to each storage unit", one.name),
                        "set it on the storage units themselves",
                    ));
                }
                Scope::Local => local = true,
                Scope::Session | Scope::User => {}
            }
            let name = match one.scope {
                Scope::User => format!("@{}", one.name.trim_start_matches('@')),
                Scope::Session | Scope::Local | Scope::Global => one.name.clone(),
            };
            let Some(_) = &one.value else {
                applied.extend(self.as_at_login(dialect.as_ref(), &one.name, &mut variables)?);
                continue;
            };
            let mut text = one.value_span.of(&stmt.text).to_owned();
            let mut effect = dialect.set(&name, &text);
            if is_expression(dialect.as_ref(), (one.scope, one.value.as_ref()), &text, &effect) {
                computes = true;
                text = self.computed(&text, &variables).await?;
                effect = dialect.set(&name, &text);
            }
            let assigned = Span::new(one.span.start, one.value_span.start);
            if let Some(mode) = next_mode(dialect.as_ref(), assigned.of(&stmt.text), &text) {
                next.push(mode);
                continue;
            }
            let effect = effect?;
            told.extend(dialect.told(&name, &text));
            match effect {
                VariableEffect::Ignore => {}
                VariableEffect::Autocommit(on) => autocommit = Some(on),
                VariableEffect::LastInsertId(key) => last_insert_id = Some(key),
                VariableEffect::Replay if one.scope == Scope::Local => {}
                VariableEffect::Report { .. } if one.scope == Scope::Local => {}
                VariableEffect::Replay => {
                    keep(&mut variables, &name, &text)?;
                    applied.push((name, text));
                }
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
                    reports.push(Event::Parameter { name, value });
                }
            }
        }
        if !next.is_empty() {
            self.set_next_modes(next)?;
        }
        // A value that the session has already may be hidden by one that SET LOCAL has set.
        let may_be_hidden = !self.local_settings.is_empty();
        if local || may_be_hidden || variables.id() != self.variables.id() {
            // What was computed once must not be computed again by each unit, and what is not the unit's must not reach it.
            let text = match computes || !dialect.error_fails_transaction() {
                true => dialect.set_statement(&applied),
                false if applied.is_empty() || !resets => stmt.text.to_string(),
                false => format!("{}; {}", stmt.text, dialect.set_statement(&applied)),
            };
            self.apply(&text, local, variables).await?;
        }
        self.session_modes.retain(|mode| !overruled.contains(&kind(mode)));
        if let Some(key) = last_insert_id {
            self.facts_mut().last_insert_id = key;
        }
        if let Some(on) = autocommit {
            self.set_autocommit(on).await?;
        }
        self.tell(told);
        self.pending.extend(reports);
        let resets = stmt.text.get(..5).is_some_and(|verb| verb.eq_ignore_ascii_case("reset"));
        self.complete(if resets { "RESET" } else { "SET" });
        Ok(())
    }

    fn tell(&mut self, told: Vec<(String, String)>) {
        for (name, value) in told {
            self.facts_mut().tell(&name, &value);
            self.pending.push_back(Event::Parameter { name, value });
        }
    }

    async fn set_autocommit(&mut self, on: bool) -> Result<()> {
        if on && !self.autocommit && self.transaction.state() != TransactionState::Idle {
            self.commit_implicitly().await?;
        }
        self.autocommit = on;
        self.facts_mut().autocommit = on;
        Ok(())
    }

    /// Takes variables back to what they were at login. Returns what has to be set for that behind a unit's own reset, which knows nothing of the login.
    fn as_at_login(
        &self,
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
            // The role is no setting that RESET ALL knows.
            let role = variables.list().iter().find(|(known, _)| known == "role").cloned();
            variables.clear();
            if let Some(language) = self.live.as_ref().and_then(|live| live.client_language) {
                variables.set(pando_kernel::dialect::CLIENT_LANGUAGE, language);
            }
            if let Some((name, value)) = role {
                keep(variables, &name, &value)?;
            }
        } else {
            variables.unset(name);
        }
        let mut again = Vec::new();
        for (known, value) in self.login.variables.iter().filter(|(known, _)| is_meant(known)) {
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

    /// Lets a storage unit judge the variables, then keeps them. Inside a transaction every enlisted unit takes them at once.
    pub(super) async fn apply(
        &mut self,
        text: &str,
        local: bool,
        variables: Variables,
    ) -> Result<()> {
        let live = self.live()?;
        if self.transaction.state() != TransactionState::Idle {
            self.settle_cursors().await?;
            if self.transaction.units().is_empty() && live.has_units() {
                let unit = any_unit_of(&live.database)?;
                let (mut connection, swallow) = self.enlisted(&live, &unit, Aim::Reads).await?;
                let mut result = Ok(());
                for _ in 0..swallow {
                    result = result.and(finish(&mut connection).await.map(|_| ()));
                }
                self.release(connection).await;
                result?;
            }
            if local {
                self.refuse_in_base("SET LOCAL")?;
            }
            self.attend_transaction()?;
            // Where it fails on one unit it may have been done on others.
            let connections = self.transaction.connections();
            connections.for_each(|connection| connection.set_session_state(UNKNOWN));
            let taken = self.transaction.run_everywhere(text).await;
            self.let_go().await;
            taken?;
            self.settings += 1;
            if local || !self.local_settings.is_empty() {
                // Also what is set for the session: behind SET LOCAL it is what holds.
                self.local_settings.push(text.to_owned());
            }
            if local {
                return Ok(());
            }
            let known = self.variables.list();
            let mut set = variables.list().iter().filter(|one| !known.contains(one));
            let only_users = set.all(|(name, _)| name.starts_with('@'));
            self.variables = variables;
            // Where a rollback takes it back, what they wear in the end is not known yet; and what was prepared before it was set must serve nobody else.
            let dialect = &live.database.dialect;
            let id = if dialect.error_fails_transaction()
                || dialect.prepares_with_settings() && !only_users
            {
                UNKNOWN
            } else {
                self.variables.id()
            };
            self.transaction.connections().for_each(|connection| connection.set_session_state(id));
            return Ok(());
        }
        if local {
            self.warn("25P01", "SET LOCAL can only be used in transaction blocks");
            return Ok(());
        }
        let before = std::mem::replace(&mut self.variables, variables);
        if !live.has_units() {
            // The first unit that serves the session will judge them.
            return Ok(());
        }
        match self.try_variables(&live).await {
            Ok(()) => Ok(()),
            Err(error) => {
                self.variables = before;
                Err(error)
            }
        }
    }

    async fn try_variables(&mut self, live: &Arc<crate::snapshot::LiveDatabase>) -> Result<()> {
        let unit = any_unit_of(&live.database)?;
        let mut connection = self.take(live.pool(&unit)?).await?;
        self.handle.runs_on(&connection, Manner::Ask)?;
        let replies = self.dress(live, &mut connection)?;
        let mut tried = Ok(());
        for _ in 0..replies {
            if let Err(error) = finish(&mut connection).await {
                connection.set_session_state(UNKNOWN);
                tried = Err(error);
                break;
            }
        }
        self.release(connection).await;
        tried
    }

    /// Changes the current database.
    pub(super) async fn use_database(&mut self, name: &str) -> Result<()> {
        let home = match self.live.clone().filter(|live| live.has_units()) {
            None => home(&self.snapshot, &self.login, &self.facts.databases),
            current => current,
        };
        let (live, name) = move_to((&self.snapshot, &self.login), name, home)?;
        // A dump begins its transaction before it says of what.
        let is_other = self.live.as_ref().is_some_and(|old| !Arc::ptr_eq(old, &live));
        let is_at_work = is_other && !self.stands_free() && !self.has_begun_only();
        let again = match is_at_work && self.has_read_no_table() {
            true => Some(self.transaction.modes().to_vec()),
            false => None,
        };
        if again.is_some() {
            self.end_transaction(false).await?;
        } else if is_at_work {
            return Err(Error::refused(
                30001,
                "the database cannot be changed inside a transaction that has read or changed another one",
                "commit or roll back first",
            ));
        }
        let first = self.live.is_none();
        self.handle.uses(Some(&name));
        self.facts_mut().database = Some(name);
        self.stand_in(Some(live));
        if first {
            self.start_variables()?;
        }
        match again {
            Some(modes) => self.begin_at_once(modes).await,
            None => Ok(()),
        }
    }

    /// Whether the open transaction has changed nothing and was asked of no table, as no database was chosen: only the servers themselves, and their
    /// catalogues. It may as well have begun where one is chosen now, and later.
    fn has_read_no_table(&self) -> bool {
        self.facts.database.is_none()
            && !self.names_tables
            && self.opened == super::Opened::Client
            && self.transaction.state() == TransactionState::Open
            && !self.transaction.has_written()
    }

    /// `DISCARD ALL`, and its parts: plans and sequences' last values are no session's.
    ///
    /// # Errors
    /// In a failed transaction, ALL in any; `Syntax` for another word.
    pub(super) async fn discard(&mut self, verb: &str) -> Result<()> {
        self.refuse_if_failed(false)?;
        let tag = match verb {
            "DISCARD ALL" => {
                if self.transaction.state() != TransactionState::Idle {
                    let message = "DISCARD ALL cannot run inside a transaction block";
                    return Err(server_error(0, "25001", message));
                }
                self.reset().await?;
                verb
            }
            "DISCARD TEMP" | "DISCARD TEMPORARY" => {
                self.discard_temporaries()?;
                "DISCARD TEMP"
            }
            "DISCARD PLANS" | "DISCARD SEQUENCES" => verb,
            _ => {
                let message = format!("`{verb}` is no statement that is known");
                return Err(ErrorKind::Syntax { message, at: 0 }.into());
            }
        };
        self.complete(tag);
        Ok(())
    }

    /// As after login, with user and database kept.
    pub(super) async fn reset(&mut self) -> Result<()> {
        if self.transaction.state() != TransactionState::Idle {
            self.end_transaction(false).await?;
        }
        self.close_cursors().await;
        self.drop_temporaries();
        self.named.clear();
        self.variables.clear();
        self.autocommit = true;
        self.facts_mut().autocommit = true;
        self.facts_mut().last_insert_id = 0;
        self.facts_mut().told.clear();
        self.next_modes.clear();
        self.session_modes.clear();
        self.transaction_type = None;
        self.start_variables()
    }

    /// One reply read to its end on a fresh connection of a unit, for questions of the session's own. Rows are decoded.
    pub(super) async fn ask(
        &mut self,
        live: &crate::snapshot::LiveDatabase,
        unit: &str,
        text: &str,
    ) -> Result<Vec<Vec<pando_kernel::Value>>> {
        // Inside a transaction its own connection answers: it sees the transaction's definitions, and another one would wait for their locks.
        let lent = self.transaction.lend(unit)?;
        let inside = lent.is_some();
        let mut connection = match lent {
            Some(connection) => connection,
            None => self.take(live.pool(unit)?).await?,
        };
        let answer = match self.handle.runs_on(&connection, Manner::Ask) {
            Ok(()) if !inside && connection.session_state() != 0 => {
                match undress(&mut connection).await {
                    Ok(()) => answer(&mut connection, text).await,
                    Err(error) => Err(error),
                }
            }
            Ok(()) => answer(&mut connection, text).await,
            Err(error) => Err(error),
        };
        self.release(connection).await;
        answer
    }
}

/// The kinds of modes of which these are the defaults, and the variables without what they have kept of such modes.
fn overruled(assignments: &[Assignment], variables: &Variables) -> (Variables, Vec<&'static str>) {
    let mut variables = variables.clone();
    let session = assignments.iter().filter(|one| one.scope == Scope::Session);
    let kinds: Vec<_> = session.flat_map(|one| defaulted(&one.name.to_lowercase())).collect();
    kinds.iter().for_each(|kind| variables.unset(&format!("{MODE}{}", kind.to_lowercase())));
    (variables, kinds.into_iter().copied().collect())
}

/// Puts a connection back to how it was after login.
pub(crate) async fn undress(connection: &mut pando_pool::Connection) -> Result<()> {
    connection.set_session_state(UNKNOWN);
    connection.start(Execution::Reset)?;
    finish(connection).await?;
    connection.set_session_state(0);
    Ok(())
}

/// One reply read to its end, its rows decoded.
pub(crate) async fn answer(
    connection: &mut pando_pool::Connection,
    text: &str,
) -> Result<Vec<Vec<pando_kernel::Value>>> {
    pando_transaction::rows(&mut **connection, text).await
}

/// What of a unit may have effects on connections, asked on a connection that is as after login.
pub(crate) async fn read_effects(
    connection: &mut pando_pool::Connection,
    effects: &dyn Effects,
    runtime: &dyn Runtime,
) -> Result<Effectful> {
    if connection.session_state() != 0 {
        undress(connection).await?;
    }
    let rows = answer(connection, effects.query()).await?;
    let length = |value: &Value| if let Value::Text(text) = value { text.len() } else { 0 };
    if rows.iter().flatten().map(length).sum::<usize>() > LONG {
        // Sources of hundreds of routines take milliseconds to judge.
        aside(runtime).await;
    }
    Ok(effects.read(&rows))
}

fn keep(variables: &mut Variables, name: &str, text: &str) -> Result<()> {
    if variables.set(name, text) {
        return Ok(());
    }
    Err(ErrorKind::TooLarge("too many session variables".into()).into())
}
