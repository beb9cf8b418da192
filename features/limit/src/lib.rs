//! Limits: how many statements begin, how many run at once and for how long, and when a storage unit is spared them.

mod bucket;
mod gate;
mod grammar;
mod meter;
mod pass;
mod rule;

use std::sync::Arc;
use std::time::Instant;

use pando_config::Rules;
use pando_kernel::error::Result;
use pando_kernel::feature::{
    Admission, Context, Entry, Feature, Footprint, Gauge, Meters, Permits, Room,
};
use pando_kernel::room::Built;
use pando_kernel::{Around, Offer, Shortcut, UnitName, circuit};
use pando_sql::ast::Statement;

use crate::pass::Step;
use crate::rule::{Limit, Of, Section};

/// The room for `!LIMIT`.
pub const ROOM: Offer = Offer {
    section: Some("LIMIT"),
    grammar: &[grammar::LIMIT, grammar::CIRCUIT_BREAKER],
    ..Offer::new(room)
};

fn room(rules: &Rules, around: &Around<'_>) -> Built {
    Ok(Section::read(rules, around)?.map(|section| Arc::new(Limits { section }) as _))
}

#[derive(Debug)]
struct Limits {
    section: Section,
}

impl Limits {
    /// What a statement has to pass, in order.
    fn steps<'a>(
        &'a self,
        ctx: &'a Context<'_>,
        footprint: &'a Footprint<'_>,
    ) -> impl Iterator<Item = Step> + 'a {
        let own = self.section.limits.iter().filter(|limit| limit.concerns(ctx, footprint));
        own.flat_map(|limit| Steps { limit, ctx, footprint, next: 0 })
    }
}

/// What a statement has to pass of one limit.
struct Steps<'a> {
    limit: &'a Arc<Limit>,
    ctx: &'a Context<'a>,
    footprint: &'a Footprint<'a>,
    next: usize,
}

impl Iterator for Steps<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let Self { limit, ctx, footprint, next } = self;
        let now = footprint.now;
        let at = std::mem::replace(next, *next + 1);
        let meters = limit.meters(now);
        let meter = match limit.of {
            Of::Unit => meters.of(limit.on(ctx, footprint).nth(at)?, now),
            Of::Database | Of::User | Of::Statement if at > 0 => return None,
            Of::Database => meters.all(),
            Of::User => meters.of(&ctx.session.facts.user, now),
            Of::Statement => {
                let digits = digits(footprint.stmt.digest);
                meters.of(std::str::from_utf8(&digits).unwrap_or_default(), now)
            }
        };
        Some(Step { limit: Arc::clone(limit), meter })
    }
}

/// A digest as SHOW tells it, in hexadecimal.
fn digits(digest: u64) -> [u8; 16] {
    let digit = |at: usize| {
        let nibble = u8::try_from(digest >> (60 - 4 * at) & 0xf).unwrap_or(0);
        if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
    };
    std::array::from_fn(digit)
}

impl Room for Limits {
    fn name(&self) -> &'static str {
        "limit"
    }
}

impl Feature for Limits {
    /// It is asked for each execution by itself, whatever the values.
    fn shortcut(&self, _: &Context<'_>, _: &Statement) -> Shortcut {
        Shortcut::Idle
    }

    fn admission(&self) -> Option<&dyn Admission> {
        Some(self)
    }
}

impl Admission for Limits {
    fn admit(
        &self,
        ctx: &Context<'_>,
        footprint: &Footprint<'_>,
        permits: &mut Permits,
    ) -> Result<Entry> {
        let passage = pass::pass(self.steps(ctx, footprint), footprint.now, permits)?;
        Ok(match passage {
            None => Entry::Now,
            Some(passage) => Entry::Later(Box::new(passage.kept())),
        })
    }

    fn takes_over(&self, database: &str, meters: &Meters, now: Instant) {
        for limit in &self.section.limits {
            let name = format!("{}/limit/{}", database.to_lowercase(), limit.name);
            limit.takes_over(meters.kept(&name, || meter::Meters::new(now)));
        }
    }

    fn circuit(&self, unit: &UnitName) -> Option<circuit::Settings> {
        let mut circuits = self.section.circuits.iter();
        circuits.find(|(own, _)| own == unit).map(|(_, settings)| *settings)
    }

    fn gauges(&self) -> Vec<Gauge> {
        let mut limits: Vec<&Arc<Limit>> = self.section.limits.iter().collect();
        limits.sort_by(|a, b| a.name.cmp(&b.name));
        let gauges = |limit: &&Arc<Limit>| {
            let known = limit.known_meters();
            known.map(|meters| match limit.of {
                Of::Database => vec![meters.gauge(&limit.name)],
                Of::User | Of::Unit | Of::Statement => meters.gauges(&limit.name),
            })
        };
        limits.iter().filter_map(gauges).flatten().collect()
    }
}
