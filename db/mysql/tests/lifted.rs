//! Texts that run prepared, against real servers: the answer is the text's, to the byte.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "tests only"
)]

mod support;

use pando_kernel::backend::{Backend, Execution};
use pando_kernel::{Error, Event, Parameter, Rows, Value};
use support::{connect, event, execute, number, reply, run, servers, settings, text, whole};

fn lifted(text: &str, sql: &str, numbers: &[i64]) -> Execution {
    let parameters = numbers.iter().map(|number| Parameter::made(Value::Int(*number))).collect();
    Execution::Lifted { text: text.into(), sql: sql.into(), parameters, era: 1 }
}

/// The payloads of rows, without the numbers of their packets.
fn payloads(rows: &Rows) -> Vec<Vec<u8>> {
    let (mut bytes, mut found) = (&rows.bytes[..], Vec::new());
    while let [a, b, c, _, rest @ ..] = bytes {
        let (row, behind) = rest.split_at(u32::from_le_bytes([*a, *b, *c, 0]) as usize);
        found.push(row.to_vec());
        bytes = behind;
    }
    found
}

/// All that a client is told, columns and rows to the byte: in one piece if it comes so and `at_once` asks for it.
async fn told(backend: &mut dyn Backend, execution: Execution, at_once: bool) -> String {
    backend.start(execution).unwrap();
    let answer = match at_once {
        true => std::future::poll_fn(|cx| backend.poll_whole(cx)).await,
        false => Ok(None),
    };
    match answer {
        Ok(Some(whole)) => {
            let columns = whole.columns.map(|columns| columns.list);
            let rows: Vec<_> = whole.rows.iter().flat_map(payloads).collect();
            format!("{columns:?} {rows:?} {:?}", whole.completion)
        }
        Ok(None) => pieces(backend).await.unwrap_or_else(|error| format!("{error:?}")),
        Err(error) => format!("{error:?}"),
    }
}

async fn pieces(backend: &mut dyn Backend) -> Result<String, Error> {
    let (mut columns, mut rows, mut completion) = (None, Vec::new(), None);
    loop {
        match event(backend).await? {
            Event::Columns(found) => columns = Some(found.list),
            Event::Rows(more) => rows.extend(payloads(&more)),
            Event::Complete(complete) => completion = Some(complete),
            Event::Done => break,
            other => panic!("unexpected event {other:?}"),
        }
    }
    let completion = completion.unwrap();
    Ok(format!("{columns:?} {rows:?} {completion:?}"))
}

/// The statement as a text and lifted some times, all told the same.
async fn same(backend: &mut dyn Backend, sql: &str, other: &str, numbers: &[i64]) {
    let plain = told(backend, Execution::Text(sql.into()), true).await;
    for turn in 0..6 {
        let execution = lifted(sql, other, numbers);
        let own = told(backend, execution, turn % 2 == 0).await;
        assert_eq!(own, plain, "{sql}, turn {turn}");
        assert_eq!(backend.condition().outstanding, 0, "{sql}");
    }
}

/// A counter of this connection.
async fn status(backend: &mut dyn Backend, name: &str) -> u64 {
    let asked = format!("SHOW SESSION STATUS LIKE '{name}'");
    let asked = text(backend, &asked).await.unwrap();
    match &asked.rows[0][1] {
        Value::Text(count) => count.parse().unwrap(),
        other => panic!("{other:?}"),
    }
}

const TYPES: [(&str, &str); 22] = [
    ("TINYINT", "-128"),
    ("TINYINT UNSIGNED", "255"),
    ("TINYINT(1)", "1"),
    ("SMALLINT", "-32768"),
    ("MEDIUMINT", "-8388608"),
    ("INT", "-2147483648"),
    ("BIGINT", "-9223372036854775808"),
    ("BIGINT UNSIGNED", "18446744073709551615"),
    ("DECIMAL(30, 10)", "-12345678901234567890.0123456789"),
    ("DATE", "'0999-01-31'"),
    ("DATETIME", "'2026-01-31 00:00:00'"),
    ("DATETIME(3)", "'2026-01-31 13:45:01.250'"),
    ("TIMESTAMP(6) NULL", "'2026-01-31 13:45:01.000001'"),
    ("TIME", "'-838:59:58'"),
    ("TIME(2)", "'00:00:00.75'"),
    ("BIT(10)", "b'1000000001'"),
    ("CHAR(5) CHARACTER SET utf8mb4", "'héé'"),
    ("VARBINARY(10)", "X'00FF'"),
    ("BLOB", "X''"),
    ("TEXT CHARACTER SET latin1", "'täxt'"),
    ("ENUM('a', 'b')", "'b'"),
    ("SET('a', 'b')", "'a,b'"),
];

