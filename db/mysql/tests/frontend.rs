//! The door towards clients: our own client on one side, a scripted session on the other.
#![allow(clippy::unwrap_used, reason = "tests only")]

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use pando_kernel::backend::{Backend, Execution};
use pando_kernel::{CopyInput, ErrorKind, Event, Value};
use pando_mysql::codec::{Capabilities, Eof, ErrPacket, OkPacket, Status};
use support::door::{enter, result, run, settings, words};
use support::raw::{BASE, Raw};
use support::script::House;
use support::{event, execute, number, prepared, reply, text};

#[test]
fn text_replies_carry_rows_counts_and_errors() {
    run(async |house| {
        let mut backend = enter(&house, settings("any", "secret")).await.unwrap();
        let reply = text(&mut *backend, "SELECT héllo").await.unwrap();
        assert_eq!(reply.columns, ["text", "n"]);
        assert_eq!(reply.rows, [[words("héllo"), Value::Int(6)]]);
        let update = text(&mut *backend, "UPDATE").await.unwrap().completions.remove(0);
        assert_eq!((update.affected, update.last_insert_id, update.warnings), (Some(3), 9, 2));
        assert_eq!(update.info, "Rows matched: 3  Changed: 3  Warnings: 2");
        assert_eq!(number(&text(&mut *backend, "FAIL").await.unwrap_err()), 1062);
        assert_eq!(number(&text(&mut *backend, "nonsense").await.unwrap_err()), 1064);
        assert_eq!(number(&text(&mut *backend, "  ").await.unwrap_err()), 1065);
        text(&mut *backend, "EMPTY").await.unwrap();
        text(&mut *backend, "NOTHING").await.unwrap();
        let set = text(&mut *backend, "SET autocommit=0").await.unwrap();
        let told = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(set.parameters, [told("time_zone", "+01:00"), told("autocommit", "OFF")]);
        text(&mut *backend, "BEGIN").await.unwrap();
        let open = pando_kernel::session::TransactionState::Open;
        assert_eq!(backend.condition().transaction, open);
        backend.start(Execution::Reset).unwrap();
        reply_ok(&mut *backend).await;
        backend.start(Execution::Ping).unwrap();
        reply_ok(&mut *backend).await;
    });
}

async fn reply_ok(backend: &mut dyn Backend) {
    reply(backend).await.unwrap();
}

#[test]
fn prepared_statements_take_every_kind_of_parameter() {
    run(async |house| {
        let mut backend = enter(&house, settings("any", "secret")).await.unwrap();
        let values = [
            Value::Int(-5),
            Value::UInt(u64::MAX),
            Value::Float(1.25),
            Value::Decimal("12345678901234567890.5".parse().unwrap()),
            words("héllo"),
            Value::Bytes(Bytes::from_static(&[0, 255])),
            Value::Null,
        ];
        let sql = "SELECT ?, ?, ?, ?, ?, ?, ?";
        for _ in 0..2 {
            let row = execute(&mut *backend, sql, &values).await.unwrap().rows.remove(0);
            assert_eq!(row, values);
        }
        let sql = Arc::from("SELECT ?");
        backend.start(Execution::Describe { sql, types: Default::default(), era: 0 }).unwrap();
        let described = reply(&mut *backend).await.unwrap().described.unwrap();
        assert_eq!(described.parameters.len(), 1);
        assert_eq!(described.columns.unwrap().list.len(), 1);
        let done = execute(&mut *backend, "DELETE FROM t WHERE a = ?", &values[..1]).await;
        assert_eq!(done.unwrap().completions[0].affected, Some(1));
        backend.start(prepared("SELECT '", &[])).unwrap();
        assert!(reply(&mut *backend).await.is_err());
    });
}

