//! The two lists: rooms in walking order, and databases by name. The only crate that names concrete ones.

mod algorithms;
mod places;
mod rooms;
mod served;
mod units;

use std::path::Path;
use std::sync::Arc;

use pando_config::{Database, Errors, PoolOptions, Problem, Report};
use pando_kernel::route::UnitName;
use pando_kernel::{Connector, feature};

pub use algorithms::algorithms;
pub use served::check_global;
pub use units::connector;

/// A logical database ready to be served, apart from its pools.
#[derive(Debug)]
pub struct Built {
    /// Its rooms in walking order, and its dialect. Its units are those that take writes, in file order: replicas are spoken to through their group only.
    pub database: feature::Database,
    /// Every storage unit in file order.
    pub units: Vec<Unit>,
    /// What was accepted but should be changed.
    pub warnings: Vec<Problem>,
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
    let mut report = Report::default();
    served::check(database, &mut report);
    let units = units::build(database, data, &mut report);
    let features = rooms::build(database, &mut report);
    let warnings = report.finish()?;
    let dialect = units.first().map_or_else(units::any_language, |unit| unit.connector.dialect());
    let groups = rooms::groups(database);
    Ok(Built {
        database: feature::Database {
            name: database.name.value.clone(),
            units: places::writers(database, &groups),
            features,
            dialect,
        },
        units,
        warnings,
    })
}
