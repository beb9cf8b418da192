//! The whole line: a client's bytes in, a storage unit's bytes out and in, the reply's bytes out, through door, engine, pool and backend.
//!
//! The client and the units are scripts behind [`wire::Wire`]; everything else, tokio's scheduler and timers included, is what serves.

mod client;
mod house;
mod mysql;
mod postgres;
mod question;
mod wire;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pando_kernel::runtime::Stream;
use tokio::runtime::Builder;

use crate::shop::{self, Family};
use crate::stage::{self, Stage};
use crate::{Failure, Outcome};

use client::{Client, Dialogue, Ledger};
use house::House;
use question::{LIMIT, RANGE, ROW};
pub(crate) use question::{Mode, Question, Within};

pub(crate) const STAGES: &[Stage] = &[
    stage::of("line/point-select/postgres/text", "query", |n| {
        postgres(shop::FEW, Mode::Text, Within::Nothing, n)
    }),
    stage::of("line/point-select/postgres/prepared", "query", |n| {
        postgres(shop::FEW, Mode::Prepared, Within::Nothing, n)
    }),
    stage::of("line/in-transaction/postgres/text", "query", |n| {
        postgres(shop::FEW, Mode::Text, Within::Transaction, n)
    }),
    stage::of("line/in-transaction/postgres/prepared", "query", |n| {
        postgres(shop::FEW, Mode::Prepared, Within::Transaction, n)
    }),
    stage::of("line/order-by-limit/postgres/text", "query", |n| {
        wide(Question::Limited, Mode::Text, n)
    }),
    stage::of("line/order-by-limit/postgres/prepared", "query", |n| {
        wide(Question::Limited, Mode::Prepared, n)
    }),
    stage::of("line/ordered-range/postgres/text", "query", |n| {
        wide(Question::Range, Mode::Text, n)
    }),
    stage::of("line/ordered-range/postgres/prepared", "query", |n| {
        wide(Question::Range, Mode::Prepared, n)
    }),
    stage::of("line/10000-nodes/postgres/text", "query", |n| {
        postgres(shop::MANY, Mode::Text, Within::Nothing, n)
    }),
    stage::of("line/10000-nodes/postgres/prepared", "query", |n| {
        postgres(shop::MANY, Mode::Prepared, Within::Nothing, n)
    }),
    stage::of("line/point-select/mysql/text", "query", |n| mysql(Mode::Text, n)),
    stage::of("line/point-select/mysql/prepared", "query", |n| mysql(Mode::Prepared, n)),
];

fn postgres(nodes: u32, mode: Mode, within: Within, times: u32) -> Outcome {
    let dialogue = postgres::dialogue(Question::Point, mode, within, times)?;
    serve(Family::Postgres, nodes, dialogue, times)
}

/// A question to both units, whose answers are merged.
fn wide(question: Question, mode: Mode, times: u32) -> Outcome {
    let dialogue = postgres::dialogue(question, mode, Within::Nothing, times)?;
    serve(Family::Postgres, shop::FEW, dialogue, times)
}

fn mysql(mode: Mode, times: u32) -> Outcome {
    serve(Family::MySql, shop::FEW, mysql::dialogue(mode, times)?, times)
}

/// Serves one client who has this to say, over so many nodes on each unit, and checks that all of it was answered.
fn serve(family: Family, nodes: u32, dialogue: Dialogue, times: u32) -> Outcome {
    let ledger = Arc::new(Ledger::default());
    let runtime = Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(async {
        let house = House::open(shop::built(family, nodes)?, family);
        let client: Box<dyn Stream> = match family {
            Family::Postgres => {
                let ends = postgres::Ends;
                Box::new(wire::Wire::to(Client::new(ends, dialogue, Arc::clone(&ledger)))?)
            }
            Family::MySql => {
                let ends = mysql::Ends::default();
                Box::new(wire::Wire::to(Client::new(ends, dialogue, Arc::clone(&ledger)))?)
            }
        };
        let host = "127.0.0.1".to_owned();
        let serving = match family {
            Family::Postgres => {
                let door = pando_postgres::frontend::Door::new(house);
                tokio::spawn(async move { door.serve(client, host.into()).await })
            }
            Family::MySql => {
                let door = pando_mysql::Door::new(house);
                tokio::spawn(async move { door.serve(client, host.into()).await })
            }
        };
        serving.await.map_err(Failure::from)
    })?;
    let answered = ledger.answered.load(Ordering::Relaxed);
    if answered == times {
        return Ok(());
    }
    let why = ledger.trouble.get().map_or("the door closed", String::as_str);
    Err(format!("{answered} of {times} queries were answered: {why}").into())
}
