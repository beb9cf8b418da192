//! The list of rooms, and the rooms of a database.

use std::sync::Arc;

use pando_config::{Database, Problem, Report, Vendor, suggest};
use pando_kernel::feature::LogicTable;
use pando_kernel::room;
use pando_kernel::route::{Place, UnitName};
use pando_kernel::{Around, Feature, Offer, Turn};
use pando_sql::Fold;

use crate::Ground;
use crate::disabled;
use crate::places::{self, Grouped};

/// Every room, in walking order: sharding, single and broadcast claim statements, shadow and read/write splitting
/// redirect what they claimed. Mask and encrypt stand behind them: what they do with columns, they do for any of them. Disabled units
/// are looked for last, when every target is a storage unit; what they forbid altogether, first.
/// What people forbid is asked of what is planned.
pub const ROOMS: &[Offer] = &[
    disabled::DEFINITIONS,
    pando_audit::ROOM,
    pando_limit::ROOM,
    pando_mirror::ROOM,
    pando_sharding::ROOM,
    pando_single::ROOM,
    pando_broadcast::ROOM,
    pando_shadow::ROOM,
    pando_readwrite::ROOM,
    pando_mask::ROOM,
    pando_encrypt::ROOM,
    disabled::TARGETS,
];

/// The rooms of a database out of a list, in the list's order, while the storage units are so. Whatever contradicts is
/// reported, and a room with such rules left out.
pub fn rooms(
    list: &[Offer],
    database: &Database,
    ground: &Ground<'_>,
    report: &mut Report,
) -> Vec<Arc<dyn Feature>> {
    let Ground { states, modules, .. } = *ground;
    unserved(list, database).into_iter().for_each(|problem| report.error(problem));
    let (units, fold) = (units(database), fold(database));
    let mut made: Vec<Option<Arc<dyn Feature>>> = vec![None; list.len()];
    for turn in [Turn::Groups, Turn::Shadows, Turn::Tables, Turn::Rest] {
        let places = places::places(database, &groups_of(list, &made));
        for (at, offer) in list.iter().enumerate().filter(|(_, offer)| offer.turn == turn) {
            let others = tables_of(&made);
            let (units, places, others) = (&units[..], &places[..], &others[..]);
            let around = Around { units, places, others, states, fold, modules };
            match (offer.build)(&database.rules, &around) {
                Ok(room) => made[at] = room,
                Err(problems) => problems.into_iter().for_each(|problem| report.error(problem)),
            }
        }
    }
    mirrors_alone(database, &made, report);
    made.into_iter().flatten().collect()
}

/// What statements are copied to serves nobody else: it would answer with rows that only copies have written.
fn mirrors_alone(database: &Database, made: &[Option<Arc<dyn Feature>>], report: &mut Report) {
    let rooms = || made.iter().flatten();
    let groups = rooms().map(|room| room.groups());
    let members: Vec<Place> = groups.flat_map(|own| [own.places, own.shadows].concat()).collect();
    for own in rooms().flat_map(|room| room.mirrors()) {
        if let Some(place) = members.iter().find(|place| place.members.contains(&own.mirror)) {
            report.error(database.name.at.problem(format!(
                "storage unit `{}` is the mirror of rule `{}`, and `{}` has it as well: give the copies a unit of their own",
                own.mirror, own.rule, place.name
            )));
        }
    }
}

/// The groups that rooms make of storage units, apart from those that set shadows beside them; none where the rules for them are wrong, which [`rooms`] reports.
pub(crate) fn groups(database: &Database, ground: &Ground<'_>) -> Vec<Place> {
    let Ground { states, modules, .. } = *ground;
    let units = units(database);
    let places = places::places(database, &places::Grouped::default());
    let fold = fold(database);
    let (units, places) = (&units[..], &places[..]);
    let around = Around { units, places, others: &[], states, fold, modules };
    let first = ROOMS.iter().filter(|offer| offer.turn == Turn::Groups);
    let made = first.filter_map(|offer| (offer.build)(&database.rules, &around).ok().flatten());
    made.flat_map(|room| room.groups().places).collect()
}

/// How the storage units, which speak one language, read names without quotes.
fn fold(database: &Database) -> Fold {
    match database.storage_units.first().map(|unit| unit.url.vendor) {
        Some(Vendor::Postgres | Vendor::OpenGauss) => Fold::Lower,
        Some(Vendor::MySql | Vendor::MariaDb | Vendor::Sqlite) | None => Fold::Keep,
    }
}

/// Rules that no room of the list serves. They are refused: a rule that is passed over in silence is worse than one
/// that is missing.
fn unserved(list: &[Offer], database: &Database) -> Vec<Problem> {
    let served = room::sections(list);
    let sections = database.rules.sections().filter(|(tag, _)| !served.contains(tag));
    sections
        .map(|(tag, at)| {
            at.problem(match database.rules.has_section(tag) {
                true => {
                    format!("unknown rule `!{tag}`{}", suggest::hint(tag, served.iter().copied()))
                }
                false => format!("rule `!{tag}` is not served by this version"),
            })
        })
        .collect()
}

fn groups_of(list: &[Offer], made: &[Option<Arc<dyn Feature>>]) -> Grouped {
    let mut grouped = Grouped::default();
    for (offer, room) in list.iter().zip(made) {
        let Some(room) = room else { continue };
        let groups = room.groups();
        match offer.turn {
            Turn::Shadows => grouped.shadowed.extend(groups.places),
            Turn::Groups | Turn::Tables | Turn::Rest => grouped.groups.extend(groups.places),
        }
        grouped.apart.extend(groups.shadows.into_iter().flat_map(|place| place.members));
        grouped.apart.extend(room.mirrors().into_iter().map(|own| own.mirror));
    }
    grouped
}

fn tables_of(made: &[Option<Arc<dyn Feature>>]) -> Vec<LogicTable> {
    made.iter().flatten().flat_map(|room| room.tables()).collect()
}

fn units(database: &Database) -> Vec<UnitName> {
    database.storage_units.iter().map(|unit| unit.name.as_str().into()).collect()
}