#[test]
fn large_statements_parameters_and_results_pass() {
    run(async |house| {
        let mut backend = enter(&house, settings("any", "secret")).await.unwrap();
        let long = "x".repeat((16 << 20) + 100);
        let reply = text(&mut *backend, &format!("SELECT {long}")).await.unwrap();
        assert_eq!(reply.rows[0][0], words(&long));
        let reply = execute(&mut *backend, "SELECT ?", &[words(&long)]).await.unwrap();
        assert_eq!(reply.rows[0][0], words(&long));
        let reply = text(&mut *backend, "ROWS 2000").await.unwrap();
        assert_eq!(reply.rows.len(), 2000);
    });
}

#[test]
fn a_local_file_goes_to_the_session() {
    run(async |house| {
        let mut backend = enter(&house, settings("any", "secret")).await.unwrap();
        for (content, expected) in [("a,b\nc,d\n", Some(8)), ("bad line", None), ("", Some(8))] {
            backend.start(Execution::Text("LOAD DATA LOCAL".into())).unwrap();
            let Ok(Event::SendFile(file)) = event(&mut *backend).await else { panic!("a file") };
            assert_eq!(file, "data.csv");
            backend.copy(CopyInput::Data(content.into())).unwrap();
            backend.copy(CopyInput::Done).unwrap();
            let done = reply(&mut *backend).await;
            assert_eq!(done.ok().and_then(|reply| reply.completions[0].affected), expected);
        }
        text(&mut *backend, "SELECT 1").await.unwrap();
    });
}

#[test]
fn a_client_without_local_files_is_told_so() {
    run(async |house| {
        let mut raw = Raw::entered(house.enter(1 << 16), Capabilities::default()).await;
        raw.send(0, b"\x03LOAD DATA LOCAL").await;
        assert_eq!(raw.error().await, 1366);
        assert_eq!(raw.command(b"\x0e").await[0], 0);
    });
}

#[test]
fn a_flag_that_was_not_offered_changes_nothing() {
    run(async |house| {
        let mut raw = Raw::entered(house.enter(1 << 16), Capabilities::QUERY_ATTRIBUTES).await;
        assert_eq!(raw.command(b"\x03UPDATE").await[0], 0);
    });
}

#[test]
fn several_statements_need_the_clients_consent() {
    run(async |house| {
        let mut raw = Raw::entered(house.enter(1 << 16), BASE).await;
        raw.send(0, b"\x03UPDATE; UPDATE").await;
        assert_eq!(raw.error().await, 1064);
        // COM_SET_OPTION is answered with an EOF.
        let eof = raw.command(&[0x1B, 0, 0]).await;
        assert!(Eof::is_one(&eof));
        let first = raw.command(b"\x03UPDATE; UPDATE").await;
        assert!(OkPacket::decode(&first, BASE).unwrap().status.has(Status::MORE_RESULTS));
        let second = raw.read().await.unwrap();
        assert!(!OkPacket::decode(&second, BASE).unwrap().status.has(Status::MORE_RESULTS));
        raw.command(&[0x1B, 1, 0]).await;
        raw.send(0, b"\x03UPDATE; UPDATE").await;
        assert_eq!(raw.error().await, 1064);
        raw.send(0, &[0x1B, 7, 0]).await;
        assert_eq!(raw.error().await, 1047);
    });
}

#[test]
fn results_end_as_the_client_wants() {
    run(async |house| {
        let mut classic = Raw::entered(house.enter(1 << 16), BASE).await;
        let packets = result(&mut classic, b"\x03SELECT a").await;
        // Count, two definitions, EOF, row, EOF.
        assert_eq!(packets.len(), 6);
        assert!(Eof::is_one(&packets[3]) && packets[3].len() == 5);
        assert_eq!(Eof::decode(&packets[5]).unwrap().status, Status::AUTOCOMMIT);
        let capabilities = Capabilities::DEPRECATE_EOF | Capabilities::SESSION_TRACK;
        let mut modern = Raw::entered(house.enter(1 << 16), capabilities).await;
        let packets = result(&mut modern, b"\x03SELECT a").await;
        assert_eq!(packets.len(), 5);
        let ok = OkPacket::decode(&packets[4], capabilities).unwrap();
        assert_eq!(ok.status, Status::AUTOCOMMIT);
    });
}

