//! PREPARE, EXECUTE and DEALLOCATE.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::request::Prepared;
use pando_kernel::{Named, Parameter, Value};
use pando_sql::ast::{Expr, Immediate, Kind, Literal, Node, PrepareBody, QueryBody, SelectItem};

use pando_sql::user_variable;

use crate::plan::unknown;

use crate::session::Session;
use crate::session::errors::server_error;
use crate::session::given::Given;
use crate::session::place::Place;
use crate::session::reply::made;
use crate::session::settings::modes;
use crate::session::statement::instead::{Becomes, Instead};
use crate::session::statement::{expression, prepare, set_for};

pub(in crate::session) fn prepare_named(
    session: &mut Session,
    name: &str,
    types: &[String],
    body: &PrepareBody,
    text: &str,
) -> Result<()> {
    let sql: Arc<str> = match body {
        PrepareBody::Span(span) => span.of(text).into(),
        PrepareBody::Text(text) => text.as_str().into(),
        PrepareBody::Variable(name) => variable(session, name).and_then(|v| text_in(session, v))?,
    };
    let declared =
        types.iter().map(|name| session.place.declared_type(name)).collect::<Result<_>>()?;
    let prepared = match body {
        PrepareBody::Span(_) => prepare::make_own_prepared(session, sql, declared)?,
        PrepareBody::Text(_) | PrepareBody::Variable(_) => {
            prepare::make_prepared(session, sql, declared)?
        }
    };
    if matches!(prepared.statement.kind, Kind::Immediate(_)) {
        return Err(not_prepared());
    }
    let named = Named::new(prepared, Some(text.into()));
    // MySQL's takes the place of the one before.
    match session.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction()) {
        true => session.memory.named_mut().add(name, named)?,
        false => session.memory.named_mut().put(name, named)?,
    }
    made::complete(session, "PREPARE");
    Ok(())
}

/// The statement that an EXECUTE stands for.
///
/// # Errors
/// `UnknownStatement`; `Value` for another number of arguments; `Refused` for what is no argument, for a statement that
/// is an EXECUTE itself, as it might stand for itself, and for one whose `||` was OR when it was prepared and is not now.
pub(in crate::session) async fn execute_named(
    session: &mut Session,
    name: &str,
    arguments: &[Expr],
    text: &str,
) -> Result<Instead> {
    let prepared = Arc::clone(session.memory.named().get(name)?);
    if matches!(prepared.statement.kind, Kind::Execute { .. }) {
        return Err(Error::unsupported(
            30001,
            format!("`{name}` is itself an EXECUTE"),
            "execute the statement that it names",
        ));
    }
    with_arguments(session, name, prepared, arguments, text).await
}

/// The statement of an EXECUTE IMMEDIATE.
///
/// # Errors
/// As [`execute_named`]; what is wrong with the text.
pub(in crate::session) async fn execute_immediate(
    session: &mut Session,
    own: &Immediate,
    text: &str,
) -> Result<Instead> {
    set_for::refuse_unless_fork(&*session.place.live()?, "IMMEDIATE")?;
    let sql = statement_text(session, own, text).await?;
    let prepared = prepare::make_prepared(session, sql, Vec::new())?;
    if is_about_prepared(&prepared.statement.kind) {
        return Err(not_prepared());
    }
    Box::pin(with_arguments(session, "EXECUTE IMMEDIATE", prepared, &own.arguments, text)).await
}

/// The text that is to be run: computed where it is no plain string.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
async fn statement_text(session: &mut Session, own: &Immediate, text: &str) -> Result<Arc<str>> {
    let value = match &own.text.node {
        Node::Literal(_) | Node::Variable(_) => argument(session, &own.text, text, 0)?,
        _ => computed(session, &own.text, text).await?,
    };
    text_in(session, value)
}

/// The statement that stands in a value.
#[expect(clippy::wildcard_enum_match_arm, reason = "all but texts are read as they are written")]
fn text_in(session: &Session, value: Value) -> Result<Arc<str>> {
    match value {
        Value::Text(text) => Ok(text.into()),
        // What servers read then is the word.
        Value::Null => Err(unknown("NULL")),
        other => Ok(session.place.live()?.database.dialect.literal(&other).into()),
    }
}

/// Whether an argument may be an expression, which has one value before the statement begins.
fn computes(session: &Session, argument: &Expr) -> bool {
    let is_placed = matches!(argument.node, Node::Parameter(_));
    !is_placed && session.place.dialect().is_some_and(|own| !own.error_fails_transaction())
}

/// The value of an expression without tables.
async fn computed(session: &mut Session, own: &Expr, text: &str) -> Result<Value> {
    let computed = expression::computed(session, own.span.of(text)).await?;
    value_of(session, &computed)
}

/// Statements that no text that is prepared may be.
fn is_about_prepared(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Execute { .. } | Kind::Immediate(_) | Kind::Prepare { .. } | Kind::Deallocate(_)
    )
}

fn not_prepared() -> Error {
    let message = "This command is not supported in the prepared statement protocol yet";
    server_error(1295, "HY000", message)
}

