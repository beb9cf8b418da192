//! The event loops that serve clients: each a thread with a reactor, timers and a queue of tasks of its own. What a statement touches stays in one core's caches, and
//! no loop takes a lock of another's for it.

use std::cell::{Cell, OnceCell};
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

use crate::cores;

thread_local! {
    static OWN: Cell<usize> = const { Cell::new(0) };
    static CORES: OnceCell<Arc<[usize]>> = const { OnceCell::new() };
}

/// The number of the loop whose thread calls, from 1; 0 where it is another thread.
pub(crate) fn current() -> usize {
    OWN.get()
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
    cores: Arc<[usize]>,
}

#[derive(Debug)]
struct Loop {
    handle: Handle,
    clients: AtomicUsize,
}

impl Map {
    fn get(&self, number: usize) -> Option<&Loop> {
        self.loops.get(number.checked_sub(1)?)
    }

    fn clients(&self, number: usize) -> usize {
        self.get(number).map_or(0, |own| own.clients.load(Ordering::Relaxed))
    }

    /// Whether one more may join this loop. All bytes may arrive on one core, from a network card with one queue or a client with one thread: no loop gets more than a
    /// quarter above the average.
    fn has_room(&self, number: usize) -> bool {
        let clients: usize = (1..=self.loops.len()).map(|other| self.clients(other)).sum();
        let average = clients.div_ceil(self.loops.len().max(1));
        number > 0 && self.clients(number) <= average + average / 4
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
        let (loops, running) = (1..=count)
            .map(|number| start(number, Arc::clone(&cores)))
            .collect::<io::Result<Vec<_>>>()?
            .into_iter()
            .unzip();
        Ok(Self { map: Arc::new(Map { loops, cores }), _running: running })
    }

    /// A place on the loop of the core that a client's bytes arrive on, otherwise on the one that has the fewest clients.
    pub(crate) fn place(&self, core: Option<usize>) -> Option<Place> {
        let near = core.map_or(0, |core| number_of(&self.map.cores, core));
        if self.map.has_room(near) {
            return self.map.place(near);
        }
        let emptiest = (1..=self.map.loops.len()).min_by_key(|&number| self.map.clients(number))?;
        self.map.place(emptiest)
    }
}

fn start(number: usize, cores: Arc<[usize]>) -> io::Result<(Loop, oneshot::Sender<()>)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let (running, ended) = oneshot::channel();
    let name = format!("loop-{number}");
    thread::Builder::new().name(name).spawn(move || run(number, cores, runtime, ended))?;
    Ok((Loop { handle, clients: AtomicUsize::new(0) }, running))
}

fn run(number: usize, cores: Arc<[usize]>, runtime: Runtime, ended: impl Future) {
    OWN.set(number);
    // Both are about speed only, and some sandboxes forbid them.
    match cores.get(number - 1).copied().map(cores::stay_on) {
        Some(Err(error)) => {
            tracing::debug!(number, %error, "an event loop cannot be kept on its core")
        }
        Some(Ok(())) => CORES.with(|own| drop(own.set(cores))),
        None => {}
    }
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
