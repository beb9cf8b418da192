//! Sockets that follow their users from one event loop to another, and tell where their bytes arrive.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pando_kernel::runtime::Near;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use crate::{cores, loops};

/// After so many reads it is asked where the bytes arrive: a system call of a tenth of a microsecond.
const SAMPLE: u8 = 4;

/// A socket that one loop's reactor watches; any thread may use it.
pub(crate) trait Socket: AsyncRead + AsyncWrite + Sized + Unpin {
    /// Has the reactor of the loop that calls watch it instead.
    fn moved(self) -> io::Result<Self>;

    /// The core that the last bytes arrived on, if it is known.
    fn arrival(&self) -> Option<usize>;
}

impl Socket for TcpStream {
    fn moved(self) -> io::Result<Self> {
        Self::from_std(self.into_std()?)
    }

    fn arrival(&self) -> Option<usize> {
        cores::arrival(self)
    }
}

impl Socket for UnixStream {
    fn moved(self) -> io::Result<Self> {
        Self::from_std(self.into_std()?)
    }

    fn arrival(&self) -> Option<usize> {
        None
    }
}

/// Who sends from another loop takes the socket along. Its reply then wakes that loop's thread and no other's: a task that is woken by a foreign reactor costs a
/// system call and two threads' time. Threads that are no loops leave it where it is.
#[derive(Debug)]
pub(crate) struct Homed<S> {
    /// `None` after a move that failed.
    socket: Option<S>,
    home: usize,
    near: Near,
    reads: u8,
}

impl<S: Socket> Homed<S> {
    /// `home` is the loop that watches it, 0 where that is not known; `near` hears of the loop whose core the bytes arrive on.
    pub(crate) fn new(socket: S, home: usize, near: Near) -> Self {
        Self { socket: Some(socket), home, near, reads: 0 }
    }

    fn socket(&mut self) -> io::Result<Pin<&mut S>> {
        self.socket.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// After sending, not before: the old reactor knows that there is room, the new one would have to ask first.
    ///
    /// Whoever waits for bytes is told to look again, as the old reactor's promise to wake is gone: that is the caller's own task.
    fn follow(&mut self, cx: &Context<'_>) -> io::Result<()> {
        let here = loops::current();
        if here == self.home || here == 0 {
            return Ok(());
        }
        self.socket = self.socket.take().map(S::moved).transpose()?;
        self.home = here;
        cx.waker().wake_by_ref();
        Ok(())
    }
}

impl<S: Socket> AsyncRead for Homed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.socket()?.poll_read(cx, buffer))?;
        self.reads += 1;
        if self.reads >= SAMPLE {
            self.reads = 0;
            let core = self.socket.as_ref().and_then(Socket::arrival);
            self.near.tell(core.map_or(0, loops::of_core));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: Socket> AsyncWrite for Homed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = ready!(self.socket()?.poll_write(cx, bytes))?;
        self.follow(cx)?;
        Poll::Ready(Ok(sent))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = ready!(self.socket()?.poll_write_vectored(cx, parts))?;
        self.follow(cx)?;
        Poll::Ready(Ok(sent))
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket()?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket()?.poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::task::JoinHandle;

    use super::*;
    use crate::loops::Loops;

    /// Asks from here, then from two loops in turn, then from here again; the answers come wherever it is.
    #[tokio::test]
    async fn a_socket_follows_from_loop_to_loop() {
        let (homed, echo) = echoed().await;
        let mut homed = ask(homed, 0).await;
        let loops = Loops::start(2).unwrap();
        let (first, second) = (loops.place(None).unwrap(), loops.place(None).unwrap());
        for (place, home) in [(&first, 1), (&second, 2), (&second, 2), (&first, 1)] {
            homed = place.handle().unwrap().spawn(ask(homed, home)).await.unwrap();
        }
        homed = ask(homed, 1).await;
        homed.shutdown().await.unwrap();
        assert_eq!(homed.read(&mut [0]).await.unwrap(), 0);
        echo.await.unwrap().unwrap();
    }

    async fn echoed() -> (Homed<TcpStream>, JoinHandle<io::Result<u64>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let connecting = TcpStream::connect(listener.local_addr().unwrap());
        let (ours, theirs) = tokio::join!(connecting, listener.accept());
        let (mut reading, mut writing) = theirs.unwrap().0.into_split();
        let echo = tokio::spawn(async move { tokio::io::copy(&mut reading, &mut writing).await });
        (Homed::new(ours.unwrap(), 0, Near::default()), echo)
    }

    /// Waits for the answer from before it asks, and does not look at the socket after that until it is woken.
    async fn wait_and_ask(mut homed: Homed<TcpStream>) -> Homed<TcpStream> {
        let (mut bytes, mut asked) = ([0; 8], false);
        poll_fn(|cx| {
            let mut answer = ReadBuf::new(&mut bytes);
            if Pin::new(&mut homed).poll_read(cx, &mut answer)?.is_ready() {
                return Poll::Ready(io::Result::Ok(()));
            }
            if !asked {
                asked = true;
                assert!(Pin::new(&mut homed).poll_write(cx, b"question")?.is_ready());
            }
            Poll::Pending
        })
        .await
        .unwrap();
        homed
    }

    #[tokio::test]
    async fn who_waits_for_bytes_is_woken_after_a_move() {
        let (homed, echo) = echoed().await;
        let loops = Loops::start(2).unwrap();
        let mut homed = ask(homed, 0).await;
        for _ in 0..4 {
            let place = loops.place(None).unwrap();
            homed = place.handle().unwrap().spawn(wait_and_ask(homed)).await.unwrap();
            let (_stays, other) = (place, loops.place(None).unwrap());
            homed = other.handle().unwrap().spawn(wait_and_ask(homed)).await.unwrap();
        }
        drop(homed);
        echo.await.unwrap().unwrap();
    }

    async fn ask(mut homed: Homed<TcpStream>, home: usize) -> Homed<TcpStream> {
        homed.write_all(b"question").await.unwrap();
        assert_eq!(homed.home, home);
        let mut answer = [0; 8];
        homed.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"question");
        homed
    }
}