async fn with_arguments(
    session: &mut Session,
    name: &str,
    prepared: Arc<Prepared>,
    arguments: &[Expr],
    text: &str,
) -> Result<Instead> {
    modes::refuse_older_pipes(session, &prepared.statement.text)?;
    let declared = prepared.declared.iter().copied().chain(std::iter::repeat(0));
    let mut parameters = Vec::with_capacity(arguments.len());
    for (given, declared) in arguments.iter().zip(declared) {
        let value = match argument(session, given, text, declared) {
            Err(_) if computes(session, given) => computed(session, given, text).await?,
            value => value?,
        };
        parameters.push(Parameter::made(value));
    }
    if parameters.len() as u64 != u64::from(prepared.statement.parameters) {
        if !session.place.dialect().is_some_and(|own| own.error_fails_transaction()) {
            return Err(server_error(1210, "HY000", "Incorrect arguments to EXECUTE"));
        }
        let message = format!("wrong number of parameters for prepared statement \"{name}\"");
        return Err(server_error(0, "42601", &message));
    }
    if prepared.has_open_types() {
        Box::pin(prepare::learn_types(session, &prepared)).await?;
    }
    let declared = Arc::clone(prepared.types());
    let given = Given { parameters, declared, prepared: true, ..Given::of_client() };
    let statement = Arc::clone(&prepared.statement);
    Ok(Instead { stmt: statement, given, settings: Vec::new(), reply: Becomes::Reply })
}

/// An argument of EXECUTE: a literal, or a user variable set to one. A cast of a string or a whole number to the very
/// type of the parameter, and no length of it, says nothing new.
pub(in crate::session) fn argument(
    session: &Session,
    argument: &Expr,
    text: &str,
    declared: u32,
) -> Result<Value> {
    if let Node::Cast { operand, to } = &argument.node {
        let to = to.of(text);
        let known = session.place.dialect().and_then(|dialect| dialect.type_number(to));
        let to = known.filter(|_| !to.contains('('));
        let is_exact = matches!(
            operand.node,
            Node::Literal(Literal::Text(_) | Literal::Integer(_) | Literal::Null)
        );
        let is_same = declared != 0 && to == Some(declared) && is_exact;
        return if is_same { literal(operand) } else { Err(no_literal()) };
    }
    let Node::Variable(name) = &argument.node else { return literal(argument) };
    variable(session, name)
}

/// The value of a user variable, which was set to a literal.
fn variable(session: &Session, name: &str) -> Result<Value> {
    let syntax = session.place.syntax()?;
    let name = user_variable(name, syntax).unwrap_or_else(|| name.to_lowercase());
    let known = session.settings.variables().list().iter().find(|(known, _)| *known == name);
    let Some((_, text)) = known else { return Ok(Value::Null) };
    value_of(session, text)
}

/// The value of a literal's text.
fn value_of(session: &Session, text: &str) -> Result<Value> {
    let dialect = Arc::clone(&session.place.live()?.database.dialect);
    let text = dialect.literal_in(text);
    let select = pando_sql::parse(&format!("SELECT {text}"), dialect.syntax())
        .map_err(crate::plan::unread)?;
    if let Kind::Select(query) = &select.kind
        && let QueryBody::Select(select) = &query.body
        && let [SelectItem::Expr { expr, .. }] = &select.items[..]
    {
        return literal(expr);
    }
    Err(Error::internal("a user variable's value cannot be read"))
}

pub(in crate::session) fn deallocate(session: &mut Session, name: Option<&str>) -> Result<()> {
    match name {
        None => {
            session.memory.named_mut().clear();
            made::complete(session, "DEALLOCATE ALL");
        }
        Some(name) => {
            if !session.memory.named_mut().remove(name) {
                return Err(ErrorKind::UnknownStatement(name.to_owned()).into());
            }
            made::complete(session, "DEALLOCATE");
        }
    }
    Ok(())
}

impl Place {
    fn declared_type(&self, name: &str) -> Result<u32> {
        let known = self.dialect().and_then(|dialect| dialect.type_number(name));
        known.ok_or_else(|| {
            Error::unsupported(
                30001,
                format!("PREPARE does not know the type `{name}`"),
                "leave the types out, or use the driver's own prepared statements",
            )
        })
    }
}

/// The value of a literal argument.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
pub(in crate::session) fn literal(expr: &Expr) -> Result<Value> {
    let value = match &expr.node {
        Node::Literal(literal) => match literal {
            Literal::Integer(n) => Some(Value::Int(*n)),
            Literal::Number(text) => Value::decimal(text),
            Literal::Text(text) | Literal::Typed(_, text) => Some(Value::Text(text.clone())),
            Literal::Bytes(bytes) => Some(Value::Bytes(bytes.clone().into())),
            Literal::Boolean(b) => Some(Value::Bool(*b)),
            Literal::Null => Some(Value::Null),
        },
        Node::Nested(inner) => return literal(inner),
        Node::Unary { op, operand } if op == "-" => match literal(operand)? {
            Value::Int(n) => n.checked_neg().map(Value::Int),
            Value::Decimal(n) => Some(Value::Decimal(-n)),
            _ => None,
        },
        _ => None,
    };
    value.ok_or_else(no_literal)
}

pub(in crate::session) fn no_literal() -> Error {
    Error::unsupported(
        30001,
        "EXECUTE takes literals only",
        "use the driver's own prepared statements for other values",
    )
}
