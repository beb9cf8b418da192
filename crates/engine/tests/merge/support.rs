//! Streams, columns and a dialect for the tests of the merge.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering as Atomic};
use std::task::{Context, Poll, Wake, Waker};

use bytes::{BufMut, BytesMut};
use pando_engine::merge::{Input, Limits, Merge, RowSource};
use pando_kernel::column::{Column, Columns};
use pando_kernel::dialect::{Compare, Comparison, Ordering, TableColumn};
use pando_kernel::error::{Error, Result};
use pando_kernel::merge::{KeyCompare, MergePlan, Position, SortKey};
use pando_kernel::row::{Cell, NeutralCodec, RowCodec, Rows};
use pando_kernel::value::{Kind, Value};

pub(crate) type Record = Vec<Value>;

/// Compares by the kind of the column alone.
#[derive(Debug)]
pub(crate) struct Plain;

impl Ordering for Plain {
    fn nulls_first(&self) -> bool {
        true
    }

    fn comparison(&self, _text: &str, _info: Option<&TableColumn>) -> Comparison {
        Comparison::ByResult { derive: None }
    }

    fn compare_result(&self, column: &Column) -> Result<Compare> {
        match column.kind {
            Kind::Bool | Kind::Int | Kind::UInt | Kind::Decimal | Kind::Float => {
                Ok(Compare::Number)
            }
            Kind::Text | Kind::Bytes => Ok(Compare::Bytes),
            Kind::Date | Kind::Time | Kind::Timestamp | Kind::TimestampTz => {
                Ok(Compare::Temporal(column.kind))
            }
            Kind::Other => Err(Error::unmerged(30001, "no order", "")),
        }
    }
}

/// The neutral form with every byte of a body turned over: another form, whose bodies have to be assembled.
#[derive(Debug)]
pub(crate) struct Mirrored;

fn mirrored(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| !byte).collect()
}

impl RowCodec for Mirrored {
    fn form(&self) -> &'static str {
        "mirrored"
    }

    fn next<'a>(&self, frames: &'a [u8]) -> Result<(usize, Cow<'a, [u8]>)> {
        let (length, body) = NeutralCodec.next(frames)?;
        Ok((length, Cow::Owned(mirrored(&body))))
    }

    fn fields(
        &self,
        columns: &[Column],
        body: &[u8],
        out: &mut Vec<Option<Range<usize>>>,
    ) -> Result<()> {
        NeutralCodec.fields(columns, body, out)
    }

    fn value(&self, column: &Column, field: Option<&[u8]>) -> Result<Value> {
        NeutralCodec.value(column, field)
    }

    fn write(&self, columns: &[Column], cells: &[Cell<'_>], out: &mut BytesMut) -> Result<()> {
        let mut plain = BytesMut::new();
        NeutralCodec.write(columns, cells, &mut plain)?;
        out.put_slice(&plain[..4]);
        out.put_slice(&mirrored(&plain[4..]));
        Ok(())
    }
}

/// What a source does when it is polled.
#[derive(Debug)]
pub(crate) enum Act {
    /// Says that there is nothing yet, and wakes at once.
    Wait,
    Give(Rows),
    Fail(Error),
}

/// A source that plays its acts and then ends. Being polled again after that fails the test.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) acts: VecDeque<Act>,
    pub(crate) over: bool,
}

