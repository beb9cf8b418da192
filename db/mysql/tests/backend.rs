//! The connection to storage units, against real servers.

mod support;

use bytes::Bytes;
use pando_kernel::backend::{Connector, Execution};
use pando_kernel::session::TransactionState;
use pando_kernel::{CopyInput, ErrorKind, Event, Value};
use pando_mysql::MySqlConnector;
use support::{
    connect, event, execute, number, prepared, reply, run, servers, settings, text, whole,
};

fn words(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn text_statements_give_columns_rows_and_counts() {
    for (name, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let reply = text(&mut *backend, "SELECT 1 AS a, 'x' AS b, NULL AS c").await.unwrap();
            assert_eq!(reply.columns, ["a", "b", "c"]);
            assert_eq!(reply.rows, [[Value::Int(1), words("x"), Value::Null]]);
            assert_eq!(reply.completions[0].affected, Some(1));
            text(
                &mut *backend,
                "CREATE TEMPORARY TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
            )
            .await
            .unwrap();
            let insert = text(&mut *backend, "INSERT INTO t (v) VALUES (1), (2)").await.unwrap();
            assert_eq!(insert.completions[0].affected, Some(2));
            assert_eq!(insert.completions[0].last_insert_id, 1);
            let update = text(&mut *backend, "UPDATE t SET v = 2").await.unwrap();
            assert_eq!(update.completions[0].affected, Some(1));
            let info = &update.completions[0].info;
            // A MySQL 5.7 without its file of messages leaves the text out.
            assert!(info.contains("matched: 2") || name == "MYSQL57_PORT", "{name}: {info}");
        });
    }
}

#[test]
fn mariadb_says_which_text_is_json() {
    for (name, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let table = "CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, j JSON)";
            text(&mut *backend, table).await.unwrap();
            let query = "SELECT id, j, JSON_OBJECT('a', id) o FROM t";
            let json: &[u8] = if name == "MARIADB1_PORT" { b"\x01\x04json" } else { b"" };
            for round in 0..3 {
                let reply = match round {
                    0 => text(&mut *backend, query).await.unwrap(),
                    _ => execute(&mut *backend, query, &[]).await.unwrap(),
                };
                assert_eq!(
                    reply.extended.iter().map(|own| &**own).collect::<Vec<_>>(),
                    [b"", json, json]
                );
            }
        });
    }
}

#[test]
fn a_reply_in_one_piece_says_what_its_pieces_say() {
    let queries = [
        "SELECT 1 AS a, 'x' AS b, NULL AS c",
        "SELECT * FROM t WHERE id = 2",
        "SELECT * FROM t WHERE id = 99",
        "SELECT id FROM t ORDER BY v DESC, id",
        "SELECT a.v, b.v, 1 / 0 FROM t a JOIN t2 b USING (id)",
        "UPDATE t SET v = v + 1 WHERE id < 3",
        "UPDATE t SET v = v",
        "INSERT INTO t3 (v) VALUES (5), (6)",
        "DELETE FROM t3",
        // More packets than numbers.
        "SELECT a.v, b.v, c.v, d.v FROM t2 d, (SELECT v FROM t LIMIT 5) a,
            (SELECT 1 AS v UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) b,
            (SELECT 1 AS v UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) c",
        "DO 1",
    ];
    for (name, port) in servers() {
        run(async {
            // Each way on a connection of its own, over tables of its own.
            let (mut one, mut other) =
                (connect(settings(port)).await, connect(settings(port)).await);
            for backend in [&mut one, &mut other] {
                for table in ["t", "t2", "t3"] {
                    let made = format!(
                        "CREATE TEMPORARY TABLE {table} (id INT AUTO_INCREMENT PRIMARY KEY, v INT)"
                    );
                    text(&mut **backend, &made).await.unwrap();
                    let filled =
                        format!("INSERT INTO {table} (v) VALUES (1), (2), (3), (NULL), (5)");
                    text(&mut **backend, &filled).await.unwrap();
                }
            }
            let mut in_one = 0;
            for (sql, binary) in queries.iter().flat_map(|sql| [(sql, false), (sql, true)]).chain(
                // Known by now.
                queries.iter().map(|sql| (sql, true)),
            ) {
                let execution =
                    if binary { prepared(sql, &[]) } else { Execution::Text((*sql).into()) };
                one.start(execution.clone()).unwrap();
                let said = match whole(&mut *one).await.unwrap() {
                    Some(said) => {
                        in_one += 1;
                        said
                    }
                    None => reply(&mut *one).await.unwrap(),
                };
                assert_eq!(one.condition().outstanding, 0, "{name}: {sql}");
                other.start(execution).unwrap();
                let pieces = reply(&mut *other).await.unwrap();
                assert_eq!(said.columns, pieces.columns, "{name}: {sql}");
                assert_eq!(said.rows, pieces.rows, "{name}: {sql}");
                assert_eq!(said.completions, pieces.completions, "{name}: {sql}");
            }
            // All but what is prepared first or has more than some hundred rows.
            assert!(in_one > queries.len(), "{name}: {in_one}");
        });
    }
}

