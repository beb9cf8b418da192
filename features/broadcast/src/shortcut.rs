//! Reading broadcast tables alone: which place is asked depends on the session, not on values.

use std::sync::Arc;

use pando_kernel::feature::Context;
use pando_kernel::route::Target;
use pando_kernel::shortcut::{Pick, Shortcut, Values};
use pando_sql::ast::Statement;
use pando_sql::visit;

use crate::route::{is_ours, one, only_reads};
use crate::rule::Rule;

/// Any place will do.
#[derive(Debug)]
struct Anywhere(Arc<Rule>);

impl Pick for Anywhere {
    fn number(&self, ctx: &Context<'_>, _: &dyn Values) -> Option<usize> {
        one(&self.0, ctx)
    }

    fn target(&self, number: usize) -> Option<Target> {
        Some(Target::whole(Arc::clone(&self.0.readable.get(number)?.name)))
    }

    fn count(&self) -> usize {
        self.0.readable.len()
    }

    fn names(&self) -> Vec<Arc<str>> {
        Vec::new()
    }
}

/// The shortcut of a statement, if it has one.
pub(crate) fn shortcut(rule: &Arc<Rule>, stmt: &Statement) -> Shortcut {
    let tables = visit::tables(&stmt.kind);
    let is_told = !stmt.hints.is_empty() || stmt.hint_span.is_some();
    let ours = tables.iter().filter(|table| is_ours(rule, table)).count();
    match ours {
        0 => Shortcut::Idle,
        _ if ours == tables.len() && only_reads(&stmt.kind) && !is_told => {
            Shortcut::Pick(Arc::new(Anywhere(Arc::clone(rule))))
        }
        _ => Shortcut::None,
    }
}
