//! One connection to a fake unit.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use pando_kernel::backend::Condition;
use pando_kernel::dialect::Metadata;
use pando_kernel::session::TransactionState;
use pando_kernel::{
    Backend, CancelToken, Completion, CopyInput, Description, Error, Event, Execution, Kind,
    Result, Value, Whole,
};

use crate::error::{lost, sent, server_error};
use crate::script::{Reply, verb};
use crate::types::{columns, neutral_rows};
use crate::unit::{Inner, Received};

/// A connection: a queue of executions and the reply under way.
#[derive(Debug)]
pub(crate) struct FakeBackend {
    unit: Arc<Inner>,
    number: u64,
    queue: VecDeque<Execution>,
    current: Option<Current>,
    transaction: TransactionState,
    broken: bool,
}

#[derive(Debug)]
struct Current {
    verb: String,
    /// What is left of the reply; rows become chunks only when they are pulled.
    pieces: VecDeque<Piece>,
    /// The cancel requests that had arrived when it started: a later one is meant for it.
    cancels_seen: usize,
    /// Set after `CopyIn`: the rest waits for the end of the copy data.
    copying: bool,
}

#[derive(Debug)]
enum Piece {
    Event(Event),
    Rows(Vec<(String, Kind)>, VecDeque<Vec<Value>>),
    Error(Error),
    Victim,
    Hang,
    Disconnect,
}

impl FakeBackend {
    pub(crate) fn new(unit: Arc<Inner>, number: u64) -> Self {
        unit.open.fetch_add(1, Ordering::SeqCst);
        Self {
            unit,
            number,
            queue: VecDeque::new(),
            current: None,
            transaction: TransactionState::Idle,
            broken: false,
        }
    }

    fn check_alive(&mut self) -> Result<()> {
        if self.number < self.unit.lock().broken_below {
            self.broken = true;
        }
        if self.broken {
            self.queue.clear();
            self.current = None;
            return Err(lost(&self.unit.name));
        }
        Ok(())
    }

    fn waits_for_speech(&self, cx: &Context<'_>) -> bool {
        let mut state = self.unit.lock();
        if state.is_silent {
            state.hanging.push(cx.waker().clone());
        }
        state.is_silent
    }

    /// Receives the next execution and looks its reply up.
    fn begin(&mut self, execution: Execution) -> Current {
        let mut state = self.unit.lock();
        state.received.push(Received { connection: self.number, execution: execution.clone() });
        let cancels_seen = state.cancels.len();
        let tables_query = self.unit.dialect.tables_query();
        let (verb, pieces) = match &execution {
            Execution::Text(sql) | Execution::Aside(sql) | Execution::Lifted { text: sql, .. } => {
                (ending(sql), pieces(state.script.answer(sql, &[], &tables_query)))
            }
            Execution::Prepared { sql, parameters, .. } => {
                let values: Vec<Value> = parameters.iter().map(|p| p.value.clone()).collect();
                (verb(sql), pieces(state.script.answer(sql, &values, &tables_query)))
            }
            Execution::Describe { sql, .. } => {
                let marks = sql.matches(['?', '$']).count();
                let reply = state.script.answer(sql, &[], &tables_query);
                (String::new(), described(reply, marks))
            }
            Execution::Reset => {
                ("ROLLBACK".to_owned(), state.script.told("RESET").map(pieces).unwrap_or_default())
            }
            Execution::Scrub => {
                ("ROLLBACK".to_owned(), state.script.told("SCRUB").map(pieces).unwrap_or_default())
            }
            Execution::Ping => {
                (String::new(), state.script.told("PING").map(pieces).unwrap_or_default())
            }
        };
        Current { verb, pieces, cancels_seen, copying: false }
    }

    fn finish(&mut self, verb: &str) {
        self.transaction = match verb {
            "BEGIN" | "START" => TransactionState::Open,
            "COMMIT" | "ROLLBACK" => TransactionState::Idle,
            _ => self.transaction,
        };
    }

    fn fail(&mut self, error: Error) -> Error {
        self.current = None;
        if self.transaction == TransactionState::Open && self.unit.dialect.error_fails_transaction {
            self.transaction = TransactionState::Failed;
        }
        error
    }

