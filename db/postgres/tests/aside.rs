//! Executions of which only success counts, and what travels with them: byte by byte with a scripted server, and with a real one.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests only"
)]

mod common;

use std::future::poll_fn;
use std::task::Poll;

use bytes::BytesMut;
use common::stream::connected;
use common::{connect, next, options, reply, rows, run, state, text};
use pando_kernel::session::TransactionState;
use pando_kernel::{Backend, CopyInput, Event, Execution, Value};
use pando_postgres::codec::backend::{
    ReadyForQuery, Status, encode_bind_complete, encode_command_complete, encode_error,
    encode_parse_complete,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

const BEGIN: &[u8] = b"P\0\0\0\x0d\0BEGIN\0\0\0B\0\0\0\x0c\0\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0";
const QUERY: &[u8] = b"Q\0\0\0\x0bDELETE\0";
const SYNC: &[u8] = b"S\0\0\0\x04";

fn aside(sql: &str) -> Execution {
    Execution::Aside(sql.into())
}

fn prepared(sql: &str) -> Execution {
    Execution::Prepared {
        sql: sql.into(),
        types: Default::default(),
        parameters: Vec::new(),
        formats: Vec::new(),
        era: 0,
    }
}

/// A connection whose server has read all of the login.
async fn logged_in() -> (Box<dyn Backend>, DuplexStream) {
    let (backend, mut server) = connected().await;
    sent(&mut server).await;
    (backend, server)
}

/// What the server has been sent.
async fn sent(server: &mut DuplexStream) -> BytesMut {
    let mut bytes = BytesMut::with_capacity(4096);
    server.read_buf(&mut bytes).await.unwrap();
    bytes
}

/// What the backend has to tell now.
async fn told(backend: &mut dyn Backend) -> Poll<pando_kernel::Result<Event>> {
    poll_fn(|cx| Poll::Ready(backend.poll_event(cx))).await
}

fn failure() -> BytesMut {
    let mut out = BytesMut::new();
    encode_error(&mut out, &[(b'S', "ERROR"), (b'C', "57014"), (b'M', "cancelled")]);
    out
}

/// What a simple query is answered.
fn answer(status: Status) -> BytesMut {
    let mut out = BytesMut::new();
    encode_command_complete(&mut out, "DELETE 1");
    ReadyForQuery(status).encode(&mut out);
    out
}

#[tokio::test]
async fn a_simple_query_behind_one_is_sent_and_answered_without_a_sync() {
    let (mut backend, mut server) = logged_in().await;
    backend.start(aside("BEGIN")).unwrap();
    backend.start(text("DELETE")).unwrap();
    assert!(told(&mut *backend).await.is_pending());
    assert_eq!(sent(&mut server).await, [BEGIN, QUERY].concat());
    let mut out = BytesMut::new();
    encode_parse_complete(&mut out);
    encode_bind_complete(&mut out);
    encode_command_complete(&mut out, "BEGIN");
    out.extend_from_slice(&answer(Status::Transaction));
    server.write_all(&out).await.unwrap();
    assert!(matches!(reply(&mut *backend).await.unwrap()[..], [Event::Done]));
    let events = reply(&mut *backend).await.unwrap();
    assert!(matches!(events[..], [Event::Complete(_), Event::Done]), "{events:?}");
    assert_eq!(backend.condition().outstanding, 0);
    assert_eq!(backend.condition().transaction, TransactionState::Open);
    backend.start(text("DELETE")).unwrap();
    assert!(told(&mut *backend).await.is_pending());
    assert_eq!(sent(&mut server).await, QUERY, "nothing else was written meanwhile");
}

#[tokio::test]
async fn a_simple_query_behind_one_that_fails_is_passed_over_and_the_server_gets_its_sync() {
    let more: [(&[Execution], &[u8]); 3] = [
        (&[], b""),
        (&[text("DELETE")], QUERY),
        (&[aside("BEGIN"), text("DELETE")], &[BEGIN, QUERY].concat()),
    ];
    for (more, bytes) in more {
        let (mut backend, mut server) = logged_in().await;
        backend.start(aside("BEGIN")).unwrap();
        backend.start(text("DELETE")).unwrap();
        more.iter().for_each(|next| backend.start(next.clone()).unwrap());
        assert!(told(&mut *backend).await.is_pending());
        assert_eq!(sent(&mut server).await, [BEGIN, QUERY, bytes].concat());
        for byte in failure() {
            server.write_all(&[byte]).await.unwrap();
            assert!(told(&mut *backend).await.is_pending());
        }
        assert_eq!(sent(&mut server).await, SYNC);
        // Behind the Sync: this one runs.
        backend.start(text("DELETE")).unwrap();
        assert!(told(&mut *backend).await.is_pending());
        assert_eq!(sent(&mut server).await, QUERY);
        let mut out = BytesMut::new();
        ReadyForQuery(Status::Idle).encode(&mut out);
        out.extend_from_slice(&answer(Status::Idle));
        server.write_all(&out).await.unwrap();
        for _ in 0..2 + more.len() {
            assert_eq!(state(&reply(&mut *backend).await.unwrap_err()), "57014");
        }
        assert!(reply(&mut *backend).await.is_ok());
        assert_eq!(backend.condition().outstanding, 0);
        assert!(backend.condition().usable);
    }
}

#[tokio::test]
async fn no_sync_is_sent_where_one_is_on_its_way() {
    for with_sync in [prepared("DELETE"), aside("BEGIN"), Execution::Ping] {
        let (mut backend, mut server) = logged_in().await;
        backend.start(aside("BEGIN")).unwrap();
        backend.start(text("DELETE")).unwrap();
        backend.start(with_sync).unwrap();
        assert!(told(&mut *backend).await.is_pending());
        assert!(sent(&mut server).await.ends_with(SYNC));
        backend.start(text("DELETE")).unwrap();
        server.write_all(&failure()).await.unwrap();
        assert!(told(&mut *backend).await.is_pending());
        assert_eq!(sent(&mut server).await, QUERY);
        let mut out = BytesMut::new();
        ReadyForQuery(Status::Idle).encode(&mut out);
        out.extend_from_slice(&answer(Status::Idle));
        server.write_all(&out).await.unwrap();
        for _ in 0..3 {
            assert_eq!(state(&reply(&mut *backend).await.unwrap_err()), "57014");
        }
        assert!(reply(&mut *backend).await.is_ok());
        assert_eq!(backend.condition().outstanding, 0);
    }
}

#[tokio::test]
async fn no_simple_query_runs_behind_a_begin_that_fails() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    run(&mut *backend, text("CREATE TEMP TABLE t (a int)")).await.unwrap();
    let count = || text("SELECT count(*) FROM t");
    let insert = || text("INSERT INTO t VALUES (1)");
    let copy = || text("COPY t FROM STDIN");
    let behind = [
        vec![insert()],
        vec![insert(), insert()],
        vec![aside("SAVEPOINT a"), insert(), prepared("INSERT INTO t VALUES (2)")],
        vec![copy()],
        vec![insert(), Execution::Reset],
        vec![text("")],
    ];
    for started in behind {
        backend.start(aside("BEGIN ISOLATION LEVEL NONE")).unwrap();
        started.iter().for_each(|next| backend.start(next.clone()).unwrap());
        for _ in 0..=started.len() {
            let error = reply(&mut *backend).await.unwrap_err();
            assert_eq!(state(&error), "42601", "{started:?}");
        }
        assert_eq!(backend.condition().outstanding, 0);
        assert_eq!(backend.condition().transaction, TransactionState::Idle);
        let told = run(&mut *backend, count()).await.unwrap();
        assert_eq!(rows(&told), [[Value::Int(0)]], "{started:?}");
    }
}

