//! PREVIEW: what would be sent where.

use pando_kernel::Value;
use pando_kernel::error::{Error, Result};
use pando_sql::Span;
use pando_sql::ast::{Cursor, Kind, Statement};

use crate::plan::{Planned, Purpose};

use crate::session::Session;
use crate::session::given::Given;
use crate::session::reply::made;
use crate::session::run::{assembly, environment, planning, views};
use crate::session::steps::in_steps;

pub(in crate::session) async fn preview(
    session: &mut Session,
    asked: &Statement,
    span: Span,
    given: &Given,
) -> Result<()> {
    let text = span.of(&asked.text);
    let live = session.place.live()?;
    let syntax = live.database.dialect.syntax();
    if session.place.engine().administration().is_some_and(|own| own.takes(text, syntax)) {
        return Err(Error::unsupported(
            30001,
            "a statement about the configuration is sent to no storage unit",
            "PREVIEW is for statements about rows and tables",
        ));
    }
    let mut stmt = pando_sql::parse(text, syntax).map_err(crate::plan::unread)?;
    if let Kind::Cursor(cursor) = &stmt.kind
        && let Cursor::Declare { body, .. } = &**cursor
    {
        // What is sent for a cursor is its query.
        stmt = pando_sql::parse(body.of(&stmt.text), syntax).map_err(crate::plan::unread)?;
    }
    // Hints stand in front of the whole as well, and where the text begins none are left.
    stmt.hints.clone_from(&asked.hints);
    session.place.guard(&stmt)?;
    if let Some(text) = views::expanded(session, &stmt, given).await? {
        stmt = views::read(session, &text, &stmt)?;
    }
    environment::settle(session, &stmt, given).await?;
    let mut units = Vec::new();
    match planning::planned(session, &live, &stmt, given, Purpose::Run).await? {
        Planned::Run(plan) => units.extend(plan.units),
        Planned::Assembly(assembly) => {
            units = assembly::shown(session, &live, &assembly, given).await?
        }
        Planned::Steps(found) => {
            units = in_steps::shown_steps(session, &live, &stmt, given, found.steps).await?;
        }
        Planned::Needs(_) => {
            return Err(Error::internal("planning asks for what is known"));
        }
    }
    let rows: Vec<Vec<Value>> = units
        .iter()
        .map(|unit| {
            vec![Value::Text(unit.target.unit.to_string()), Value::Text(unit.sql.to_string())]
        })
        .collect();
    made::rows(session, "PREVIEW", &["data_source_name", "actual_sql"], &rows)
}
