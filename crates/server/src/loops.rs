//! The event loops that serve clients: each a thread with a reactor, timers and a queue of tasks of its own. What a statement touches stays in one core's caches, and
//! no loop takes a lock of another's for it.
//!
//! Beside them are as many threads for what takes long: a session that reads and plans a text of megabytes goes on there and comes back when it waits for its client.

use std::cell::{Cell, OnceCell};
use std::future::Future;
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

use crate::cores;

thread_local! {
    static OWN: Cell<usize> = const { Cell::new(0) };
    static ASIDE: Cell<bool> = const { Cell::new(false) };
    static CORES: OnceCell<Arc<[usize]>> = const { OnceCell::new() };
}

/// The number of the loop whose thread calls, from 1; 0 where it is another thread.
pub(crate) fn current() -> usize {
    OWN.get()
}

/// Whether the calling thread is one for what takes long. It is no loop: sockets stay where they are.
pub(crate) fn is_aside() -> bool {
    ASIDE.get()
}

/// The number of the loop that stays on this core; 0 where there is none, or where the calling thread is no loop.
pub(crate) fn of_core(core: usize) -> usize {
    CORES.with(|cores| cores.get().map_or(0, |cores| number_of(cores, core)))
}

fn number_of(cores: &[usize], core: usize) -> usize {
    cores.iter().position(|&own| own == core).map_or(0, |at| at + 1)
}

/// All loops. They run until this is dropped; what is left on them is dropped with them.
#[derive(Debug)]
pub(crate) struct Loops {
    map: Arc<Map>,
    /// Their ends are what the threads wait for.
    _running: Vec<oneshot::Sender<()>>,
}

/// The loops by their numbers, from 1, and the cores that they stay on, if they do.
#[derive(Debug)]
pub(crate) struct Map {
    loops: Vec<Loop>,
    /// For what takes long; their numbers go on behind those of the loops.
    aside: Vec<Loop>,
    cores: Arc<[usize]>,
}

#[derive(Debug)]
struct Loop {
    handle: Handle,
    clients: AtomicUsize,
}

impl Map {
    fn get(&self, number: usize) -> Option<&Loop> {
        let at = number.checked_sub(1)?;
        self.loops.get(at).or_else(|| self.aside.get(at.checked_sub(self.loops.len())?))
    }

    fn clients(&self, number: usize) -> usize {
        self.get(number).map_or(0, |own| own.clients.load(Ordering::Relaxed))
    }

    /// Whether one more may join this loop. All bytes may arrive on one core, from a network card with one queue or a client with one thread: no loop gets more than a
    /// quarter above the average.
    fn has_room(&self, number: usize) -> bool {
        let clients: usize = (1..=self.loops.len()).map(|other| self.clients(other)).sum();
        let average = clients.div_ceil(self.loops.len().max(1));
        (1..=self.loops.len()).contains(&number) && self.clients(number) <= average + average / 4
    }

    /// The loop, or the thread aside, that has the fewest clients.
    fn emptiest(&self, mut numbers: RangeInclusive<usize>) -> usize {
        let first = *numbers.start();
        numbers.by_ref().min_by_key(|&number| self.clients(number)).unwrap_or(first)
    }

    fn place(self: &Arc<Self>, number: usize) -> Option<Place> {
        self.get(number)?.clients.fetch_add(1, Ordering::Relaxed);
        Some(Place { map: Arc::clone(self), number })
    }
}

/// A client's place on a loop; its end makes room for the next.
#[derive(Debug)]
pub(crate) struct Place {
    map: Arc<Map>,
    number: usize,
}

impl Place {
    pub(crate) fn handle(&self) -> Option<&Handle> {
        self.map.get(self.number).map(|own| &own.handle)
    }

    /// A place on this other loop, if it has room.
    pub(crate) fn beside(&self, number: usize) -> Option<Self> {
        let other = number != 0 && number != self.number && self.map.has_room(number);
        other.then(|| self.map.place(number)).flatten()
    }

    /// A place where long work keeps nobody waiting; `None` for who is there.
    pub(crate) fn aside(&self) -> Option<Self> {
        let loops = self.map.loops.len();
        if self.number > loops {
            return None;
        }
        let last = loops + self.map.aside.len();
        self.map.place(self.map.emptiest(loops + 1..=last))
    }

