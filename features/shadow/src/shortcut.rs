//! What of a statement's environment holds for other values.

use std::cell::Cell;
use std::sync::Arc;

use pando_kernel::feature::Context;
use pando_kernel::route::{Environment, Target};
use pando_kernel::shortcut::{Choose, Shortcut, Values};
use pando_sql::ast::{Kind, Statement};

use crate::decision::{self, Hint};
use crate::evidence::{Evidence, evidence, explained};
use crate::route;
use crate::rule::Rule;
use crate::values::{Constant, Reading};

/// How many clauses, and how many values in each, are looked at for each statement.
const MOST: usize = 64;

/// The shortcut of a statement.
pub(crate) fn shortcut(rule: &Arc<Rule>, ctx: &Context<'_>, stmt: &Statement) -> Shortcut {
    let is_plain = matches!(
        explained(&stmt.kind),
        Kind::Select(_) | Kind::Insert(_) | Kind::Update(_) | Kind::Delete(_)
    );
    if !is_plain || !stmt.hints.is_empty() {
        return Shortcut::None;
    }
    let evidence = evidence(rule, ctx, stmt);
    let values = evidence.clauses.iter().map(crate::clause::Clause::width).sum::<usize>();
    if evidence.needs.is_some() || evidence.clauses.len() > MOST || values > MOST {
        return Shortcut::None;
    }
    if ctx.session.temporaries.as_ref().is_some_and(|own| own.concern(stmt)) {
        return Shortcut::None;
    }
    if values == 0 && evidence.assigned.is_empty() && evidence.unseen.is_none() {
        // The transaction alone says it.
        return Shortcut::Redirect;
    }
    let (rule, stmt) = (Arc::clone(rule), Arc::new(stmt.clone()));
    Shortcut::Choose(Arc::new(ByValues { rule, evidence, stmt }))
}

/// A statement whose values say which environment it is for; of one that says nothing the transaction does.
#[derive(Debug)]
struct ByValues {
    rule: Arc<Rule>,
    evidence: Evidence,
    stmt: Arc<Statement>,
}

impl Choose for ByValues {
    fn choose(&self, ctx: &Context<'_>, values: &dyn Values, target: Target) -> Option<Target> {
        // What is not known here is not production's: who plans the statement finds out.
        let is_unread = Cell::new(false);
        let read = |constant: &Constant| {
            let reading = constant.among(values);
            is_unread.set(is_unread.get() || reading == Reading::Unbound);
            reading
        };
        let decided = decision::decided(&self.evidence, Hint::Nothing, &read).ok()?;
        let begun = decision::begun(&self.rule, ctx.session);
        let environment = decision::in_transaction(decided, begun).ok()?;
        decision::kept(&self.evidence, environment, &read).ok()?;
        if is_unread.get() {
            return None;
        }
        if environment == Environment::Shadow {
            route::have_shadows(&self.rule, &self.stmt, std::iter::once(&target)).ok()?;
        }
        let mut target = target;
        route::redirect_one(&self.rule, environment, &mut target);
        Some(target)
    }
}
