//! Sees what a channel is sent and what it answers, and has it copied.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use pando_kernel::Dialect;
use pando_kernel::backend::Execution;
use pando_kernel::error::Error;
use pando_kernel::event::{Event, Whole};

use super::answer::{Answer, Listening, Order};
use super::gathering::{Kept, lock};
use super::item::{Copied, Item, Manner, to_keep};
use super::lane::Lane;

/// Where copies go.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) lane: Arc<Lane>,
    pub(crate) to: To,
}

/// When they go there.
#[derive(Debug)]
pub(crate) enum To {
    /// Each by itself.
    Lane(Arc<Manner>),
    /// With their transaction's end.
    Transaction(Arc<Mutex<Kept>>),
}

/// Sees the statements of one channel. Dropped, it gives up those whose answers it has not seen to their ends.
#[derive(Debug)]
pub(crate) struct Tap {
    ways: Vec<Way>,
    dialect: Arc<dyn Dialect>,
    /// Those that are not answered; `None` for one that is not to be copied.
    sent: VecDeque<Option<Execution>>,
    listening: Listening,
    order: Order,
    writes: bool,
}

/// What a tap is told of the statements that it sees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    /// They ask for an order of their rows.
    pub(crate) is_ordered: bool,
    pub(crate) writes: bool,
}

impl Tap {
    pub(crate) fn new(ways: Vec<Way>, dialect: Arc<dyn Dialect>, seen: Seen) -> Self {
        let order = if seen.is_ordered { Order::Asked } else { Order::Any };
        let (sent, listening) = (VecDeque::new(), Listening::default());
        Self { ways, dialect, sent, listening, order, writes: seen.writes }
    }

    /// A statement is sent.
    pub(crate) fn sends(&mut self, execution: &Execution) {
        let copied = self.is_the_same_elsewhere(execution).then(|| to_keep(execution));
        self.sent.push_back(copied);
    }

    /// A piece of an answer has come.
    pub(crate) fn hears(&mut self, event: &Event) {
        self.listening.hears(event);
        if matches!(event, Event::Done) {
            let answer = self.listening.ends();
            self.ends(answer);
        }
    }

    /// A whole answer has come.
    pub(crate) fn hears_whole(&mut self, whole: &Whole) {
        self.listening.hears_whole(whole);
        let answer = self.listening.ends();
        self.ends(answer);
    }

    /// An answer has ended with an error.
    pub(crate) fn hears_error(&mut self, error: &Error) {
        let says = self.listening.hears_error(error);
        let answer = self.listening.ends();
        match says {
            true => self.ends(answer),
            false => {
                self.sent.pop_front();
                self.gives_up(1);
            }
        }
    }

    /// Types that users have made have other numbers on another server.
    fn is_the_same_elsewhere(&self, execution: &Execution) -> bool {
        let Some(rules) = self.dialect.oid_rules() else { return true };
        let is_made = |type_id: &u32| {
            *type_id >= rules.first_made() && *type_id != pando_kernel::request::UNNUMBERED
        };
        match execution {
            Execution::Prepared { types, parameters, .. } => {
                !types.iter().any(is_made)
                    && !parameters.iter().any(|own| is_made(&own.native.type_id))
            }
            Execution::Text(_)
            | Execution::Aside(_)
            | Execution::Lifted { .. }
            | Execution::Describe { .. }
            | Execution::Reset
            | Execution::Scrub
            | Execution::Ping => true,
        }
    }

    fn ends(&mut self, answer: Answer) {
        let Some(Some(execution)) = self.sent.pop_front() else { return self.gives_up(1) };
        let copied = Copied { execution, answer, order: self.order, writes: self.writes };
        for way in &self.ways {
            let copied = copied.clone();
            match &way.to {
                To::Transaction(kept) => lock(kept).keeps(copied),
                To::Lane(manner) => way.lane.takes(Item {
                    statements: vec![copied],
                    manner: Arc::clone(manner),
                    is_transaction: false,
                    is_committed: true,
                }),
            }
        }
    }

    /// So many statements are not copied; a transaction without one that writes is another.
    fn gives_up(&self, statements: u64) {
        for way in &self.ways {
            way.lane.passes_over(statements);
            if let (To::Transaction(kept), true) = (&way.to, self.writes) {
                lock(kept).gives_up();
            }
        }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        if !self.sent.is_empty() {
            self.gives_up(u64::try_from(self.sent.len()).unwrap_or(u64::MAX));
        }
    }
}
