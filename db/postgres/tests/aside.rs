//! Executions of which only success counts, and what travels with them: byte by byte with a scripted server, and with a real one.
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
use pando_kernel::session::TransactionState;
use pando_kernel::{Backend, CopyInput, Event, Execution, Value};
use pando_postgres::codec::backend::{
    ReadyForQuery, Status, encode_bind_complete, encode_command_complete, encode_error,
    encode_no_data, encode_parse_complete,
};
use support::stream::connected;
use support::{connect, next, options, reply, rows, run, state, text};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

const BEGIN: &[u8] = b"P\0\0\0\x0d\0BEGIN\0\0\0B\0\0\0\x0c\0\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0";
const TEXT: &[u8] = b"P\0\0\0\x0e\0DELETE\0\0\0B\0\0\0\x0c\0\0\0\0\0\0\0\0D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
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

/// What a text is answered.
fn answer(status: Status) -> BytesMut {
    let mut out = BytesMut::new();
    encode_parse_complete(&mut out);
    encode_bind_complete(&mut out);
    encode_no_data(&mut out);
    encode_command_complete(&mut out, "DELETE 1");
    ReadyForQuery(status).encode(&mut out);
    out
}

#[tokio::test]
async fn a_text_behind_one_has_the_sync_of_both() {
    let (mut backend, mut server) = logged_in().await;
    backend.start(aside("BEGIN")).unwrap();
    backend.start(text("DELETE")).unwrap();
    assert!(told(&mut *backend).await.is_pending());
    assert_eq!(sent(&mut server).await, [BEGIN, TEXT].concat());
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
    assert_eq!(sent(&mut server).await, TEXT, "nothing else was written meanwhile");
}

#[tokio::test]
async fn a_text_behind_one_that_fails_is_passed_over() {
    for others in [0, 2] {
        let (mut backend, mut server) = logged_in().await;
        (0..=others).for_each(|_| backend.start(aside("BEGIN")).unwrap());
        backend.start(text("DELETE")).unwrap();
        backend.start(text("DELETE")).unwrap();
        assert!(told(&mut *backend).await.is_pending());
        sent(&mut server).await;
        for byte in failure() {
            server.write_all(&[byte]).await.unwrap();
            assert!(told(&mut *backend).await.is_pending());
        }
        let mut out = BytesMut::new();
        ReadyForQuery(Status::Idle).encode(&mut out);
        out.extend_from_slice(&answer(Status::Idle));
        server.write_all(&out).await.unwrap();
        for _ in 0..2 + others {
            assert_eq!(state(&reply(&mut *backend).await.unwrap_err()), "57014");
        }
        // Behind the Sync: this one runs.
        assert!(reply(&mut *backend).await.is_ok());
        assert_eq!(backend.condition().outstanding, 0);
        assert!(backend.condition().usable);
    }
}

#[tokio::test]
async fn several_statements_of_a_text_go_one_by_one_up_to_one_sync() {
    let (mut backend, mut server) = logged_in().await;
    backend.start(text("DELETE; DELETE;")).unwrap();
    assert!(told(&mut *backend).await.is_pending());
    let bytes = sent(&mut server).await;
    assert_eq!(
        bytes.iter().filter(|byte| **byte == b'P').count(),
        4,
        "two of Parse, two of Describe"
    );
    assert!(bytes.ends_with(SYNC) && !bytes[..bytes.len() - SYNC.len()].ends_with(SYNC));
}

/// What the server reads as several statements where we read one is refused by it, whatever a client managed to hide.
#[tokio::test]
async fn a_server_takes_no_second_statement_with_a_text() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    run(&mut *backend, text("CREATE TEMP TABLE t (a int)")).await.unwrap();
    // As if the reader had missed the semicolon.
    let hidden = prepared("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)");
    assert_eq!(state(&run(&mut *backend, hidden).await.unwrap_err()), "42601");
    let error = run(&mut *backend, text("SELECT $1")).await.unwrap_err();
    assert_eq!(state(&error), "42P02");
    let error = run(&mut *backend, text("SELECT 1 + $1")).await.unwrap_err();
    assert_eq!(state(&error), "42P02");
    let several = "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); SELECT count(*) FROM t";
    assert_eq!(rows(&run(&mut *backend, text(several)).await.unwrap()), [[Value::Int(2)]]);
}

/// What a function sets behind our back by which texts are read ends the connection.
#[tokio::test]
async fn a_connection_that_reads_otherwise_is_lost() {
    for setting in ["'standard_conforming_strings', 'off'", "'client_encoding', 'LATIN1'"] {
        let Some(options) = options() else { return };
        let mut backend = connect(options).await;
        let sql = format!("SELECT set_config({setting}, false)");
        assert!(run(&mut *backend, text(&sql)).await.is_err(), "{setting}");
        assert!(!backend.condition().usable, "{setting}");
    }
}

#[tokio::test]
async fn no_text_runs_behind_a_begin_that_fails() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    run(&mut *backend, text("CREATE TEMP TABLE t (a int)")).await.unwrap();
    let count = || text("SELECT count(*) FROM t");
    let insert = || text("INSERT INTO t VALUES (1)");
    let behind = [
        vec![insert()],
        vec![aside("SAVEPOINT a"), aside("INSERT INTO t VALUES (1)"), insert()],
        vec![aside("SAVEPOINT a"), prepared("INSERT INTO t VALUES (2)")],
        vec![text("COPY t FROM STDIN")],
        vec![aside("INSERT INTO t VALUES (1)")],
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
async fn a_text_runs_behind_a_begin_and_fails_by_itself() {
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
