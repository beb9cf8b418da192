//! A folder of files, or one file of the JDBC driver → `Configuration`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::database::Database;
use crate::global::Global;
use crate::place::{At, Errors, Problem, Report};
use crate::placeholder::Environment;
use crate::read::Fields;
use crate::yaml;

/// Everything configured, read and checked as far as it can be without a database at hand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Configuration {
    /// What holds for the whole server.
    pub global: Global,
    /// Logical databases in the order of their files' names.
    pub databases: Vec<Database>,
    /// What was accepted but should be changed.
    pub warnings: Vec<Problem>,
}

/// One file: its name and its text.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// The name without its folder; says what the file is.
    pub name: &'a str,
    /// The whole text.
    pub text: &'a str,
}

/// The database of a JDBC file that names none.
const DEFAULT_DATABASE: &str = "logic_db";
/// Files of one folder at most.
const MOST_FILES: usize = 10_000;

/// Loads a folder with `global.yaml` and `database-*.yaml` (or `server.yaml` and `config-*.yaml`), or one file
/// of the JDBC driver's form. Placeholders take this process's environment.
///
/// # Errors
/// All problems of all files together.
pub fn load(path: &Path) -> Result<Configuration, Errors> {
    load_with(path, &|name| std::env::var(name).ok())
}

/// [`load`] with another environment.
///
/// # Errors
/// All problems of all files together.
pub fn load_with(path: &Path, environment: Environment<'_>) -> Result<Configuration, Errors> {
    let texts = texts(path)?;
    let files: Vec<File<'_>> = texts.iter().map(|(name, text)| File { name, text }).collect();
    match files.as_slice() {
        [file] if path.is_file() => parse_one(*file, environment),
        files => parse_folder(files, environment),
    }
}

/// Names and texts of the files that [`load`] reads, the global one first: for whoever keeps documents as they are written. A path
/// that is a file gives that one.
///
/// # Errors
/// A file that cannot be read or is too large; a folder without any.
pub fn texts(path: &Path) -> Result<Vec<(String, String)>, Errors> {
    if path.is_file() {
        return Ok(vec![(file_name(path), read(path)?)]);
    }
    let mut files = Vec::new();
    for path in names(path).map_err(|error| unreadable(path, &error))? {
        files.push((file_name(&path), read(&path)?));
    }
    if files.is_empty() {
        let message =
            format!("folder `{}` has neither `global.yaml` nor `database-*.yaml`", path.display());
        return Err(At::default().problem(message).into());
    }
    Ok(files)
}

