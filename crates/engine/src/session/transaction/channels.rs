//! The channels that a session listens to, and what its open transaction will change of that and tell when it commits.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::notifications::Notice;
use pando_kernel::session::TransactionState;

use crate::channels::{Hub, Mailbox};
use crate::session::errors::server_error;
use crate::session::transaction::{End, Work};

/// Channels that one session may listen to.
const MAX_CHANNELS: usize = 10_000;
/// What one transaction may tell: so many times, and so many bytes of payload.
const MAX_NOTICES: usize = 65_536;
const MAX_BYTES: usize = 64 << 20;

/// A session's channels.
#[derive(Debug, Default)]
pub(in crate::session) struct Channels {
    mailbox: Option<Arc<Mailbox>>,
    joined: Vec<Joined>,
    pending: Vec<Pending>,
    /// Of all that is to be told.
    bytes: usize,
}

/// A channel that is listened to.
#[derive(Debug, Clone)]
pub(in crate::session) struct Joined {
    pub(in crate::session) hub: Arc<Hub>,
    pub(in crate::session) channel: Arc<str>,
    /// Only if the transaction commits.
    is_new: bool,
}

/// Something that happens when the transaction commits.
#[derive(Debug)]
struct Pending {
    change: Change,
    /// The savepoints that were there before.
    depth: usize,
}

/// What happens then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) enum Change {
    Listen(Arc<str>),
    Unlisten(Arc<str>),
    UnlistenAll,
    Tell(Notice),
}

impl Work {
    /// What the session listens to and tells.
    pub(in crate::session) fn channels(&self) -> &Channels {
        &self.channels
    }

    pub(in crate::session) fn channels_mut(&mut self) -> &mut Channels {
        &mut self.channels
    }

    /// Whether the transaction has to do with channels when it commits, if it can.
    pub(in crate::session) fn tells_at_commit(&self) -> bool {
        self.channels.are_pending() && self.transaction.state() != TransactionState::Failed
    }
}

impl Channels {
    /// Whether the end of the transaction has to do with them.
    pub(in crate::session) fn are_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Where it is told what others tell; `None` where it listens to nothing.
    pub(in crate::session) fn mailbox(&self) -> Option<&Arc<Mailbox>> {
        self.mailbox.as_ref()
    }

    /// The same, which is made where there is none.
    pub(in crate::session) fn own_mailbox(&mut self) -> Arc<Mailbox> {
        Arc::clone(self.mailbox.get_or_insert_default())
    }