#[test]
fn a_cursor_gives_its_rows_in_portions() {
    run(async |house| {
        for capabilities in [Capabilities::default(), Capabilities::DEPRECATE_EOF] {
            let classic = capabilities == Capabilities::default();
            let mut raw = Raw::entered(house.enter(1 << 16), capabilities).await;
            let ok = raw.command(b"\x16SELECT n FROM numbers").await;
            let id = ok.slice(1..5);
            // One column definition, and an EOF for classic clients.
            for _ in 0..1 + usize::from(classic) {
                raw.read().await.unwrap();
            }
            let execute = [&[0x17][..], &id, &[1, 1, 0, 0, 0]].concat();
            assert_eq!(raw.command(&execute).await[..], [1]);
            raw.read().await.unwrap();
            let end = raw.read().await.unwrap();
            assert_eq!(end[0], 0xFE);
            assert!(end_status(&end, classic).has(Status::CURSOR_EXISTS));
            let mut seen = Vec::new();
            for (rows, last) in [(2u32, false), (2, false), (2, true)] {
                let fetch = [&[0x1C][..], &id, &rows.to_le_bytes()].concat();
                raw.send(0, &fetch).await;
                let status = loop {
                    let packet = raw.read().await.unwrap();
                    if packet[0] == 0xFE {
                        break end_status(&packet, classic);
                    }
                    seen.push(packet[2]);
                };
                assert_eq!(status.has(Status::LAST_ROW_SENT), last);
                assert_eq!(status.has(Status::CURSOR_EXISTS), !last);
            }
            assert_eq!(seen, [0, 1, 2, 3, 4]);
            raw.send(0, &[&[0x1C][..], &id, &[1, 0, 0, 0]].concat()).await;
            assert_eq!(raw.error().await, 1421);
            raw.send(0, &execute).await;
            for _ in 0..3 {
                raw.read().await.unwrap();
            }
            assert_eq!(raw.command(&[&[0x1A][..], &id].concat()).await[0], 0);
            raw.send(0, &[&[0x19][..], &id].concat()).await;
            raw.send(0, &execute).await;
            assert_eq!(raw.error().await, 1243);
        }
    });
}

fn end_status(payload: &[u8], classic: bool) -> Status {
    if classic {
        return Eof::decode(payload).unwrap().status;
    }
    OkPacket::decode(payload, Capabilities::default()).unwrap().status
}

#[test]
fn long_data_becomes_the_parameter() {
    run(async |house| {
        let mut raw = Raw::entered(house.enter(1 << 16), Capabilities::DEPRECATE_EOF).await;
        let ok = raw.command(b"\x16SELECT ?").await;
        let id = ok.slice(1..5);
        raw.read().await.unwrap();
        raw.read().await.unwrap();
        for piece in [&b"abc"[..], b"def"] {
            raw.send(0, &[&[0x18][..], &id, &[0, 0], piece].concat()).await;
        }
        let execute = [&[0x17][..], &id, &[0, 1, 0, 0, 0, 0, 1, 252, 0]].concat();
        raw.command(&execute).await;
        raw.read().await.unwrap();
        assert_eq!(raw.read().await.unwrap()[..], *b"\0\0\x06abcdef");
        raw.read().await.unwrap();
        // Without new pieces the parameter has no value in this packet: it is cut short.
        raw.send(0, &execute).await;
        assert_eq!(raw.error().await, 1835);
    });
}

