//! The connection to storage units against servers that are old, broken or malicious: the test plays the server.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests only")]

mod support;

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use pando_kernel::backend::{Backend, Connector, Execution};
use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream, TlsMode};
use pando_kernel::{Channel, ClientTls, CopyInput, ErrorKind, Event, Secured, Value};
use pando_mysql::MySqlConnector;
use pando_mysql::backend::{KeySource, Options};
use pando_mysql::codec::{
    Capabilities, Column, ColumnDefinition, ErrPacket, Handshake, Inbound, OkHeader, OkPacket,
    Outbound, Status,
};
use support::{reply, run, text};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// The server's end, played by the test.
struct Server {
    stream: DuplexStream,
    input: Inbound,
    output: Outbound,
}

/// Hands out one end of a pipe as the connection.
#[derive(Debug)]
struct Pipe(Mutex<Option<DuplexStream>>);

impl Runtime for Pipe {
    fn connect<'a>(&'a self, _address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        let stream = self.0.lock().unwrap().take();
        Box::pin(async move {
            let stream = stream.ok_or(io::ErrorKind::ConnectionRefused)?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }

    fn secure<'a>(
        &'a self,
        stream: Box<dyn Stream>,
        _host: &'a str,
        _tls: &'a ClientTls,
    ) -> BoxFuture<'a, io::Result<Secured>> {
        let channel = Channel { is_secured: true, ..Channel::default() };
        Box::pin(async { Ok(Secured { stream, channel }) })
    }
}

const SERVER: Capabilities = Capabilities(
    Capabilities::PROTOCOL_41.0
        | Capabilities::SECURE_CONNECTION.0
        | Capabilities::PLUGIN_AUTH.0
        | Capabilities::DEPRECATE_EOF.0,
);

impl Server {
    async fn read(&mut self) -> Bytes {
        loop {
            if let Some(packet) = self.input.next_packet().unwrap() {
                self.output.restart(self.input.expected());
                return packet.payload;
            }
            let got = self.stream.read_buf(self.input.buffer_mut()).await.unwrap();
            assert_ne!(got, 0, "the client closed the connection");
        }
    }

    /// The next command, which starts at sequence number 0.
    async fn command(&mut self) -> Bytes {
        self.input.expect(0);
        self.read().await
    }

    async fn send(&mut self, payload: &[u8]) {
        self.output.payload(payload);
        self.raw().await;
    }

    async fn raw(&mut self) {
        self.stream.write_all_buf(self.output.buffer_mut()).await.unwrap();
        self.input.expect(self.output.sequence());
    }

    async fn ok(&mut self) {
        let mut out = BytesMut::new();
        OkPacket { status: Status::AUTOCOMMIT, ..OkPacket::default() }.encode(
            OkHeader::Ok,
            SERVER,
            &mut out,
        );
        self.send(&out).await;
    }

    /// Takes what decides how it reads texts.
    async fn reading(&mut self) {
        let text = self.command().await;
        assert!(text.starts_with(b"\x03SET NAMES utf8mb4"), "{text:?}");
        assert!(text.windows(10).any(|part| part == b"@@SESSION."), "{text:?}");
        self.ok().await;
    }

    async fn err(&mut self, code: u16) {
        let mut out = BytesMut::new();
        ErrPacket { code, sqlstate: *b"HY000", message: b"no" }.encode(&mut out);
        self.send(&out).await;
    }

    async fn greet(&mut self, plugin: &[u8]) {
        let mut out = BytesMut::new();
        Handshake {
            version: b"5.6.0",
            connection: 5,
            scramble: b"abcdefghijklmnopqrst",
            capabilities: SERVER,
            charset: 8,
            status: Status::AUTOCOMMIT,
            plugin,
        }
        .encode(&mut out);
        self.send(&out).await;
    }
}

fn pipe() -> (SharedRuntime, Server) {
    let (client, server) = tokio::io::duplex(1 << 20);
    let runtime = Arc::new(Pipe(Mutex::new(Some(client))));
    let server = Server { stream: server, input: Inbound::new(1 << 24), output: Outbound::new() };
    (runtime, server)
}

