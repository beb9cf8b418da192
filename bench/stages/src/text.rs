//! Text to tokens, digest and tree.

use std::hint::black_box;

use crate::stage::{self, Stage};
use crate::{Outcome, shop};

pub(crate) const STAGES: &[Stage] = &[
    stage::of("tokenise/point-select", "statement", |n| tokenise(shop::POINT_SELECT, n)),
    stage::of("tokenise/insert", "statement", |n| tokenise(shop::INSERT, n)),
    stage::of("parse/point-select", "statement", |n| parse(shop::POINT_SELECT, n)),
    stage::of("parse/insert", "statement", |n| parse(shop::INSERT, n)),
    stage::of("parse/order-by-limit", "statement", |n| parse(shop::ORDERED, n)),
    stage::of("parse/aggregate", "statement", |n| parse(shop::GROUPED, n)),
];

/// Tokens, digest and literal slots.
fn tokenise(text: &str, times: u32) -> Outcome {
    let syntax = &pando_postgres::dialect::SYNTAX;
    for _ in 0..times {
        black_box(pando_sql::tokenize(black_box(text), syntax).map_err(|error| error.message)?);
    }
    Ok(())
}

/// The whole parser, tokens included.
fn parse(text: &str, times: u32) -> Outcome {
    let syntax = &pando_postgres::dialect::SYNTAX;
    for _ in 0..times {
        black_box(pando_sql::parse(black_box(text), syntax).map_err(|error| error.message)?);
    }
    Ok(())
}
