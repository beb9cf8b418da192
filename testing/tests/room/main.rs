//! A room that renames a column, has its values stored from behind, redirects by one value and refuses by count, on
//! real servers: the client sees what it would see without the room, or is refused before anything is sent.

#![allow(
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and says what it skips"
)]

mod asked;
mod bulk;
mod cases;
mod edits;
mod house;
mod places;
mod split;
mod turning;

use std::fmt::Debug;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::{Context, Feature, Room};
use pando_kernel::request::Parameter;
use pando_kernel::route::{Need, Route};
use pando_kernel::session::Session as _;
use pando_kernel::{Format, TransactionType, Value};
use pando_sql::ast::Statement;
use pando_testing::poll::block_on;

use cases::{CATALOGUE, CHANGES, COPIES, CURSORS, In, QUERIES, REFUSED, TRANSACTION};
use house::{FAMILIES, Family, House};
use turning::Form;

/// All make the same tables: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a check in each family that has a server, and tells all failures together.
fn each(check: impl AsyncFn(&mut House, &mut Failures)) {
    each_in(Form::One, check);
}

/// The same with the column stored in this form.
fn each_in(form: Form, check: impl AsyncFn(&mut House, &mut Failures)) {
    let _alone = alone();
    let mut failures = Failures::default();
    for family in FAMILIES {
        block_on(async {
            if let Some(mut house) = family.house(form, TransactionType::Xa).await {
                check(&mut house, &mut failures).await;
            }
        });
    }
    failures.tell();
}

impl In {
    fn has(self, family: Family) -> bool {
        match self {
            Self::Both => true,
            Self::Postgres => family == Family::Postgres,
            Self::MariaDb => family == Family::MariaDb,
        }
    }
}

