//! Streams one after the other.

use std::collections::VecDeque;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use pando_kernel::column::Columns;
use pando_kernel::error::Result;
use pando_kernel::row::Rows;

use super::RowSource;
use super::stream::Stream;

/// The streams that are not yet at their end.
#[derive(Debug)]
pub(super) struct Iterate<S> {
    streams: VecDeque<Stream<S>>,
}

impl<S: RowSource> Iterate<S> {
    /// Takes the streams in this order.
    pub(super) fn new(streams: Vec<Stream<S>>) -> Self {
        Self { streams: streams.into() }
    }

    /// The next chunk, as its stream gave it.
    pub(super) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
        form: &Columns,
    ) -> Poll<Result<Option<Rows>>> {
        while let Some(stream) = self.streams.front_mut() {
            match ready!(stream.poll_chunk(cx, form))? {
                Some(rows) => return Poll::Ready(Ok(Some(rows))),
                None => drop(self.streams.pop_front()),
            }
        }
        Poll::Ready(Ok(None))
    }

    /// The next row's frame.
    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
        form: &Columns,
    ) -> Poll<Result<Option<Bytes>>> {
        while let Some(stream) = self.streams.front_mut() {
            match ready!(stream.poll_frame(cx, form))? {
                Some(frame) => return Poll::Ready(Ok(Some(frame))),
                None => drop(self.streams.pop_front()),
            }
        }
        Poll::Ready(Ok(None))
    }
}
