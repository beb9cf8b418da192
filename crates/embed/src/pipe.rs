//! The bytes between a client and its session, both ways, and who waits for them.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that wait in one direction.
const MOST: usize = 64 << 10;

/// What is kept of an empty direction's room.
const KEPT: usize = 8 << 10;

/// Both directions.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    inside: Mutex<Inside>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inside {
    to_session: VecDeque<u8>,
    to_client: VecDeque<u8>,
    /// The client will neither read nor write.
    is_closed: bool,
    /// The session will neither.
    has_ended: bool,
    /// Somebody polls the session.
    is_driven: bool,
    session_reads: Option<Waker>,
    session_writes: Option<Waker>,
    /// Clients that come back when they are called.
    clients: Vec<Waker>,
}

/// What a client looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Bytes of the session's.
    Bytes,
    /// Room for bytes of its own.
    Room,
}

/// What a client finds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// So many bytes were taken over.
    Bytes(usize),
    /// The session has ended, and all it wrote was read.
    End,
    /// The client has closed it.
    Closed,
    /// Nothing yet.
    Nothing,
}

impl Inside {
    /// Whether a client has reason to look again.
    fn has(&self, wanted: Wants) -> bool {
        let is_there = match wanted {
            Wants::Bytes => !self.to_client.is_empty(),
            Wants::Room => self.to_session.len() < MOST,
        };
        is_there || self.has_ended || self.is_closed
    }

    /// Calls the client once something has changed for it.
    fn call(&mut self, client: &Waker) {
        if !self.clients.iter().any(|known| known.will_wake(client)) {
            self.clients.push(client.clone());
        }
    }

    fn clients_look(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.clients)
    }
}

fn shrink(bytes: &mut VecDeque<u8>) {
    if bytes.is_empty() && bytes.capacity() > KEPT {
        bytes.shrink_to(KEPT);
    }
}

impl Pipe {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells clients of a change.
    fn tell(&self, clients: Vec<Waker>) {
        self.changed.notify_all();
        clients.into_iter().for_each(Waker::wake);
    }

    /// What the session has written, into `buffer`.
    pub(crate) fn take(&self, buffer: &mut [u8]) -> Found {
        let mut inside = self.inside();
        if inside.is_closed {
            return Found::Closed;
        }
        // Reading from memory does not fail.
        let count = inside.to_client.read(buffer).unwrap_or_default();
        if count == 0 && !buffer.is_empty() {
            return if inside.has_ended { Found::End } else { Found::Nothing };
        }
        shrink(&mut inside.to_client);
        let waker = inside.session_writes.take();
        drop(inside);
        waker.into_iter().for_each(Waker::wake);
        Found::Bytes(count)
    }

    /// Bytes that a client may take over.
    pub(crate) fn available(&self) -> usize {
        self.inside().to_client.len()
    }

    /// As much of `bytes` as there is room for, to the session.
    pub(crate) fn give(&self, bytes: &[u8]) -> Found {
        let mut inside = self.inside();
        if inside.is_closed {
            return Found::Closed;
        }
        if inside.has_ended {
            return Found::End;
        }
        let count = bytes.len().min(MOST.saturating_sub(inside.to_session.len()));
        if count == 0 && !bytes.is_empty() {
            return Found::Nothing;
        }
        inside.to_session.extend(bytes.iter().take(count));
        let waker = inside.session_reads.take();
        drop(inside);
        waker.into_iter().for_each(Waker::wake);
        Found::Bytes(count)
    }

    /// Whether a client has reason to look again.
    pub(crate) fn has(&self, wanted: Wants) -> bool {
        self.inside().has(wanted)
    }

    /// The caller polls the session from now on, until [`Pipe::leave`]; false where somebody else does.
    pub(crate) fn drive(&self) -> bool {
        !std::mem::replace(&mut self.inside().is_driven, true)
    }

    /// The same, for one who is called when there is reason to come again, as when he who polls it leaves.
    pub(crate) fn drive_or_call(&self, client: &Waker) -> bool {
        let mut inside = self.inside();
        if inside.is_driven {
            inside.call(client);
            return false;
        }
        inside.is_driven = true;
        true
    }

    /// Nobody polls the session: who waits for it may. `client` leaves, and is called when something has changed for him.
    pub(crate) fn leave(&self, client: Option<&Waker>) {
        let mut inside = self.inside();
        inside.is_driven = false;
        let mut clients = inside.clients_look();
        if let Some(own) = client {
            clients.retain(|known| !known.will_wake(own));
            inside.call(own);
        }
        drop(inside);
        self.tell(clients);
    }

    /// Sleeps while somebody else polls the session and there is nothing for this client. False when it is `until`.
    pub(crate) fn sleep(&self, wanted: Wants, until: Option<Instant>) -> bool {
        let mut inside = self.inside();
        loop {
            if inside.has(wanted) || !inside.is_driven {
                return true;
            }
            inside = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => self.changed.wait(inside).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => return false,
                Some(left) => {
                    let waited = self.changed.wait_timeout(inside, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// The client neither reads nor writes any more. The session finds the end of what it reads.
    pub(crate) fn close(&self) {
        let mut inside = self.inside();
        inside.is_closed = true;
        let wakers = [inside.session_reads.take(), inside.session_writes.take()];
        let clients = inside.clients_look();
        drop(inside);
        wakers.into_iter().flatten().for_each(Waker::wake);
        self.tell(clients);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.inside().is_closed
    }

    /// The session is over.
    pub(crate) fn end(&self) {
        let mut inside = self.inside();
        inside.has_ended = true;
        let clients = inside.clients_look();
        drop(inside);
        self.tell(clients);
    }
}

/// The session's end of a pipe.
#[derive(Debug)]
pub(crate) struct SessionEnd(pub(crate) Arc<Pipe>);

impl Drop for SessionEnd {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl AsyncRead for SessionEnd {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut inside = self.0.inside();
        if inside.to_session.is_empty() {
            if inside.is_closed {
                return Poll::Ready(Ok(()));
            }
            inside.session_reads = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let count = inside.to_session.read(buffer.initialize_unfilled())?;
        buffer.advance(count);
        shrink(&mut inside.to_session);
        let clients = inside.clients_look();
        drop(inside);
        self.0.tell(clients);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for SessionEnd {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut inside = self.0.inside();
        if inside.is_closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let count = bytes.len().min(MOST.saturating_sub(inside.to_client.len()));
        if count == 0 && !bytes.is_empty() {
            inside.session_writes = Some(cx.waker().clone());
            return Poll::Pending;
        }
        inside.to_client.write_all(bytes.get(..count).unwrap_or_default())?;
        let clients = inside.clients_look();
        drop(inside);
        self.0.tell(clients);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.end();
        Poll::Ready(Ok(()))
    }
}