/// MariaDB's clients send an execution behind its preparation, before they know the statement's number.
#[test]
fn the_last_prepared_statement_has_a_number_of_its_own() {
    run(async |house| {
        let mut raw = Raw::entered(house.enter(1 << 16), Capabilities::DEPRECATE_EOF).await;
        let execute = [&[0x17][..], &[0xFF; 4], &[0, 1, 0, 0, 0, 0, 1, 253, 0, 1, b'x']].concat();
        raw.send(0, &execute).await;
        assert_eq!(raw.error().await, 1243, "nothing was prepared");
        for close in [false, true] {
            raw.command(b"\x16SELECT ?").await;
            raw.read().await.unwrap();
            raw.read().await.unwrap();
            raw.command(&execute).await;
            raw.read().await.unwrap();
            assert_eq!(raw.read().await.unwrap()[..], *b"\0\0\x01x");
            raw.read().await.unwrap();
            if close {
                raw.send(0, &[&[0x19][..], &[0xFF; 4]].concat()).await;
            } else {
                raw.send(0, b"\x16SELECT FROM WHERE").await;
                raw.error().await;
            }
            raw.send(0, &execute).await;
            assert_eq!(raw.error().await, 1243, "the last one was not prepared, or is closed");
        }
    });
}

#[test]
fn types_of_parameters_are_kept_between_executions() {
    run(async |house| {
        let mut raw = Raw::entered(house.enter(1 << 16), Capabilities::DEPRECATE_EOF).await;
        let id = raw.command(b"\x16SELECT ?").await.slice(1..5);
        raw.read().await.unwrap();
        raw.read().await.unwrap();
        let head = [&[0x17][..], &id, &[0, 1, 0, 0, 0, 0]].concat();
        raw.send(0, &[&head[..], &[0, 7]].concat()).await;
        assert_eq!(raw.error().await, 1835);
        for rest in [&[1, 1, 0, 7][..], &[0, 9]] {
            raw.command(&[&head[..], rest].concat()).await;
            raw.read().await.unwrap();
            let row = raw.read().await.unwrap();
            assert_eq!(row[2], *rest.last().unwrap());
            raw.read().await.unwrap();
        }
    });
}

#[test]
fn small_commands_are_answered() {
    run(async |house| {
        let mut raw = Raw::entered(house.enter(1 << 16), Capabilities::SESSION_TRACK).await;
        assert_eq!(raw.thread, 77);
        let statistics = raw.command(&[0x09]).await;
        assert!(statistics.starts_with(b"Uptime: "));
        let ok = raw.command(b"\x02other").await;
        let ok = OkPacket::decode(&ok, Capabilities::SESSION_TRACK).unwrap();
        assert_eq!(ok.session_state, b"\x01\x06\x05other");
        raw.send(0, b"\x02nowhere").await;
        assert_eq!(raw.error().await, 1049);
        raw.send(0, &[0x0C, 5, 0, 0, 0]).await;
        raw.error().await;
        assert!(house.seen().contains(&"KILL 5".to_owned()));
        assert!(Eof::is_one(&raw.command(&[0x0D]).await));
        raw.send(0, &[0x0A]).await;
        raw.error().await;
        assert!(house.seen().contains(&"SHOW PROCESSLIST".to_owned()));
        let definition = raw.command(b"\x04t\0n%").await;
        assert!(definition.ends_with(&[0xFB]));
        assert!(Eof::is_one(&raw.read().await.unwrap()));
        raw.send(0, b"\x04missing\0").await;
        assert_eq!(raw.error().await, 1146);
        assert_eq!(raw.command(&[0x1F]).await[0], 0);
        raw.send(0, &[0xFA]).await;
        assert_eq!(raw.error().await, 1047);
        raw.send(0, &[0x01]).await;
        assert!(raw.read().await.is_none());
    });
}

