//! What a session has been told and not yet taken.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use pando_kernel::Notification;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};

/// Notifications that wait for one session, as while it is inside a transaction.
pub(crate) const MAX_WAITING: usize = 10_000;

/// A session's own.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Notification>,
    /// Why there is nothing more to be had, once there is not.
    lost: Option<Lost>,
    /// Whoever waits for something.
    waker: Option<Waker>,
}

/// Why a session cannot go on to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Lost {
    /// More has come than may wait.
    Full,
    /// Something may have been told that nobody has heard.
    Unheard(Arc<str>),
}

impl Mailbox {
    /// Puts something in.
    pub(super) fn put(&self, told: Notification) {
        let waker = {
            let mut state = self.state();
            if state.lost.is_some() {
                return;
            }
            if state.waiting.len() >= MAX_WAITING {
                state.waiting = VecDeque::new();
                state.lost = Some(Lost::Full);
            } else {
                state.waiting.push_back(told);
            }
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Nobody listens for the session any longer.
    pub(super) fn lose(&self, why: &Arc<str>) {
        let waker = {
            let mut state = self.state();
            state.lost.get_or_insert_with(|| Lost::Unheard(Arc::clone(why)));
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Throws away what a channel has told.
    pub(super) fn forget(&self, channel: &str) {
        self.state().waiting.retain(|told| &*told.channel != channel);
    }

    /// Takes out all there is.
    ///
    /// # Errors
    /// The session is to end.
    pub(crate) fn take(&self) -> Result<Vec<Notification>> {
        let mut state = self.state();
        match &state.lost {
            Some(lost) => Err(lost.told()),
            None => Ok(std::mem::take(&mut state.waiting).into()),
        }
    }

    /// As [`Mailbox::take`]; nothing where there is nothing yet: who asks is woken then.
    ///
    /// # Errors
    /// As [`Mailbox::take`].
    pub(crate) fn take_or_wait(&self, cx: &Context<'_>, take: Take) -> Result<Vec<Notification>> {
        let mut state = self.state();
        if let Some(lost) = &state.lost {
            return Err(lost.told());
        }
        if take == Take::Nothing || state.waiting.is_empty() {
            state.waker = Some(cx.waker().clone());
            return Ok(Vec::new());
        }
        Ok(std::mem::take(&mut state.waiting).into())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a session may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Take {
    All,
    /// Only that it is to end: it is inside a transaction.
    Nothing,
}

impl Lost {
    /// In a server's words: a client knows that it has to connect anew, and to look at what it missed.
    fn told(&self) -> Error {
        let (sqlstate, message) = match self {
            Self::Full => {
                ("54000", "too many notifications wait for this session to be idle".to_owned())
            }
            Self::Unheard(why) => {
                let message = format!(
                    "terminating connection because notifications may have been missed: {why}"
                );
                ("57P01", message)
            }
        };
        let (sqlstate, severity) = (sqlstate.to_owned(), "FATAL".to_owned());
        let said = ServerError { sqlstate, message, severity, ..ServerError::default() };
        Error::new(ErrorKind::Server(Box::new(said)))
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn told(payload: usize) -> Notification {
        Notification { process: 1, channel: "c".into(), payload: payload.to_string().into() }
    }

    #[test]
    fn what_comes_is_taken_in_order_and_once() {
        let mailbox = Mailbox::default();
        let cx = Context::from_waker(Waker::noop());
        assert_eq!(mailbox.take_or_wait(&cx, Take::All).unwrap(), []);
        (0..3).for_each(|number| mailbox.put(told(number)));
        assert_eq!(mailbox.take_or_wait(&cx, Take::Nothing).unwrap(), []);
        assert_eq!(mailbox.take().unwrap(), [told(0), told(1), told(2)]);
        assert_eq!(mailbox.take().unwrap(), []);
    }

    #[test]
    fn more_than_may_wait_ends_the_session_and_keeps_nothing() {
        let mailbox = Mailbox::default();
        (0..=MAX_WAITING).for_each(|number| mailbox.put(told(number)));
        let cx = Context::from_waker(Waker::noop());
        assert!(mailbox.take_or_wait(&cx, Take::Nothing).is_err());
        assert!(mailbox.take().is_err());
        assert!(mailbox.state().waiting.is_empty());
    }

    #[test]
    fn a_channel_that_is_left_tells_nothing_more() {
        let mailbox = Mailbox::default();
        mailbox.put(told(1));
        mailbox.forget("other");
        assert_eq!(mailbox.take().unwrap(), [told(1)]);
        mailbox.put(told(2));
        mailbox.forget("c");
        assert_eq!(mailbox.take().unwrap(), []);
    }
}
