//! One connection: the polled side of a thread that talks to SQLite.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use pando_kernel::backend::Condition;
use pando_kernel::session::TransactionState;
use pando_kernel::{Backend, CancelToken, CopyInput, Error, ErrorKind, Event, Execution, Result};

use crate::error::unavailable;
use crate::line::{Line, Message};

/// Executions that may be started before their replies are read.
const OUTSTANDING_LIMIT: usize = 1024;

/// A connection to a SQLite database. Dropping it interrupts what runs and ends its thread.
#[derive(Debug)]
pub(crate) struct SqliteBackend {
    path: Arc<str>,
    number: u64,
    line: Arc<Line>,
    /// Started but not handed to the thread yet.
    started: VecDeque<Execution>,
    outstanding: usize,
    transaction: TransactionState,
}

impl SqliteBackend {
    pub(crate) fn new(path: Arc<str>, number: u64, line: Arc<Line>) -> Self {
        Self {
            path,
            number,
            line,
            started: VecDeque::new(),
            outstanding: 0,
            transaction: TransactionState::Idle,
        }
    }

    /// Completes when the thread has opened the database.
    pub(crate) fn poll_open(&mut self, cx: &Context<'_>) -> Poll<Result<()>> {
        self.line.poll(cx).map(|message| match message {
            Some(Message::Opened(outcome)) => outcome,
            Some(Message::Piece(_) | Message::End(..)) | None => Err(self.lost()),
        })
    }

    fn lost(&mut self) -> Error {
        self.outstanding = 0;
        self.started.clear();
        unavailable(&self.path, "the connection's thread has ended")
    }

    fn finish(&mut self, transaction: TransactionState) {
        self.outstanding = self.outstanding.saturating_sub(1);
        self.transaction = transaction;
    }
}

impl Backend for SqliteBackend {
    fn start(&mut self, execution: Execution) -> Result<()> {
        if self.outstanding >= OUTSTANDING_LIMIT {
            return Err(Error::new(ErrorKind::TooLarge(format!(
                "more than {OUTSTANDING_LIMIT} statements are outstanding on one connection"
            ))));
        }
        self.outstanding += 1;
        self.started.push_back(execution);
        Ok(())
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event>> {
        if self.outstanding == 0 {
            return Poll::Ready(Err(Error::internal("no execution is under way")));
        }
        self.line.submit(&mut self.started);
        match self.line.poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Message::Piece(event))) => Poll::Ready(Ok(event)),
            Poll::Ready(Some(Message::End(outcome, transaction))) => {
                self.finish(transaction);
                Poll::Ready(outcome.map(|()| Event::Done))
            }
            Poll::Ready(Some(Message::Opened(_)) | None) => Poll::Ready(Err(self.lost())),
        }
    }

    fn copy(&mut self, _input: CopyInput) -> Result<()> {
        Err(Error::internal("no copy is under way: SQLite has none"))
    }

    fn poll_flush(&mut self, _cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.line.submit(&mut self.started);
        Poll::Ready(Ok(()))
    }

    fn condition(&self) -> Condition {
        Condition {
            usable: !self.line.ended(),
            outstanding: self.outstanding,
            transaction: self.transaction,
        }
    }

    fn token(&self) -> CancelToken {
        CancelToken { id: self.number, secret: 0 }
    }
}

impl Drop for SqliteBackend {
    fn drop(&mut self) {
        self.line.abandon();
    }
}