/// Types whose text only the server knows.
const UNTOLD: [(&str, &str); 5] = [
    ("FLOAT", "0.1"),
    ("DOUBLE", "-1.5e300"),
    ("INT(7) ZEROFILL", "42"),
    ("DECIMAL(9, 2) ZEROFILL", "1.5"),
    ("YEAR", "2026"),
];

#[test]
fn values_of_all_types_are_those_of_the_text() {
    for (name, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            for (at, (kind, value)) in TYPES.into_iter().chain(UNTOLD).enumerate() {
                let made = format!("CREATE TEMPORARY TABLE t{at} (id INT PRIMARY KEY, v {kind})");
                text(&mut *backend, &made).await.unwrap();
                let filled = format!("INSERT INTO t{at} VALUES (1, {value}), (2, NULL)");
                text(&mut *backend, &filled).await.unwrap();
                let before = status(&mut *backend, "Com_stmt_execute").await;
                for id in [1, 2, 3] {
                    let sql = format!("SELECT v, id, v AS again FROM t{at} WHERE id = ");
                    same(&mut *backend, &format!("{sql}{id}"), &format!("{sql}?"), &[id]).await;
                }
                let times = status(&mut *backend, "Com_stmt_execute").await - before;
                let expected = if at < TYPES.len() { 16 } else { 0 };
                assert_eq!(times, expected, "{name}: {kind}");
            }
        });
    }
}

#[test]
fn many_rows_and_wide_ones_are_those_of_the_text() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let made = "CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v LONGTEXT, n INT)";
            text(&mut *backend, made).await.unwrap();
            for id in 0..400 {
                let filled = format!("INSERT INTO t VALUES ({id}, REPEAT('x', {id}), NULL)");
                text(&mut *backend, &filled).await.unwrap();
            }
            let sql = "SELECT * FROM t WHERE id BETWEEN 3 AND 390";
            let other = "SELECT * FROM t WHERE id BETWEEN ? AND ?";
            same(&mut *backend, sql, other, &[3, 390]).await;
            text(&mut *backend, "UPDATE t SET v = REPEAT('y', 70000) WHERE id = 4").await.unwrap();
            same(
                &mut *backend,
                "SELECT v, n FROM t WHERE id = 4",
                "SELECT v, n FROM t WHERE id = ?",
                &[4],
            )
            .await;
        });
    }
}

#[test]
fn what_is_lifted_answers_as_its_text_does_whatever_becomes_of_the_table() {
    for (name, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let mut other = connect(settings(port)).await;
            let changes = [
                "ALTER TABLE lifted ADD c INT DEFAULT 7",
                "ALTER TABLE lifted MODIFY b VARCHAR(99)",
                "ALTER TABLE lifted CHANGE b d VARCHAR(99)",
                "ALTER TABLE lifted MODIFY c DOUBLE DEFAULT 0.1",
                "ALTER TABLE lifted MODIFY a BIGINT UNSIGNED",
                "ALTER TABLE lifted DROP COLUMN c",
                "DROP TABLE lifted",
                "CREATE TABLE lifted SELECT 1 AS a, 2 AS d",
                "DROP TABLE lifted",
            ];
            text(&mut *other, "DROP TABLE IF EXISTS lifted").await.unwrap();
            text(&mut *other, "CREATE TABLE lifted (a INT PRIMARY KEY, b TEXT)").await.unwrap();
            text(&mut *other, "INSERT INTO lifted VALUES (1, 'x'), (2, 'y')").await.unwrap();
            for change in changes {
                let sql = "SELECT * FROM lifted WHERE a = 1";
                same(&mut *backend, sql, "SELECT * FROM lifted WHERE a = ?", &[1]).await;
                same(
                    &mut *backend,
                    "DELETE FROM lifted WHERE a = 7",
                    "DELETE FROM lifted WHERE a = ?",
                    &[7],
                )
                .await;
                text(&mut *other, change).await.unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        });
    }
}