/// The statements that a family has.
fn of(cases: &[(In, &'static str)], family: Family) -> Vec<&'static str> {
    cases.iter().filter(|(which, _)| which.has(family)).map(|(_, sql)| *sql).collect()
}

/// What was not as expected.
#[derive(Default)]
struct Failures(Vec<String>);

impl Failures {
    fn tell(&self) {
        assert!(self.0.is_empty(), "\n{}", self.0.join("\n"));
    }

    /// Tells of each statement once.
    fn note(&mut self, house: &House, sql: &str, (seen, expected): (String, String)) {
        let head = format!("{:?} {sql}\n", house.family);
        if seen != expected && !self.0.iter().any(|known| known.starts_with(&head)) {
            self.0.push(format!("{head}    seen     {seen}\n    expected {expected}"));
        }
    }
}

/// An answer, or why there is none.
fn shown<T: Debug>(told: Result<T>) -> String {
    told.map_or_else(|error| error.to_string(), |told| format!("{told:?}"))
}

#[test]
fn a_query_tells_what_it_tells_without_the_room() {
    each(async |house, failures| {
        for sql in of(QUERIES, house.family) {
            let expected = house.straight(sql).await;
            let expected = expected.unwrap_or_else(|e| panic!("{sql}: {e}")).in_order_of(sql);
            let expected = format!("{expected:?}");
            // From the third on by a template, if it has one.
            for _ in 0..4 {
                let seen = house.client.query(sql).await.map(|told| told.in_order_of(sql));
                let seen = shown(seen);
                failures.note(house, sql, (seen, expected.clone()));
            }
            let (text, parameters) = house.family.lifted(sql);
            for format in [Format::Text, Format::Binary] {
                for limit in [None, Some(2)] {
                    for _ in 0..3 {
                        house.client.query("BEGIN").await.unwrap();
                        let bound = (&*text, parameters.clone());
                        let seen = house.client.execute(bound, format, limit).await;
                        let seen = seen.map(|told| told.in_order_of(sql));
                        let seen = shown(seen);
                        house.client.query("ROLLBACK").await.unwrap();
                        failures.note(
                            house,
                            &format!("{text} {format:?} {limit:?}"),
                            (seen, expected.clone()),
                        );
                    }
                }
            }
        }
    });
}

#[test]
fn a_change_stores_what_is_told_again() {
    each(async |house, failures| {
        for sql in of(CHANGES, house.family) {
            // From the third on by a template, if it has one; the last two with bound values.
            for n in 0..6 {
                let sql = sql.replace("{n}", &(10 + n).to_string());
                let expected = house.straight(&sql).await;
                let expected = expected.unwrap_or_else(|e| panic!("{sql}: {e}")).in_order_of(&sql);
                let (text, parameters) = house.family.lifted(&sql);
                let seen = match n {
                    0..4 => house.client.query(&sql).await,
                    4 => house.client.execute((&text, parameters), Format::Text, None).await,
                    _ => house.client.execute((&text, parameters), Format::Binary, None).await,
                };
                let seen = seen.map(|told| told.in_order_of(&sql));
                let seen = shown(seen);
                failures.note(house, &sql, (seen, format!("{expected:?}")));
            }
            failures.0.extend(house.check_stored(sql).await);
        }
    });
}

/// Whether Pando has said so, and not a server: a refusal, or that a table has no such column, as of one under its stored name.
fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Refused { .. } | ErrorKind::UnknownColumn(_))
}

#[test]
fn what_the_room_cannot_do_right_is_refused_before_anything_is_sent() {
    each(async |house, failures| {
        for sql in of(REFUSED, house.family) {
            for _ in 0..3 {
                let seen = match house.client.query(sql).await {
                    Ok(told) => format!("{told:?}"),
                    Err(error) if is_refusal(&error) => "refused".to_owned(),
                    Err(error) => error.to_string(),
                };
                failures.note(house, sql, (seen, "refused".to_owned()));
            }
        }
        failures.0.extend(house.check_stored("what was refused").await);
    });
}

#[test]
fn a_value_chooses_the_unit_and_is_stored_from_behind_there() {
    each(async |house, _| {
        let before = [house.stored(0, "room_t").await, house.stored(1, "room_t").await];
        for n in 20..26 {
            let insert =
                format!("INSERT INTO room_t (id, secret, note) VALUES ({n}, 'aside', 'x')");
            let select =
                format!("SELECT id, secret FROM room_t WHERE id = {n} AND secret = 'aside'");
            let other =
                format!("SELECT id, secret FROM room_t WHERE id = {n} AND secret = 'other'");
            for (sql, expected) in
                [(insert, vec![]), (select, vec![format!("{n} aside")]), (other, vec![])]
            {
                let told = match n % 2 {
                    0 => house.client.query(&sql).await,
                    _ => {
                        let (text, parameters) = house.family.lifted(&sql);
                        house.client.execute((&text, parameters), Format::Binary, None).await
                    }
                };
                let told = told.unwrap_or_else(|e| panic!("{sql}: {e}"));
                assert_eq!(told.rows, expected, "{:?} {sql}", house.family);
            }
        }
        let all = house.client.query("SELECT id, note FROM room_t WHERE secret = 'aside'").await;
        assert_eq!(all.unwrap().rows.len(), 6, "{:?}", house.family);
        let stored: Vec<String> = (20..26).map(|n| format!("{n} edisa x")).collect();
        assert_eq!(house.stored(2, "room_t").await, stored, "{:?}", house.family);
        let after = [house.stored(0, "room_t").await, house.stored(1, "room_t").await];
        assert_eq!(after, before, "{:?}", house.family);
    });
}

#[test]
fn each_execution_counts_once_and_the_one_too_many_changes_nothing() {
    each(async |house, _| {
        let select = "SELECT secret FROM room_t WHERE id = 1";
        let all = "SELECT id, secret FROM room_t WHERE secret IN ('ab', 'cd')";
        let update = "UPDATE room_t SET secret = 'new' WHERE id = 1";
        house.left.store(10, Ordering::Relaxed);
        // By planning, by templates, on one shard and on both: each is one.
        for sql in [select, select, select, all, all, all, update] {
            house.client.query(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        }
        let (text, parameters) = house.family.lifted(all);
        let prepared =
            house.client.session.prepare(text.as_str().into(), Vec::new()).await.unwrap();
        house.client.session.describe(&prepared).await.unwrap();
        assert_eq!(house.left.load(Ordering::Relaxed), 3, "{:?}", house.family);
        for _ in 0..3 {
            let bound = (&*text, parameters.clone());
            house.client.execute(bound, Format::Binary, None).await.unwrap();
        }
        let before = house.stored(1, "room_t").await;
        for sql in
            [select, all, "UPDATE room_t SET secret = 'never' WHERE id = 1", "DELETE FROM room_t"]
        {
            let error = house.client.query(sql).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Refused { .. }), "{sql}: {error}");
        }
        let bound = (&*text, parameters.clone());
        assert!(house.client.execute(bound, Format::Text, None).await.is_err());
        assert_eq!(house.stored(1, "room_t").await, before, "{:?}", house.family);
        assert_eq!(before[0], "1 wen one");
    });
}

