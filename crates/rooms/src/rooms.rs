//! The rooms of a database in walking order.

use std::sync::Arc;

use pando_broadcast::Broadcast;
use pando_config::{Database, Problem, Report};
use pando_kernel::feature::LogicTable;
use pando_kernel::route::{Place, UnitName};
use pando_kernel::{Feature, States};
use pando_readwrite::ReadWrite;
use pando_sharding::Sharding;
use pando_single::Single;

use crate::disabled::Disabled;
use crate::places;

/// Sharding, single and broadcast claim statements, in that order; read/write splitting redirects what they claimed. Encrypt, mask and
/// shadow will stand behind single, broadcast and read/write splitting. Disabled units are looked for last.
pub(crate) fn build(
    database: &Database,
    states: &States,
    report: &mut Report,
) -> Vec<Arc<dyn Feature>> {
    let mut features: Vec<Arc<dyn Feature>> = Vec::new();
    let rules = &database.rules;
    let groups = groups(database, states);
    let places = places::places(database, &groups);
    let names: Vec<UnitName> = places.iter().map(|place| Arc::clone(&place.name)).collect();

    let sharding = rules.sharding.as_ref().map(|section| Sharding::new(section, &names));
    let sharding = sharding.and_then(|made| noted(made, report));
    let mut others: Vec<LogicTable> = sharding.as_ref().map(Feature::tables).unwrap_or_default();
    let broadcast = noted(Broadcast::new(rules.broadcast.as_ref(), &places, &others), report);
    let broadcast = broadcast.map(|room| room.with_states(states));
    others.extend(broadcast.as_ref().map(Feature::tables).unwrap_or_default());
    let single = noted(Single::new(rules.single.as_ref(), &places, &others), report);
    let readwrite =
        rules.readwrite.as_ref().map(|section| ReadWrite::new(section, &units(database)));
    let readwrite = readwrite.and_then(|made| noted(made, report));
    let readwrite = readwrite.map(|room| room.with_states(states));

    push(&mut features, sharding);
    push(&mut features, single);
    push(&mut features, broadcast);
    push(&mut features, readwrite);
    push(&mut features, Disabled::new(&states.disabled));
    features
}

/// The read/write groups; none when their section is wrong, which [`build`] reports.
pub(crate) fn groups(database: &Database, states: &States) -> Vec<Place> {
    let section = database.rules.readwrite.as_ref();
    let room = section.and_then(|section| ReadWrite::new(section, &units(database)).ok());
    room.map(|room| room.with_states(states).groups()).unwrap_or_default()
}

fn units(database: &Database) -> Vec<UnitName> {
    database.storage_units.iter().map(|unit| unit.name.as_str().into()).collect()
}

fn noted<T>(made: Result<T, Vec<Problem>>, report: &mut Report) -> Option<T> {
    match made {
        Ok(made) => Some(made),
        Err(problems) => {
            problems.into_iter().for_each(|problem| report.error(problem));
            None
        }
    }
}

fn push(features: &mut Vec<Arc<dyn Feature>>, room: Option<impl Feature + 'static>) {
    if let Some(room) = room {
        features.push(Arc::new(room));
    }
}
