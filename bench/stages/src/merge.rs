//! Rows of four storage units to one stream.

use std::hint::black_box;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::BytesMut;
use pando_engine::merge::{Input, Limits, Merge, RowSource};
use pando_kernel::error::Result;
use pando_kernel::merge::MergePlan;
use pando_kernel::{Cell, Column, Columns, Kind, Native, RowCodec, Rows, Value};
use pando_postgres::row::DataRows;
use pando_postgres::types::{FAMILY, oid};

use crate::plan::{Desk, planned};
use crate::shop::Family;
use crate::stage::{self, Stage};
use crate::{Failure, Outcome};

const STREAMS: u32 = 4;
/// Rows of each stream; they come in one chunk.
const ROWS: u32 = 250;
const ITERATED: &str = "SELECT id, k, c FROM sbtest1";
const ORDERED: &str = "SELECT id, k, c FROM sbtest1 ORDER BY id";
const GROUPED: &str = "SELECT k, COUNT(*), SUM(id) FROM sbtest1 GROUP BY k ORDER BY k";
const COUNTED: &str = "SELECT COUNT(*), SUM(id), MAX(k) FROM sbtest1";

pub(crate) const STAGES: &[Stage] = &[
    many("merge/iterate", |n| merge(ITERATED, &plain(ROWS)?, n)),
    many("merge/ordered", |n| merge(ORDERED, &plain(ROWS)?, n)),
    many("merge/grouped", |n| merge(GROUPED, &grouped(ROWS)?, n)),
    stage::of("merge/ordered/four-rows", "reply", |n| merge(ORDERED, &plain(1)?, n)),
    stage::of("merge/aggregate/four-rows", "reply", |n| merge(COUNTED, &counted()?, n)),
];

const fn many(name: &'static str, run: fn(u32) -> Outcome) -> Stage {
    Stage { times: 10, each: STREAMS * ROWS, ..stage::of(name, "row", run) }
}

/// What the storage units answer: one chunk each.
struct Answers {
    columns: Columns,
    chunks: Vec<Rows>,
}

fn column(name: &str, kind: Kind, type_id: u32) -> Column {
    let native = Native { family: FAMILY, type_id, length: 4, modifier: -1, ..Native::default() };
    Column { native, ..Column::computed(name, kind) }
}

/// `row` gives row n of a stream.
fn answers(list: Vec<Column>, rows: u32, row: impl Fn(u32, u32) -> Vec<Value>) -> Outcome<Answers> {
    let columns = Columns { list: list.into(), codec: Arc::new(DataRows) };
    let chunk = |stream| {
        let mut out = BytesMut::new();
        for n in 0..rows {
            let values = row(stream, n);
            let cells: Vec<Cell<'_>> = values.iter().map(Cell::Value).collect();
            DataRows.write(&columns.list, &cells, &mut out)?;
        }
        Ok::<Rows, Failure>(Rows { bytes: out.freeze(), count: rows })
    };
    let chunks = (0..STREAMS).map(chunk).collect::<Outcome<_>>()?;
    Ok(Answers { columns, chunks })
}

/// Streams whose rows take turns.
fn plain(rows: u32) -> Outcome<Answers> {
    let list = vec![
        column("id", Kind::Int, oid::INT4),
        column("k", Kind::Int, oid::INT4),
        column("c", Kind::Text, oid::BPCHAR),
    ];
    answers(list, rows, |stream, n| {
        let id = i64::from(n * STREAMS + stream + 100_000);
        vec![Value::Int(id), Value::Int(id * 7), Value::Text("c".repeat(119))]
    })
}

/// Each group has a row in every stream.
fn grouped(rows: u32) -> Outcome<Answers> {
    let list = vec![
        column("k", Kind::Int, oid::INT4),
        column("count", Kind::Int, oid::INT8),
        column("sum", Kind::Int, oid::INT8),
    ];
    answers(list, rows, |_, n| vec![Value::Int(i64::from(n)), Value::Int(3), Value::Int(150_000)])
}

fn counted() -> Outcome<Answers> {
    let list = vec![
        column("count", Kind::Int, oid::INT8),
        column("sum", Kind::Int, oid::INT8),
        column("max", Kind::Int, oid::INT4),
    ];
    answers(list, 1, |stream, _| {
        vec![Value::Int(10_000), Value::Int(500_000_000), Value::Int(i64::from(stream) + 49_000)]
    })
}

/// One chunk, then the end.
struct Stream(Option<Rows>);

impl RowSource for Stream {
    fn poll_rows(&mut self, _cx: &mut Context<'_>) -> Poll<Result<Option<Rows>>> {
        Poll::Ready(Ok(self.0.take()))
    }
}

fn merge(text: &str, answers: &Answers, times: u32) -> Outcome {
    let desk = Desk::new(Family::Postgres, text, None)?;
    let plan = desk.with(planned)?;
    for _ in 0..times {
        merged(&plan.merge, answers, &desk)?;
    }
    Ok(())
}

fn merged(plan: &MergePlan, answers: &Answers, desk: &Desk) -> Outcome {
    let input =
        |rows: &Rows| Input { columns: answers.columns.clone(), rows: Stream(Some(rows.clone())) };
    let inputs = answers.chunks.iter().map(input).collect();
    let mut merge = Merge::new(plan, inputs, desk.dialect(), Limits { memory_bytes: 64 << 20 })?;
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        match merge.poll_rows(&mut cx) {
            Poll::Ready(Ok(Some(rows))) => drop(black_box(rows)),
            Poll::Ready(Ok(None)) => return Ok(()),
            Poll::Ready(Err(error)) => return Err(error.into()),
            Poll::Pending => return Err(Failure::from("a merge waits for nothing")),
        }
    }
}
