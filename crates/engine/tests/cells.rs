//! Cells that a room tells otherwise than its storage units have them, on every way that rows take to a client.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

mod by_name;
mod turned;

use std::sync::Arc;

use pando_fake::Reply;
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::event::{Event, Whole};
use pando_kernel::request::{CursorId, Execute, Pipeline, Prepared, Request};
use pando_kernel::session::Session as _;
use pando_kernel::{Kind, Parameter, Value};

use turned::{House, Turns, house};

/// Rows with a number and a name.
fn named(rows: &[(i64, &str)]) -> Reply {
    let row = |(id, name): &(i64, &str)| vec![Value::Int(*id), Value::Text((*name).into())];
    Reply::rows(&[("id", Kind::Int), ("name", Kind::Text)], rows.iter().map(row).collect())
}

const ONE: &str = "SELECT id, name FROM zero_t";
const ALL: &str = "SELECT id, name FROM all_t ORDER BY id";

/// Three rows on the first unit, and two of each unit's.
fn filled() -> House {
    let house = house(&[Turns::Name]);
    house.units[0].reply(ONE, named(&[(1, "ba"), (2, "dc"), (3, "fe")]));
    house.units[0].reply(ALL, named(&[(1, "ba"), (4, "hg")]));
    house.units[1].reply(ALL, named(&[(2, "dc"), (3, "fe")]));
    house
}

#[test]
fn cells_of_one_unit_are_turned_in_pieces_and_in_one() {
    let mut house = filled();
    let told = ["Int(1) Text(\"ab\")", "Int(2) Text(\"cd\")", "Int(3) Text(\"ef\")", "SELECT 3"];
    assert_eq!(house.ok(ONE), told);
    assert_eq!(house.labels(), ["id", "told name"]);
    assert_eq!(house.whole(ONE).unwrap(), None, "the unit gives no reply in one");
    assert_eq!(house.rest().unwrap(), told);
    house.units[0].answers_whole();
    assert_eq!(house.whole(ONE).unwrap().unwrap(), told[..3]);
    assert_eq!(house.labels(), ["id", "told name"]);
    house.units[0].reply(ONE, named(&[]));
    assert_eq!(house.whole(ONE).unwrap().unwrap(), [""; 0]);
}

#[test]
fn null_and_values_of_other_columns_stay() {
    let mut house = house(&[Turns::Name]);
    let columns = [("name", Kind::Text), ("other", Kind::Text), ("number", Kind::Decimal)];
    let text = |text: &str| Value::Text(text.into());
    let number = Value::Decimal("1.50".parse().unwrap());
    let rows =
        vec![vec![Value::Null, text("ba"), number.clone()], vec![text("ba"), text("ba"), number]];
    house.units[0].reply("SELECT name, other, number FROM zero_t", Reply::rows(&columns, rows));
    let told = house.ok("SELECT name, other, number FROM zero_t");
    assert!(told[0].starts_with("Null Text(\"ba\")"), "{told:?}");
    assert!(told[1].starts_with("Text(\"ab\") Text(\"ba\")"), "{told:?}");
    assert_eq!(told[0].split(' ').next_back(), told[1].split(' ').next_back());
}

#[test]
fn rows_are_merged_as_they_are_stored() {
    let mut house = filled();
    let expected = [
        "Int(1) Text(\"ab\")",
        "Int(2) Text(\"cd\")",
        "Int(3) Text(\"ef\")",
        "Int(4) Text(\"gh\")",
        "SELECT 4",
    ];
    assert_eq!(house.ok(ALL), expected);
    assert_eq!(house.labels(), ["id", "told name"]);
    // `b` comes before `c` as stored, and behind it as told.
    let by_name = "SELECT name FROM all_t ORDER BY name";
    for (unit, name) in house.units.iter().zip(["bz", "ca"]) {
        unit.reply(
            by_name,
            Reply::rows(&[("name", Kind::Text)], vec![vec![Value::Text(name.into())]]),
        );
    }
    assert_eq!(house.ok(by_name), ["Text(\"zb\")", "Text(\"ac\")", "SELECT 2"]);
    // With a column that planning adds, and cuts off again.
    let hidden = "SELECT name FROM all_t ORDER BY id";
    house.units[0].when(|sql| sql.contains("ORDER_BY_DERIVED"), |_, _| derived("ba", 2));
    house.units[1].when(|sql| sql.contains("ORDER_BY_DERIVED"), |_, _| derived("dc", 1));
    assert_eq!(house.ok(hidden), ["Text(\"cd\")", "Text(\"ab\")", "SELECT 2"]);
}

