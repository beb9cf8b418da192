//! A thread that waits for sockets and times, and runs the tasks that they wake: background work, and sessions that nobody's thread polls.
//! <https://man7.org/linux/man-pages/man7/epoll.7.html>

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread::JoinHandle;
use std::time::Instant;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFlags, Timespec};
use rustix::io::Errno;

use crate::bell::Bell;
use crate::tasks::Tasks;

thread_local! {
    static CURRENT: RefCell<Option<Arc<Reactor>>> = const { RefCell::new(None) };
}

/// Events that are taken at once.
const EVENTS: usize = 64;

/// The bell's mark among descriptors, which are never negative.
const BELL: u64 = u64::MAX;

/// Who waits where. Shared by the thread and those who wait.
#[derive(Debug)]
pub(crate) struct Reactor {
    epoll: OwnedFd,
    bell: Bell,
    waits: Mutex<Waits>,
    tasks: Tasks,
    is_closed: AtomicBool,
}

#[derive(Debug, Default)]
struct Waits {
    /// By descriptor: each is armed for one event, of those that are waited for.
    sockets: HashMap<RawFd, Interest>,
    timers: BTreeMap<Alarm, Waker>,
    next_timer: u64,
}

/// A wait for a time: those that end at once are told apart by a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Alarm {
    end: Instant,
    number: u64,
}

#[derive(Debug, Default)]
struct Interest {
    read: Option<Waker>,
    write: Option<Waker>,
}

impl Interest {
    fn flags(&self) -> EventFlags {
        let mut flags = EventFlags::ONESHOT;
        flags.set(EventFlags::IN | EventFlags::RDHUP, self.read.is_some());
        flags.set(EventFlags::OUT, self.write.is_some());
        flags
    }
}

impl Reactor {
    /// Begins a thread of this name.
    ///
    /// # Errors
    /// When the process may have no more files or threads.
    pub(crate) fn start(name: &str) -> io::Result<(Arc<Self>, JoinHandle<()>)> {
        let (epoll, bell) = (epoll::create(CreateFlags::CLOEXEC)?, Bell::new()?);
        epoll::add(&epoll, &bell, EventData::new_u64(BELL), EventFlags::IN)?;
        let (waits, tasks) = (Mutex::default(), Tasks::default());
        let is_closed = AtomicBool::new(false);
        let reactor = Arc::new(Self { epoll, bell, waits, tasks, is_closed });
        let own = Arc::clone(&reactor);
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || own.run())?;
        Ok((reactor, thread))
    }

    /// The reactor whose thread calls.
    pub(crate) fn current() -> Option<Arc<Self>> {
        CURRENT.with_borrow(Option::clone)
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Its thread has something to look at.
    pub(crate) fn ring(&self) {
        self.bell.ring();
    }

    /// Its thread ends, and its tasks with it. What still waits is woken, and told that nothing waits here any more.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.ring();
    }

    /// Wakes once for the next event.
    ///
    /// # Errors
    /// `NotConnected` once it is closed; what epoll_ctl(2) says.
    pub(crate) fn wait(&self, fd: &OwnedFd, flags: PollFlags, waker: &Waker) -> io::Result<()> {
        let mut waits = self.waits();
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let interest = waits.sockets.entry(fd.as_raw_fd()).or_default();
        match flags.contains(PollFlags::OUT) {
            true => interest.write = Some(waker.clone()),
            false => interest.read = Some(waker.clone()),
        }
        self.arm(fd.as_raw_fd(), fd, interest)
    }

    fn arm(&self, number: RawFd, fd: &OwnedFd, interest: &Interest) -> io::Result<()> {
        let data = EventData::new_u64(u64::try_from(number).unwrap_or(BELL - 1));
        match epoll::modify(&self.epoll, fd, data, interest.flags()) {
            Err(Errno::NOENT) => Ok(epoll::add(&self.epoll, fd, data, interest.flags())?),
            done => Ok(done?),
        }
    }

    /// The descriptor is closed, or waited for elsewhere from now on: who waits here looks again.
    pub(crate) fn forget(&self, fd: &OwnedFd) {
        let interest = self.waits().sockets.remove(&fd.as_raw_fd());
        // It may never have been waited for.
        let _ = epoll::delete(&self.epoll, fd);
        let Interest { read, write } = interest.unwrap_or_default();
        [read, write].into_iter().flatten().for_each(Waker::wake);
    }

    /// Wakes at `end`, and says by what the wait is given up again.
    pub(crate) fn timer(&self, end: Instant, waker: &Waker) -> Alarm {
        let mut waits = self.waits();
        let alarm = Alarm { end, number: waits.next_timer };
        waits.next_timer += 1;
        let is_first = waits.timers.first_key_value().is_none_or(|(first, _)| alarm < *first);
        waits.timers.insert(alarm, waker.clone());
        drop(waits);
        if is_first {
            self.ring();
        }
        alarm
    }

    /// Gives up a wait of [`Reactor::timer`].
    pub(crate) fn forget_timer(&self, alarm: Alarm) {
        self.waits().timers.remove(&alarm);
    }

    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(self: Arc<Self>) {
        CURRENT.set(Some(Arc::clone(&self)));
        let mut events = Vec::with_capacity(EVENTS);
        while !self.is_closed.load(Ordering::SeqCst) {
            self.tasks.run();
            if self.is_closed.load(Ordering::SeqCst) {
                break;
            }
            self.sleep(&mut events);
            self.wake(&events);
        }
        self.tasks.end();
        let left = std::mem::take(&mut *self.waits());
        left.timers.into_values().for_each(Waker::wake);
        let sockets = left.sockets.into_values();
        sockets.flat_map(|one| [one.read, one.write]).flatten().for_each(Waker::wake);
        CURRENT.set(None);
    }

    fn sleep(&self, events: &mut Vec<Event>) {
        let next = self.waits().timers.first_key_value().map(|(alarm, _)| alarm.end);
        let limit = next.map(|end| end.saturating_duration_since(Instant::now()));
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let limit = if self.tasks.is_idle() { limit } else { Some(Timespec::default()) };
        events.clear();
        // An interrupted wait is a wake-up like any other.
        let _ = epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), limit.as_ref());
    }

    fn wake(&self, events: &[Event]) {
        let mut woken = Vec::new();
        let mut waits = self.waits();
        for event in events {
            let data = event.data.u64();
            if data == BELL {
                self.bell.hear();
                continue;
            }
            let Ok(number) = RawFd::try_from(data) else { continue };
            // Whatever came, all who wait look: one waits again where it was not for him.
            let Some(interest) = waits.sockets.remove(&number) else { continue };
            woken.extend([interest.read, interest.write].into_iter().flatten());
        }
        let now = Instant::now();
        while let Some(entry) = waits.timers.first_entry().filter(|entry| entry.key().end <= now) {
            woken.push(entry.remove());
        }
        drop(waits);
        woken.into_iter().for_each(Waker::wake);
    }
}
