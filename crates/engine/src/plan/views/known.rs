//! Which names of a statement mean views over sharded tables.

use pando_kernel::feature::{Context, TableKind};
use pando_kernel::views::{LogicView, Views};
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, ObjectName, Statement};
use pando_sql::visit;

use super::stored;

/// What is known of views while a statement is looked at.
pub(super) struct Known<'a> {
    pub(super) ctx: &'a Context<'a>,
    pub(super) views: &'a Views,
}

impl<'a> Known<'a> {
    /// The view that is meant by a name, and stands for its query.
    pub(super) fn view(&self, name: &ObjectName) -> Option<&'a LogicView> {
        meant(self.ctx, self.views, name).filter(|view| !view.is_materialized)
    }
}

/// The view that is meant by a name, materialized or not, unless a temporary table hides it.
fn meant<'a>(ctx: &Context<'_>, views: &'a Views, name: &ObjectName) -> Option<&'a LogicView> {
    let view = views.get(&name.key())?;
    let temporaries = ctx.session.temporaries.as_deref();
    if temporaries.is_some_and(|own| own.is_one(name)) {
        return None;
    }
    match (&name.parts[..], &view.schema) {
        // Of several that are called so, each is refused.
        ([.., schema, _], Some(own)) => {
            (schema.value == *own || view.query.is_err()).then_some(view)
        }
        ([database, _], None) => {
            let own = &ctx.database.name;
            database.value.eq_ignore_ascii_case(own).then_some(view)
        }
        ([_], _) => view.is_found.then_some(view),
        _ => None,
    }
}

/// The materialized view over several actual tables that is meant by a name.
pub(crate) fn materialized<'a>(
    ctx: &Context<'_>,
    views: &'a Views,
    name: &ObjectName,
) -> Option<&'a LogicView> {
    meant(ctx, views, name).filter(|view| view.is_materialized)
}

/// Whether a name means a view over several actual tables that stands for its query.
pub(crate) fn stands_for_query(ctx: &Context<'_>, views: &Views, name: &ObjectName) -> bool {
    meant(ctx, views, name).is_some_and(|view| !view.is_materialized)
}

/// Whether a table that no rule speaks of may be a view over several actual tables.
pub(super) fn may_name_one(ctx: &Context<'_>, stmt: &Statement) -> bool {
    let tables = visit::tables(&stmt.kind);
    let runs_there = matches!(&stmt.kind, Kind::Define(define) if runs_there(define));
    if tables.is_empty() && !runs_there || ctx.dialect.views().is_none() {
        return false;
    }
    let rooms = ctx.database.features.iter().flat_map(|feature| feature.tables());
    let configured: Vec<_> = rooms.filter(|table| table.kind != TableKind::Single).collect();
    if !configured.iter().any(stored::is_split) {
        return false;
    }
    if runs_there {
        return true;
    }
    let presentation = ctx.dialect.presentation();
    let is_vendors = |name| presentation.is_some_and(|shown| shown.holding(name).is_some());
    tables.iter().any(|found| {
        let key = found.name.key();
        !configured.iter().any(|table| table.name.eq_ignore_ascii_case(&key))
            && !is_vendors(found.name)
    })
}

/// Whether it defines what a storage unit runs by itself.
pub(super) fn runs_there(define: &Define) -> bool {
    let is_run = matches!(define.object, ObjectKind::Routine | ObjectKind::Trigger);
    is_run && define.action != DefineAction::Drop
}
