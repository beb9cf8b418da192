//! Who listens to which channels of one database, and what is told to whom.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pando_kernel::Notification;
use pando_kernel::backend::Connector;
use pando_kernel::error::Result;
use pando_kernel::notifications::Notice;
use pando_kernel::route::UnitName;
use pando_kernel::runtime::SharedRuntime;

use crate::snapshot::LiveDatabase;

use super::latch::{Latch, gone};
use super::line;
use super::line::{Do, Order, Orders};
use super::mailbox::Mailbox;

/// What of one database is listened to.
#[derive(Debug)]
pub(crate) struct Hub {
    /// The storage units that take writes, each of which may tell something, with what opens connections to them.
    units: Vec<(UnitName, Arc<dyn Connector>)>,
    /// What each line is to do, in the order of the units.
    orders: Vec<Orders>,
    state: Mutex<State>,
    /// Places that a line listens at: another one that has come to the same place would hear the same.
    places: Mutex<HashSet<String>>,
    last: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    channels: HashMap<Arc<str>, Channel>,
    /// What sessions are about to have told, for as long as it may still come.
    origins: Vec<Sent>,
    is_over: bool,
}

/// Who listens to a channel.
#[derive(Debug, Default)]
struct Channel {
    /// Those that are about to, and whose orders are on their way.
    coming: usize,
    there: Vec<Arc<Mailbox>>,
}

/// Who tells something, and from where.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) unit: UnitName,
    /// The number of the connection there.
    pub(crate) process: u64,
    /// The number of the session.
    pub(crate) session: u32,
}

#[derive(Debug)]
struct Sent {
    id: u64,
    origin: Origin,
    notices: Vec<Notice>,
}

impl Hub {
    /// Begins to listen, to no channel yet.
    pub(super) fn open(live: &LiveDatabase, runtime: &SharedRuntime) -> Arc<Self> {
        let units = units_of(live);
        let hub = Arc::new(Self {
            orders: units.iter().map(|_| Orders::default()).collect(),
            units,
            state: Mutex::default(),
            places: Mutex::default(),
            last: AtomicU64::new(0),
        });
        for at in 0..hub.units.len() {
            runtime.spawn(Box::pin(line::run(Arc::clone(&hub), at, Arc::clone(runtime))));
        }
        hub
    }

    /// Whether nobody listens any longer.
    pub(crate) fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Whether it listens where this database's sessions write.
    pub(crate) fn is_of(&self, live: &LiveDatabase) -> bool {
        let units = units_of(live);
        let is_same = |(own, other): (&(UnitName, Arc<dyn Connector>), &(UnitName, _))| {
            own.0 == other.0 && Arc::ptr_eq(&own.1, &other.1)
        };
        units.len() == self.units.len() && self.units.iter().zip(&units).all(is_same)
    }

    /// Listens to a channel for this mailbox: whatever is told once this has come to its end gets there. False where
    /// the hub has ended before: another one is to be asked.
    ///
    /// # Errors
    /// What a storage unit says to it, or that one is not to be had: nobody listens then.
    ///
    /// # Cancel safety
    /// Dropped, it may leave the channel listened to by nobody until the hub ends, and the mailbox without it.
    pub(crate) async fn join(&self, channel: &Arc<str>, mailbox: &Arc<Mailbox>) -> Result<bool> {
        let latch = {
            let mut state = self.state();
            if state.is_over {
                return Ok(false);
            }
            state.channels.entry(Arc::clone(channel)).or_default().coming += 1;
            self.order(&Do::Listen(Arc::clone(channel)))
        };
        let coming = Coming { hub: self, channel };
        latch.opened().await?;
        let mut state = self.state();
        if state.is_over {
            return Err(gone("it has ended"));
        }
        let entry = state.channels.entry(Arc::clone(channel)).or_default();
        if !entry.there.iter().any(|known| Arc::ptr_eq(known, mailbox)) {
            entry.there.push(Arc::clone(mailbox));
        }
        drop(state);
        drop(coming);
        Ok(true)
    }

    /// Listens to a channel no longer for this mailbox, which forgets what it has told.
    pub(crate) fn leave(&self, channel: &str, mailbox: &Arc<Mailbox>) {
        let mut state = self.state();
        if let Some(entry) = state.channels.get_mut(channel) {
            entry.there.retain(|known| !Arc::ptr_eq(known, mailbox));
        }
        mailbox.forget(channel);
        self.rest(state, channel);
    }

