//! Templates of statements that ask for the time of their transaction.

use std::sync::Arc;

use pando_kernel::feature::{Context, SessionView};
use pando_kernel::session::TransactionState;
use pando_sql::Shape;
use pando_sql::ast::Statement;

use super::Template;
use crate::plan::{Plan, Planned, Purpose, clock};

/// A statement that asks for the time of its transaction has one text inside of transactions and another outside.
#[derive(Debug, Default)]
pub(super) enum Sides {
    /// It has the same.
    #[default]
    Alike,
    /// The template is that of one side, beside that of the other if there is one.
    Apart { is_inside: bool, other: Option<Box<Template>> },
}

impl Sides {
    /// Of a statement that is planned so; `None` where it can have no template.
    pub(super) fn of(ctx: &Context<'_>, stmt: &Statement, plan: &Plan) -> Option<Self> {
        let sides = match clock::differs_inside(ctx, stmt) {
            true => Sides::Apart { is_inside: is_inside(ctx), other: None },
            // A step of another statement is told the time of that one.
            false if ctx.session.keeps_time && plan.timed.is_any() => return None,
            false => Sides::Alike,
        };
        Some(sides)
    }

    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Apart { other: Some(other), .. } => other.weight(),
            Self::Apart { other: None, .. } | Self::Alike => 0,
        }
    }
}

impl Template {
    /// The template of one side, with that of the other if there is one.
    pub(super) fn beside(own: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (first, second) = if own.is_some() { (own, other) } else { (other, None) };
        let mut first = first?;
        if let Sides::Apart { other, .. } = &mut first.sides {
            *other = second.map(Box::new);
        }
        Some(first)
    }

    /// The same outside of transactions where this is one, and inside where it is none.
    pub(super) fn of_other_side(
        ctx: &Context<'_>,
        stmt: &Arc<Statement>,
        shape: &Shape,
    ) -> Option<Self> {
        let (transaction, held) = match is_inside(ctx) {
            true => (TransactionState::Idle, Vec::new()),
            false => (TransactionState::Open, ctx.session.held.clone()),
        };
        let session = SessionView { transaction, held, keeps_time: false, ..ctx.session.clone() };
        let ctx = Context { session: &session, ..*ctx };
        match crate::plan::plan(&ctx, stmt, Purpose::Run).ok()? {
            Planned::Run(plan) => Self::of_side(&ctx, stmt, shape, &plan),
            Planned::Assembly(_) | Planned::Steps(_) | Planned::Needs(_) => None,
        }
    }

    /// The template that counts where the session stands.
    pub(super) fn side(&self, ctx: &Context<'_>) -> Option<&Self> {
        match &self.sides {
            Sides::Apart { is_inside: side, other } if *side != is_inside(ctx) => other.as_deref(),
            Sides::Apart { .. } | Sides::Alike => Some(self),
        }
    }
}

/// Whether what is planned now sees the time of its transaction.
fn is_inside(ctx: &Context<'_>) -> bool {
    ctx.session.keeps_time || ctx.session.transaction != TransactionState::Idle
}