#[tokio::test]
async fn a_simple_query_runs_behind_a_begin_and_fails_by_itself() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    run(&mut *backend, text("CREATE TEMP TABLE t (a int)")).await.unwrap();
    for (sql, expected) in [("INSERT INTO t VALUES (1)", None), ("SELECT nothing", Some("42703"))] {
        backend.start(aside("BEGIN")).unwrap();
        backend.start(aside("SAVEPOINT a")).unwrap();
        backend.start(text(sql)).unwrap();
        assert!(reply(&mut *backend).await.is_ok());
        assert!(reply(&mut *backend).await.is_ok());
        let error = reply(&mut *backend).await.err();
        assert_eq!(error.as_ref().map(state), expected);
        let after = if error.is_some() { TransactionState::Failed } else { TransactionState::Open };
        assert_eq!(backend.condition().transaction, after);
        run(&mut *backend, text("ROLLBACK")).await.unwrap();
    }
    backend.start(aside("BEGIN")).unwrap();
    backend.start(text("COPY t FROM STDIN")).unwrap();
    assert!(reply(&mut *backend).await.is_ok());
    assert!(matches!(next(&mut *backend).await.unwrap(), Event::CopyIn(_)));
    backend.copy(CopyInput::Data("1\n2\n".into())).unwrap();
    backend.copy(CopyInput::Done).unwrap();
    reply(&mut *backend).await.unwrap();
    run(&mut *backend, text("COMMIT")).await.unwrap();
    let told = run(&mut *backend, text("SELECT count(*) FROM t")).await.unwrap();
    assert_eq!(rows(&told), [[Value::Int(2)]]);
}
