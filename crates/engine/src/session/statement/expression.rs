//! Values of SET that are expressions: computed once, so that they are the same on every storage unit.

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::catalog::Catalog as _;
use pando_kernel::dialect::{Dialect, VariableEffect};
use pando_kernel::effects::Leaves;
use pando_kernel::error::{Error, Result};
use pando_pool::Connection;
use pando_sql::ast::{Expr, Node, Scope, Statement};
use pando_sql::visit;
use pando_transaction::finish;

use crate::handle::Manner;
use crate::plan::Purpose;
use crate::snapshot::LiveDatabase;
use crate::variables::UNKNOWN;

use crate::session::Session;
use crate::session::connections::{dress, release};
use crate::session::errors::server_error;
use crate::session::given::Given;
use crate::session::reply::assigned;
use crate::session::run::ready;
use crate::session::settings::alone;
use crate::session::statement::answer::{Answer, answer};

/// Whether a value means something only where it is computed: `@@sql_mode`, `CONCAT(…)`, `@kept + 1`.
pub(in crate::session) fn is_expression(
    dialect: &dyn Dialect,
    scope: Scope,
    value: Option<&Expr>,
    text: &str,
    effect: &Result<VariableEffect>,
) -> bool {
    let literal = matches!(value, Some(Expr { node: Node::Literal(_), .. }));
    let kept = !matches!(
        effect,
        Ok(VariableEffect::Ignore
            | VariableEffect::Autocommit(_)
            | VariableEffect::LastInsertId(_))
    );
    // Where an error fails the transaction, SET takes literals only.
    let is_asked = match scope {
        // A word is a function there: CURRENT_TIMESTAMP.
        Scope::User => text.contains(|c: char| c == '@' || c == '(' || c.is_alphabetic()),
        Scope::Session | Scope::Local | Scope::Global => text.contains(['@', '(']),
    };
    kept && !literal && is_asked && !dialect.error_fails_transaction()
}

/// Where a storage unit puts a value, to tell its type and collation. No client's variable has such a name.
const ASIDE: &str = "@`pando value`";

/// The value of an expression as variables keep it, computed by a storage unit. Servers compute all values of a SET
/// before they set any: it goes by what the session has set before.
///
/// # Errors
/// What planning refuses, and what the unit says.
pub(in crate::session) async fn computed(session: &mut Session, text: &str) -> Result<String> {
    if session.place.is_alone() {
        return alone::compute_alone(session, text);
    }
    let live = session.place.live()?;
    let dialect = Arc::clone(&live.database.dialect);
    let stmt = pando_sql::parse(&format!("SELECT {text}"), dialect.syntax())
        .map_err(crate::plan::unread)?;
    if !visit::tables(&stmt.kind).is_empty() {
        return read(session, dialect.as_ref(), &stmt, text).await;
    }
    let plan = ready::single_plan(session, &live, &stmt, &Given::default(), Purpose::Run).await?;
    let unit = plan.units.first().ok_or_else(|| Error::internal("a plan without units"))?;
    // Not the transaction's own connection: that one does not wear the variables yet.
    let mut connection = session.place.take(live.pool(&unit.target.unit)?).await?;
    let kept = match session.place.handle().runs_on(&connection, Manner::Ask) {
        Ok(()) => dressed_value(session, &live, &mut connection, &unit.sql).await,
        Err(error) => Err(error),
    };
    release::release(session, connection).await;
    kept
}

/// The value of an expression that reads tables: a query as any other.
async fn read(
    session: &mut Session,
    dialect: &dyn Dialect,
    stmt: &Statement,
    text: &str,
) -> Result<String> {
    let given = Given { learns: false, ..Given::of_client() };
    let Answer { columns, mut rows } = Box::pin(answer(session, stmt, given, 1)).await?;
    let value = match &mut rows[..] {
        [row] if columns.len() == 1 => row.pop().unwrap_or(Value::Null),
        _ => return Err(server_error(1241, "21000", "Operand should contain 1 column(s)")),
    };
    let literal = dialect.literal(&value);
    let collation = dialect.collation_of(text).filter(|_| matches!(value, Value::Text(_)));
    let Some(collation) = collation else {
        return Ok(dialect.kept_value(&value, literal, ""));
    };
    let query = format!("SELECT {collation}");
    let told = collations(session, dialect, &query).await?;
    let collation = told.first().ok_or_else(|| Error::internal("a text without a collation"))?;
    Ok(dialect.kept_value(&value, literal, collation))
}

/// What a query of one row tells that asks for collations.
///
/// # Errors
/// What planning refuses, and what the units say.
pub(in crate::session) async fn collations(
    session: &mut Session,
    dialect: &dyn Dialect,
    query: &str,
) -> Result<Vec<String>> {
    let stmt = pando_sql::parse(query, dialect.syntax()).map_err(crate::plan::unread)?;
    let given = Given { learns: false, ..Given::of_client() };
    let told = Box::pin(answer(session, &stmt, given, 1)).await?.rows.into_iter().next();
    let texts = told.unwrap_or_default().into_iter().filter_map(|value| match value {
        Value::Text(collation) => Some(collation),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Decimal(_)
        | Value::Bytes(_) => None,
    });
    Ok(texts.collect())
}

async fn dressed_value(
    session: &mut Session,
    live: &LiveDatabase,
    connection: &mut Connection,
    sql: &str,
) -> Result<String> {
    for _ in 0..dress::dress(session, live, connection)? {
        if let Err(error) = finish(connection).await {
            connection.set_session_state(UNKNOWN);
            return Err(error);
        }
    }
    // The expression may be a call of anything.
    let known = session.work.catalog(live).effectful(connection.unit());
    let leaves = known.map_or(Leaves::Definitions, |known| known.unknown);
    session.settings.taint(live, connection, leaves.max(Leaves::Anything));
    let dialect = live.database.dialect.as_ref();
    if dialect.collation_of(ASIDE).is_none() {
        let rows = pando_transaction::rows(&mut **connection, sql).await?;
        let value = rows.first().and_then(|row| row.first());
        return Ok(dialect.literal(value.unwrap_or(&Value::Null)));
    }
    pando_transaction::rows(&mut **connection, &format!("{sql} INTO {ASIDE}")).await?;
    let kept = assigned::kept(connection, dialect, &[ASIDE.to_owned()]).await?;
    kept.into_iter().next().ok_or_else(|| Error::internal("an expression without a value"))
}
