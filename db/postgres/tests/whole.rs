//! Replies in one piece and in several: a scripted server writes each reply cut at every byte, and what comes out is the same.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests only"
)]

mod support;

use std::future::poll_fn;
use std::task::Poll;

use bytes::BytesMut;
use pando_kernel::{Backend, Event, Execution, Format, Result, Value, Whole};
use pando_postgres::codec::backend::{
    Column, DataRow, ReadyForQuery, RowDescription, Status, encode_bind_complete,
    encode_command_complete, encode_error, encode_notice, encode_parse_complete,
};
use pando_postgres::types::oid;
use support::stream::connected;
use support::{reply, rows, state};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn poll_whole(backend: &mut dyn Backend) -> Poll<Result<Option<Whole>>> {
    poll_fn(|cx| Poll::Ready(backend.poll_whole(cx))).await
}

fn prepared() -> Execution {
    Execution::Prepared {
        sql: "SELECT a FROM t".into(),
        types: Default::default(),
        parameters: Vec::new(),
        formats: Vec::new(),
        era: 0,
    }
}

/// What a server says to a prepared statement that it has not seen before, as far as its rows.
fn head() -> BytesMut {
    let mut out = BytesMut::new();
    encode_parse_complete(&mut out);
    encode_bind_complete(&mut out);
    let column = Column {
        name: b"a",
        table: 0,
        attribute: 0,
        oid: oid::INT4,
        size: 4,
        modifier: -1,
        format: Format::Text,
    };
    RowDescription::encode(&mut out, [column].into_iter()).unwrap();
    out
}

fn row(out: &mut BytesMut, text: &[u8]) {
    DataRow::encode(out, [Some(text)].into_iter()).unwrap();
}

fn end(out: &mut BytesMut) {
    encode_command_complete(out, "SELECT 2");
    ReadyForQuery(Status::Idle).encode(out);
}

/// The events that a whole reply stands for.
fn events(whole: Whole) -> Vec<Event> {
    let columns = whole.columns.map(Event::Columns);
    let rows = whole.rows.map(Event::Rows);
    let all = [columns, rows, Some(Event::Complete(whole.completion)), Some(Event::Done)];
    all.into_iter().flatten().collect()
}

#[tokio::test]
async fn a_reply_is_the_same_wherever_it_is_cut() {
    let mut answer = head();
    row(&mut answer, b"1");
    row(&mut answer, b"22");
    end(&mut answer);
    for cut in 0..=answer.len() {
        // Else the runtime takes the loop for one long turn, and answers "not yet" for the streams.
        tokio::task::yield_now().await;
        let (mut backend, mut server) = connected().await;
        backend.start(prepared()).unwrap();
        assert!(poll_whole(&mut *backend).await.is_pending());
        server.write_all(&answer[..cut]).await.unwrap();
        let first = poll_whole(&mut *backend).await;
        server.write_all(&answer[cut..]).await.unwrap();
        let told = match first {
            Poll::Pending => {
                assert_eq!(cut, 0);
                let Poll::Ready(whole) = poll_whole(&mut *backend).await else { panic!("nothing") };
                events(whole.unwrap().expect("it is whole"))
            }
            Poll::Ready(Ok(Some(whole))) => {
                assert_eq!(cut, answer.len());
                events(whole)
            }
            Poll::Ready(Ok(None)) => reply(&mut *backend).await.unwrap(),
            Poll::Ready(Err(error)) => panic!("{cut}: {error}"),
        };
        assert_eq!(rows(&told), [[Value::Int(1)], [Value::Int(22)]], "{cut}");
        let done = told.iter().any(
            |event| matches!(event, Event::Complete(done) if done.tag == "SELECT" && done.affected == Some(2)),
        );
        assert!(done, "{cut}: {told:?}");
        assert_eq!(backend.condition().outstanding, 0);
        // The next one finds it prepared, and knows its columns.
        backend.start(prepared()).unwrap();
        assert!(poll_whole(&mut *backend).await.is_pending());
        let mut request = BytesMut::new();
        server.read_buf(&mut request).await.unwrap();
        let mut answer = BytesMut::new();
        encode_bind_complete(&mut answer);
        row(&mut answer, b"3");
        end(&mut answer);
        server.write_all(&answer).await.unwrap();
        let Poll::Ready(Ok(Some(whole))) = poll_whole(&mut *backend).await else { panic!("{cut}") };
        assert_eq!(rows(&events(whole)), [[Value::Int(3)]]);
    }
}

#[tokio::test]
async fn an_error_behind_rows_and_a_notice_between_them_are_told_piece_by_piece() {
    let mut failed = head();
    row(&mut failed, b"1");
    encode_error(&mut failed, &[(b'S', "ERROR"), (b'C', "22012"), (b'M', "division by zero")]);
    ReadyForQuery(Status::Idle).encode(&mut failed);
    let (mut backend, mut server) = connected().await;
    backend.start(prepared()).unwrap();
    server.write_all(&failed).await.unwrap();
    assert!(matches!(poll_whole(&mut *backend).await, Poll::Ready(Ok(None))));
    assert_eq!(state(&reply(&mut *backend).await.unwrap_err()), "22012");
    assert!(backend.condition().usable);

    let mut told = head();
    row(&mut told, b"1");
    encode_notice(&mut told, &[(b'S', "NOTICE"), (b'C', "00000"), (b'M', "look")]);
    row(&mut told, b"2");
    end(&mut told);
    let (mut backend, mut server) = connected().await;
    backend.start(prepared()).unwrap();
    server.write_all(&told).await.unwrap();
    assert!(matches!(poll_whole(&mut *backend).await, Poll::Ready(Ok(None))));
    let events = reply(&mut *backend).await.unwrap();
    assert_eq!(rows(&events), [[Value::Int(1)], [Value::Int(2)]]);
    assert!(events.iter().any(|event| matches!(event, Event::Notice(_))));
}

#[tokio::test]
async fn a_server_that_leaves_in_the_middle_is_an_error_either_way() {
    let answer = head();
    for cut in [0, 3, answer.len()] {
        let (mut backend, mut server) = connected().await;
        backend.start(prepared()).unwrap();
        server.write_all(&answer[..cut]).await.unwrap();
        drop(server);
        match poll_whole(&mut *backend).await {
            Poll::Ready(Ok(None)) => assert!(reply(&mut *backend).await.is_err()),
            Poll::Ready(Err(_)) => assert_eq!(cut, 0),
            other @ (Poll::Ready(Ok(Some(_))) | Poll::Pending) => panic!("{cut}: {other:?}"),
        }
        assert!(!backend.condition().usable);
    }
}