    /// Ends a channel that nobody listens to, and the hub with its last one.
    fn rest(&self, mut state: MutexGuard<'_, State>, channel: &str) {
        let is_left = |entry: &Channel| entry.coming == 0 && entry.there.is_empty();
        if !state.channels.get(channel).is_some_and(is_left) {
            return;
        }
        if let Some((name, _)) = state.channels.remove_entry(channel) {
            self.order(&Do::Unlisten(name));
        }
        if state.channels.is_empty() {
            state.is_over = true;
            self.orders.iter().for_each(Orders::close);
        }
    }

    /// Waits until everything has been heard that was told before.
    ///
    /// # Errors
    /// The hub has ended.
    ///
    /// # Cancel safety
    /// May be dropped.
    pub(crate) async fn catch_up(&self) -> Result<()> {
        let latch = {
            let state = self.state();
            if state.is_over {
                return Err(gone("it has ended"));
            }
            self.order(&Do::Nothing)
        };
        latch.opened().await
    }

    /// A session is about to have told something by this connection. The result is to be given to [`Hub::has_told`];
    /// nothing where nobody listens to that.
    pub(crate) fn tells(&self, origin: &Origin, notices: &[Notice]) -> Option<u64> {
        let mut state = self.state();
        let is_heard = |notice: &&Notice| state.channels.contains_key(&*notice.channel);
        let heard: Vec<Notice> = notices.iter().filter(is_heard).cloned().collect();
        if heard.is_empty() || state.is_over {
            return None;
        }
        let id = self.last.fetch_add(1, Ordering::Relaxed);
        state.origins.push(Sent { id, origin: origin.clone(), notices: heard });
        Some(id)
    }

    /// All of that was heard that was told, if any.
    pub(crate) fn has_told(&self, id: u64) {
        self.state().origins.retain(|sent| sent.id != id);
    }

    /// Ends it, and with it the sessions that listen.
    pub(crate) fn end(&self, why: &str) {
        let channels = {
            let mut state = self.state();
            if state.is_over {
                return;
            }
            state.is_over = true;
            std::mem::take(&mut state.channels)
        };
        let why: Arc<str> = why.into();
        for mailbox in channels.values().flat_map(|channel| &channel.there) {
            mailbox.lose(&why);
        }
        self.orders.iter().for_each(Orders::close);
    }

    pub(super) fn unit(&self, at: usize) -> Option<&(UnitName, Arc<dyn Connector>)> {
        self.units.get(at)
    }

    pub(super) fn orders(&self, at: usize) -> Option<&Orders> {
        self.orders.get(at)
    }

    /// A line has come to this place. Whether no other listens there.
    pub(super) fn is_first_at(&self, place: String) -> bool {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).insert(place)
    }

    /// A line has heard this.
    pub(super) fn heard(&self, at: usize, all: Vec<Notification>) {
        let Some((unit, _)) = self.units.get(at) else { return };
        let mut state = self.state();
        for mut told in all {
            told.process = state.teller(unit, &told).unwrap_or(0);
            let Some(channel) = state.channels.get(&told.channel) else { continue };
            channel.there.iter().for_each(|mailbox| mailbox.put(told.clone()));
        }
    }

    /// Gives every line something to do. Called under the lock of the state, so that all lines do the same in the same
    /// order.
    fn order(&self, what: &Do) -> Arc<Latch> {
        let latch = Latch::expecting(self.orders.len());
        for orders in &self.orders {
            orders.push(Order { what: what.clone(), latch: Arc::clone(&latch) });
        }
        latch
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The session that has told this, by a connection that is any session's. The number of that is nobody's: a
    /// session's own could be the same.
    fn teller(&mut self, unit: &UnitName, told: &Notification) -> Option<u32> {
        let is_it = |sent: &&mut Sent| {
            sent.origin.unit == *unit && sent.origin.process == u64::from(told.process)
        };
        for sent in self.origins.iter_mut().filter(is_it) {
            let is_same = |notice: &Notice| {
                *notice.channel == *told.channel && *notice.payload == *told.payload
            };
            if let Some(found) = sent.notices.iter().position(is_same) {
                sent.notices.swap_remove(found);
                return Some(sent.origin.session);
            }
        }
        None
    }
}

/// Somebody who is about to listen.
struct Coming<'a> {
    hub: &'a Hub,
    channel: &'a Arc<str>,
}

impl Drop for Coming<'_> {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        if let Some(entry) = state.channels.get_mut(self.channel) {
            entry.coming = entry.coming.saturating_sub(1);
        }
        self.hub.rest(state, self.channel);
    }
}

fn units_of(live: &LiveDatabase) -> Vec<(UnitName, Arc<dyn Connector>)> {
    let leading = live.leading();
    leading.map(|pool| (Arc::clone(pool.unit()), Arc::clone(pool.connector()))).collect()
}