#[test]
fn what_is_no_single_result_is_left_to_its_pieces() {
    for (name, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let several = "SELECT 1; SELECT 2; SELECT nothing FROM nowhere";
            for sql in ["SELECT nothing FROM nowhere", several, "SET autocommit = 0", "BEGIN"] {
                backend.start(Execution::Text(sql.into())).unwrap();
                if whole(&mut *backend).await.unwrap().is_none() {
                    let _ = reply(&mut *backend).await;
                }
                let condition = backend.condition();
                assert!(condition.usable && condition.outstanding == 0, "{name}: {sql}");
            }
            assert_eq!(backend.condition().transaction, TransactionState::Open, "{name}");
            backend.start(Execution::Text("SELECT 1 FROM nowhere".into())).unwrap();
            assert!(whole(&mut *backend).await.unwrap().is_none(), "{name}");
            assert_eq!(number(&reply(&mut *backend).await.unwrap_err()), 1146, "{name}");
        });
    }
}

#[test]
fn found_rows_are_counted_when_asked_for() {
    for (_, port) in servers() {
        run(async {
            let mut settings = settings(port);
            settings.count = pando_mysql::backend::Count::Found;
            let mut backend = connect(settings).await;
            text(&mut *backend, "CREATE TEMPORARY TABLE t (v INT)").await.unwrap();
            text(&mut *backend, "INSERT INTO t VALUES (1), (2)").await.unwrap();
            let update = text(&mut *backend, "UPDATE t SET v = 2").await.unwrap();
            assert_eq!(update.completions[0].affected, Some(2));
        });
    }
}

const ALL_TYPES: &str = "CREATE TEMPORARY TABLE t (
    ti TINYINT, tu TINYINT UNSIGNED, si SMALLINT, mi MEDIUMINT, i INT, bu BIGINT UNSIGNED,
    de DECIMAL(30, 10), f FLOAT, d DOUBLE, da DATE, dt DATETIME(3), ts TIMESTAMP(6) NULL, tm TIME(2),
    y YEAR, bi BIT(10), c CHAR(5) CHARACTER SET utf8mb4, vb VARBINARY(10), bl BLOB,
    tx TEXT CHARACTER SET utf8mb4, e ENUM('a', 'b'), s SET('a', 'b'))";

#[test]
fn values_of_all_types_are_the_same_in_text_and_binary_rows() {
    for (name, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            text(&mut *backend, ALL_TYPES).await.unwrap();
            let insert = "INSERT INTO t VALUES (-128, 255, -32768, -8388608, -2147483648,
                18446744073709551615, -12345678901234567890.0123456789, 0.1, -1.5e300, '2026-01-31',
                '2026-01-31 13:45:01.250', '2026-01-31 13:45:01.000001', '-838:59:58.75', 2026,
                b'1000000001', 'héé', X'00FF', X'', 'text ☃', 'b', 'a,b')";
            text(&mut *backend, insert).await.unwrap();
            text(&mut *backend, "INSERT INTO t (ti) VALUES (1)").await.unwrap();
            let query = "SELECT * FROM t ORDER BY ti";
            let by_text = text(&mut *backend, query).await.unwrap();
            let by_binary = execute(&mut *backend, query, &[]).await.unwrap();
            assert_eq!(by_text.rows, by_binary.rows, "{name}");
            let expected = [
                Value::Int(-128),
                Value::UInt(255),
                Value::Int(-32768),
                Value::Int(-8_388_608),
                Value::Int(-2_147_483_648),
                Value::UInt(u64::MAX),
                Value::Decimal("-12345678901234567890.0123456789".parse().unwrap()),
                Value::Float(0.1),
                Value::Float(-1.5e300),
                words("2026-01-31"),
                words("2026-01-31 13:45:01.250"),
                words("2026-01-31 13:45:01.000001"),
                words("-838:59:58.75"),
                Value::UInt(2026),
                Value::UInt(513),
                words("héé"),
                Value::Bytes(Bytes::from_static(&[0, 255])),
                Value::Bytes(Bytes::new()),
                words("text ☃"),
                words("b"),
                words("a,b"),
            ];
            assert_eq!(by_text.rows[0], expected, "{name}");
            assert!(by_text.rows[1][1..].iter().all(Value::is_null));
        });
    }
}

