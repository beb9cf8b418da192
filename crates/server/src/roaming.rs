//! Clients that are served on the core that their bytes arrive on: the client's own thread, or the network card's queue, has just touched them there, and who
//! answers from there wakes no other core.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pando_kernel::runtime::{BoxFuture, Near};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

use crate::homed::Homed;
use crate::loops::{self, Place};

/// So many reads in a row must have come from elsewhere: schedulers move threads for a moment, and a move has its price.
const ELSEWHERE: u8 = 16;

thread_local! {
    /// Where the session which is being polled should go.
    static WISH: Cell<Wish> = const { Cell::new(Wish::None) };
}

/// Where a session should go on.
#[derive(Debug, Clone, Copy, Default)]
enum Wish {
    #[default]
    None,
    /// On the loop of this number.
    Loop(usize),
    /// Where it keeps nobody waiting.
    Aside,
    /// On any of the loops.
    Back,
}

/// The session that is being polled has long work before it. True where it is in nobody's way already.
pub(crate) fn steps_aside() -> bool {
    if loops::current() == 0 {
        return true;
    }
    WISH.set(Wish::Aside);
    false
}

/// The long work of the session that is being polled is done.
pub(crate) fn comes_back() {
    if loops::is_aside() {
        WISH.set(Wish::Back);
    }
}

/// A client's socket. It wishes its session to be where its bytes arrive.
#[derive(Debug)]
pub(crate) struct Client {
    socket: Homed<TcpStream>,
    near: Near,
    elsewhere: u8,
}

impl Client {
    pub(crate) fn new(socket: TcpStream) -> Self {
        let near = Near::default();
        Self { socket: Homed::new(socket, loops::current(), near.clone()), near, elsewhere: 0 }
    }

    fn look(&mut self) {
        if loops::is_aside() {
            return;
        }
        let near = self.near.event_loop();
        if near == 0 || near == loops::current() {
            self.elsewhere = 0;
            return;
        }
        self.elsewhere += 1;
        if self.elsewhere >= ELSEWHERE {
            self.elsewhere = 0;
            WISH.set(Wish::Loop(near));
        }
    }
}

impl AsyncRead for Client {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.socket).poll_read(cx, buffer))?;
        self.look();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Client {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

/// A client's session on its way through the loops. As a task it ends with the session (`None`), or with itself when it is to go on elsewhere: on
/// [`Roaming::handle`], which is another loop's by then.
pub(crate) struct Roaming {
    /// `None` after the end.
    on: Option<(BoxFuture<'static, ()>, Place)>,
}

impl Roaming {
    pub(crate) fn new(session: impl Future<Output = ()> + Send + 'static, place: Place) -> Self {
        Self { on: Some((Box::pin(session), place)) }
    }

    pub(crate) fn handle(&self) -> Option<Handle> {
        self.on.as_ref().and_then(|(_, place)| place.handle().cloned())
    }
}

impl Future for Roaming {
    type Output = Option<Self>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some((session, place)) = &mut self.on else { return Poll::Ready(None) };
        let ended = session.as_mut().poll(cx).is_ready();
        let wish = WISH.take();
        if ended {
            self.on = None;
            return Poll::Ready(None);
        }
        let other = match wish {
            Wish::None => None,
            Wish::Loop(number) => place.beside(number),
            Wish::Aside => place.aside(),
            Wish::Back => place.back(),
        };
        let Some(other) = other else { return Poll::Pending };
        let on = self.on.take().map(|(session, _)| (session, other));
        Poll::Ready(Some(Self { on }))
    }
}

impl fmt::Debug for Roaming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.on.as_ref().map(|(_, place)| place);
        f.debug_struct("Roaming").field("place", &place).finish_non_exhaustive()
    }
}
