//! The two lists: rooms in walking order, and databases by name. The only crate that names concrete ones.

mod disabled;
mod places;
mod rooms;
mod served;
mod units;

use std::path::Path;
use std::sync::Arc;

use pando_config::{Database, Errors, PoolOptions, Problem, Report};
use pando_kernel::guard::{Reach, Standing};
use pando_kernel::route::{Place, UnitName};
use pando_kernel::{Connector, Dialect, Feature, Modules, NoModules, States, feature};

pub use rooms::{ROOMS, rooms};
pub use served::check_global;
pub use units::connector;

/// A logical database ready to be served, apart from its pools.
#[derive(Debug)]
pub struct Built {
    /// Its rooms in walking order, and its dialect. Its units are those that take writes, in file order: replicas are spoken to through their group only.
    /// A group without a primary is stood for by a member that can be read. Disabled units are not among them, no shadows and no mirrors.
    pub database: feature::Database,
    /// Every storage unit in file order.
    pub units: Vec<Unit>,
    /// What was accepted but should be changed.
    pub warnings: Vec<Problem>,
}

/// What a database is built on, beside its configuration.
#[derive(Debug, Clone, Copy)]
pub struct Ground<'a> {
    /// Where relative paths of embedded storage units start.
    pub data: &'a Path,
    /// How the storage units are. States make no errors: what fits no unit and no group of the configuration is passed
    /// over.
    pub states: &'a States,
    /// Where algorithms of type `CLASS_BASED` are.
    pub modules: &'a dyn Modules,
}

/// A storage unit that can be connected to.
#[derive(Debug)]
pub struct Unit {
    /// Its name.
    pub name: UnitName,
    /// Opens its connections; nothing is opened yet.
    pub connector: Arc<dyn Connector>,
    /// The bounds of its pool.
    pub pool: PoolOptions,
}

/// Builds a logical database from its configuration, without connecting anywhere. `data` is where relative paths of embedded
/// storage units start.
///
/// # Errors
/// Every problem, by file and line: rules that contradict each other or the storage units, sections this version does not serve, storage units of several languages.
pub fn build(database: &Database, data: &Path) -> Result<Built, Errors> {
    build_with_states(database, data, &States::default())
}

/// The same while the storage units are so: groups send writes to who is primary now and reads to who may be read, and disabled units get nothing.
///
/// # Errors
/// As [`build`]. States make no errors: what fits no unit and no group of the configuration is passed over.
pub fn build_with_states(
    database: &Database,
    data: &Path,
    states: &States,
) -> Result<Built, Errors> {
    build_on(database, &Ground { data, states, modules: &NoModules })
}

/// The same on this ground.
///
/// # Errors
/// As [`build`].
pub fn build_on(database: &Database, ground: &Ground<'_>) -> Result<Built, Errors> {
    let mut report = Report::default();
    let units = units::build(database, ground.data, &mut report);
    let features = rooms::rooms(ROOMS, database, ground, &mut report);
    let dialect = units.first().map_or_else(units::any_language, |unit| unit.connector.dialect());
    no_ledgers(database, &units, &features, dialect.as_ref(), &mut report);
    let warnings = report.finish()?;
    let mut writers = places::writers(
        database,
        &groups(database, ground.modules),
        &rooms::groups(database, ground),
    );
    let shadows = features.iter().flat_map(|room| room.groups().shadows);
    let mirrors = features.iter().flat_map(|room| room.mirrors()).map(|own| own.mirror);
    let apart: Vec<UnitName> = shadows.flat_map(|place| place.members).chain(mirrors).collect();
    writers.retain(|unit| !ground.states.disabled.contains(unit) && !apart.contains(unit));
    Ok(Built {
        database: feature::Database {
            name: database.name.value.clone(),
            units: writers,
            features,
            dialect,
        },
        units,
        warnings,
    })
}

/// The read/write groups as configured, each with the member first that is configured to take writes; none when their
/// section is wrong.
pub fn groups(database: &Database, modules: &dyn Modules) -> Vec<Place> {
    let states = States::default();
    rooms::groups(database, &Ground { data: Path::new(""), states: &states, modules })
}

/// The ledgers of transactions are led to by no rule and no schema.
fn no_ledgers(
    database: &Database,
    units: &[Unit],
    features: &[Arc<dyn Feature>],
    dialect: &dyn Dialect,
    report: &mut Report,
) {
    let Some(guard) = dialect.guard() else { return };
    let tables = features.iter().flat_map(|room| room.tables());
    for node in tables.flat_map(|table| table.nodes) {
        if guard.is_ledger(&node.table) {
            let message = format!("`{}` belongs to the ledgers of transactions", node.table);
            report.error(database.name.at.problem(message));
        }
    }
    let own_schemas = || None;
    let standing = Standing { reach: Reach::Administrator, own_schemas: &own_schemas };
    for place in units.iter().filter_map(|unit| unit.connector.place()) {
        let path = place.schemas.join(",");
        if let Err(error) = guard.judge_setting("search_path", &path, &standing) {
            report.error(database.name.at.problem(error.to_string()));
        }
    }
}