fn connector() -> MySqlConnector {
    let mut settings = Options::new("unit", Address::Tcp("nowhere".into(), 0));
    settings.user = "app".into();
    settings.password = "secret".into();
    settings.database = "shop".into();
    MySqlConnector::new(settings)
}

/// A connection to a server that has let it in.
async fn entered() -> (Box<dyn Backend>, Server) {
    let (runtime, mut server) = pipe();
    let serve = async {
        server.greet(b"mysql_native_password").await;
        server.read().await;
        server.ok().await;
        server.reading().await;
    };
    let connector = connector();
    let (backend, ()) = tokio::join!(connector.connect(&runtime), serve);
    (backend.unwrap(), server)
}

#[test]
fn a_server_without_the_short_reset_gets_a_new_login() {
    run(async {
        let (mut backend, mut server) = entered().await;
        for round in 0..2 {
            backend.start(Execution::Reset).unwrap();
            let serve = async {
                if round == 0 {
                    assert_eq!(server.command().await[..], [0x1F]);
                    server.err(1047).await;
                    assert!(server.command().await.starts_with(b"\x03SET NAMES utf8mb4"));
                    server.ok().await;
                    assert_eq!(server.command().await[..], *b"\x02shop");
                    server.ok().await;
                }
                assert!(server.command().await.starts_with(b"\x11app\0\x14"));
                server.send(b"\xFEmysql_native_password\0ABCDEFGHIJKLMNOPQRST\0").await;
                assert_eq!(server.read().await.len(), 20);
                server.ok().await;
                server.reading().await;
            };
            let (done, ()) = tokio::join!(reply(&mut *backend), serve);
            done.unwrap();
        }
        let serve = async {
            server.command().await;
            server.ok().await;
        };
        let (done, ()) = tokio::join!(text(&mut *backend, "DO 1"), serve);
        done.unwrap();
    });
}

#[test]
fn a_login_that_asks_for_too_much_is_refused() {
    run(async {
        let asks: [&[u8]; 5] = [
            b"\xFEmysql_clear_password\0",
            b"\xFEdialog\0\x02Password",
            b"\xFE",
            b"\x01\x04",
            b"\x07nonsense",
        ];
        for ask in asks {
            let (runtime, mut server) = pipe();
            let serve = async {
                server.greet(b"mysql_native_password").await;
                server.read().await;
                server.send(ask).await;
            };
            let connector = connector();
            let (backend, ()) = tokio::join!(connector.connect(&runtime), serve);
            let error = backend.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Protocol(_)), "{error}");
        }
    });
}

#[test]
fn a_bad_public_key_is_refused() {
    run(async {
        let (runtime, mut server) = pipe();
        let serve = async {
            server.greet(b"caching_sha2_password").await;
            server.read().await;
            server.send(&[1, 4]).await;
            assert_eq!(server.read().await[..], [2]);
            server.send(b"\x01-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n").await;
        };
        let connector = connector();
        let (backend, ()) = tokio::join!(connector.connect(&runtime), serve);
        assert!(backend.unwrap_err().to_string().contains("public key"));
    });
}

