//! Mirrors: what a storage unit is sent is run a second time elsewhere, and the answers are compared. No client waits for it.
//!
//! A [`tap::Tap`] on a channel keeps what is sent and a digest of what comes back; the copy goes into the [`lane::Lane`] of
//! its rule, at once or with its transaction's end ([`gathering`]); [`worker`] takes it from there.

mod answer;
mod gathering;
mod item;
mod lane;
mod shape;
mod tap;
mod worker;

use std::sync::{Arc, OnceLock};

use pando_kernel::feature::{Database, Meters};
use pando_kernel::mirror::{Report, Settings};
use pando_kernel::runtime::SharedRuntime;
use pando_pool::Pool;

pub(crate) use gathering::{Gatherings, Manner};
pub(crate) use lane::Lane;
pub(crate) use tap::{Seen, Tap, To, Way};

use lane::Course;

/// The mirrors of a database.
#[derive(Debug, Default)]
pub(crate) struct Mirrors {
    list: Vec<Mirror>,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Mirror {
    course: Course,
    /// From when the database is published.
    lane: OnceLock<Arc<Lane>>,
}

impl Mirrors {
    /// Those that the rooms of a database want, with the pools of the units that statements are copied to.
    pub(crate) fn of(database: &Database, pools: &[Pool]) -> Self {
        let mirror = |settings: Settings| {
            let pool = pools.iter().find(|pool| *pool.unit() == settings.mirror)?.clone();
            let course = Course { settings: Arc::new(settings), pool };
            Some(Mirror { course, lane: OnceLock::new() })
        };
        Self { list: database.mirrors().into_iter().filter_map(mirror).collect() }
    }

    /// The pool of a storage unit that statements are copied to.
    pub(crate) fn pool(&self, unit: &str) -> Option<&Pool> {
        let found = self.list.iter().find(|own| *own.course.settings.mirror == *unit);
        found.map(|own| &own.course.pool)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The rules for a storage unit's statements, each with what takes their copies.
    pub(crate) fn of_unit(&self, unit: &str) -> impl Iterator<Item = (&Arc<Settings>, &Arc<Lane>)> {
        let own = self.list.iter().filter(move |own| *own.course.settings.source == *unit);
        own.filter_map(|own| Some((&own.course.settings, own.lane.get()?)))
    }

    /// From now on copies are run by these rules. What was counted under earlier ones of the same name counts on.
    pub(crate) fn begin(&self, database: &str, meters: &Meters, runtime: &SharedRuntime) {
        for own in &self.list {
            let name = format!("{}/mirror/{}", database.to_lowercase(), own.course.settings.rule);
            own.lane.get_or_init(|| {
                let lane = meters.kept(&name, Lane::default);
                lane.goes_by(&own.course, runtime);
                lane
            });
        }
    }

    /// What has come of them so far.
    pub(crate) fn reports(&self) -> Vec<Report> {
        let report = |own: &Mirror| Some(own.lane.get()?.report(&own.course.settings));
        self.list.iter().filter_map(report).collect()
    }
}

impl Drop for Mirrors {
    fn drop(&mut self) {
        for own in &self.list {
            if let Some(lane) = own.lane.get() {
                lane.stops(&own.course.settings);
            }
        }
    }
}