#[test]
fn parameters_of_all_kinds_arrive() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let values = [
                Value::Null,
                Value::Int(-5),
                Value::UInt(u64::MAX),
                Value::Float(1.25),
                Value::Decimal("123456789012345678901234567890.5".parse().unwrap()),
                words("héllo"),
                Value::Bytes(Bytes::from_static(&[0, 255])),
                Value::Bool(true),
            ];
            let sql = "SELECT ? IS NULL, ? + 0, ?, ? + 0.0, ? + 0, ?, HEX(?), ? + 1";
            for _ in 0..2 {
                let reply = execute(&mut *backend, sql, &values).await.unwrap();
                let row = &reply.rows[0];
                assert_eq!(row[0], Value::Int(1));
                assert_eq!(row[1], Value::Int(-5));
                assert_eq!(row[5], words("héllo"));
                assert_eq!(row[6], words("00FF"));
                assert_eq!(row[7], Value::Int(2));
            }
            let error = execute(&mut *backend, sql, &values[1..]).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Value(_)));
            assert!(backend.condition().usable);
        });
    }
}

#[test]
fn executions_started_together_reply_in_order_and_errors_stay_with_their_own() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            backend.start(Execution::Text("SELECT 1".into())).unwrap();
            backend.start(prepared("SELECT ? + 1", &[Value::Int(1)])).unwrap();
            backend.start(Execution::Text("SELECT nonsense".into())).unwrap();
            backend.start(prepared("SELECT * FROM no_such_table", &[])).unwrap();
            backend.start(prepared("SELECT ? + 1", &[Value::Int(3)])).unwrap();
            backend.start(Execution::Ping).unwrap();
            backend.start(Execution::Text("SELECT 6".into())).unwrap();
            assert_eq!(backend.condition().outstanding, 7);
            assert_eq!(reply(&mut *backend).await.unwrap().rows, [[Value::Int(1)]]);
            assert_eq!(reply(&mut *backend).await.unwrap().rows, [[Value::Int(2)]]);
            assert_eq!(number(&reply(&mut *backend).await.unwrap_err()), 1054);
            assert_eq!(number(&reply(&mut *backend).await.unwrap_err()), 1146);
            assert_eq!(reply(&mut *backend).await.unwrap().rows, [[Value::Int(4)]]);
            assert!(reply(&mut *backend).await.unwrap().rows.is_empty());
            assert_eq!(reply(&mut *backend).await.unwrap().rows, [[Value::Int(6)]]);
            assert_eq!(backend.condition().outstanding, 0);
        });
    }
}

#[test]
fn a_statement_is_described_by_its_parameters_and_columns() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            for _ in 0..2 {
                let sql = "SELECT 1 AS a, ? AS b FROM DUAL WHERE ? > 0";
                backend
                    .start(Execution::Describe {
                        sql: sql.into(),
                        types: Default::default(),
                        era: 0,
                    })
                    .unwrap();
                let described = reply(&mut *backend).await.unwrap().described.unwrap();
                assert_eq!(described.parameters.len(), 2);
                let columns = described.columns.unwrap();
                assert_eq!(columns.list[0].name, "a");
            }
            let sql = "DO ?";
            backend
                .start(Execution::Describe { sql: sql.into(), types: Default::default(), era: 0 })
                .unwrap();
            let described = reply(&mut *backend).await.unwrap().described.unwrap();
            assert!(described.columns.is_none());
        });
    }
}