/// Reads the files of a folder; those of other names are an error, so that none is passed over.
///
/// # Errors
/// All problems of all files together.
pub fn parse_folder(
    files: &[File<'_>],
    environment: Environment<'_>,
) -> Result<Configuration, Errors> {
    let mut report = Report::default();
    let mut configuration = Configuration::default();
    let mut global_file: Option<&str> = None;
    for file in files {
        match kind(file.name) {
            Some(Kind::Global) => {
                if let Some(first) = global_file.replace(file.name) {
                    let message = format!("`{first}` is there too; keep one of them");
                    report.error(at(file).problem(message));
                    continue;
                }
                global(file, environment, &mut configuration.global, &mut report);
            }
            Some(Kind::Database) => {
                let Some(database) = database(file, environment, &mut report) else { continue };
                add(&mut configuration.databases, database, &mut report);
            }
            None => {
                let wanted = "expected `global.yaml` or `database-*.yaml` as its name";
                report.error(at(file).problem(wanted));
            }
        }
    }
    configuration.warnings = report.finish()?;
    Ok(configuration)
}

/// Reads one file of the JDBC driver's form, which holds global keys and one database.
///
/// # Errors
/// All problems of the file.
pub fn parse_one(file: File<'_>, environment: Environment<'_>) -> Result<Configuration, Errors> {
    let root = yaml::parse(file.name, file.text, environment)?;
    let Some(root) = root else {
        return Err(at(&file).problem("the file holds no configuration").into());
    };
    let mut report = Report::default();
    let mut configuration = Configuration::default();
    if let Some(mut fields) = Fields::of(&root, &mut report) {
        configuration.databases.extend(Database::read(&mut fields, Some(DEFAULT_DATABASE)));
        configuration.global = Global::read(&mut fields);
        fields.finish();
    }
    configuration.warnings = report.finish()?;
    Ok(configuration)
}

enum Kind {
    Global,
    Database,
}

fn kind(name: &str) -> Option<Kind> {
    let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"))?;
    if matches!(stem, "global" | "server") {
        return Some(Kind::Global);
    }
    let rest = stem.strip_prefix("database-").or_else(|| stem.strip_prefix("config-"))?;
    (!rest.is_empty()).then_some(Kind::Database)
}

fn global(file: &File<'_>, environment: Environment<'_>, global: &mut Global, report: &mut Report) {
    let root = match yaml::parse(file.name, file.text, environment) {
        Ok(Some(root)) => root,
        // The file that ships with ShardingSphere is all comments.
        Ok(None) => return,
        Err(problem) => return report.error(problem),
    };
    let Some(mut fields) = Fields::of(&root, report) else { return };
    *global = Global::read(&mut fields);
    if let Some(node) = fields.optional("rules") {
        global.read_rules(node, fields.report());
    }
    fields.finish();
}

fn database(
    file: &File<'_>,
    environment: Environment<'_>,
    report: &mut Report,
) -> Option<Database> {
    let root = match yaml::parse(file.name, file.text, environment) {
        Ok(Some(root)) => root,
        Ok(None) => {
            report.warn(at(file).problem("the file holds no configuration"));
            return None;
        }
        Err(problem) => {
            report.error(problem);
            return None;
        }
    };
    let mut fields = Fields::of(&root, report)?;
    let database = Database::read(&mut fields, None);
    let global =
        ["mode", "authority", "transaction", "sqlParser", "sqlFederation", "globalClock", "props"];
    for key in global {
        if let Some(entry) = fields.entry(key) {
            fields.report().error(entry.at.problem(format!("`{key}` belongs in `global.yaml`")));
        }
    }
    fields.finish();
    database
}

fn add(databases: &mut Vec<Database>, database: Database, report: &mut Report) {
    let same = databases.iter().find(|d| d.name.eq_ignore_ascii_case(&database.name));
    if let Some(first) = same {
        let message =
            format!("database `{}` is in `{}` already", database.name.value, first.name.at.file());
        report.error(database.name.at.problem(message));
        return;
    }
    databases.push(database);
}

fn at(file: &File<'_>) -> At {
    At::new(file.name.into(), 1, 1, crate::place::Path::default())
}

/// The configuration files of a folder in the order of their names, the global one first.
fn names(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if kind(&file_name(&path)).is_some() && path.is_file() {
            paths.push(path);
        }
        if paths.len() > MOST_FILES {
            let message = format!("more than {MOST_FILES} configuration files");
            return Err(io::Error::other(message));
        }
    }
    paths.sort_by_key(|path| {
        let name = file_name(path);
        (matches!(kind(&name), Some(Kind::Database)), name)
    });
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn read(path: &Path) -> Result<String, Errors> {
    let size = fs::metadata(path).map_err(|error| unreadable(path, &error))?.len();
    if size > yaml::MOST_BYTES as u64 {
        let message = format!("file is larger than {} bytes", yaml::MOST_BYTES);
        return Err(unreadable(path, &io::Error::other(message)).into());
    }
    Ok(fs::read_to_string(path).map_err(|error| unreadable(path, &error))?)
}

fn unreadable(path: &Path, error: &io::Error) -> Problem {
    At::default().problem(format!("cannot read `{}`: {error}", path.display()))
}
