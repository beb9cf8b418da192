//! From configuration files to databases that can be served; connects nowhere.

use std::path::Path;

use pando_config::{At, Configuration, Environment, Errors, File, Problem, Report};
use pando_kernel::Modules;
use pando_model::Model;
use pando_rooms::Built;

use crate::options::Source;
use crate::place::Place;

/// A configuration that can be served.
#[derive(Debug, Default)]
pub struct Loaded {
    /// As read.
    pub configuration: Configuration,
    /// Its databases ready for their pools, in the order of `configuration.databases`.
    pub databases: Vec<Built>,
    /// What was accepted but should be changed.
    pub warnings: Vec<Problem>,
}

/// The documents of a configuration; by default none.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    /// As read and checked.
    pub(crate) loaded: Loaded,
    /// As written, placeholders and all.
    pub(crate) model: Model,
}

/// Loads a folder of configuration files (or one file of the JDBC driver's form) and checks all of it. `data` is where relative
/// paths of embedded storage units start, `modules` where algorithms of type `CLASS_BASED` are.
///
/// # Errors
/// Every problem found, each with file, line and key path.
pub fn load(config: &Path, data: &Path, modules: &dyn Modules) -> Result<Loaded, Errors> {
    let source = Source::Path(config.to_owned());
    documents(&source, Place { data, modules }).map(|documents| documents.loaded)
}

/// [`load`], with what is written.
///
/// # Errors
/// As there.
pub(crate) fn documents(source: &Source, place: Place<'_>) -> Result<Documents, Errors> {
    let environment: Environment<'_> = &|name| std::env::var(name).ok();
    let (texts, is_one) = match source {
        Source::Nothing => return Ok(Documents::default()),
        Source::Path(path) => (pando_config::texts(path)?, path.is_file()),
        Source::Text { name, text } => (vec![(name.clone(), text.clone())], true),
    };
    let files: Vec<File<'_>> = texts.iter().map(|(name, text)| File { name, text }).collect();
    let (configuration, model) = match files.as_slice() {
        [file] if is_one => {
            let read = pando_config::parse_one(*file, environment)?;
            (read, Model::from_file(*file, environment)?)
        }
        files => {
            let read = pando_config::parse_folder(files, environment)?;
            (read, Model::from_files(files, environment)?)
        }
    };
    Ok(Documents { loaded: checked(configuration, place)?, model })
}

fn checked(configuration: Configuration, place: Place<'_>) -> Result<Loaded, Errors> {
    let data = place.data;
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
        match place.build(database) {
            Ok(built) => databases.push(built),
            Err(errors) => {
                errors.problems().iter().for_each(|problem| report.error(problem.clone()));
            }
        }
    }
    for warning in &configuration.warnings {
        report.warn(warning.clone());
    }
    let built = databases.iter().flat_map(|built: &Built| &built.warnings);
    built.for_each(|warning| report.warn(warning.clone()));
    let warnings = report.finish()?;
    Ok(Loaded { configuration, databases, warnings })
}