fn derived(name: &str, id: i64) -> Reply {
    let columns = [("name", Kind::Text), ("ORDER_BY_DERIVED_0", Kind::Int)];
    Reply::rows(&columns, vec![vec![Value::Text(name.into()), Value::Int(id)]])
}

#[test]
fn rows_of_changes_are_turned() {
    let mut house = house(&[Turns::Name]);
    for (sql, told) in [
        ("UPDATE zero_t SET a = 1 RETURNING id, name", "Int(1) Text(\"ab\")"),
        ("DELETE FROM all_t RETURNING id, name", "Int(1) Text(\"ab\")"),
        ("INSERT INTO zero_t (id) VALUES (1) RETURNING id, name", "Int(1) Text(\"ab\")"),
    ] {
        for unit in &house.units {
            unit.reply(sql, named(&[(1, "ba")]));
        }
        assert_eq!(house.ok(sql)[0], told, "{sql}");
    }
    let sql = "DELETE FROM zero_t RETURNING *";
    let error = house.fails(sql);
    assert!(matches!(error.kind(), ErrorKind::Refused { .. }), "{error}");
    assert_eq!(house.sent_of(sql), 0, "its column's place shows when the rows are gone");
}

#[test]
fn a_column_named_by_a_star_is_found_when_it_comes() {
    let mut house = house(&[Turns::Name]);
    house.units[0].reply("SELECT * FROM zero_t", named(&[(1, "ba")]));
    assert_eq!(house.ok("SELECT * FROM zero_t")[0], "Int(1) Text(\"ab\")");
    let twice = [("name", Kind::Text), ("name", Kind::Text)];
    house.units[0].reply("SELECT * FROM zero_t", Reply::rows(&twice, Vec::new()));
    let error = house.fails("SELECT * FROM zero_t");
    assert!(error.to_string().contains("several columns"), "{error}");
    house.units[0].reply("SELECT * FROM zero_t", Reply::rows(&[("id", Kind::Int)], Vec::new()));
    let error = house.fails("SELECT * FROM zero_t");
    assert!(matches!(error.kind(), ErrorKind::UnknownColumn(_)), "{error}");
    house.ok(ONE_OF_NOBODY);
}

const ONE_OF_NOBODY: &str = "UPDATE zero_t SET a = 1";

