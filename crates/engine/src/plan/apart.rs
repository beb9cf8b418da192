//! Assemblies that stand in for what was planned otherwise.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::Statement;

use super::{Planned, Purpose, as_seen, assemble, effects, restate};

/// Plans a statement as an assembly, because the answers of its units turned out to be more than merging can handle.
///
/// # Errors
/// `refusal` when it cannot be assembled either.
pub(crate) fn apart(ctx: &Context<'_>, stmt: &Statement, refusal: Error) -> Result<Planned> {
    let written = match as_seen::written_out(ctx, stmt)? {
        Ok(written) => written,
        Err(need) => return Ok(Planned::Needs(need)),
    };
    let stmt = written.as_ref().unwrap_or(stmt);
    let restated = restate::restated(ctx, stmt)?;
    let stmt = restated.as_ref().unwrap_or(stmt);
    let planned = assemble::assemble(ctx, stmt, (Purpose::Run, assemble::Form::Tables), refusal);
    planned.map(|planned| effects::all_judged(ctx, stmt, planned))
}