    fn hang(&mut self, cancels_seen: usize, cx: &Context<'_>) -> Poll<Result<Event>> {
        let mut state = self.unit.lock();
        let cancelled =
            state.cancels.iter().skip(cancels_seen).any(|token| token.id == self.number);
        if !cancelled {
            state.hanging.push(cx.waker().clone());
            return Poll::Pending;
        }
        drop(state);
        let error = server_error("57014", "canceling statement due to user request");
        Poll::Ready(Err(self.fail(sent(error))))
    }

    fn step(&mut self, mut current: Current, cx: &Context<'_>) -> Poll<Result<Event>> {
        if current.copying {
            self.current = Some(current);
            self.unit.lock().hanging.push(cx.waker().clone());
            return Poll::Pending;
        }
        let Some(piece) = current.pieces.pop_front() else {
            self.finish(&current.verb);
            return Poll::Ready(Ok(Event::Done));
        };
        match piece {
            Piece::Event(event) => {
                current.copying = matches!(event, Event::CopyIn(_) | Event::SendFile(_));
                self.current = Some(current);
                Poll::Ready(Ok(event))
            }
            Piece::Rows(shape, mut rows) => {
                let chunk = self.unit.lock().rows_per_chunk.min(rows.len());
                let chunk: Vec<Vec<Value>> = rows.drain(..chunk).collect();
                if !rows.is_empty() {
                    current.pieces.push_front(Piece::Rows(shape.clone(), rows));
                }
                self.current = Some(current);
                self.unit.lock().rows_sent += chunk.len();
                Poll::Ready(neutral_rows(&described_columns(&shape), &chunk).map(Event::Rows))
            }
            Piece::Error(error) => Poll::Ready(Err(self.fail(error))),
            Piece::Victim => {
                let deadlock =
                    pando_kernel::ServerError { number: 1213, ..server_error("40001", "deadlock") };
                let error = self.fail(sent(deadlock));
                self.transaction = TransactionState::Idle;
                Poll::Ready(Err(error))
            }
            Piece::Hang => {
                let seen = current.cancels_seen;
                current.pieces.push_front(Piece::Hang);
                self.current = Some(current);
                self.hang(seen, cx)
            }
            Piece::Disconnect => {
                self.broken = true;
                Poll::Ready(Err(lost(&self.unit.name)))
            }
        }
    }
}

/// The verb, but that of a return to a savepoint, which ends nothing.
fn ending(sql: &str) -> String {
    let verb = verb(sql);
    let returns = verb == "ROLLBACK" && sql.to_ascii_uppercase().contains(" TO ");
    if returns { "SAVEPOINT".to_owned() } else { verb }
}

fn described_columns(shape: &[(String, Kind)]) -> pando_kernel::Columns {
    let pairs: Vec<(&str, Kind)> =
        shape.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
    columns(&pairs)
}

fn pieces(reply: Reply) -> VecDeque<Piece> {
    match reply {
        Reply::Rows(shape, rows) => {
            let completion =
                Completion { affected: Some(rows.len() as u64), ..Completion::default() };
            let mut pieces =
                VecDeque::from([Piece::Event(Event::Columns(described_columns(&shape)))]);
            if !rows.is_empty() {
                pieces.push_back(Piece::Rows(shape, rows.into()));
            }
            pieces.push_back(Piece::Event(Event::Complete(completion)));
            pieces
        }
        Reply::Victim(shape, rows) => {
            let columns = Piece::Event(Event::Columns(described_columns(&shape)));
            [columns, Piece::Rows(shape, rows.into()), Piece::Victim].into()
        }
        Reply::Complete(completion) => [Piece::Event(Event::Complete(completion))].into(),
        Reply::Empty => [Piece::Event(Event::Empty)].into(),
        Reply::Error(error) => [Piece::Error(sent(error))].into(),
        Reply::Hang => [Piece::Hang].into(),
        Reply::Disconnect => [Piece::Disconnect].into(),
        Reply::Events(events) => events.into_iter().map(Piece::Event).collect(),
    }
}

