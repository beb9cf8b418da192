//! Streams that take turns: the rows of an INSERT's RETURNING in the order of its VALUES.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use pando_kernel::column::Columns;
use pando_kernel::error::Result;

use super::RowSource;
use super::iterate::Iterate;
use super::stream::Stream;

/// The streams and whose turn it is.
///
/// A stream that ends before its turns is passed over, and what one has beyond them comes at the end: no row is lost or waited for. Whose rows they are is then
/// not told by their place, which whoever asks for this order looks out for.
#[derive(Debug)]
pub(super) struct Turns<S> {
    streams: Vec<Stream<S>>,
    turns: Arc<[u32]>,
    next: usize,
    rest: Option<Iterate<S>>,
}

impl<S: RowSource> Turns<S> {
    /// Takes a row of the stream each of `turns` names.
    pub(super) fn new(streams: Vec<Stream<S>>, turns: Arc<[u32]>) -> Self {
        Self { streams, turns, next: 0, rest: None }
    }

    /// The next row's frame.
    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
        form: &Columns,
    ) -> Poll<Result<Option<Bytes>>> {
        while let Some(turn) = self.turns.get(self.next) {
            let frame = match self.streams.get_mut(*turn as usize) {
                Some(stream) => ready!(stream.poll_frame(cx, form))?,
                None => None,
            };
            self.next += 1;
            if frame.is_some() {
                return Poll::Ready(Ok(frame));
            }
        }
        let streams = &mut self.streams;
        let rest = self.rest.get_or_insert_with(|| Iterate::new(std::mem::take(streams)));
        rest.poll_frame(cx, form)
    }
}
