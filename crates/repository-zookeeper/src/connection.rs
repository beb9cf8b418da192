//! One TCP connection: frames in and out, replies in the order of their requests, signs of life.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use pando_kernel::runtime::{SharedRuntime, Stream, within};
use pando_repository::Watchers;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::{mpsc, oneshot};

use crate::link::{Broken, Call, Reply};
use crate::wire::{self, Access, Reader, xid};

/// The largest frame taken: a node's children are listed in one.
const MAX_FRAME: usize = 32 * 1024 * 1024;

/// What a connection shares with the instance it works for.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) runtime: SharedRuntime,
    pub(crate) watchers: Arc<Watchers>,
    /// The namespace's node.
    pub(crate) root: String,
    pub(crate) access: Access,
    /// The newest transaction seen, which a server must know before it may serve us.
    pub(crate) zxid: AtomicI64,
}

pub(crate) struct Connection {
    pub(crate) input: ReadHalf<Box<dyn Stream>>,
    pub(crate) output: WriteHalf<Box<dyn Stream>>,
    pub(crate) buffer: BytesMut,
    /// What the server granted.
    pub(crate) timeout: Duration,
}

type Waiting = Mutex<VecDeque<(i32, oneshot::Sender<Result<Reply, Broken>>)>>;

/// Serves calls until the connection breaks or `calls` ends; says why.
pub(crate) async fn serve(
    connection: Connection,
    context: &Context,
    mut calls: mpsc::Receiver<Call>,
) -> io::Error {
    let Connection { mut input, mut output, mut buffer, timeout } = connection;
    let waiting = Waiting::default();
    let (silence, interval) = (timeout * 2 / 3, timeout / 3);
    let reading = async {
        loop {
            let frame = within(&*context.runtime, silence, read_frame(&mut input, &mut buffer));
            match frame.await {
                None => return io::Error::new(io::ErrorKind::TimedOut, "the server is silent"),
                Some(Err(e)) => return e,
                Some(Ok(frame)) => {
                    if take(frame, context, &waiting).is_none() {
                        return io::Error::new(io::ErrorKind::InvalidData, "an odd frame");
                    }
                }
            }
        }
    };
    let writing = async {
        let mut next = 1;
        loop {
            let call = match within(&*context.runtime, interval, calls.recv()).await {
                None => wire::ping(),
                Some(None) => return io::Error::new(io::ErrorKind::NotConnected, "closed"),
                Some(Some(Call { op, reply })) => {
                    let bytes = wire::request(next, &op, context.access);
                    lock(&waiting).push_back((next, reply));
                    next = if next == i32::MAX { 1 } else { next + 1 };
                    bytes
                }
            };
            if let Err(e) = write_frame(&mut output, &call).await {
                return e;
            }
        }
    };
    let (mut reading, mut writing) = (pin!(reading), pin!(writing));
    let ended = poll_fn(|cx| match reading.as_mut().poll(cx) {
        Poll::Ready(e) => Poll::Ready(e),
        Poll::Pending => writing.as_mut().poll(cx),
    });
    let why = ended.await;
    for (_, reply) in lock(&waiting).drain(..) {
        drop(reply.send(Err(Broken::InDoubt(why.to_string()))));
    }
    why
}

/// Handles a frame; `None` when it is not one that may come now.
fn take(frame: Bytes, context: &Context, waiting: &Waiting) -> Option<()> {
    let mut reader = Reader(frame);
    let (id, zxid, error) = (reader.int()?, reader.long()?, reader.int()?);
    context.zxid.fetch_max(zxid, Ordering::Relaxed);
    match id {
        xid::PING | xid::AUTH => {}
        xid::EVENT => {
            let _type_and_state = (reader.int()?, reader.int()?);
            let path = reader.text()?;
            // Before any later reply is passed on: a reader sees by its watch that what it read has changed meanwhile. The namespace's own
            // node only counts changes.
            if let Some(key) = path.strip_prefix(&context.root).filter(|key| !key.is_empty()) {
                context.watchers.changed(key);
            }
        }
        _ => {
            let (expected, reply) = lock(waiting).pop_front()?;
            if expected != id {
                drop(reply.send(Err(Broken::InDoubt("an answer out of turn".into()))));
                return None;
            }
            // Whoever asked may have given up.
            drop(reply.send(Ok(Reply { zxid, error, body: reader })));
        }
    }
    Some(())
}

pub(crate) async fn write_frame(
    output: &mut WriteHalf<Box<dyn Stream>>,
    payload: &[u8],
) -> io::Result<()> {
    let mut frame = Vec::with_capacity(payload.len() + 4);
    frame.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    frame.extend_from_slice(payload);
    output.write_all(&frame).await?;
    output.flush().await
}

/// Cancel safe: what has been read stays in the buffer.
pub(crate) async fn read_frame(
    input: &mut ReadHalf<Box<dyn Stream>>,
    buffer: &mut BytesMut,
) -> io::Result<Bytes> {
    loop {
        if let Some((length, _)) = buffer.split_first_chunk() {
            let length = u32::from_be_bytes(*length) as usize;
            if length > MAX_FRAME {
                let why = format!("a frame of {length} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            if buffer.len() >= length + 4 {
                let mut frame = buffer.split_to(length + 4).freeze();
                drop(frame.split_to(4));
                return Ok(frame);
            }
        }
        if input.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
