//! Statements that take or free locks of applications: each call goes to its lock's home first, then the rest of the
//! statement runs with what the calls gave.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::notifications::Notice;
use pando_kernel::route::Target;
use pando_kernel::row::Rows;
use pando_kernel::{Columns, Dialect, LockHold, ServerAct, ServerFunction, Value};

use crate::homes::home_of;
use crate::plan::{ServerArgument, ServerCall, ServerCalls, Unit, taken};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::{ask, locks};
use crate::session::errors::server_error;
use crate::session::given::Given;
use crate::session::reply::made;
use crate::session::reply::pull::finish;
use crate::session::run::on_units;
use crate::session::run::on_units::Ran;
use crate::session::statement::channels;
use crate::session::steps::insert_select::each_row;
use crate::session::steps::{frame, in_steps};
use crate::session::transaction::locks::{HeldLocks, Home, Lock, Until};
use crate::session::transaction::{Opened, begin};

/// One call, with what its arguments are.
struct Asked {
    function: &'static ServerFunction,
    home: Home,
    /// As keys are compared.
    key: String,
    /// The arguments that say which lock, as they are written.
    keys: String,
    /// A query that calls it.
    query: String,
    /// One of them is NULL, so that no lock is meant.
    is_null: bool,
}

/// Runs the statement.
pub(in crate::session) async fn start_server_calls(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    parts: &ServerCalls,
) -> Result<()> {
    session.work.refuse_if_failed()?;
    if parts.calls.iter().any(|call| call.function.act == ServerAct::Tell) {
        // What is told goes with the whole statement.
        begin::open_if_idle(session, Opened::Statement);
    }
    let values = match made_calls(session, live, given, parts).await {
        Ok(values) => values,
        Err(error) => return Err(Box::pin(finish::fail_statement(session, error)).await),
    };
    if parts.is_silent {
        finish::free_locks(session).await;
        made::complete(session, "DO");
        return Ok(());
    }
    let text = parts.rest(&values);
    let started = start_rest(session, live, given, &parts.rest_parameters, &text).await;
    if started.is_err() {
        finish::free_locks(session).await;
    }
    started
}

/// Runs what is left of the statement.
async fn start_rest(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    own: &[u32],
    text: &str,
) -> Result<()> {
    let syntax = live.database.dialect.syntax();
    let rest = pando_sql::parse(text, syntax).map_err(crate::plan::unread)?;
    let mut own = Given {
        parameters: taken(syntax.placeholder, &given.parameters, own),
        declared: taken(syntax.placeholder, &given.declared, own).into(),
        learns: false,
        ..given.clone()
    };
    match Box::pin(on_units::run(session, &rest, &mut own)).await? {
        Ran::Started => Ok(()),
        Ran::InSteps(found) => {
            Box::pin(in_steps::start_in_steps(session, live, &rest, &own, found.steps)).await
        }
        Ran::Retold(_) => Err(Error::internal("a COPY takes no locks")),
    }
}

/// Makes the calls, one after the other. Gives what stands in the place of each.
async fn made_calls(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    parts: &ServerCalls,
) -> Result<Vec<String>> {
    let mut values = Vec::new();
    for call in &parts.calls {
        if call.function.act == ServerAct::Tell {
            tell(session, live, given, call).await?;
            let nothing = Value::Text(String::new());
            values.push(shown(live.database.dialect.as_ref(), call.function, &nothing));
            continue;
        }
        let asked = asked(session, live, given, call).await?;
        let value = made_call(session, live, &asked).await?;
        let dialect = live.database.dialect.as_ref();
        values.push(shown(dialect, asked.function, &value));
    }
    Ok(values)
}

async fn made_call(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    asked: &Asked,
) -> Result<Value> {
    match asked.function.act {
        ServerAct::Take => take(session, live, asked).await,
        ServerAct::Free => free(session, live, asked).await,
        ServerAct::FreeAll => free_all(session, asked).await,
        ServerAct::Ask => ask_home(session, live, asked).await,
        ServerAct::Holder => holder(session, live, asked).await,
        ServerAct::Tell => Err(Error::internal("what is told has no home of its own")),
    }
}

/// Notes what is to be told.
async fn tell(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    call: &ServerCall,
) -> Result<()> {
    let mut texts = Vec::with_capacity(call.arguments.len());
    for argument in &call.arguments {
        texts.push(match argument_value(session, live, given, argument).await? {
            Value::Text(text) => text,
            Value::Null => String::new(),
            Value::Bool(_)
            | Value::Int(_)
            | Value::UInt(_)
            | Value::Float(_)
            | Value::Decimal(_)
            | Value::Bytes(_) => return Err(no_such_function(call.function.name)),
        });
    }
    let [channel, payload] =
        <[String; 2]>::try_from(texts).map_err(|_| no_such_function(call.function.name))?;
    channels::tell(session, Notice { channel, payload }).await
}

