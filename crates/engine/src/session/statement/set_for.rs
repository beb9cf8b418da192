//! SET STATEMENT … FOR: a statement for which variables have values of their own.

use std::sync::Arc;

use pando_kernel::dialect::{Dialect, VariableEffect};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_sql::ast::{Assignment, Kind, SetFor, Statement};

use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::errors::server_error;
use crate::session::given::Given;
use crate::session::statement::instead::{Becomes, Instead};
use crate::session::statement::{administer, expression};

/// The statement that a SET STATEMENT stands for, and the variables that hold for it.
///
/// # Errors
/// `Syntax` on servers that do not know it, and of the statement; `Refused` for one that stands for another itself;
/// what is wrong with a variable, as far as that is not known to the storage units alone.
pub(in crate::session) async fn set_for(
    session: &mut Session,
    stmt: &Statement,
    own: &SetFor,
    given: &Given,
) -> Result<Instead> {
    let live = session.place.live()?;
    refuse_unless_fork(&live, "STATEMENT")?;
    let dialect = Arc::clone(&live.database.dialect);
    let mut body = administer::read_inner(session, &own.body.of(&stmt.text).into())?;
    if stands_for_another(&body.kind) {
        return Err(Error::unsupported(
            30001,
            "SET STATEMENT for a statement that stands for another one is not supported",
            "name the variables where the other statement is prepared",
        ));
    }
    if body.parameters != stmt.parameters {
        return Err(server_error(1232, "42000", "a variable's value is no parameter"));
    }
    body.hints.clone_from(&stmt.hints);
    session.place.guard(&body)?;
    let mut settings = Vec::with_capacity(own.assignments.len());
    for one in &own.assignments {
        settings.extend(value(session, dialect.as_ref(), one, &stmt.text).await?);
    }
    let given = Given { learns: false, ..given.clone() };
    Ok(Instead { stmt: Arc::new(body), given, settings, reply: Becomes::Reply })
}

/// Of servers that share a language only those of one kind know what begins so.
///
/// # Errors
/// `Syntax` where a storage unit is of the other kind.
pub(in crate::session) fn refuse_unless_fork(live: &LiveDatabase, word: &str) -> Result<()> {
    let Some(presentation) = live.database.dialect.presentation() else { return Ok(()) };
    let mut all = live.servers().into_iter();
    match all.any(|server| presentation.release(&server).is_some_and(|own| !own.is_fork)) {
        false => Ok(()),
        true => {
            let message = format!("unexpected `{word}`");
            Err(ErrorKind::Syntax { message, at: 0 }.into())
        }
    }
}

fn stands_for_another(kind: &Kind) -> bool {
    matches!(kind, Kind::SetFor(_) | Kind::Execute { .. } | Kind::Immediate(_) | Kind::Preview(_))
}

/// A variable with its value's text; nothing for one that is the client's own business.
async fn value(
    session: &mut Session,
    dialect: &dyn Dialect,
    one: &Assignment,
    text: &str,
) -> Result<Option<(String, String)>> {
    let mut text = one.value_span.of(text).to_owned();
    let mut effect = dialect.set(&one.name, &text);
    if expression::is_expression(dialect, one.scope, one.value.as_ref(), &text, &effect) {
        text = dialect.literal_in(&expression::computed(session, &text).await?).to_owned();
        effect = dialect.set(&one.name, &text);
    }
    let is_level = one.name.ends_with("_isolation") || one.name.ends_with("_read_only");
    if is_level || dialect.told(&one.name, &text).iter().any(|(_, value)| !value.is_empty()) {
        return Err(of_session(&one.name));
    }
    match effect? {
        VariableEffect::Replay | VariableEffect::Report { .. } => {
            Ok(Some((one.name.clone(), text)))
        }
        VariableEffect::Ignore
        | VariableEffect::Own { .. }
        | VariableEffect::Autocommit(_)
        | VariableEffect::LastInsertId(_)
        | VariableEffect::As { .. }
        | VariableEffect::Back { .. } => Err(of_session(&one.name)),
    }
}

/// What holds for a session holds for no statement alone.
fn of_session(name: &str) -> Error {
    let message = format!("The system variable {name} cannot be set in SET STATEMENT.");
    server_error(1971, "42000", &message)
}
