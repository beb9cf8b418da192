//! A column that is stored as two: bulk data has one field for it, and what is sent has two.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use pando_kernel::changes::{Changes, Turn, ValueMap};
use pando_kernel::error::Result;
use pando_kernel::feature::{Context, Feature, Room};
use pando_kernel::{Target, TransactionType, Value};
use pando_sql::Span;
use pando_sql::ast::{Kind, Node, Statement};
use pando_sql::visit;
use pando_testing::poll::block_on;

use crate::house::{FAMILIES, Family};
use crate::turning::{Form, LOGIC, STORED};
use crate::{Failures, alone};

/// Texts with a letter in front.
#[derive(Debug)]
struct Marked(char);

impl ValueMap for Marked {
    fn turned(&self, value: &Value) -> Result<Value> {
        Ok(match value {
            Value::Text(text) => Value::Text(format!("{}{text}", self.0)),
            other => other.clone(),
        })
    }
}

/// The room: to its clients `room_s` has the columns `id` and `secret`, of which the second is stored twice.
#[derive(Debug)]
struct Splitting {
    first: Turn,
    second: Turn,
}

impl Room for Splitting {
    fn name(&self) -> &'static str {
        "splitting"
    }
}

impl Feature for Splitting {
    fn rewrite(
        &self,
        _: &Context<'_>,
        stmt: &Statement,
        _: &Target,
        changes: &mut Changes,
    ) -> Result<()> {
        let (columns, at) = match &stmt.kind {
            Kind::Copy(copy) => (&copy.columns, copy.columns_at),
            Kind::Load(load) => (&load.columns, load.columns_at),
            Kind::Select(_) => {
                read(stmt, changes);
                return Ok(());
            }
            _ => return Ok(()),
        };
        let place = match columns {
            None => {
                changes.text().replace(Span::at(at), format!(" (id, {STORED}, note)"));
                Some(1)
            }
            Some(listed) => {
                let place = listed.iter().position(|column| column.value == LOGIC);
                if let Some(column) = place.and_then(|place| listed.get(place)) {
                    changes.text().replace(column.span, format!("{STORED}, note"));
                }
                place
            }
        };
        if let Some(place) = place {
            changes.field(place, &self.first)?;
            changes.further_field(place, &self.second);
        }
        Ok(())
    }
}

/// What is read is the first of the two.
fn read(stmt: &Statement, changes: &mut Changes) {
    if let Some(star) = stmt.text.find('*') {
        let star = u32::try_from(star).unwrap();
        let all = format!("id, {STORED} AS {LOGIC}");
        changes.text().replace(Span::new(star, star + 1), all);
    }
    visit::exprs(&stmt.kind, &mut |expr| {
        let Node::Column(name) = &expr.node else { return };
        if name.parts.last().is_some_and(|part| part.value == LOGIC) {
            changes.text().replace(expr.span, format!("{STORED} AS {LOGIC}"));
        }
    });
}

#[test]
fn a_column_that_is_stored_as_two_has_one_field() {
    let _alone = alone();
    let mut failures = Failures::default();
    let binary: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\
        \0\x02\0\0\0\x04\0\0\0\x05\0\0\0\x01a\0\x02\0\0\0\x04\0\0\0\x06\xff\xff\xff\xff\xff\xff";
    let postgres: &[(&str, &[u8])] = &[
        ("COPY room_s FROM STDIN", b"1\ta\n2\t\\N\n"),
        ("COPY room_s (secret, id) FROM STDIN (FORMAT csv)", b"\"a,\",3\n,4\n"),
        ("COPY room_s FROM STDIN (FORMAT binary)", binary),
    ];
    let mariadb: &[(&str, &[u8])] = &[
        ("LOAD DATA LOCAL INFILE 'f' INTO TABLE room_s", b"1\ta\n2\t\\N\n"),
        (
            "LOAD DATA LOCAL INFILE 'f' INTO TABLE room_s FIELDS TERMINATED BY ',' ENCLOSED BY '\"' (secret, id)",
            b"\"a,\",3\nNULL,4\n",
        ),
        ("LOAD DATA LOCAL INFILE 'f' INTO TABLE room_s (id, secret)", b"5\ta\n6\t\\N"),
    ];
    for family in FAMILIES {
        block_on(async {
            let room = Splitting {
                first: Turn(Arc::new(Marked('1'))),
                second: Turn(Arc::new(Marked('2'))),
            };
            let left = Arc::new(AtomicI64::new(i64::MAX));
            let house =
                family.house_with(Arc::new(room), Form::One, left, TransactionType::Xa).await;
            let Some(mut house) = house else { return };
            let bulks = match family {
                Family::Postgres => postgres,
                Family::MariaDb => mariadb,
            };
            for (sql, data) in bulks {
                let told = house.client.bulk(sql, &[data]).await;
                let told = told.map_or_else(|error| error.to_string(), |_| "done".to_owned());
                failures.note(&house, sql, (told, "done".to_owned()));
            }
            let text = |text: &str| Value::Text(text.to_owned());
            let row = |id: i64, value: &str| {
                vec![Value::Int(id), text(&format!("1{value}")), text(&format!("2{value}"))]
            };
            let null = |id: i64| vec![Value::Int(id), Value::Null, Value::Null];
            let expected = [row(1, "a"), null(2), row(3, "a,"), null(4), row(5, "a"), null(6)];
            let held = house.rows(0, "room_s").await;
            failures.note(&house, "held", (format!("{held:?}"), format!("{expected:?}")));
        });
    }
    failures.tell();
}
