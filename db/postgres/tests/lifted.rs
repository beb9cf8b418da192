//! Statements given as text that run prepared, against a real PostgreSQL.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests only"
)]

mod support;

use pando_kernel::dialect::Language;
use pando_kernel::{Event, Execution, Value};
use pando_postgres::Postgres;
use support::{connect, held, options, rows, run, state, text};

fn lifted(text: &str, sql: &str, numbers: &[i64]) -> Execution {
    lifted_values(text, sql, numbers.iter().map(|number| Value::Int(*number)))
}

fn lifted_values(text: &str, sql: &str, values: impl Iterator<Item = Value>) -> Execution {
    let parameters = values.map(|value| Postgres.lifted(value).unwrap()).collect();
    Execution::Lifted { text: text.into(), sql: sql.into(), parameters, era: 1 }
}

/// All that a client of a text is told.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
fn told(events: &[Event]) -> String {
    let columns = events.iter().filter_map(|event| match event {
        Event::Columns(columns) => Some(&columns.list),
        _ => None,
    });
    format!("{:?} {:?} {:?}", columns.collect::<Vec<_>>(), rows(events), events.last())
}

#[tokio::test]
async fn a_number_lifted_out_of_a_text_has_the_type_it_had() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    for number in ["0", "-1", "2147483647", "-2147483648", "2147483648", "-9223372036854775808"] {
        let sql = format!("SELECT pg_typeof({number})::text, {number} = {number}");
        let plain = run(&mut *backend, text(&sql)).await.unwrap();
        let number: i64 = number.parse().unwrap();
        let execution = lifted(&sql, "SELECT pg_typeof($1)::text, $2 = $1", &[number, number]);
        let events = run(&mut *backend, execution).await.unwrap();
        assert_eq!(rows(&events), rows(&plain), "{number}");
    }
}

#[tokio::test]
async fn what_is_lifted_answers_as_its_text_does_whatever_becomes_of_the_table() {
    let Some(options) = options() else { return };
    let mut backend = connect(options.clone()).await;
    let mut other = connect(options).await;
    run(&mut *other, text("DROP TABLE IF EXISTS lifted")).await.unwrap();
    run(&mut *other, text("CREATE TABLE lifted (a int, b text)")).await.unwrap();
    run(&mut *other, text("INSERT INTO lifted VALUES (1, 'x'), (2, 'y')")).await.unwrap();
    let changes = [
        "ALTER TABLE lifted ADD c int DEFAULT 7",
        "ALTER TABLE lifted ALTER b TYPE varchar(9)",
        "ALTER TABLE lifted RENAME b TO d",
        "ALTER TABLE lifted ALTER a TYPE numeric(9, 2)",
        "ALTER TABLE lifted DROP COLUMN c",
        "DROP TABLE lifted",
        "CREATE TABLE lifted AS SELECT 1 AS a, 2 AS d",
        "ALTER TABLE lifted ALTER a TYPE text",
        "DROP TABLE lifted",
    ];
    let sql = "SELECT * FROM lifted WHERE a = 1";
    for change in changes {
        for _ in 0..8 {
            let plain = run(&mut *backend, text(sql)).await;
            let execution = lifted(sql, "SELECT * FROM lifted WHERE a = $1", &[1]);
            match (plain, run(&mut *backend, execution).await) {
                (Ok(plain), Ok(events)) => assert_eq!(told(&events), told(&plain), "{change}"),
                (Err(plain), Err(error)) => {
                    assert_eq!(format!("{error:?}"), format!("{plain:?}"), "{change}");
                }
                (plain, events) => panic!("{change}: {plain:?} {events:?}"),
            }
        }
        run(&mut *other, text(change)).await.unwrap();
    }
}

#[tokio::test]
async fn a_name_that_means_another_table_is_looked_up_anew() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let ask = || {
        let (text, sql) = ("SELECT relname FROM pg_class WHERE oid = 0", "oid = $1");
        lifted(text, &text.replace("oid = 0", sql), &[0])
    };
    run(&mut *backend, text("CREATE TEMP TABLE first (a int)")).await.unwrap();
    run(&mut *backend, text("SET search_path TO pg_temp, pg_catalog")).await.unwrap();
    for _ in 0..2 {
        assert!(rows(&run(&mut *backend, ask()).await.unwrap()).is_empty());
    }
    let hide = "CREATE TEMP TABLE pg_class AS SELECT 'other' AS relname, 0 AS oid";
    run(&mut *backend, text(hide)).await.unwrap();
    assert_eq!(rows(&run(&mut *backend, ask()).await.unwrap()), [[Value::Text("other".into())]]);
}