#[test]
fn a_server_is_not_asked_for_a_key_where_that_is_forbidden() {
    let (folder, known) = (std::env::temp_dir(), include_str!("support/public.pem"));
    let file = folder.join(format!("pando-key-{}.pem", std::process::id()));
    std::fs::write(&file, known).unwrap();
    let file = file.to_string_lossy().into_owned();
    for (key, expected) in [
        (KeySource::Nowhere, Err("`allowPublicKeyRetrieval`")),
        (KeySource::File("/nowhere/key.pem".into()), Err("/nowhere/key.pem")),
        // As long as the key, and nothing of the password in it.
        (KeySource::File(file.clone()), Ok(256)),
    ] {
        run(async {
            let (runtime, mut server) = pipe();
            let serve = async {
                server.greet(b"caching_sha2_password").await;
                server.read().await;
                server.send(&[1, 4]).await;
                if let Ok(length) = expected {
                    let sent = server.read().await;
                    assert_eq!(sent.len(), length);
                    assert!(!sent.windows(6).any(|bytes| bytes == b"secret"));
                    server.ok().await;
                    server.reading().await;
                }
            };
            let mut settings = Options::new("unit", Address::Tcp("nowhere".into(), 0));
            (settings.user, settings.password) = ("app".into(), "secret".into());
            settings.key = key;
            let connector = MySqlConnector::new(settings);
            let (backend, ()) = tokio::join!(connector.connect(&runtime), serve);
            match expected {
                Ok(_) => drop(backend.unwrap()),
                Err(why) => assert!(backend.unwrap_err().to_string().contains(why)),
            }
        });
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn greetings_that_are_none_are_refused() {
    run(async {
        let greetings: [&[u8]; 4] = [b"", b"\x09old\0", b"\x0A8.0.36", b"HTTP/1.1 400 Bad Request"];
        for greeting in greetings {
            let (runtime, mut server) = pipe();
            let connector = connector();
            let (backend, ()) = tokio::join!(connector.connect(&runtime), server.send(greeting));
            assert!(matches!(backend.unwrap_err().kind(), ErrorKind::Protocol(_)));
        }
        let (runtime, mut server) = pipe();
        let connector = connector();
        let (backend, ()) = tokio::join!(connector.connect(&runtime), server.err(1040));
        assert_eq!(support::number(&backend.unwrap_err()), 1040);
    });
}

#[test]
fn required_tls_is_not_given_up() {
    run(async {
        let (runtime, mut server) = pipe();
        let mut settings = Options::new("unit", Address::Tcp("nowhere".into(), 0));
        settings.tls = TlsMode::Require;
        let connector = MySqlConnector::new(settings);
        let greet = server.greet(b"mysql_native_password");
        let (backend, ()) = tokio::join!(connector.connect(&runtime), greet);
        assert!(backend.unwrap_err().to_string().contains("TLS is required"));
    });
}

#[test]
fn broken_replies_cost_the_connection_and_nothing_else() {
    run(async {
        let definition = {
            let mut out = BytesMut::new();
            let column = Column { type_id: 253, charset: 45, ..Column::default() };
            ColumnDefinition { name: b"a", column, ..ColumnDefinition::default() }
                .encode(SERVER, &mut out);
            out
        };
        let definition = &definition[..];
        let replies: [&[&[u8]]; 8] = [
            &[b""],
            &[&[0xFB, b'x']],
            &[&[0xFD, 0, 0, 1]],
            &[&[0xFE, 0, 0, 0, 0, 1, 0, 0, 0]],
            &[&[1], b"no definition"],
            &[&[1], definition, &[0xFE, 0]],
            &[&[0, 0]],
            &[&[1], definition, &[0xFE, 0xFC]],
        ];
        for packets in replies {
            let (mut backend, mut server) = entered().await;
            let serve = async {
                server.command().await;
                for packet in packets {
                    server.send(packet).await;
                }
            };
            let (done, ()) = tokio::join!(text(&mut *backend, "SELECT 1"), serve);
            let error = done.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Protocol(_)), "{packets:?}: {error}");
            assert!(!backend.condition().usable);
            assert!(backend.start(Execution::Ping).is_err());
        }
    });
}

#[test]
fn a_connection_cut_inside_a_row_is_unavailable() {
    run(async {
        let (mut backend, mut server) = entered().await;
        let serve = async {
            server.command().await;
            server.send(&[1]).await;
            let mut out = BytesMut::new();
            ColumnDefinition::default().encode(SERVER, &mut out);
            server.send(&out).await;
            server.stream.write_all(&[50, 0, 0, 3, 49, b'x']).await.unwrap();
            drop(server);
        };
        let (done, ()) = tokio::join!(text(&mut *backend, "SELECT 1"), serve);
        assert!(matches!(done.unwrap_err().kind(), ErrorKind::Unavailable { .. }));
    });
}