#[test]
fn the_statement_cache_is_bounded_and_evicted_statements_are_closed() {
    for (_, port) in servers() {
        run(async {
            let mut settings = settings(port);
            settings.statements = 3;
            let mut backend = connect(settings).await;
            for round in 0..3 {
                for n in 0..10 {
                    let sql = format!("SELECT {n}");
                    let reply = execute(&mut *backend, &sql, &[]).await.unwrap();
                    assert_eq!(reply.rows, [[Value::Int(n)]], "round {round}");
                }
            }
            let open = "SHOW SESSION STATUS LIKE 'Com_stmt_close'";
            let reply = text(&mut *backend, open).await.unwrap();
            assert_eq!(reply.rows[0][1], words("27"));
        });
    }
}

#[test]
fn statements_that_cannot_be_prepared_run_as_text() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            // None of the servers prepares a statement about prepared statements.
            execute(&mut *backend, "PREPARE p FROM 'SELECT 7'", &[]).await.unwrap();
            let reply = execute(&mut *backend, "EXECUTE p", &[]).await.unwrap();
            assert_eq!(reply.rows, [[Value::Int(7)]]);
        });
    }
}

#[test]
fn variables_are_found_by_their_new_names_on_every_server() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let set = "SET SESSION transaction_isolation = 'SERIALIZABLE'";
            text(&mut *backend, set).await.unwrap();
            let query = "SELECT @@session.transaction_isolation, @@transaction_read_only";
            let expected = [words("SERIALIZABLE"), Value::Int(0)];
            let by_text = text(&mut *backend, query).await.unwrap();
            let by_binary = execute(&mut *backend, query, &[]).await.unwrap();
            assert_eq!(by_text.rows[0], expected);
            assert_eq!(by_binary.rows[0], expected);
            let error = text(&mut *backend, "SELECT @@no_such_variable").await.unwrap_err();
            assert_eq!(number(&error), 1193);
        });
    }
}

#[test]
fn transactions_show_in_the_condition() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            assert_eq!(backend.condition().transaction, TransactionState::Idle);
            text(&mut *backend, "START TRANSACTION").await.unwrap();
            assert_eq!(backend.condition().transaction, TransactionState::Open);
            text(&mut *backend, "SELECT nonsense").await.unwrap_err();
            assert_eq!(backend.condition().transaction, TransactionState::Open);
            text(&mut *backend, "COMMIT").await.unwrap();
            assert_eq!(backend.condition().transaction, TransactionState::Idle);
        });
    }
}

#[test]
fn an_error_that_ended_the_transaction_shows_in_the_condition() {
    for (name, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            for (number, first, left) in [
                (1205, "ROLLBACK", TransactionState::Idle),
                (1205, "DO 1", TransactionState::Open),
                (1020, "ROLLBACK", TransactionState::Idle),
                (1213, "ROLLBACK", TransactionState::Idle),
                (1062, "DO 1", TransactionState::Open),
            ] {
                let signal = format!("SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = {number}");
                // No server lets `innodb_rollback_on_timeout` be set while it runs.
                for sql in [
                    "DROP PROCEDURE IF EXISTS ends_by_itself",
                    &format!("CREATE PROCEDURE ends_by_itself() BEGIN {first}; {signal}; END"),
                    "START TRANSACTION",
                ] {
                    text(&mut *backend, sql).await.unwrap();
                }
                let error = text(&mut *backend, "CALL ends_by_itself()").await.unwrap_err();
                assert_eq!(support::number(&error), number, "{name}: {error}");
                assert_eq!(backend.condition().transaction, left, "{name}");
                text(&mut *backend, "ROLLBACK").await.unwrap();
            }
            text(&mut *backend, "DROP PROCEDURE ends_by_itself").await.unwrap();
        });
    }
}