/// Whether it waits for its turn or its rows, and whatever it has sent behind it.
#[test]
fn a_client_that_leaves_cancels_its_statement() {
    for statement in ["WAIT", "HANG"] {
        for behind in [&b""[..], b"\x01\0\0\0\x0E"] {
            run(async |house| {
                let mut raw = Raw::entered(house.enter(64 << 10), Capabilities::default()).await;
                raw.send(0, format!("\x03{statement}").as_bytes()).await;
                raw.bytes(behind).await;
                while house.seen().is_empty() {
                    tokio::task::yield_now().await;
                }
                drop(raw);
                while house.seen().len() < 2 {
                    tokio::task::yield_now().await;
                }
                assert_eq!(house.seen(), [statement, "cancel"]);
            });
        }
    }
}

#[test]
fn broken_packets_are_answered_and_end_the_connection() {
    run(async |_| {
        let cases: [(&[u8], u16); 4] = [
            // COM_STMT_CLOSE without a number, a wrong sequence number, a payload over the limit, an empty command.
            (&[2, 0, 0, 0, 0x19, 1], 1835),
            (&[1, 0, 0, 5, 0x0E], 1156),
            (&[0, 0, 0xFF, 0, 0x03], 1153),
            (&[0, 0, 0, 0], 1835),
        ];
        let house = House::with(|settings| settings.max_message = 1 << 20);
        for (bytes, code) in cases {
            let mut raw = Raw::entered(house.enter(1 << 16), BASE).await;
            raw.bytes(bytes).await;
            let expected = if code == 1835 { 1 } else { 0 };
            raw.input.expect(expected);
            assert_eq!(raw.error().await, code);
            assert!(raw.read().await.is_none());
        }
    });
}

#[test]
fn clients_that_do_not_log_in_or_are_idle_are_sent_away() {
    run(async |_| {
        tokio::time::pause();
        let house = House::with(|settings| settings.idle_timeout = Duration::from_secs(5));
        let mut raw = Raw::greeted(house.enter(1 << 16)).await;
        assert!(raw.read().await.is_none());
        let mut raw = Raw::entered(house.enter(1 << 16), BASE).await;
        raw.input.expect(0);
        assert_eq!(raw.error().await, 4031);
        assert!(raw.read().await.is_none());
    });
}

#[test]
fn clients_that_are_idle_longer_than_they_have_said_are_sent_away_as_their_servers_do() {
    for (version, told) in [("8.0.36", Some(4031)), ("10.11.6-MariaDB", None)] {
        run(async |_| {
            tokio::time::pause();
            let house = House::with(|settings| settings.idle_timeout = Duration::from_secs(60));
            house.version.set(version.to_owned()).unwrap();
            let mut raw = Raw::entered(house.enter(1 << 16), BASE).await;
            raw.send(0, b"\x03SET wait_timeout = 2").await;
            raw.read().await.unwrap();
            let began = tokio::time::Instant::now();
            raw.input.expect(0);
            if let Some(told) = told {
                assert_eq!(raw.error().await, told);
            }
            assert!(raw.read().await.is_none());
            assert_eq!(began.elapsed().as_secs(), 2, "{version}");
        });
    }
}

#[test]
fn a_stopping_server_says_good_bye_after_the_running_statement() {
    run(async |house| {
        let mut idle = Raw::entered(house.enter(1 << 16), BASE).await;
        let mut busy = Raw::entered(house.enter(2048), BASE).await;
        busy.send(0, b"\x03ROWS 100").await;
        busy.read().await.unwrap();
        house.stop.send(true).unwrap();
        idle.input.expect(0);
        assert_eq!(idle.error().await, 1053);
        assert!(idle.read().await.is_none());
        let mut rows = 0;
        while let Some(packet) = busy.read().await {
            if packet[0] == 0xFC {
                rows += 1;
            }
            if packet[0] == 0xFE && rows > 0 {
                busy.input.expect(0);
            }
            if packet[0] == 0xFF {
                assert_eq!(ErrPacket::decode(&packet).unwrap().code, 1053);
            }
        }
        assert_eq!(rows, 100);
        let house = House::new();
        let mut raw = Raw::entered(house.enter(1 << 16), BASE).await;
        raw.send(0, b"\x03UPDATE").await;
        house.stop.send(true).unwrap();
        // The command was there before the door looked: it is refused in its own turn.
        assert_eq!(raw.error().await, 1053);
        let mut raw = Raw::entered(House::new().enter(1 << 16), BASE).await;
        raw.send(0, b"\x03STOP").await;
        assert_eq!(raw.error().await, 1053);
        assert!(raw.read().await.is_none());
    });
}

