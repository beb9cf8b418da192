//! Whether an instance's session keys still stand.

use std::time::Instant;

use tokio::sync::watch;

use crate::Closed;

/// A view of the session that can be waited on. Clones wait each by themselves.
#[derive(Debug, Clone)]
pub struct Session {
    receiver: watch::Receiver<SessionView>,
}

/// The session at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionView {
    /// Grows with every new session. Keys that were put under a lower number are gone or go soon: put them again. 0 before the first session.
    pub number: u64,
    /// What is known of the session with this number.
    pub state: SessionState,
}

/// What an instance knows of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// The store has confirmed it lately.
    Connected,
    /// No connection: the session's keys stand until it expires, and the instance cannot tell when.
    Lost {
        /// When the connection broke, or when the first one was asked for.
        since: Instant,
    },
    /// The store has ended the session; its keys are gone. The next one has another number.
    Expired,
}

impl Session {
    /// What is known now. Counts as seen for [`Session::changed`].
    pub fn now(&mut self) -> SessionView {
        *self.receiver.borrow_and_update()
    }

    /// Waits for something new and says it. States that followed each other quickly may come as the last of them; the number tells
    /// whether there was an expiry among them.
    ///
    /// # Errors
    /// [`Closed`] when the repository is.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn changed(&mut self) -> Result<SessionView, Closed> {
        self.receiver.changed().await.map_err(|_| Closed)?;
        Ok(self.now())
    }
}

/// A repository's end of its [`Session`]; dropping it closes the session's views.
#[derive(Debug)]
pub struct Speaker {
    sender: watch::Sender<SessionView>,
}

impl Speaker {
    /// Before the first session: lost since now, number 0.
    pub fn new() -> Self {
        let state = SessionState::Lost { since: Instant::now() };
        Self { sender: watch::Sender::new(SessionView { number: 0, state }) }
    }

    /// A view for a caller.
    pub fn listen(&self) -> Session {
        Session { receiver: self.sender.subscribe() }
    }

    /// What was said last.
    pub fn last(&self) -> SessionView {
        *self.sender.borrow()
    }

    /// A new session, with the next number.
    pub fn begun(&self) {
        self.sender.send_modify(|view| {
            *view = SessionView { number: view.number + 1, state: SessionState::Connected };
        });
    }

    /// The same session again after its connection was lost.
    pub fn regained(&self) {
        self.tell(SessionState::Connected);
    }

    /// The connection broke. Nothing new when it was lost or expired before.
    pub fn lost(&self) {
        if self.last().state == SessionState::Connected {
            self.tell(SessionState::Lost { since: Instant::now() });
        }
    }

    /// The store has ended the session.
    pub fn expired(&self) {
        self.tell(SessionState::Expired);
    }

    fn tell(&self, state: SessionState) {
        self.sender.send_if_modified(|view| std::mem::replace(&mut view.state, state) != state);
    }
}

impl Default for Speaker {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_session_shows_by_its_number_even_when_its_expiry_was_missed() {
        let speaker = Speaker::new();
        let mut session = speaker.listen();
        speaker.begun();
        assert_eq!(session.now(), SessionView { number: 1, state: SessionState::Connected });
        speaker.lost();
        speaker.expired();
        speaker.begun();
        assert_eq!(session.now(), SessionView { number: 2, state: SessionState::Connected });
    }

    #[test]
    fn what_is_known_already_is_nothing_new() {
        let speaker = Speaker::new();
        speaker.begun();
        let mut session = speaker.listen();
        session.now();
        speaker.regained();
        assert!(!session.receiver.has_changed().unwrap());
        speaker.lost();
        assert!(session.receiver.has_changed().unwrap());
    }

    #[test]
    fn an_expired_session_is_not_merely_lost() {
        let speaker = Speaker::new();
        speaker.begun();
        speaker.expired();
        speaker.lost();
        assert_eq!(speaker.last().state, SessionState::Expired);
    }
}