#[test]
fn a_column_may_be_stored_as_two() {
    each_in(Form::Two, async |house, failures| {
        for sql in of(QUERIES, house.family).into_iter().filter(|sql| !sql.starts_with("TABLE")) {
            let expected = house.straight(sql).await.map(|told| told.in_order_of(sql));
            let expected = shown(expected);
            for _ in 0..2 {
                let seen = house.client.query(sql).await.map(|told| told.in_order_of(sql));
                failures.note(house, sql, (shown(seen), expected.clone()));
            }
            let (text, parameters) = house.family.lifted(sql);
            let seen = house.client.execute((&text, parameters), Format::Binary, None).await;
            let seen = seen.map(|told| told.in_order_of(sql));
            failures.note(house, &text, (shown(seen), expected));
        }
        for sql in of(CATALOGUE, house.family) {
            let expected = shown(house.straight(sql).await);
            let seen = shown(house.client.query(sql).await);
            failures.note(house, sql, (seen, expected));
        }
        for sql in of(CHANGES, house.family) {
            for n in 0..6 {
                let sql = sql.replace("{n}", &(10 + n).to_string());
                let expected = shown(house.straight(&sql).await.map(|t| t.in_order_of(&sql)));
                let (text, parameters) = house.family.lifted(&sql);
                let seen = match n {
                    0..4 => house.client.query(&sql).await,
                    _ => house.client.execute((&text, parameters), Format::Text, None).await,
                };
                let seen = shown(seen.map(|told| told.in_order_of(&sql)));
                failures.note(house, &sql, (seen, expected));
            }
            failures.0.extend(house.check_stored(sql).await);
        }
        for sql in of(REFUSED, house.family) {
            let seen = match house.client.query(sql).await {
                Err(error) if is_refusal(&error) => "refused".to_owned(),
                seen => shown(seen),
            };
            failures.note(house, sql, (seen, "refused".to_owned()));
        }
    });
}

#[test]
fn the_catalogue_knows_the_column_under_its_own_name() {
    each(async |house, failures| {
        for sql in of(CATALOGUE, house.family) {
            let expected = shown(house.straight(sql).await);
            for _ in 0..3 {
                let seen = shown(house.client.query(sql).await);
                failures.note(house, sql, (seen, expected.clone()));
            }
            let seen = shown(house.client.execute((sql, vec![]), Format::Text, None).await);
            failures.note(house, &format!("{sql} prepared"), (seen, expected.clone()));
        }
    });
}

#[test]
fn a_cursor_s_rows_are_told_as_a_query_s() {
    each(async |house, failures| {
        for sql in of(CURSORS, house.family) {
            for how in ["FETCH ALL FROM c", "FETCH 2 FROM c", "FETCH FORWARD 1 FROM c"] {
                let mut seen = Vec::new();
                for each in ["BEGIN", &format!("DECLARE c CURSOR FOR {sql}"), how, how, "CLOSE c"] {
                    let straight = house.straight(each).await.unwrap();
                    let told = house.client.query(each).await;
                    seen.push((shown(told), format!("{straight:?}")));
                }
                seen.into_iter()
                    .for_each(|pair| failures.note(house, &format!("{how}: {sql}"), pair));
                house.client.query("ROLLBACK").await.unwrap();
                house.straight("ROLLBACK").await.unwrap();
            }
        }
    });
}

#[test]
fn a_copy_of_a_query_tells_what_the_query_tells() {
    each(async |house, failures| {
        for sql in of(COPIES, house.family) {
            let expected = shown(house.straight(sql).await.map(|told| told.in_order_of(sql)));
            for _ in 0..3 {
                let seen = shown(house.client.query(sql).await.map(|told| told.in_order_of(sql)));
                failures.note(house, sql, (seen, expected.clone()));
            }
        }
    });
}