    /// The channels that are listened to, sorted by their names: each once.
    pub(in crate::session) fn names(&self) -> Vec<&str> {
        let settled = self.joined.iter().filter(|joined| !joined.is_new);
        let mut names: Vec<&str> = settled.map(|joined| &*joined.channel).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The hubs that listen for it, each once.
    pub(in crate::session) fn hubs(&self) -> Vec<Arc<Hub>> {
        let mut hubs: Vec<Arc<Hub>> = Vec::new();
        for joined in &self.joined {
            if !hubs.iter().any(|known| Arc::ptr_eq(known, &joined.hub)) {
                hubs.push(Arc::clone(&joined.hub));
            }
        }
        hubs
    }

    /// Notes what is to happen at the commit, with so many savepoints before.
    ///
    /// # Errors
    /// `Server`, in the family's terms, where that is too much.
    pub(in crate::session) fn note(&mut self, change: Change, depth: usize) -> Result<()> {
        if let Change::Tell(notice) = &change {
            let bytes = self.bytes + notice.payload.len() + notice.channel.len();
            if self.pending.len() >= MAX_NOTICES || bytes > MAX_BYTES {
                return Err(server_error(0, "54000", "too many notifications in one transaction"));
            }
            self.bytes = bytes;
        } else if self.pending.len() >= MAX_NOTICES {
            return Err(too_many());
        }
        self.pending.push(Pending { change, depth });
        Ok(())
    }

    /// The transaction returns to a savepoint that has so many in front of it.
    pub(in crate::session) fn returns(&mut self, before: usize) {
        self.pending.retain(|pending| pending.depth <= before);
        let told = self.pending.iter().map(|pending| pending.change.bytes());
        self.bytes = told.sum();
    }

    /// A savepoint is released that has so many in front of it.
    pub(in crate::session) fn releases(&mut self, before: usize) {
        for pending in &mut self.pending {
            pending.depth = pending.depth.min(before);
        }
    }

    /// What is to be told, each once: a server tells a transaction's no more often.
    pub(in crate::session) fn notices(&self) -> Vec<Notice> {
        let mut seen = std::collections::HashSet::new();
        let told = self.pending.iter().filter_map(|pending| match &pending.change {
            Change::Tell(notice) => Some(notice),
            Change::Listen(_) | Change::Unlisten(_) | Change::UnlistenAll => None,
        });
        told.filter(|notice| seen.insert((&notice.channel, &notice.payload))).cloned().collect()
    }

    /// The channels that are to be listened to in addition when it commits.
    ///
    /// # Errors
    /// `Server`, in the family's terms, where they are too many.
    pub(in crate::session) fn wanted(&self) -> Result<Vec<Arc<str>>> {
        let all = self.after_commit();
        if all.len() > MAX_CHANNELS {
            return Err(too_many());
        }
        let is_there = |channel: &Arc<str>| {
            self.joined.iter().any(|joined| joined.channel == *channel && !joined.hub.is_over())
        };
        Ok(all.into_iter().filter(|channel| !is_there(channel)).collect())
    }

    /// A channel is listened to from now on, if the transaction commits.
    pub(in crate::session) fn joins(&mut self, hub: Arc<Hub>, channel: Arc<str>) {
        self.joined.push(Joined { hub, channel, is_new: true });
    }

    /// The transaction is over: what it has changed holds, if it has committed.
    pub(in crate::session) fn end(&mut self, end: End) {
        let after = self.after_commit();
        let Some(mailbox) = self.mailbox.clone() else {
            self.forget_pending();
            return;
        };
        self.joined.retain_mut(|joined| {
            let stays = match end {
                End::Commit => after.contains(&joined.channel),
                End::RollBack => !std::mem::take(&mut joined.is_new),
            };
            joined.is_new = false;
            if !stays {
                joined.hub.leave(&joined.channel, &mailbox);
            }
            stays
        });
        if self.joined.is_empty() {
            self.mailbox = None;
        }
        self.forget_pending();
    }

    /// It listens to nothing any more.
    pub(in crate::session) fn leave_all(&mut self) {
        self.forget_pending();
        let Some(mailbox) = self.mailbox.take() else { return };
        for joined in self.joined.drain(..) {
            joined.hub.leave(&joined.channel, &mailbox);
        }
    }

    fn forget_pending(&mut self) {
        self.pending = Vec::new();
        self.bytes = 0;
    }

    /// The channels that it listens to when the transaction has committed.
    fn after_commit(&self) -> Vec<Arc<str>> {
        let settled = self.joined.iter().filter(|joined| !joined.is_new);
        let mut all: std::collections::BTreeSet<Arc<str>> =
            settled.map(|joined| Arc::clone(&joined.channel)).collect();
        for pending in &self.pending {
            match &pending.change {
                Change::Listen(channel) => {
                    all.insert(Arc::clone(channel));
                }
                Change::Unlisten(channel) => {
                    all.remove(channel);
                }
                Change::UnlistenAll => all.clear(),
                Change::Tell(_) => {}
            }
        }
        all.into_iter().collect()
    }
}

impl Change {
    fn bytes(&self) -> usize {
        match self {
            Self::Tell(notice) => notice.payload.len() + notice.channel.len(),
            Self::Listen(_) | Self::Unlisten(_) | Self::UnlistenAll => 0,
        }
    }
}

impl Drop for Channels {
    fn drop(&mut self) {
        self.leave_all();
    }
}

fn too_many() -> Error {
    server_error(0, "54000", "too many channels for one session")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell(payload: &str) -> Change {
        Change::Tell(Notice { channel: "c".into(), payload: payload.into() })
    }

    fn told(channels: &Channels) -> Vec<String> {
        channels.notices().into_iter().map(|notice| notice.payload).collect()
    }

    #[test]
    fn what_is_told_twice_in_a_transaction_is_told_once_in_order() {
        let mut channels = Channels::default();
        for payload in ["b", "a", "b", "c"] {
            channels.note(tell(payload), 0).unwrap();
        }
        assert_eq!(told(&channels), ["b", "a", "c"]);
        channels.end(End::Commit);
        assert!(told(&channels).is_empty());
    }

    #[test]
    fn a_savepoint_takes_back_what_came_behind_it() {
        let mut channels = Channels::default();
        channels.note(tell("0"), 0).unwrap();
        channels.note(tell("1"), 1).unwrap();
        channels.note(tell("2"), 2).unwrap();
        channels.releases(1);
        channels.note(tell("3"), 2).unwrap();
        channels.returns(1);
        assert_eq!(told(&channels), ["0", "1", "2"]);
        channels.returns(0);
        assert_eq!(told(&channels), ["0"]);
    }

    #[test]
    fn changes_count_in_their_order() {
        let mut channels = Channels::default();
        let name = |name: &str| Arc::<str>::from(name);
        for change in [
            Change::Listen(name("a")),
            Change::Unlisten(name("a")),
            Change::Listen(name("b")),
            Change::UnlistenAll,
            Change::Listen(name("d")),
            Change::Listen(name("c")),
            Change::Listen(name("d")),
        ] {
            channels.note(change, 0).unwrap();
        }
        assert_eq!(channels.wanted().unwrap(), [name("c"), name("d")]);
    }

    #[test]
    fn a_transaction_tells_no_more_than_it_may() {
        let mut channels = Channels::default();
        for _ in 0..MAX_NOTICES {
            channels.note(tell("a"), 0).unwrap();
        }
        assert!(channels.note(tell("a"), 0).is_err());
    }
}
