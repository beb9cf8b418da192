//! Parts of planning: the rooms' walk to a route, and the texts for its targets.

use std::hint::black_box;

use pando_kernel::changes::Changes;
use pando_kernel::feature::Context;
use pando_kernel::route::Route;
use pando_sql::Edits;
use pando_sql::ast::Statement;

use crate::Outcome;
use crate::plan::Desk;
use crate::shop::{self, Family};
use crate::stage::{self, Stage};

pub(crate) const STAGES: &[Stage] = &[
    stage::of("route/point-select", "statement", |n| route(shop::POINT_SELECT, n)),
    stage::of("route/insert", "statement", |n| route(shop::INSERT, n)),
    stage::of("route/order-by-limit", "statement", |n| route(shop::ORDERED, n)),
    stage::of("rewrite/point-select", "target", |n| rewrite(shop::POINT_SELECT, n)),
    stage::of("rewrite/insert", "target", |n| rewrite(shop::INSERT, n)),
    Stage {
        each: 10,
        ..stage::of("rewrite/order-by-limit", "target", |n| rewrite(shop::ORDERED, n))
    },
];

fn routed(context: &Context<'_>, statement: &Statement) -> Outcome<Route> {
    let mut route = Route::Unclaimed;
    for room in &context.database.features {
        room.route(context, statement, &mut route)?;
    }
    Ok(route)
}

fn route(text: &str, times: u32) -> Outcome {
    let desk = Desk::new(Family::Postgres, text, None)?;
    desk.with(|context, statement| {
        for _ in 0..times {
            black_box(routed(context, black_box(statement))?);
        }
        Ok(())
    })
}

/// The rooms' edits and the new text, for each target.
fn rewrite(text: &str, times: u32) -> Outcome {
    let desk = Desk::new(Family::Postgres, text, None)?;
    desk.with(|context, statement| {
        let route = routed(context, statement)?;
        for _ in 0..times {
            for target in &route.units()?.targets {
                let mut changes = Changes::default();
                for room in &context.database.features {
                    changes.begin(room.name());
                    room.rewrite(context, black_box(statement), target, &mut changes)?;
                }
                let edits = changes.edits(&Edits::default(), &Edits::default())?;
                black_box(edits.apply(&statement.text));
            }
        }
        Ok(())
    })
}
