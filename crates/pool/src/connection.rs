//! A connection lent out.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use pando_kernel::{Backend, Connector, Execution};

use crate::circuit::Trial;
use crate::definitions::{Defining, relied_on};
use crate::leash::Leash;
use crate::live::{Gone, Live, clean};
use crate::recover;
use crate::slot::Slot;

/// The unit of a connection that has gone back.
static NOWHERE: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from(""));

/// A connection lent out; works as its [`Backend`]. Dropped clean (usable, nothing outstanding, no transaction) it goes back to the pool;
/// dropped in the middle of something it is reset in the background first; spoilt or tainted it is told to clean itself, and lent when it has; dropped broken it is closed.
#[derive(Debug)]
pub struct Connection {
    /// Has its connection with it until this is dropped.
    slot: Slot,
    fate: Fate,
    defining: Option<Defining>,
    /// The definitions that its borrower relies on, by their number.
    relied_on: Option<u64>,
    dress: Option<Dress>,
    gone: Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Return,
    Reset,
    Scrub,
    Close,
}

/// A client-session state: its number, and the text that brings it about on a connection that is as after login.
pub type Dress = (u64, Arc<str>);

/// What may be left on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// What [`Execution::Reset`] takes back.
    State,
    /// What only [`Execution::Scrub`] does.
    Anything,
    /// The same, and definitions of which nobody knows.
    Definitions,
}

impl Fate {
    /// What is run on a connection before it serves others, if it must be put in order.
    fn remedy(self) -> Execution {
        match self {
            Self::Return | Self::Reset | Self::Close => Execution::Reset,
            Self::Scrub => Execution::Scrub,
        }
    }
}

impl Connection {
    pub(crate) fn lent(mut slot: Slot, live: Box<Live>) -> Self {
        slot.live = Some(live);
        Self { slot, fate: Fate::Return, defining: None, relied_on: None, dress: None, gone: Gone }
    }

    /// The statement for which it was taken is counted from before that.
    pub(crate) fn tries(mut self, trial: Option<Trial>) -> Self {
        if let Some(live) = &mut self.slot.live {
            live.backend.tries(trial);
        }
        self
    }

    /// The statement for which it was taken waits for something else before it is sent, as a connection of another storage
    /// unit: how long that takes says nothing of this one. It counts from when it is sent.
    pub fn is_put_off(&mut self) {
        if let Some(live) = &mut self.slot.live {
            live.backend.is_put_off();
        }
    }

    /// The storage unit's name.
    pub fn unit(&self) -> &Arc<str> {
        self.slot.shared().map_or(&NOWHERE, |shared| &shared.unit)
    }

    /// Number of the client-session state (its variables) last applied to this connection; 0 means it is as after login.
    pub fn session_state(&self) -> u64 {
        self.slot.live.as_ref().map_or(0, |live| live.memory.session_state)
    }

    /// Remembers which client-session state has been applied. Stays with the connection until it is reset.
    pub fn set_session_state(&mut self, id: u64) {
        if let Some(live) = &mut self.slot.live {
            live.memory.session_state = id;
        }
    }

    /// Whether it is as after login, or after a reset.
    pub fn is_bare(&self) -> bool {
        self.session_state() == 0 && self.told().is_none()
    }

    /// It has been reset: it is as after login.
    pub fn is_reset(&mut self) {
        self.set_session_state(0);
        self.set_told(None);
    }

    /// The statement that takes back what its server was told for one statement, as the time; `None` where it was told
    /// nothing.
    pub fn told(&self) -> Option<&'static str> {
        self.slot.live.as_ref().and_then(|live| live.memory.told)
    }

    /// Remembers what takes back what its server was told for one statement. Stays with the connection until that is
    /// done, or it is reset.
    pub fn set_told(&mut self, taken_back_by: Option<&'static str>) {
        if let Some(live) = &mut self.slot.live {
            live.memory.told = taken_back_by;
        }
    }

    /// Whether it was opened after this moment: its server may have been started anew in between. One that has gone back was not.
    pub fn is_younger_than(&self, moment: Instant) -> bool {
        self.slot.live.as_ref().is_some_and(|live| live.memory.born > moment)
    }

    /// What opened it, and so the way to cancel what it runs.
    pub fn connector(&self) -> Option<Arc<dyn Connector>> {
        self.slot.shared().map(|shared| Arc::clone(&shared.connector))
    }

    /// The way to end a wait for this connection's server from elsewhere.
    pub fn leash(&self) -> Leash {
        self.slot.live.as_ref().map(|live| live.backend.leash().clone()).unwrap_or_default()
    }

    /// Has it reset before it serves others, whatever becomes of it: what it is used for leaves something behind.
    pub fn spoil(&mut self) {
        if self.fate == Fate::Return {
            self.fate = Fate::Reset;
        }
    }

    /// The same where nobody knows what is left behind, and a connection that does not forget it is closed. Then it is brought to this state, which its borrower has had accepted: the next one probably wants the same.
    pub fn taint(&mut self, left: Left, dress: Option<Dress>) {
        match left {
            Left::State => self.spoil(),
            Left::Anything => self.fate = Fate::Scrub,
            Left::Definitions => {
                self.fate = Fate::Scrub;
                let shared = self.slot.shared();
                self.defining = self.defining.take().or_else(|| shared.map(Defining::begin));
            }
        }
        self.dress = dress;
    }

    /// Whether nobody may have defined anything on its server since the definitions were read. Whoever may do so while it is lent has it forget everything when it comes
    /// back: what it ran may have waited for a lock until a trigger was there.
    pub fn relies_on_definitions(&mut self) -> bool {
        let now = self.slot.shared().and_then(|shared| relied_on(shared));
        self.relied_on = self.relied_on.or(now);
        now.is_some()
    }

    /// Closes the connection instead of giving it back.
    pub fn discard(mut self) {
        self.fate = Fate::Close;
    }
}

impl Deref for Connection {
    type Target = dyn Backend;

    fn deref(&self) -> &Self::Target {
        match &self.slot.live {
            Some(live) => &live.backend,
            None => &self.gone,
        }
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.slot.live {
            Some(live) => &mut live.backend,
            None => &mut self.gone,
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(mut live) = self.slot.live.take() else { return };
        live.backend.tries(None);
        let mut slot = self.slot.leave();
        let Some(shared) = slot.shared() else { return };
        let condition = live.backend.condition();
        if self.fate == Fate::Close {
            drop(live);
            return;
        }
        if !condition.usable {
            shared.suspect_all();
            drop(live);
            return;
        }
        shared.rest(&mut live.memory);
        if self.relied_on.is_some_and(|number| number != shared.definitions.begun()) {
            self.fate = Fate::Scrub;
        }
        if !clean(condition) {
            if shared.begin_recovery() {
                let unclean = (live, self.fate.remedy(), self.defining.take());
                recover::start(Arc::clone(shared), slot, unclean);
            }
        } else if self.fate == Fate::Return
            || live.begin_to_clean(self.fate.remedy(), self.dress.take())
        {
            slot.live = Some(live);
        }
    }
}
