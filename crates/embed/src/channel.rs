//! A client's channel: bytes of its protocol, both ways.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::pipe::{Found, Wants};
use crate::session::Session;

/// A connection to the engine. Threads may share it: one may read while another writes or closes.
///
/// Closed when it is dropped: an open transaction is rolled back, as when a client's connection breaks.
#[derive(Debug)]
pub struct Channel {
    session: Arc<Session>,
}

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// So many bytes.
    Bytes(usize),
    /// The engine has closed the connection.
    End,
    /// Nothing came in time.
    TimedOut,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// All of it.
    All,
    /// So many bytes, then the time was over.
    TimedOut(usize),
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the channel is closed")
}

fn ended() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the engine has closed the connection")
}

impl Channel {
    pub(crate) fn new(session: Session) -> Self {
        Self { session: Arc::new(session) }
    }

    /// Reads at least one byte. The session runs on this thread meanwhile, which sleeps in poll(2) where it waits for storage units; where another
    /// thread is at it already, this one waits for what that brings about.
    ///
    /// # Errors
    /// `NotConnected` when the channel is closed; when the process may open no more files.
    pub fn read(&self, buffer: &mut [u8], limit: Option<Duration>) -> io::Result<Read> {
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            match self.session.pipe().take(buffer) {
                Found::Bytes(count) => return Ok(Read::Bytes(count)),
                Found::End => return Ok(Read::End),
                Found::Closed => return Err(closed()),
                Found::Nothing => {}
            }
            if !self.wait(Wants::Bytes, until)? {
                return Ok(Read::TimedOut);
            }
        }
    }

    /// Writes all of it. The session runs on this thread while there is no room.
    ///
    /// # Errors
    /// `NotConnected` when the channel is closed, `BrokenPipe` when the engine has ended the session.
    pub fn write(&self, bytes: &[u8], limit: Option<Duration>) -> io::Result<Written> {
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            match self.session.pipe().give(rest) {
                Found::Bytes(count) => done += count,
                Found::End => return Err(ended()),
                Found::Closed => return Err(closed()),
                Found::Nothing => {
                    if !self.wait(Wants::Room, until)? {
                        return Ok(Written::TimedOut(done));
                    }
                }
            }
        }
        Ok(Written::All)
    }

    /// Goes on until there are bytes, or room for some; false when it is `until`.
    fn wait(&self, wanted: Wants, until: Option<Instant>) -> io::Result<bool> {
        match self.session.drive(wanted, until)? {
            Some(in_time) => Ok(in_time),
            None => Ok(self.session.pipe().sleep(wanted, until)),
        }
    }

    /// Bytes that can be read without waiting.
    pub fn available(&self) -> usize {
        self.session.pipe().available()
    }

    /// Reads without waiting. The session goes on as far as it can; where it waits, a reactor of the engine's waits for it, and the task is woken.
    ///
    /// # Errors
    /// As [`Channel::read`].
    pub fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.poll(cx.waker(), |session| match session.pipe().take(buffer) {
            Found::Bytes(count) => Some(Ok(count)),
            Found::End => Some(Ok(0)),
            Found::Closed => Some(Err(closed())),
            Found::Nothing => None,
        })
    }

    /// Writes what there is room for, without waiting.
    ///
    /// # Errors
    /// As [`Channel::write`].
    pub fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll(cx.waker(), |session| match session.pipe().give(bytes) {
            Found::Bytes(count) => Some(Ok(count)),
            Found::End => Some(Err(ended())),
            Found::Closed => Some(Err(closed())),
            Found::Nothing => None,
        })
    }

    fn poll<T>(&self, waker: &Waker, mut look: impl FnMut(&Session) -> Option<T>) -> Poll<T> {
        if let Some(found) = look(&self.session) {
            return Poll::Ready(found);
        }
        self.session.step(waker);
        match look(&self.session) {
            Some(found) => Poll::Ready(found),
            None => Poll::Pending,
        }
    }

    /// Ends the session; whoever reads or writes is told.
    pub fn close(&self) {
        self.session.end();
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.close();
    }
}