#[test]
fn a_file_that_is_given_up_in_its_midst_never_ends_regularly() {
    for begun in [true, false] {
        run(async {
            let (mut backend, mut server) = entered().await;
            let load = "LOAD DATA LOCAL INFILE 'f' INTO TABLE t";
            backend.start(Execution::Text(load.into())).unwrap();
            let asks = async {
                server.command().await;
                server.send(b"\xFBf").await;
            };
            let asked = std::future::poll_fn(|cx| backend.poll_event(cx));
            let (asked, ()) = tokio::join!(asked, asks);
            assert!(matches!(asked, Ok(Event::SendFile(_))));
            if begun {
                backend.copy(CopyInput::Data("1\n2\n3".into())).unwrap();
                std::future::poll_fn(|cx| backend.poll_flush(cx)).await.unwrap();
                assert_eq!(server.read().await[..], *b"1\n2\n3");
            }
            let given_up = backend.copy(CopyInput::Fail("gone".into()));
            assert_eq!(backend.condition().usable, !begun);
            let _ = std::future::poll_fn(|cx| backend.poll_flush(cx)).await;
            drop(backend);
            if begun {
                assert!(given_up.is_err());
                let rest = server.stream.read_buf(server.input.buffer_mut()).await;
                assert_eq!(rest.unwrap(), 0, "the server got more");
            } else {
                given_up.unwrap();
                assert!(server.read().await.is_empty());
            }
        });
    }
}

#[test]
fn where_no_more_may_be_prepared_what_is_kept_makes_room() {
    run(async {
        let (mut backend, mut server) = entered().await;
        let serve = async {
            let prepared = |id: u8| [0, id, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            assert!(server.command().await.starts_with(b"\x16DELETE FROM a"));
            server.send(&prepared(1)).await;
            assert_eq!(server.command().await[..2], [0x17, 1]);
            server.ok().await;
            assert!(server.command().await.starts_with(b"\x16DELETE FROM b"));
            server.err(1461).await;
            assert_eq!(server.command().await[..2], [0x19, 1]);
            assert!(server.command().await.starts_with(b"\x16DELETE FROM b"));
            server.send(&prepared(2)).await;
            assert_eq!(server.command().await[..2], [0x17, 2]);
            server.ok().await;
            assert!(server.command().await.starts_with(b"\x16DELETE FROM a"));
            server.err(1461).await;
            assert_eq!(server.command().await[..2], [0x19, 2]);
            assert!(server.command().await.starts_with(b"\x16DELETE FROM a"));
            server.err(1461).await;
        };
        let client = async {
            let values: &[Value] = &[];
            for table in ["a", "b"] {
                let sql = format!("DELETE FROM {table}");
                support::execute(&mut *backend, &sql, values).await.unwrap();
            }
            let error = support::execute(&mut *backend, "DELETE FROM a", values).await.unwrap_err();
            assert_eq!(support::number(&error), 1461);
        };
        tokio::join!(client, serve);
        assert!(backend.condition().usable);
    });
}

#[test]
fn a_forgotten_statement_is_prepared_again() {
    run(async {
        let (mut backend, mut server) = entered().await;
        let serve = async {
            for (id, forgets) in [(1u8, true), (2, false)] {
                assert!(server.command().await.starts_with(b"\x16DELETE"));
                server.send(&[0, id, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).await;
                assert_eq!(server.command().await[..2], [0x17, id]);
                if forgets {
                    server.err(1243).await;
                } else {
                    server.ok().await;
                }
            }
            assert_eq!(server.command().await[..2], [0x17, 2]);
            server.err(1243).await;
            assert!(server.command().await.starts_with(b"\x16DELETE"));
            server.send(&[0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).await;
            server.command().await;
            server.err(1243).await;
        };
        let client = async {
            let sql = "DELETE FROM t";
            let values: &[Value] = &[];
            support::execute(&mut *backend, sql, values).await.unwrap();
            let error = support::execute(&mut *backend, sql, values).await.unwrap_err();
            assert_eq!(support::number(&error), 1243);
        };
        tokio::join!(client, serve);
        assert!(backend.condition().usable);
    });
}