#[test]
fn one_parameter_is_turned_where_the_column_is_and_nowhere_else() {
    each(async |house, failures| {
        if house.family != Family::Postgres {
            return;
        }
        let sql = "SELECT id FROM room_t WHERE secret = $1 OR note = $1";
        for _ in 0..3 {
            let bound = (sql, vec![Parameter::made(Value::Text("ab".into()))]);
            let seen = house.client.execute(bound, Format::Binary, None).await;
            let seen = seen.map(|told| told.in_order_of(sql).rows.join(" "));
            failures.note(house, sql, (seen.unwrap_or_else(|e| e.to_string()), "1 5 6".to_owned()));
        }
    });
}

#[test]
fn every_type_of_transaction_takes_changes_back_and_keeps_them() {
    let _alone = alone();
    for family in FAMILIES {
        for kind in [TransactionType::Local, TransactionType::Xa, TransactionType::Base] {
            block_on(async {
                let Some(mut house) = family.house(Form::One, kind).await else { return };
                let before = [house.stored(0, "room_t").await, house.stored(1, "room_t").await];
                for end in ["ROLLBACK", "COMMIT"] {
                    for sql in ["BEGIN"].iter().chain(&TRANSACTION).chain(&[end]) {
                        let expected = house.straight(sql).await.unwrap().in_order_of(sql);
                        let seen = house.client.query(sql).await.map(|told| told.in_order_of(sql));
                        assert_eq!(shown(seen), shown(Ok(expected)), "{family:?} {kind:?} {sql}");
                    }
                    assert_eq!(house.check_stored(end).await, None, "{kind:?}");
                    let after = [house.stored(0, "room_t").await, house.stored(1, "room_t").await];
                    assert_eq!(after == before, end == "ROLLBACK", "{family:?} {kind:?} {end}");
                }
            });
        }
    }
}

#[test]
fn a_statement_that_a_text_has_prepared_is_turned() {
    each(async |house, failures| {
        let texts: &[&str] = match house.family {
            Family::Postgres => &[
                "PREPARE p (varchar) AS SELECT id, secret FROM room_t WHERE secret = $1 ORDER BY id",
                "EXECUTE p ('ab')",
                "EXECUTE p ('cd')",
                "EXECUTE p ('ba')",
                "DEALLOCATE p",
            ],
            Family::MariaDb => &[
                "PREPARE p FROM 'SELECT id, secret FROM room_t WHERE secret = ? ORDER BY id'",
                "SET @a = 'ab'",
                "EXECUTE p USING @a",
                "SET @a = 'ba'",
                "EXECUTE p USING @a",
                "DEALLOCATE PREPARE p",
            ],
        };
        for sql in texts {
            let expected = shown(house.straight(sql).await);
            let seen = shown(house.client.query(sql).await);
            failures.note(house, sql, (seen, expected));
        }
    });
}

#[test]
fn the_columns_of_the_table_are_told_under_their_own_names() {
    each(async |house, _| {
        for _ in 0..2 {
            assert_eq!(house.client.fields("room_t").await.unwrap(), ["id", "secret", "note"]);
        }
    });
}

/// A room that wants to know the columns of a table whatever is asked of it.
#[derive(Debug)]
struct Curious;

impl Room for Curious {
    fn name(&self) -> &'static str {
        "curious"
    }
}

impl Feature for Curious {
    fn route(&self, ctx: &Context<'_>, _: &Statement, route: &mut Route) -> Result<()> {
        if ctx.catalog.columns("room_t").is_none() {
            *route = Route::Needs(Need::Columns("room_t".into()));
        }
        Ok(())
    }
}

#[test]
fn a_room_that_needs_columns_to_say_where_their_table_is_costs_one_statement() {
    let _alone = alone();
    for family in FAMILIES {
        block_on(async {
            let house = family.house_with(
                Arc::new(Curious),
                Form::One,
                Arc::default(),
                TransactionType::Xa,
            );
            let Some(mut house) = house.await else { return };
            let error = house.client.query("SELECT id FROM room_t").await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Internal(_)), "{error}");
        });
    }
}