#[test]
fn changes_and_their_errors_are_those_of_the_text() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let made = "CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, u INT UNSIGNED, b BIGINT, s TINYINT NOT NULL)";
            text(&mut *backend, made).await.unwrap();
            text(&mut *backend, "INSERT INTO t VALUES (1, 1, 9223372036854775807, 1)")
                .await
                .unwrap();
            for mode in ["", "STRICT_TRANS_TABLES", "NO_UNSIGNED_SUBTRACTION,STRICT_TRANS_TABLES"] {
                text(&mut *backend, &format!("SET SESSION sql_mode = '{mode}'")).await.unwrap();
                for sql in [
                    "UPDATE t SET s = # WHERE id = #",
                    "UPDATE t SET u = # WHERE u < 1000 AND id = #",
                    "UPDATE t SET b = # WHERE id = #",
                    "UPDATE t SET u = u + 5 WHERE b >= # AND id = #",
                    "UPDATE t SET s = b WHERE u >= # AND id = #",
                    "UPDATE IGNORE t SET s = # WHERE id = #",
                    "DELETE FROM t WHERE b < # AND id = #",
                    "UPDATE t SET missing = # WHERE id = #",
                ] {
                    for value in ["0", "1", "5", "127", "128", "4294967296", "9223372036854775807"]
                    {
                        let plain = sql.replacen('#', value, 1).replacen('#', "1", 1);
                        let numbers = [value.parse().unwrap(), 1];
                        let mut answers = Vec::new();
                        // Each begins with the same row.
                        for execution in std::iter::once(Execution::Text(plain.as_str().into()))
                            .chain(std::iter::repeat_n(
                                lifted(&plain, &sql.replace('#', "?"), &numbers),
                                3,
                            ))
                        {
                            text(
                                &mut *backend,
                                "REPLACE INTO t VALUES (1, 1, 9223372036854775807, 1)",
                            )
                            .await
                            .unwrap();
                            let said = told(&mut *backend, execution, true).await;
                            let warned = text(&mut *backend, "SHOW WARNINGS").await.unwrap();
                            let left = text(&mut *backend, "SELECT * FROM t").await.unwrap();
                            answers.push(format!("{said} {:?} {:?}", warned.rows, left.rows));
                        }
                        for own in &answers[1..] {
                            assert_eq!(*own, answers[0], "{mode}: {plain}");
                        }
                    }
                }
            }
        });
    }
}

#[test]
fn a_statement_that_is_not_prepared_costs_one_try() {
    for (name, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let asked = "Com_stmt_prepare";
            let before = status(&mut *backend, asked).await;
            for _ in 0..9 {
                backend.start(lifted("SELECT 'text'", "SELECT no such thing", &[1])).unwrap();
                if whole(&mut *backend).await.unwrap().is_none() {
                    assert_eq!(
                        reply(&mut *backend).await.unwrap().rows,
                        [[Value::Text("text".into())]]
                    );
                }
            }
            let after = status(&mut *backend, asked).await;
            assert_eq!(after - before, 1, "{name}");
        });
    }
}

#[test]
fn a_cancelled_statement_is_not_asked_again() {
    for (name, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let limit = if name.starts_with("MARIADB") {
                "SET SESSION max_statement_time = 0.2"
            } else {
                "SET SESSION max_execution_time = 200"
            };
            text(&mut *backend, limit).await.unwrap();
            for _ in 0..2 {
                let execution =
                    lifted("SELECT 'text'", "SELECT 'prepared' FROM (SELECT SLEEP(?)) s", &[1]);
                backend.start(execution).unwrap();
                reply(&mut *backend).await.unwrap();
            }
            let execution =
                lifted("SELECT 'text'", "SELECT 'prepared' FROM (SELECT SLEEP(?)) s", &[30]);
            backend.start(execution).unwrap();
            let answer = reply(&mut *backend).await;
            // MySQL's SLEEP ends with 1 instead of an error.
            match answer {
                Ok(said) => assert_eq!(said.rows, [[Value::Text("prepared".into())]], "{name}"),
                Err(error) => {
                    assert!([1317, 1969, 3024].contains(&number(&error)), "{name}: {error}")
                }
            }
        });
    }
}

#[test]
fn parameters_of_other_types_before_do_not_show() {
    for (name, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            let made = "CREATE TEMPORARY TABLE t (id BIGINT PRIMARY KEY, v INT)";
            text(&mut *backend, made).await.unwrap();
            let (low, high) = (9_007_199_254_740_992_i64, 9_007_199_254_740_993_i64);
            let filled = format!("INSERT INTO t VALUES ({low}, 1), ({high}, 2), (7, 3)");
            text(&mut *backend, &filled).await.unwrap();
            let sql = "SELECT v FROM t WHERE id = ?";
            let plain = format!("SELECT v FROM t WHERE id = {high}");
            for before in [
                Value::Float(1.5),
                Value::Text("7".into()),
                Value::Decimal("1.5".parse().unwrap()),
                Value::Null,
                Value::UInt(7),
            ] {
                for _ in 0..2 {
                    execute(&mut *backend, sql, std::slice::from_ref(&before)).await.unwrap();
                    let found = execute(&mut *backend, sql, &[Value::Int(high)]).await.unwrap();
                    assert_eq!(found.rows, [[Value::Int(2)]], "{name}: {before:?}");
                    execute(&mut *backend, sql, std::slice::from_ref(&before)).await.unwrap();
                    backend.start(lifted(&plain, sql, &[high])).unwrap();
                    let found = reply(&mut *backend).await.unwrap();
                    assert_eq!(found.rows, [[Value::Int(2)]], "{name}: {before:?}, lifted");
                }
            }
        });
    }
}
