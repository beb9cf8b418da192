//! When something changed lately, and how long whoever comes back must therefore hold out.

use std::collections::VecDeque;
use std::time::Duration;

use crate::{Moment, Settings};

/// The changes of one thing. Keeps the last few: more than these make no hold longer than it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Damper {
    changes: VecDeque<Moment>,
}

/// After so many doublings every hold has come to its bound.
const KEPT: usize = 40;

impl Damper {
    pub(crate) fn note(&mut self, at: Moment) {
        if self.changes.len() == KEPT {
            self.changes.pop_front();
        }
        self.changes.push_back(at);
    }

    pub(crate) fn hold(&self, now: Moment, settings: &Settings) -> Duration {
        let lately = |at: &&Moment| now.since(**at) < settings.window;
        settings.hold(self.changes.iter().filter(lately).count())
    }
}