/// A reply of columns, rows and completion in one, and how many rows it has; `None` for any other.
fn whole(pieces: &[Piece]) -> Result<Option<(Whole, usize)>> {
    let (columns, rows, completion) = match pieces {
        [Piece::Event(Event::Complete(done))] => (None, None, done),
        [Piece::Event(Event::Columns(columns)), Piece::Event(Event::Complete(done))] => {
            (Some(columns), None, done)
        }
        [
            Piece::Event(Event::Columns(columns)),
            Piece::Rows(_, rows),
            Piece::Event(Event::Complete(done)),
        ] => (Some(columns), Some(rows), done),
        _ => return Ok(None),
    };
    let count = rows.map_or(0, VecDeque::len);
    let rows = columns.zip(rows).map(|(columns, rows)| {
        neutral_rows(columns, &rows.iter().cloned().collect::<Vec<Vec<Value>>>())
    });
    let (columns, completion) = (columns.cloned(), completion.clone());
    Ok(Some((Whole { columns, rows: rows.transpose()?, completion }, count)))
}

/// The reply to a describe request for a text that would be answered so. `marks` is the number of parameter marks in the text.
fn described(reply: Reply, marks: usize) -> VecDeque<Piece> {
    let columns = match reply {
        Reply::Rows(shape, _) | Reply::Victim(shape, _) => Some(described_columns(&shape)),
        Reply::Events(events) => events.into_iter().find_map(|event| {
            if let Event::Columns(columns) = event { Some(columns) } else { None }
        }),
        Reply::Complete(_) | Reply::Empty => None,
        Reply::Error(_) | Reply::Hang | Reply::Disconnect => return pieces(reply),
    };
    let parameters = vec![pando_kernel::Native::default(); marks];
    [Piece::Event(Event::Described(Description { parameters, columns }))].into()
}

impl Backend for FakeBackend {
    fn start(&mut self, execution: Execution) -> Result<()> {
        self.queue.push_back(execution);
        Ok(())
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event>> {
        self.check_alive()?;
        if self.waits_for_speech(cx) {
            return Poll::Pending;
        }
        if let Some(current) = self.current.take() {
            return self.step(current, cx);
        }
        let Some(execution) = self.queue.pop_front() else {
            return Poll::Ready(Err(Error::internal("no execution is under way")));
        };
        let current = self.begin(execution);
        self.step(current, cx)
    }

    fn poll_whole(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Whole>>> {
        self.check_alive()?;
        let in_pieces = !self.unit.lock().answers_whole || self.waits_for_speech(cx);
        if in_pieces || self.current.is_some() {
            return Poll::Ready(Ok(None));
        }
        let Some(execution) = self.queue.pop_front() else { return Poll::Ready(Ok(None)) };
        let mut current = self.begin(execution);
        let Some((whole, count)) = whole(current.pieces.make_contiguous())? else {
            self.current = Some(current);
            return Poll::Ready(Ok(None));
        };
        self.unit.lock().rows_sent += count;
        self.finish(&current.verb);
        Poll::Ready(Ok(Some(whole)))
    }

    fn copy(&mut self, input: CopyInput) -> Result<()> {
        let Some(current) = self.current.as_mut().filter(|current| current.copying) else {
            return Err(Error::internal("no copy is under way"));
        };
        match input {
            CopyInput::Data(data) => {
                self.unit.lock().copied.extend_from_slice(&data);
                return Ok(());
            }
            CopyInput::Done => {}
            CopyInput::Fail(reason) => {
                let error = server_error("57014", format!("COPY from stdin failed: {reason}"));
                current.pieces = [Piece::Error(sent(error))].into();
            }
        }
        current.copying = false;
        let waiting = std::mem::take(&mut self.unit.lock().hanging);
        waiting.into_iter().for_each(std::task::Waker::wake);
        Ok(())
    }

    fn poll_flush(&mut self, _cx: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(self.check_alive())
    }

    fn condition(&self) -> Condition {
        Condition {
            usable: !self.broken,
            outstanding: self.queue.len() + usize::from(self.current.is_some()),
            transaction: self.transaction,
        }
    }

    fn token(&self) -> CancelToken {
        CancelToken { id: self.number, secret: 0 }
    }
}

impl Drop for FakeBackend {
    fn drop(&mut self) {
        self.unit.open.fetch_sub(1, Ordering::SeqCst);
    }
}