#[test]
fn a_reset_forgets_transaction_variables_and_database() {
    for (name, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            execute(&mut *backend, "SELECT ?", &[Value::Int(1)]).await.unwrap();
            text(&mut *backend, "SET @a = 1, sql_mode = ''").await.unwrap();
            text(&mut *backend, "START TRANSACTION").await.unwrap();
            text(&mut *backend, "USE information_schema").await.unwrap();
            backend.start(Execution::Reset).unwrap();
            backend
                .start(Execution::Text("SELECT @a, DATABASE(), '☃', @@sql_mode".into()))
                .unwrap();
            reply(&mut *backend).await.unwrap();
            assert_eq!(backend.condition().transaction, TransactionState::Idle);
            let row = reply(&mut *backend).await.unwrap().rows.remove(0);
            assert_eq!(row[1..3], [words("test"), words("☃")], "{name}");
            assert!(row[0].is_null());
            assert_ne!(row[3], words(""));
            let charset = "SELECT @@character_set_client, @@collation_connection";
            let row = text(&mut *backend, charset).await.unwrap().rows.remove(0);
            assert_eq!(row[0], words("utf8mb4"));
            let again = execute(&mut *backend, "SELECT ?", &[Value::Int(2)]).await.unwrap();
            assert_eq!(again.rows.len(), 1);
        });
    }
}

#[test]
fn several_results_of_a_call_follow_each_other() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            text(&mut *backend, "DROP PROCEDURE IF EXISTS pando_two").await.unwrap();
            text(&mut *backend, "CREATE PROCEDURE pando_two() BEGIN SELECT 1; SELECT 2, 3; END")
                .await
                .unwrap();
            for prepare in [false, true] {
                let call = "CALL pando_two()";
                let reply = if prepare {
                    execute(&mut *backend, call, &[]).await.unwrap()
                } else {
                    text(&mut *backend, call).await.unwrap()
                };
                assert_eq!(reply.rows.len(), 2);
                let more: Vec<_> = reply.completions.iter().map(|done| done.more).collect();
                assert_eq!(more, [true, true, false]);
            }
            text(&mut *backend, "DROP PROCEDURE pando_two").await.unwrap();
        });
    }
}

#[test]
fn many_rows_come_in_chunks() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let digits = "(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 \
                UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 \
                UNION ALL SELECT 8 UNION ALL SELECT 9)";
            let sql = format!(
                "SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n, REPEAT('x', 100) \
                 FROM {digits} a, {digits} b, {digits} c, {digits} e ORDER BY n"
            );
            for prepare in [false, true] {
                let reply = if prepare {
                    execute(&mut *backend, &sql, &[]).await.unwrap()
                } else {
                    text(&mut *backend, &sql).await.unwrap()
                };
                assert_eq!(reply.rows.len(), 10_000);
                assert_eq!(reply.rows[9_999][0], Value::Int(9_999));
                assert!(reply.chunks > 1 && reply.chunks < 1_000, "{} chunks", reply.chunks);
                assert_eq!(reply.completions[0].affected, Some(10_000));
            }
        });
    }
}

#[test]
fn rows_and_statements_over_sixteen_mebibytes_pass() {
    for (name, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            text(&mut *backend, "SET GLOBAL max_allowed_packet = 67108864").await.unwrap();
            backend = connect(settings(port)).await;
            let long = "y".repeat(17 << 20);
            let reply = text(&mut *backend, &format!("SELECT '{long}', LENGTH('{long}')")).await;
            let row = reply.unwrap().rows.remove(0);
            assert_eq!(row[0], words(&long), "{name}");
            let row = execute(&mut *backend, "SELECT ?, 5", &[words(&long)]).await.unwrap();
            assert_eq!(row.rows[0], [words(&long), Value::Int(5)], "{name}");
        });
    }
}

#[test]
fn a_row_over_the_limit_costs_the_connection_but_no_memory() {
    for (_, port) in servers() {
        run(async {
            let mut settings = settings(port);
            settings.max_packet = 1 << 16;
            let mut backend = connect(settings).await;
            let error = text(&mut *backend, "SELECT REPEAT('x', 100000)").await.unwrap_err();
            assert!(error.to_string().contains("larger than the limit"), "{error}");
            assert!(!backend.condition().usable);
            assert!(backend.start(Execution::Ping).is_err());
        });
    }
}

