//! A routine that is made while triggers call its name already.

use pando_sql::ast::{DefineAction, Kind, ObjectKind, Statement};

use super::{TriggerTexts, Triggers, Use, Work};
use crate::effects::Effects;
use crate::feature::Context;

/// A routine that a statement makes. Also where there is none of its name a trigger may run it: by a function that calls
/// it, whose text servers do not look into.
#[derive(Debug)]
pub struct Made<'a> {
    texts: &'a dyn TriggerTexts,
    text: &'a str,
    /// Its name, in lower case.
    pub function: String,
}

impl<'a> Made<'a> {
    /// Of CREATE, with OR REPLACE or without; `None` for other statements, and where triggers run no routines that can
    /// be read.
    pub fn of(ctx: &Context<'a>, stmt: &'a Statement) -> Option<Self> {
        let Kind::Define(define) = &stmt.kind else { return None };
        if define.action != DefineAction::Create || define.object != ObjectKind::Routine {
            return None;
        }
        let texts = ctx.dialect.effects().and_then(Effects::triggers)?;
        let name = define.names.first()?;
        let function = name.parts.last().map_or("", |last| &last.value).to_lowercase();
        Some(Self { texts, text: &stmt.text, function })
    }

    /// The triggers that run it.
    pub fn uses<'k>(&self, known: &'k Triggers) -> &'k [Use] {
        known.uses.get(&self.function).map_or(&[], Vec::as_slice)
    }

    /// What it will do, with all that it calls.
    pub fn work(&self, known: &Triggers) -> Work {
        self.texts.defined(self.text, known)
    }
}
