//! A client that sends bytes and reads messages as it likes.
#![allow(dead_code, reason = "each test program uses a part")]

use std::sync::Arc;

use bytes::{Buf, BytesMut};
use pando_kernel::runtime::Stream;
use pando_postgres::codec::backend::{Authentication, Backend, Status};
use pando_postgres::codec::frame;
use pando_postgres::frontend::Door;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::script::TestDoor;

/// A client that writes bytes and reads messages.
pub(crate) struct Peer {
    pub(crate) stream: DuplexStream,
    input: BytesMut,
}

impl Peer {
    /// A client at the door; nothing is sent yet.
    pub(crate) fn connect(door: &Arc<TestDoor>) -> Peer {
        let (client, server) = tokio::io::duplex(64 * 1024);
        let door = Door::new(Arc::clone(door));
        tokio::spawn(async move {
            door.serve(Box::new(server) as Box<dyn Stream>, "192.0.2.7".into()).await;
        });
        Peer { stream: client, input: BytesMut::new() }
    }

    /// A client that is logged in without a password.
    pub(crate) async fn enter(door: &Arc<TestDoor>) -> Peer {
        let mut peer = Peer::connect(door);
        let mut out = BytesMut::new();
        pando_postgres::codec::startup::encode(&mut out, &[("user", "free"), ("database", "shop")]);
        peer.send(&out).await;
        let greeting = peer.until("Z").await;
        assert_eq!(greeting[0], "R ok");
        peer
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn byte(&mut self) -> u8 {
        self.stream.read_u8().await.unwrap()
    }

    /// The next message's tag and body; `None` at the end of the stream.
    pub(crate) async fn message(&mut self) -> Option<(u8, Vec<u8>)> {
        loop {
            if let Some((header, body)) = frame::frame(&self.input, 1 << 30).unwrap() {
                let message = (header.tag, body.to_vec());
                self.input.advance(header.total);
                return Some(message);
            }
            if self.stream.read_buf(&mut self.input).await.unwrap() == 0 {
                return None;
            }
        }
    }

    pub(crate) async fn next(&mut self) -> Option<String> {
        self.message().await.map(|(tag, body)| line(tag, &body))
    }

    /// Messages up to the first that begins with `start`.
    pub(crate) async fn until(&mut self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match self.next().await {
                None => panic!("the door closed after {lines:?}"),
                Some(line) => {
                    let last = line.starts_with(start);
                    lines.push(line);
                    if last {
                        return lines;
                    }
                }
            }
        }
    }

    /// Everything up to the end of the stream.
    pub(crate) async fn rest(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = self.next().await {
            lines.push(line);
        }
        lines
    }

    /// Sends messages and reads up to ReadyForQuery.
    pub(crate) async fn ask(&mut self, bytes: &[u8]) -> Vec<String> {
        self.send(bytes).await;
        self.until("Z").await
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// One message in one line.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
fn line(tag: u8, body: &[u8]) -> String {
    match Backend::decode(tag, body).unwrap() {
        Backend::Authentication(Authentication::Ok) => "R ok".into(),
        Backend::Authentication(step) => format!("R {step:?}"),
        Backend::ParameterStatus(status) => format!("S {}={}", status.name, text(status.value)),
        Backend::KeyData(key) => format!("K {} {:?}", key.process, key.key),
        Backend::ReadyForQuery(ready) => match ready.0 {
            Status::Idle => "Z I".into(),
            Status::Transaction => "Z T".into(),
            Status::Failed => "Z E".into(),
        },
        Backend::RowDescription(description) => {
            let columns: Vec<String> = description
                .columns()
                .map(|column| format!("{}:{}:{:?}", text(column.name), column.oid, column.format))
                .collect();
            format!("T {}", columns.join(" "))
        }
        Backend::DataRow(row) => {
            let fields: Vec<String> = row
                .fields()
                .map(|field| {
                    field.unwrap().map_or("NULL".into(), |bytes| bytes.escape_ascii().to_string())
                })
                .collect();
            format!("D {}", fields.join(" "))
        }
        Backend::CommandComplete(complete) => format!("C {}", complete.tag),
        Backend::Error(error) => {
            let field = |code| error.get(code).map(text).unwrap_or_default();
            format!("E {} {} {} {}", field(b'S'), field(b'C'), field(b'M'), field(b'P'))
                .trim_end()
                .to_owned()
        }
        Backend::Notice(notice) => format!("N {}", text(notice.get(b'M').unwrap_or_default())),
        Backend::ParameterDescription(types) => {
            format!("t {:?}", types.types().collect::<Vec<_>>())
        }
        Backend::CopyData(data) => format!("d {}", text(data)),
        Backend::CopyIn(_) => "G".into(),
        Backend::CopyOut(_) => "H".into(),
        Backend::Negotiate(negotiate) => format!("v {:?}", negotiate.unknown),
        _ => char::from(tag).to_string(),
    }
}