#[test]
fn a_client_that_does_not_read_stops_the_session() {
    run(async |house| {
        let mut raw = Raw::entered(house.enter(1024), BASE).await;
        raw.send(0, b"\x03ROWS 100000").await;
        let mut last = usize::MAX;
        // The door runs on this thread: it stands still when it has nothing more to do.
        loop {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            let pulled = house.pulled.load(Ordering::Relaxed);
            if pulled == last {
                break;
            }
            last = pulled;
        }
        assert!((1..100).contains(&last), "{last} rows were pulled");
        drop(raw);
    });
}

#[test]
fn a_client_that_takes_nothing_is_given_up() {
    run(async |_| {
        tokio::time::pause();
        let house = House::with(|settings| settings.idle_timeout = Duration::from_secs(5));
        let mut raw = Raw::entered(house.enter(1024), BASE).await;
        raw.send(0, b"\x03ROWS 1000").await;
        tokio::time::advance(Duration::from_secs(1)).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        tokio::time::advance(Duration::from_secs(6)).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let mut rest = 0;
        while raw.read().await.is_some() {
            rest += 1;
        }
        assert!(rest < 100, "{rest} packets came");
    });
}

#[test]
fn octets_in_literals_reach_the_session_as_hexadecimal() {
    run(async |house| {
        let mut raw = Raw::entered(house.enter(1 << 16), BASE).await;
        raw.send(0, b"\x03UPDATE '\xFF'").await;
        raw.read().await.unwrap();
        assert_eq!(house.seen(), ["UPDATE  X'FF'"]);
        raw.send(0, b"\x03UPDATE \xFF").await;
        assert_eq!(raw.error().await, 1300);
    });
}

#[test]
fn the_real_command_line_client_works() {
    run(async |house| {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let door = pando_mysql::Door::new(Arc::clone(&house));
        tokio::spawn(async move {
            while let Ok((stream, peer)) = listener.accept().await {
                let door = door.clone();
                tokio::spawn(async move {
                    door.serve(Box::new(stream), peer.ip().to_string().into()).await;
                });
            }
        });
        for (user, password) in
            [("any", "secret"), ("native", "secret"), ("sha2", "secret"), ("sha2", "wrong")]
        {
            let output = tokio::process::Command::new("mariadb")
                .args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", "--batch"])
                .args([
                    "--skip-ssl",
                    "--local-infile=1",
                    "--execute=SELECT one; UPDATE; SELECT two",
                ])
                .args([format!("--port={port}"), format!("--user={user}")])
                .args([format!("--password={password}"), "shop".to_owned()])
                .output()
                .await;
            let Ok(output) = output else {
                println!("skipped: there is no `mariadb` client");
                return;
            };
            let (out, err) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            if password == "wrong" {
                assert!(err.contains("ERROR 1045 (28000)"), "{err}");
            } else {
                assert_eq!(out, "text\tn\none\t3\ntext\tn\ntwo\t3\n", "{user}: {err}");
            }
        }
    });
}

#[test]
fn a_lost_session_is_an_error_with_a_kind() {
    run(async |house| {
        let mut backend = enter(&house, settings("any", "secret")).await.unwrap();
        assert_eq!(number(&text(&mut *backend, "STOP").await.unwrap_err()), 1053);
        let error = text(&mut *backend, "SELECT 1").await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unavailable { .. }));
    });
}