fn no_such_function(name: &str) -> Error {
    let message = format!("function {name} does not exist with arguments of these types");
    server_error(0, "42883", &message)
}

async fn take(session: &mut Session, live: &Arc<LiveDatabase>, asked: &Asked) -> Result<Value> {
    session.work.locks().refuse_too_many(&asked.home.unit)?;
    let until = match asked.function.hold {
        LockHold::Session => Until::Freed,
        LockHold::Transaction => Until::Transaction(session.settings.depth()),
    };
    let lock = Lock { key: asked.key.clone(), undo: undo_of(asked), until };
    let (home, is_null) = (asked.home.clone(), asked.is_null);
    let note = move |held: &mut HeldLocks, value: &Value| {
        if !is_null && is_granted(value) {
            held.note(&home, lock);
        }
    };
    locks::call(session, live, &asked.home, &asked.query, note).await
}

/// Whether a lock was taken: one that is waited for is, when nothing is said.
fn is_granted(value: &Value) -> bool {
    match value {
        Value::Bool(granted) => *granted,
        Value::Int(granted) => *granted == 1,
        Value::UInt(granted) => *granted == 1,
        Value::Text(_) | Value::Bytes(_) => true,
        Value::Null | Value::Float(_) | Value::Decimal(_) => false,
    }
}

/// Frees a lock that the session has to free. Of one that it has not, a server of names says whether anybody has it.
async fn free(session: &mut Session, live: &Arc<LiveDatabase>, asked: &Asked) -> Result<Value> {
    if asked.is_null {
        return Ok(Value::Null);
    }
    let undo = undo_of(asked);
    if !asked.function.is_numbered && session.work.locks().are_at(&asked.home) {
        let (home, key, own) = (asked.home.clone(), asked.key.clone(), undo.clone());
        // What is the same name to the server has the same key, but not always the other way round.
        let note = move |held: &mut HeldLocks, value: &Value| {
            if is_granted(value) && !held.forget_freed(&home, &key, Some(&own)) {
                held.forget_freed(&home, &key, None);
            }
        };
        return locks::call(session, live, &asked.home, &undo, note).await;
    }
    if session.work.locks_mut().forget_freed(&asked.home, &asked.key, Some(&undo)) {
        return locks::call(session, live, &asked.home, &undo, |_, _| ()).await;
    }
    match asked.function.unheld {
        "" => ask_home(session, live, asked).await,
        said => {
            session.outbox.warn("01000", said);
            Ok(Value::Bool(false))
        }
    }
}

async fn free_all(session: &mut Session, asked: &Asked) -> Result<Value> {
    let freed = locks::free_sessions(session).await;
    Ok(match asked.function.is_numbered {
        true => Value::Text(String::new()),
        false => Value::Int(i64::try_from(freed).unwrap_or(i64::MAX)),
    })
}

/// What the home says, whoever asks.
async fn ask_home(session: &mut Session, live: &Arc<LiveDatabase>, asked: &Asked) -> Result<Value> {
    let rows = ask::ask(session, live, &asked.home.unit, &asked.query).await?;
    let value = rows.into_iter().next().and_then(|row| row.into_iter().next());
    value.ok_or_else(|| Error::internal("a function without a value"))
}

/// The number of the session that has a lock: its own and not its connection's.
async fn holder(session: &mut Session, live: &Arc<LiveDatabase>, asked: &Asked) -> Result<Value> {
    let number = match ask_home(session, live, asked).await? {
        Value::Int(number) => u64::try_from(number).ok(),
        Value::UInt(number) => Some(number),
        Value::Null
        | Value::Bool(_)
        | Value::Float(_)
        | Value::Decimal(_)
        | Value::Text(_)
        | Value::Bytes(_) => None,
    };
    let Some(number) = number else { return Ok(Value::Null) };
    let connector = Arc::clone(live.pool(&asked.home.unit)?.connector());
    let everyone = session.place.engine().inner.registry.everyone();
    let holder = everyone.iter().find(|handle| handle.keeps_number(&connector, number));
    match holder {
        Some(handle) => Ok(Value::Int(handle.key.id.into())),
        None => Err(Error::unsupported(
            30001,
            "whoever has this lock came through another instance, or past Pando",
            "ask IS_FREE_LOCK, which says whether anybody has it",
        )),
    }
}

fn undo_of(asked: &Asked) -> String {
    format!("SELECT {}({})", asked.function.undo, asked.keys)
}