    /// A place on a loop again; `None` for who has one.
    pub(crate) fn back(&self) -> Option<Self> {
        let loops = self.map.loops.len();
        (self.number > loops).then(|| self.map.place(self.map.emptiest(1..=loops))).flatten()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(own) = self.map.get(self.number) {
            own.clients.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Loops {
    /// So many loops, run by the system wherever it likes; 0 means one for each core of this process, which it stays on.
    ///
    /// # Errors
    /// When the system has no threads or files for them.
    pub(crate) fn start(count: u32) -> io::Result<Self> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let parallel = thread::available_parallelism().map_or(1, usize::from);
        let mut cores = if count == 0 { cores::allowed() } else { Vec::new() };
        // A share of the cores' time, as containers have it, is no core of one's own.
        cores.truncate(if cores.len() == parallel { parallel } else { 0 });
        let count = if count == 0 { parallel } else { count };
        let cores: Arc<[usize]> = cores.into();
        let started = |works: Vec<Work>| {
            works.into_iter().map(start).collect::<io::Result<Vec<_>>>().map(|all| all.into_iter())
        };
        let serve = |number| Work::Serve { number, cores: Arc::clone(&cores) };
        let (loops, mut running): (_, Vec<_>) = started((1..=count).map(serve).collect())?.unzip();
        let (aside, others): (_, Vec<_>) = started((1..=count).map(Work::Aside).collect())?.unzip();
        running.extend(others);
        Ok(Self { map: Arc::new(Map { loops, aside, cores }), _running: running })
    }

    /// A place on the loop of the core that a client's bytes arrive on, otherwise on the one that has the fewest clients.
    pub(crate) fn place(&self, core: Option<usize>) -> Option<Place> {
        let near = core.map_or(0, |core| number_of(&self.map.cores, core));
        if self.map.has_room(near) {
            return self.map.place(near);
        }
        self.map.place(self.map.emptiest(1..=self.map.loops.len()))
    }
}

/// What a thread is for.
enum Work {
    /// An event loop, kept on its core if there are any.
    Serve { number: usize, cores: Arc<[usize]> },
    /// What takes long.
    Aside(usize),
}

impl Work {
    fn name(&self) -> String {
        match self {
            Self::Serve { number, .. } => format!("loop-{number}"),
            Self::Aside(number) => format!("aside-{number}"),
        }
    }

    /// Makes the calling thread one for this work.
    fn begin(self) {
        match self {
            Self::Serve { number, cores } => serve_on(number, cores),
            Self::Aside(_) => ASIDE.set(true),
        }
    }
}

fn start(work: Work) -> io::Result<(Loop, oneshot::Sender<()>)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let (running, ended) = oneshot::channel();
    thread::Builder::new().name(work.name()).spawn(move || run(work, runtime, ended))?;
    Ok((Loop { handle, clients: AtomicUsize::new(0) }, running))
}

fn serve_on(number: usize, cores: Arc<[usize]>) {
    OWN.set(number);
    // Both are about speed only, and some sandboxes forbid them.
    match cores.get(number - 1).copied().map(cores::stay_on) {
        Some(Err(error)) => {
            tracing::debug!(number, %error, "an event loop cannot be kept on its core")
        }
        Some(Ok(())) => CORES.with(|own| drop(own.set(cores))),
        None => {}
    }
}

fn run(work: Work, runtime: Runtime, ended: impl Future) {
    work.begin();
    runtime.block_on(ended);
    // Not waiting for names that are being looked up.
    runtime.shutdown_background();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn clients_are_spread_and_leave_room_behind() {
        assert_eq!(current(), 0);
        let loops = Loops::start(3).unwrap();
        let mut places: Vec<Place> = (0..6).filter_map(|_| loops.place(Some(0))).collect();
        let mut numbers = Vec::new();
        for place in &places {
            numbers.push(place.handle().unwrap().spawn(async { current() }).await.unwrap());
        }
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 1, 2, 2, 3, 3]);
        let left = places.remove(0).number;
        assert_eq!(loops.place(None).unwrap().number, left);
    }

    #[tokio::test]
    async fn a_loop_stays_on_its_core_and_takes_those_whose_bytes_arrive_there() {
        let loops = Loops::start(0).unwrap();
        let cores = cores::allowed();
        if loops.map.cores.is_empty() {
            assert_ne!(cores.len(), thread::available_parallelism().unwrap().get());
            return;
        }
        for core in cores {
            let place = loops.place(Some(core)).unwrap();
            let own = place.handle().unwrap().spawn(async { cores::allowed() }).await.unwrap();
            assert_eq!(own, [core]);
        }
    }

    /// As many as a loop takes come to it, the others are sent elsewhere, and the same holds for those who want to move.
    #[test]
    fn no_loop_gets_much_more_than_the_others() {
        let mut loops = Loops::start(4).unwrap();
        Arc::get_mut(&mut loops.map).unwrap().cores = Arc::new([7, 8, 9, 5]);
        let places: Vec<Place> = (0..80).filter_map(|_| loops.place(Some(9))).collect();
        let clients = |number| loops.map.clients(number);
        assert_eq!((1..=4).map(clients).sum::<usize>(), 80);
        assert!((20..=26).contains(&clients(3)), "{}", clients(3));
        let moved: Vec<Place> = places.iter().filter_map(|place| place.beside(2)).collect();
        assert!(!moved.is_empty() && clients(2) <= 31, "{}", clients(2));
        assert!(places.iter().all(|place| place.beside(0).is_none() && place.beside(5).is_none()));
        drop(places);
        assert_eq!((1..=4).map(clients).sum::<usize>(), moved.len());
    }

    #[tokio::test]
    async fn long_work_goes_on_beside_the_loops_and_comes_back() {
        let loops = Loops::start(2).unwrap();
        let place = loops.place(None).unwrap();
        let (aside, other) = (place.aside().unwrap(), place.aside().unwrap());
        assert!(place.back().is_none() && aside.aside().is_none());
        assert_ne!(aside.number, other.number);
        let stands = async { (current(), is_aside()) };
        assert_eq!(aside.handle().unwrap().spawn(stands).await.unwrap(), (0, true));
        let back = aside.back().unwrap();
        assert!(back.number <= 2);
        assert!(!back.handle().unwrap().spawn(async { is_aside() }).await.unwrap());
    }

    #[tokio::test]
    async fn what_runs_on_loops_ends_with_them() {
        let loops = Loops::start(1).unwrap();
        let (alive, ended) = oneshot::channel::<()>();
        let waits = async move {
            let _alive = alive;
            std::future::pending::<()>().await;
        };
        drop(loops.place(None).unwrap().handle().unwrap().spawn(waits));
        drop(loops);
        ended.await.unwrap_err();
    }
}