#[tokio::test]
async fn an_error_inside_a_transaction_stands_where_it_stands_in_the_text() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    run(&mut *backend, text("CREATE TEMP TABLE places (a int, b text)")).await.unwrap();
    let sql = "UPDATE places SET a = 1234567 WHERE a = -  89 AND missing = 5";
    let other = "UPDATE places SET a = $1 WHERE a = $2 AND missing = $3";
    let mut errors = Vec::new();
    for execution in [text(sql), lifted(sql, other, &[1_234_567, -89, 5])] {
        run(&mut *backend, text("BEGIN")).await.unwrap();
        errors.push(format!("{:?}", run(&mut *backend, execution).await.unwrap_err()));
        run(&mut *backend, text("ROLLBACK")).await.unwrap();
    }
    assert_eq!(errors[0], errors[1]);
}

/// A query in a transaction cannot be asked again; whoever meets another type is told to repeat it, and no other connection of the unit meets it, too.
#[tokio::test]
async fn a_type_changed_behind_a_transaction_is_met_once_at_most() {
    let Some(options) = options() else { return };
    let mut other = connect(options.clone()).await;
    run(&mut *other, text("DROP TABLE IF EXISTS retyped")).await.unwrap();
    run(&mut *other, text("CREATE TABLE retyped (a int, b text)")).await.unwrap();
    run(&mut *other, text("INSERT INTO retyped VALUES (1, 'x')")).await.unwrap();
    let ask =
        || lifted("SELECT b FROM retyped WHERE a = 1", "SELECT b FROM retyped WHERE a = $1", &[1]);
    let mut backends = Vec::new();
    for _ in 0..3 {
        let mut backend = connect(options.clone()).await;
        run(&mut *backend, ask()).await.unwrap();
        run(&mut *backend, text("BEGIN")).await.unwrap();
        backends.push(backend);
    }
    run(&mut *other, text("ALTER TABLE retyped ALTER b TYPE varchar(9)")).await.unwrap();
    let mut answers = Vec::new();
    for backend in &mut backends {
        answers.push(run(&mut **backend, ask()).await);
    }
    assert_eq!(state(answers[0].as_ref().unwrap_err()), "40001");
    for answer in &answers[1..] {
        assert_eq!(rows(answer.as_ref().unwrap()), [[Value::Text("x".into())]]);
    }
    run(&mut *backends[0], text("ROLLBACK")).await.unwrap();
    run(&mut *backends[0], text("BEGIN")).await.unwrap();
    assert!(run(&mut *backends[0], ask()).await.is_ok());
    for backend in &mut backends {
        run(&mut **backend, text("ROLLBACK")).await.unwrap();
    }
    run(&mut *other, text("DROP TABLE retyped")).await.unwrap();
}

/// A string that goes into a text is the same whether the server reads it as a literal or takes it as a parameter.
#[tokio::test]
async fn strings_lifted_into_texts_are_those_of_the_text() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let table = "CREATE TEMP TABLE words (a text, b varchar(5), c char(5), d varchar, e char)";
    run(&mut *backend, text(table)).await.unwrap();
    for column in ["a", "b", "c", "d", "e"] {
        for word in ["", " ", "ab   ", "abcdef", "abcde   ", "ü€😀", "it's", "$1", "now"] {
            let plain = format!("UPDATE words SET {column} = '{}'", word.replace('\'', "''"));
            let sql = format!("UPDATE words SET {column} = $1");
            let mut answers = Vec::new();
            for prepared in [false, true, true] {
                run(&mut *backend, text("TRUNCATE words")).await.unwrap();
                run(&mut *backend, text("INSERT INTO words DEFAULT VALUES")).await.unwrap();
                let execution = match prepared {
                    true => lifted_values(&plain, &sql, [Value::Text(word.into())].into_iter()),
                    false => text(&plain),
                };
                let answer =
                    run(&mut *backend, execution).await.map_err(|error| format!("{error:?}"));
                let kept =
                    text(&format!("SELECT {column} || '|', octet_length({column}) FROM words"));
                let kept = rows(&run(&mut *backend, kept).await.unwrap());
                answers.push((answer.map(|events| told(&events)), kept));
            }
            assert_eq!(answers[0], answers[1], "{plain}");
            assert_eq!(answers[0], answers[2], "{plain}");
        }
    }
}

#[tokio::test]
async fn a_cancelled_statement_is_not_asked_again() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    run(&mut *backend, text("SET statement_timeout = 50")).await.unwrap();
    let execution = lifted("SELECT 1 AS again", "SELECT pg_sleep($1)", &[30]);
    assert_eq!(state(&run(&mut *backend, execution).await.unwrap_err()), "57014");
}

#[tokio::test]
async fn nothing_is_kept_prepared_where_nothing_may_be() {
    let Some(mut options) = options() else { return };
    options.statements = 0;
    let mut backend = connect(options).await;
    let execution = lifted("SELECT 'text'", "SELECT $1", &[1]);
    let events = run(&mut *backend, execution).await.unwrap();
    assert_eq!(rows(&events), [[Value::Text("text".into())]]);
    assert_eq!(held(&mut *backend).await, 0);
}