impl RowSource for Script {
    fn poll_rows(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Rows>>> {
        assert!(!self.over, "a source was polled after its end");
        match self.acts.pop_front() {
            Some(Act::Wait) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(Act::Give(rows)) => Poll::Ready(Ok(Some(rows))),
            Some(Act::Fail(error)) => {
                self.over = true;
                Poll::Ready(Err(error))
            }
            None => {
                self.over = true;
                Poll::Ready(Ok(None))
            }
        }
    }
}

pub(crate) fn columns_in(codec: Arc<dyn RowCodec>, kinds: &[Kind]) -> Columns {
    let list = kinds.iter().enumerate();
    Columns {
        list: list.map(|(i, kind)| Column::computed(format!("c{i}"), *kind)).collect(),
        codec,
    }
}

pub(crate) fn columns(kinds: &[Kind]) -> Columns {
    columns_in(Arc::new(NeutralCodec), kinds)
}

pub(crate) fn rows(columns: &Columns, records: &[Record]) -> Rows {
    let mut bytes = BytesMut::new();
    for record in records {
        let cells: Vec<Cell<'_>> = record.iter().map(Cell::Value).collect();
        columns.codec.write(&columns.list, &cells, &mut bytes).unwrap();
    }
    Rows { bytes: bytes.freeze(), count: u32::try_from(records.len()).unwrap() }
}

/// A stream of these records in chunks of `chunk` rows; before every chunk whose number `waits` has a bit for, it lets wait.
pub(crate) fn input(
    columns: &Columns,
    records: &[Record],
    chunk: usize,
    waits: u64,
) -> Input<Script> {
    let mut acts = VecDeque::new();
    for (at, part) in records.chunks(chunk.max(1)).enumerate() {
        if waits >> (at % 64) & 1 == 1 {
            acts.push_back(Act::Wait);
        }
        acts.push_back(Act::Give(rows(columns, part)));
    }
    if waits & 1 == 1 {
        acts.push_back(Act::Wait);
    }
    Input { columns: columns.clone(), rows: Script { acts, over: false } }
}

pub(crate) fn inputs(columns: &Columns, streams: &[Vec<Record>]) -> Vec<Input<Script>> {
    streams.iter().map(|records| input(columns, records, 3, 0)).collect()
}

pub(crate) const LIMITS: Limits = Limits { memory_bytes: 1 << 20 };

pub(crate) fn start(plan: &MergePlan, inputs: Vec<Input<Script>>) -> Result<Merge<Script>> {
    Merge::new(plan, inputs, &Plain, LIMITS)
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Atomic::SeqCst);
    }
}

/// The next chunk. A `Pending` that nobody wakes fails the test instead of hanging it.
pub(crate) fn next(merge: &mut Merge<Script>) -> Result<Option<Rows>> {
    let flag = Arc::new(Flag(AtomicBool::new(false)));
    let waker = Waker::from(Arc::clone(&flag));
    loop {
        match merge.poll_rows(&mut Context::from_waker(&waker)) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => assert!(flag.0.swap(false, Atomic::SeqCst), "nobody wakes the merge"),
        }
    }
}

pub(crate) fn decode(columns: &Columns, rows: &Rows) -> Vec<Record> {
    let mut records = Vec::new();
    let mut fields = Vec::new();
    rows.for_each(columns, |body| {
        columns.codec.fields(&columns.list, body, &mut fields)?;
        let value = |(column, field): (&Column, &Option<Range<usize>>)| {
            columns.codec.value(column, field.clone().map(|range| &body[range]))
        };
        records.push(columns.list.iter().zip(&fields).map(value).collect::<Result<_>>()?);
        Ok(())
    })
    .unwrap();
    assert_eq!(records.len(), rows.count as usize, "a chunk tells its number of rows");
    records
}

/// All records of a merge, which must then stay at its end.
pub(crate) fn drain(mut merge: Merge<Script>) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    while let Some(rows) = next(&mut merge)? {
        assert!(rows.count > 0, "a chunk is never empty");
        records.extend(decode(merge.columns(), &rows));
    }
    assert!(merge.is_finished());
    assert!(next(&mut merge)?.is_none(), "the end is for ever");
    Ok(records)
}

pub(crate) fn merged(plan: &MergePlan, inputs: Vec<Input<Script>>) -> Result<Vec<Record>> {
    drain(start(plan, inputs)?)
}

pub(crate) fn asc(position: Position) -> SortKey {
    let compare = KeyCompare::ByResult { weights: None };
    SortKey { position, compare, descending: false, nulls_first: true }
}

pub(crate) fn at(column: usize) -> SortKey {
    asc(Position::Index(column))
}

pub(crate) fn desc(column: usize) -> SortKey {
    SortKey { descending: true, nulls_first: false, ..at(column) }
}

pub(crate) fn int(value: i64) -> Value {
    Value::Int(value)
}

pub(crate) fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

pub(crate) fn decimal(value: &str) -> Value {
    Value::Decimal(value.parse().unwrap())
}

pub(crate) fn ints(values: &[i64]) -> Vec<Record> {
    values.iter().map(|value| vec![int(*value)]).collect()
}
