//! Sessions behind one end of a socket pair, for drivers that want a file descriptor. Threads of the engine's own serve them.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, available_parallelism};

use crate::reactor::Reactor;
use crate::socket::{Descriptor, Socket};

/// Threads that serve socket pairs, at most.
const MOST: usize = 4;

/// The threads, begun when they are needed first.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    all: Vec<(Arc<Reactor>, JoinHandle<()>)>,
    next: usize,
}

impl Workers {
    /// The thread whose turn it is.
    ///
    /// # Errors
    /// When the process may have no more files or threads.
    pub(crate) fn next(&self) -> io::Result<Arc<Reactor>> {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let most = available_parallelism().map_or(1, usize::from).min(MOST);
        let at = inside.next % most;
        inside.next = at + 1;
        if inside.all.len() <= at {
            let worker = Reactor::start("pando-session")?;
            inside.all.push(worker);
        }
        match inside.all.get(at) {
            Some((worker, _)) => Ok(Arc::clone(worker)),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Ends them, with the sessions that they serve.
    pub(crate) fn end(&self) {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let all = std::mem::take(&mut inside.all);
        drop(inside);
        for (reactor, thread) in all {
            reactor.close();
            crate::embedded::join(thread);
        }
    }
}

/// Two ends: the engine's, without waiting, and the client's, which waits.
///
/// # Errors
/// When the process may open no more files.
pub(crate) fn pair(worker: &Arc<Reactor>) -> io::Result<(Socket, UnixStream)> {
    let (own, other) = UnixStream::pair()?;
    own.set_nonblocking(true)?;
    Ok((Socket::new(Descriptor::new(OwnedFd::from(own), worker)), other))
}
