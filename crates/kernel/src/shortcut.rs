//! What of a statement's route can be settled once, for every value of its literals and parameters.

use std::fmt::Debug;
use std::sync::Arc;

use pando_sql::Span;
use pando_sql::ast::Literal;

use crate::feature::Context;
use crate::route::{Target, UnitName};
use crate::value::Value;

/// What a room has to do with a statement of which only the values change.
#[derive(Debug, Clone, Default)]
pub enum Shortcut {
    /// It must see each statement: there is no shortcut.
    #[default]
    None,
    /// Nothing, whatever the values, as long as another room has claimed the statement. The cells it turns are kept with the plan.
    Idle,
    /// It claims the statement, and finds the one target by values alone.
    Pick(Arc<dyn Pick>),
    /// It claims the statement, whose targets are the same for all values of which this holds: those it has now.
    All(Arc<dyn Everywhere>),
    /// It redirects targets by what the session is at: its `route` is asked each time, with a statement of the same shape.
    Redirect,
    /// It redirects targets by the statement's values: it is asked each time, with those of the statement at hand.
    Choose(Arc<dyn Choose>),
}

/// Redirects one target by a statement's values. Gives what the room's `route` would, or nothing.
pub trait Choose: Send + Sync + Debug {
    /// Where a statement with these values goes that rooms in front would send to `target`; `None` where that cannot be
    /// told by them, or is an error: the statement is then planned in full. Of the context it may look at the session
    /// and the dialect.
    fn choose(&self, ctx: &Context<'_>, values: &dyn Values, target: Target) -> Option<Target>;
}

/// Finds the one target of a statement by its values. Gives what the room's `route` would, or nothing.
pub trait Pick: Send + Sync + Debug {
    /// The number of the target; `None` when there is not exactly one, or an error to be told: the statement is then planned in full. Of the context
    /// it may look at the session and the dialect.
    fn number(&self, ctx: &Context<'_>, values: &dyn Values) -> Option<usize>;

    /// The target of this number, always the same; `None` where none has it.
    fn target(&self, number: usize) -> Option<Target>;

    /// How many numbers there are: each target's is less.
    fn count(&self) -> usize;

    /// Every actual table name a target may have.
    fn names(&self) -> Vec<Arc<str>>;
}

/// Tells for which values a statement has the targets that it had when the shortcut was made. Gives what the room's `route` would, or does not hold.
pub trait Everywhere: Send + Sync + Debug {
    /// Whether the statement goes everywhere with these values. Of the context it may look at the dialect.
    fn holds(&self, ctx: &Context<'_>, values: &dyn Values) -> bool;
}

/// A place in a statement that gives a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// The literal that stood here when the shortcut was made.
    Literal(Span),
    /// A parameter, counted from 0.
    Parameter(u32),
}

/// The values of one statement.
pub trait Values {
    /// The literal that stands now where that one stood.
    fn literal(&self, at: Span) -> Option<Literal>;

    /// A bound parameter.
    fn parameter(&self, index: u32) -> Option<&Value>;
}

/// The pick of a statement that goes to one whole storage unit, whatever its values.
#[derive(Debug)]
pub struct Always(pub UnitName);

impl Pick for Always {
    fn number(&self, _: &Context<'_>, _: &dyn Values) -> Option<usize> {
        Some(0)
    }

    fn target(&self, number: usize) -> Option<Target> {
        (number == 0).then(|| Target::whole(self.0.clone()))
    }

    fn count(&self) -> usize {
        1
    }

    fn names(&self) -> Vec<Arc<str>> {
        Vec::new()
    }
}
