//! From configuration files to databases that can be served; connects nowhere.

use std::path::Path;

use pando_config::{At, Configuration, Errors, Problem, Report};
use pando_rooms::Built;

/// A configuration that can be served.
#[derive(Debug)]
pub struct Loaded {
    /// As read.
    pub configuration: Configuration,
    /// Its databases ready for their pools, in the order of `configuration.databases`.
    pub databases: Vec<Built>,
    /// What was accepted but should be changed.
    pub warnings: Vec<Problem>,
}

/// Loads a folder of configuration files (or one file of the JDBC driver's form) and checks all of it. `data` is where relative
/// paths of embedded storage units start.
///
/// # Errors
/// Every problem found, each with file, line and key path.
pub fn load(config: &Path, data: &Path) -> Result<Loaded, Errors> {
    let configuration = pando_config::load(config)?;
    let mut report = Report::default();
    let mut databases = Vec::new();
    if !data.as_os_str().is_empty() && !data.is_dir() {
        let message = format!("`--data`: `{}` is not a folder", data.display());
        report.error(At::default().problem(message));
    }
    for problem in pando_rooms::check_global(&configuration.global) {
        report.error(problem);
    }
    for database in &configuration.databases {
        match pando_rooms::build(database, data) {
            Ok(built) => databases.push(built),
            Err(errors) => {
                errors.problems().iter().for_each(|problem| report.error(problem.clone()));
            }
        }
    }
    if configuration.databases.is_empty() {
        let message = "there is no database to serve: add a `database-*.yaml`";
        report.error(At::default().problem(message));
    }
    for warning in &configuration.warnings {
        report.warn(warning.clone());
    }
    let built = databases.iter().flat_map(|built: &Built| &built.warnings);
    built.for_each(|warning| report.warn(warning.clone()));
    let warnings = report.finish()?;
    Ok(Loaded { configuration, databases, warnings })
}