#[test]
fn a_running_statement_is_cancelled_from_another_connection() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let token = backend.token();
            backend.start(Execution::Text("SELECT SLEEP(50)".into())).unwrap();
            std::future::poll_fn(|cx| backend.poll_flush(cx)).await.unwrap();
            let connector = MySqlConnector::new(settings(port));
            let runtime = support::runtime();
            // The statement may not have begun when the first cancel comes: cancel until it ends.
            let ended = async {
                match reply(&mut *backend).await {
                    // SLEEP itself answers 1 when it is interrupted.
                    Ok(reply) => assert_eq!(reply.rows, [[Value::Int(1)]]),
                    Err(error) => assert_eq!(number(&error), 1317),
                }
            };
            let mut ended = Box::pin(ended);
            loop {
                connector.cancel(&runtime, token).await.unwrap();
                let pause = std::time::Duration::from_millis(20);
                if tokio::time::timeout(pause, ended.as_mut()).await.is_ok() {
                    break;
                }
            }
            drop(ended);
            assert_eq!(text(&mut *backend, "SELECT 2").await.unwrap().rows, [[Value::Int(2)]]);
        });
    }
}

#[test]
fn a_local_file_is_asked_for_and_loaded() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let allowed = text(&mut *backend, "SET GLOBAL local_infile = 1").await;
            allowed.unwrap();
            let mut backend = connect(settings(port)).await;
            text(&mut *backend, "CREATE TEMPORARY TABLE t (a INT, b VARCHAR(20))").await.unwrap();
            let load = "LOAD DATA LOCAL INFILE 'any.csv' INTO TABLE t FIELDS TERMINATED BY ','";
            backend.start(Execution::Text(load.into())).unwrap();
            backend.start(Execution::Text("SELECT SUM(a), MAX(b) FROM t".into())).unwrap();
            let Ok(Event::SendFile(file)) = event(&mut *backend).await else { panic!("a file") };
            assert_eq!(file, "any.csv");
            for part in ["1,o", "", "ne\n2,two\n"] {
                backend.copy(CopyInput::Data(part.into())).unwrap();
                std::future::poll_fn(|cx| backend.poll_flush(cx)).await.unwrap();
            }
            backend.copy(CopyInput::Done).unwrap();
            let done = reply(&mut *backend).await.unwrap();
            assert_eq!(done.completions[0].affected, Some(2));
            let row = reply(&mut *backend).await.unwrap().rows.remove(0);
            assert_eq!(row, [Value::Decimal(3.into()), words("two")]);

            backend.start(Execution::Text(load.into())).unwrap();
            assert!(matches!(event(&mut *backend).await, Ok(Event::SendFile(_))));
            backend.copy(CopyInput::Fail("no such file".into())).unwrap();
            let error = reply(&mut *backend).await.unwrap_err();
            assert_eq!(error.to_string(), "no such file");
            assert!(backend.copy(CopyInput::Done).is_err());
            text(&mut *backend, "SELECT 1").await.unwrap();
        });
    }
}

#[test]
fn wrong_passwords_and_databases_are_refused_with_the_servers_error() {
    for (_, port) in servers() {
        run(async {
            let runtime = support::runtime();
            let mut wrong = settings(port);
            wrong.password = "wrong".into();
            let error = MySqlConnector::new(wrong).connect(&runtime).await.unwrap_err();
            assert_eq!(number(&error), 1045);
            let mut nowhere = settings(port);
            nowhere.database = "no_such_database".into();
            let error = MySqlConnector::new(nowhere).connect(&runtime).await.unwrap_err();
            assert_eq!(number(&error), 1049);
        });
    }
}

#[test]
fn a_server_that_is_not_there_is_unavailable() {
    run(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let connector = MySqlConnector::new(settings(port));
        let error = connector.connect(&support::runtime()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unavailable { .. }), "{error}");
    });
}

#[test]
fn a_killed_connection_is_lost_for_every_execution() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let mut other = connect(settings(port)).await;
            let id = backend.token().id;
            text(&mut *other, &format!("KILL {id}")).await.unwrap();
            backend.start(Execution::Text("SELECT 1".into())).unwrap();
            backend.start(Execution::Text("SELECT 2".into())).unwrap();
            let mut failures = 0;
            while backend.condition().outstanding > 0 {
                if reply(&mut *backend).await.is_err() {
                    failures += 1;
                }
            }
            assert_eq!(failures, 2);
            assert!(!backend.condition().usable);
        });
    }
}

#[test]
fn tracked_variables_are_told() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let reply = text(&mut *backend, "SET time_zone = '+02:00'").await.unwrap();
            assert_eq!(reply.parameters, [("time_zone".to_owned(), "+02:00".to_owned())]);
        });
    }
}
