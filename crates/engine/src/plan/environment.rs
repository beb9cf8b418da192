//! Which environment a statement is planned for, where a room keeps two apart.

use pando_kernel::error::Result;
use pando_kernel::feature::{Context, SessionView};
use pando_sql::ast::Statement;

use super::Planned;

/// Plans a statement with what is known of its environment, or what the rooms say of it.
///
/// # Errors
/// What the rooms refuse, and what planning says.
pub(super) fn settled(
    ctx: &Context<'_>,
    stmt: &Statement,
    plan: impl Fn(&Context<'_>) -> Result<Planned>,
) -> Result<Planned> {
    if ctx.session.environment.is_some() {
        return plan(ctx);
    }
    match ctx.database.environment(ctx, stmt)? {
        Ok(None) => plan(ctx),
        Ok(environment) => {
            let session = SessionView { environment, ..ctx.session.clone() };
            plan(&Context { session: &session, ..*ctx })
        }
        Err(need) => Ok(Planned::Needs(need)),
    }
}
