//! Planning of statements whose time is not their servers' to settle.

use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_sql::ast::Statement;

use super::{unknown, with_defaults};
use crate::plan::plain::direct;
use crate::plan::{Planned, Purpose};

/// Plans a statement that goes to its units as it is, where these need not settle by themselves what time it is.
pub(in crate::plan) fn timely(
    ctx: &Context<'_>,
    stmt: &Statement,
    purpose: Purpose,
) -> Result<Planned> {
    if purpose == Purpose::Describe {
        return direct(ctx, stmt, purpose);
    }
    let planned = direct(ctx, stmt, purpose)?;
    let Planned::Run(plan) = &planned else { return Ok(planned) };
    let units = plan.units.len();
    if let Some(need) = unknown(ctx, stmt, units) {
        return Ok(Planned::Needs(need));
    }
    match with_defaults(ctx, stmt, units)? {
        Some(written) => direct(ctx, &written, purpose),
        None => Ok(planned),
    }
}