/// A call with the values of its arguments.
async fn asked(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    call: &ServerCall,
) -> Result<Asked> {
    let function = call.function;
    let dialect = Arc::clone(&live.database.dialect);
    let count = call.arguments.len();
    let mut values = Vec::with_capacity(count);
    for argument in &call.arguments {
        values.push(argument_value(session, live, given, argument).await?);
    }
    let named_by = function.named_by(count);
    let written = written(dialect.as_ref(), function, &values);
    let keys = written[..named_by].join(", ");
    let key = keys.to_lowercase();
    Ok(Asked {
        function,
        home: home(live, &key)?,
        key,
        keys,
        query: format!("SELECT {}({})", function.call, written.join(", ")),
        is_null: values[..named_by].contains(&Value::Null),
    })
}

/// How arguments are written. A whole number is one however it came, and a name is a text.
fn written(dialect: &dyn Dialect, function: &ServerFunction, values: &[Value]) -> Vec<String> {
    let named_by = function.named_by(values.len());
    let one = |(at, value): (usize, &Value)| match value {
        Value::Text(text) if function.is_numbered => match text.trim().parse::<i64>() {
            Ok(number) => number.to_string(),
            Err(_) => dialect.literal(value),
        },
        Value::Int(number) if at < named_by && !function.is_numbered => {
            dialect.literal(&Value::Text(number.to_string()))
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Decimal(_)
        | Value::Text(_)
        | Value::Bytes(_) => dialect.literal(value),
    };
    values.iter().enumerate().map(one).collect()
}

async fn argument_value(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    argument: &ServerArgument,
) -> Result<Value> {
    match argument {
        ServerArgument::Value(value) => Ok(value.clone()),
        ServerArgument::Parameter(index) => {
            let parameter = given.parameters.get(*index as usize);
            let missing = || Error::new(ErrorKind::Value("a parameter is not bound".into()));
            parameter.map(|parameter| parameter.value.clone()).ok_or_else(missing)
        }
        ServerArgument::Computed(query, parameters) => {
            let placeholder = live.database.dialect.syntax().placeholder;
            let mut asking = given.part(placeholder, parameters, Vec::new());
            asking.prepared = !parameters.is_empty();
            let mut found = Value::Null;
            let mut take = |columns: &Columns, rows: Option<&Rows>| {
                each_row(columns, rows, |fields| {
                    if let Some(Some(field)) = fields.first() {
                        found = field.codec.value(field.column, Some(field.bytes))?;
                    }
                    Ok(())
                })
            };
            let window = session.outbox.take_window();
            let read = frame::read_step(session, live, query, asking, &mut take).await;
            session.outbox.limit_again(window);
            read.map(|_| found)
        }
    }
}

/// Where the lock of a key is taken.
fn home(live: &LiveDatabase, key: &str) -> Result<Home> {
    let unit = home_of(live.leading().map(|pool| pool.unit()), key);
    let unit = unit.ok_or_else(|| Error::internal("a database without storage units"))?;
    Ok(Home { database: live.database.name.as_str().into(), unit })
}

/// What a call gives, as it stands in its place.
fn shown(dialect: &dyn Dialect, function: &ServerFunction, value: &Value) -> String {
    let literal = dialect.literal(value);
    match function.gives {
        "" => literal,
        gives => format!("CAST({literal} AS {gives})"),
    }
}

/// What PREVIEW shows: the calls whose locks are known without asking, and what the rest is.
pub(in crate::session) fn shown_calls(
    live: &LiveDatabase,
    given: &Given,
    parts: &ServerCalls,
) -> Result<Vec<Unit>> {
    let dialect = live.database.dialect.as_ref();
    let mut units = Vec::new();
    for call in &parts.calls {
        let function = call.function;
        let known = |argument: &ServerArgument| match argument {
            ServerArgument::Value(value) => Some(value.clone()),
            ServerArgument::Parameter(index) => {
                given.parameters.get(*index as usize).map(|parameter| parameter.value.clone())
            }
            ServerArgument::Computed(..) => None,
        };
        let values: Option<Vec<Value>> = call.arguments.iter().map(known).collect();
        let Some(values) = values else { continue };
        let written = written(dialect, function, &values);
        let keys = written[..function.named_by(written.len())].join(", ");
        let home = home(live, &keys.to_lowercase())?;
        units.push(Unit {
            target: Target::whole(home.unit),
            sql: format!("SELECT {}({})", function.call, written.join(", ")).into(),
            parameters: Vec::new(),
            turns: Vec::new(),
            replaced: Vec::new(),
            attributes: Vec::new(),
        });
    }
    Ok(units)
}