#[test]
fn a_prepared_statement_tells_what_its_rows_are() {
    let mut house = filled();
    let sql = "SELECT id, name FROM zero_t WHERE id = $1";
    house.units[0].reply(sql, named(&[(1, "ba")]));
    let session = &mut house.session;
    let (prepared, described) = house.runtime.block_on(async {
        let prepared = session.prepare(sql.into(), Vec::new()).await.unwrap();
        let described = session.describe(&prepared).await.unwrap();
        (prepared, described)
    });
    let labels = |columns: &pando_kernel::Columns| {
        columns.list.iter().map(|column| column.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(labels(&described.columns.unwrap()), ["id", "told name"]);
    let execute = Execute {
        prepared,
        parameters: vec![Parameter::made(Value::Int(1))],
        result_formats: Vec::new(),
        limit: None,
        cursor: None,
        pipeline: Pipeline::Alone,
    };
    assert_eq!(house.ask(Request::Execute(execute)).unwrap()[0], "Int(1) Text(\"ab\")");
    assert_eq!(house.labels(), ["id", "told name"]);
}

#[test]
fn what_waits_in_a_cursor_is_turned_once() {
    for sql in [ONE, ALL] {
        let mut house = filled();
        house.ok("BEGIN");
        let prepared = house.prepare(sql);
        let execute = execute(prepared, Some(1));
        assert_eq!(house.ask(execute).unwrap(), ["Int(1) Text(\"ab\")", "suspended"], "{sql}");
        // Its connection is needed: what is left is read into memory.
        house.ok(ONE_OF_NOBODY);
        let fetch = |limit| Request::Fetch { cursor: CursorId(7), limit };
        assert_eq!(
            house.ask(fetch(Some(1))).unwrap(),
            ["Int(2) Text(\"cd\")", "suspended"],
            "{sql}"
        );
        assert_eq!(house.ask(fetch(None)).unwrap()[0], "Int(3) Text(\"ef\")", "{sql}");
        house.ok(&format!("DECLARE c CURSOR FOR {sql}"));
        assert_eq!(house.ok("FETCH 2 FROM c")[..2], ["Int(1) Text(\"ab\")", "Int(2) Text(\"cd\")"]);
        assert_eq!(house.labels(), ["id", "told name"]);
        assert_eq!(house.ok("FETCH 1 FROM c")[0], "Int(3) Text(\"ef\")");
        house.ok("COMMIT");
    }
}

#[test]
fn what_comes_together_is_turned_too() {
    let mut house = filled();
    let lines = house.runtime.block_on(async {
        house.session.run(Request::Query(ONE.into())).await.unwrap();
        let mut rows = 0;
        let mut piece = Some(house.session.next().await);
        while let Some(Ok(Some(event))) = piece {
            if let Event::Rows(found) = event {
                rows += found.count;
                assert!(!String::from_utf8_lossy(&found.bytes).contains("ba"), "{found:?}");
            }
            piece = house.session.ahead();
        }
        rows
    });
    assert_eq!(lines, 3);
}

#[test]
fn a_value_that_cannot_be_told_fails_its_statement_alone() {
    for whole in [false, true] {
        for sql in [ONE, ALL] {
            let mut house = filled();
            if whole {
                for unit in &house.units {
                    unit.answers_whole();
                }
            }
            house.units[0].reply(sql, named(&[(1, "never")]));
            let failed = |house: &mut House| match whole {
                false => house.query(sql).map(drop),
                true => house.whole(sql).map(drop),
            };
            if let Ok(()) = failed(&mut house) {
                // The reply was none in one.
                let error = house.rest().expect_err(sql);
                assert!(error.to_string().contains("never"), "{error}");
            }
            assert_eq!(house.ok(ONE_OF_NOBODY), ["UPDATE 1"], "{sql} {whole}");
            house.ok("BEGIN");
            assert!(failed(&mut house).is_err() || house.rest().is_err(), "{sql} {whole}");
            let error = house.fails(ONE_OF_NOBODY);
            assert!(error.to_string().contains("aborted"), "{error}");
            assert_eq!(house.ok("COMMIT"), ["ROLLBACK 0"], "{sql} {whole}");
            assert_eq!(house.ok(ONE_OF_NOBODY), ["UPDATE 1"], "{sql} {whole}");
        }
    }
}

#[test]
fn two_rooms_turn_one_column_one_after_the_other() {
    // The other by its place, or by its label, of rows that show which that is.
    for second in [Turns::Name, Turns::ByLabel] {
        let mut house = turned::house(&[Turns::Name, second]);
        for whole in [false, true] {
            if whole {
                house.units[0].answers_whole();
            }
            house.units[0].reply(ONE, named(&[(1, "ba")]));
            let told = ["Int(1) Text(\"ba\")", "SELECT 1"];
            match whole {
                false => assert_eq!(house.ok(ONE), told),
                true => assert_eq!(house.whole(ONE).unwrap().unwrap(), told[..1]),
            }
            assert_eq!(house.labels(), ["id", "told told name"]);
        }
    }
}

#[test]
fn bulk_data_is_never_passed_as_it_is_stored() {
    let mut house = filled();
    // In text a server writes another mark for NULL as a value of the same letters.
    let sql = "COPY zero_t (id, name) TO STDOUT (NULL 'nil')";
    let error = house.fails(sql);
    assert!(error.to_string().contains("COPY"), "{error}");
    assert_eq!(house.sent_of(sql), 0);
    // A query's rows are read and written as lines, which is for rows in a server's own form.
    let error = house.fails(&format!("COPY ({ONE}) TO STDOUT"));
    assert!(error.to_string().contains("bulk data"), "{error}");
    assert_eq!(house.sent_of(ONE), 1);
    // What names none of its columns passes.
    house.ok("COPY zero_t (id) TO STDOUT");
    assert_eq!(house.sent_of("COPY zero_t (id) TO STDOUT"), 1);
}

#[test]
fn steps_take_only_values_that_go_back() {
    let insert = "INSERT INTO one_t (id, name) SELECT id, name FROM zero_t";
    let mut house = turned::transferring(&[Turns::Name]);
    let error = house.fails(insert);
    assert!(error.to_string().contains("read before"), "{error}");
    assert_eq!(house.units[0].statements(), [""; 0]);
    let mut house = turned::transferring(&[Turns::Back]);
    house.units[0].reply(&format!(" {ONE}"), named(&[(1, "ba")]));
    assert_eq!(house.ok(insert), ["INSERT 1"]);
    // As a client would write what it has read.
    assert_eq!(house.sent_of("INSERT INTO one_t (id, name) VALUES (1, 'ab')"), 1);
}

#[test]
fn a_plan_that_is_kept_keeps_its_cells() {
    let mut house = house(&[Turns::Name]);
    let sql = |id: i64| format!("SELECT id, name FROM kept_t WHERE id = {id}");
    let mut asked = Vec::new();
    for id in 1..8 {
        house.units[0].reply(&sql(id), named(&[(id, "ba")]));
        assert_eq!(house.ok(&sql(id))[0], format!("Int({id}) Text(\"ab\")"));
        assert_eq!(house.labels(), ["id", "told name"]);
        asked.push(house.asked());
    }
    assert!(asked[6] > 0 && asked[6] == asked[4], "it is planned each time: {asked:?}");
}

/// A reply's rows in one.
fn lines(whole: Whole, house: &mut House) -> Result<Vec<String>> {
    let events = whole.columns.map(Event::Columns).into_iter().chain(whole.rows.map(Event::Rows));
    Ok(turned::show(&events.collect::<Vec<_>>(), &mut house.columns))
}

fn execute(prepared: Arc<Prepared>, limit: Option<u32>) -> Request {
    Request::Execute(Execute {
        prepared,
        parameters: Vec::new(),
        result_formats: Vec::new(),
        limit,
        cursor: limit.map(|_| CursorId(7)),
        pipeline: Pipeline::Alone,
    })
}

impl House {
    fn whole(&mut self, sql: &str) -> Result<Option<Vec<String>>> {
        let prepared = self.prepare(sql);
        let request = execute(prepared, None);
        let session = &mut self.session;
        let whole = self.runtime.block_on(async { session.answer(request).await })?;
        whole.map(|whole| lines(whole, self)).transpose()
    }

    fn prepare(&mut self, sql: &str) -> Arc<Prepared> {
        let session = &mut self.session;
        self.runtime.block_on(async { session.prepare(sql.into(), Vec::new()).await.unwrap() })
    }

    fn rest(&mut self) -> Result<Vec<String>> {
        let session = &mut self.session;
        let events = self.runtime.block_on(async {
            let mut events = Vec::new();
            while let Some(event) = session.next().await? {
                events.push(event);
            }
            Ok::<_, pando_kernel::Error>(events)
        })?;
        Ok(turned::show(&events, &mut self.columns))
    }

    fn sent_of(&self, sql: &str) -> usize {
        let sent = self.units.iter().flat_map(pando_fake::Unit::statements);
        sent.filter(|text| text == sql).count()
    }

    fn asked(&self) -> usize {
        self.asked.load(std::sync::atomic::Ordering::Relaxed)
    }
}

#[test]
fn a_room_is_asked_once_for_each_execution() {
    let mut house = filled();
    house.ok(ONE);
    house.ok(ALL);
    assert_eq!(house.admitted(), ["reads ds_0", "reads ds_0 ds_1"]);
    // By its template, too; and not for what only concerns the session, or is only prepared.
    house.units[0].reply("SELECT id FROM kept_t", named(&[(1, "ba")]));
    for _ in 0..4 {
        house.ok("SELECT id FROM kept_t");
    }
    assert_eq!(house.admitted(), ["reads ds_0"; 4]);
    house.ok("BEGIN");
    house.ok("UPDATE zero_t SET a = 1");
    house.ok("SAVEPOINT s");
    house.ok("COMMIT");
    assert_eq!(house.admitted(), ["writes ds_0"]);
    house.ok("COPY (SELECT id FROM kept_t) TO STDOUT");
    assert_eq!(house.admitted(), ["reads ds_0"]);
    let prepared = house.prepare(ONE);
    assert_eq!(house.admitted(), [""; 0]);
    house.ask(execute(prepared, None)).unwrap();
    assert_eq!(house.admitted(), ["reads ds_0"]);
}

#[test]
fn a_statement_in_steps_is_one_execution() {
    let mut house = turned::transferring(&[Turns::Back]);
    house.units[0].reply(&format!(" {ONE}"), named(&[(1, "ba")]));
    house.ok("INSERT INTO one_t (id, name) SELECT id, name FROM zero_t");
    assert_eq!(house.admitted(), ["writes"]);
}

#[test]
fn who_is_not_admitted_sends_nothing_and_opens_no_transaction() {
    let mut house = filled();
    for _ in 0..turned::MOST {
        house.ok(ONE);
    }
    let sent = house.units[0].statements().len();
    assert!(house.fails("UPDATE all_t SET a = 1").to_string().contains("no more statements"));
    assert_eq!(house.units[0].statements().len(), sent);
    // What ends a transaction is no execution on units, and is never kept out.
    house.ok("BEGIN");
    house.ok("ROLLBACK");
    house.admitted();
    house.ok(ONE);
}

/// Who counts how often a room was asked.
pub(crate) type Asked = Arc<std::sync::atomic::AtomicUsize>;
