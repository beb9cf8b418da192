//! The model: one raw tree for the whole server and one for each logical database.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use pando_config::{
    Database, Environment, Errors, File, Global, Node, Problem, parse_folder, parse_raw, print,
};

use crate::around::Around;
use crate::change::{Change, Check, Task};
use crate::draft::{check_readable, see};
use crate::refusal::{Kind, Refusal, Result, listed};
use crate::{canonical, reach, scrub};

/// A whole configuration, as documents that may still have placeholders. Cloning is cheap: databases are shared.
///
/// Equal models are equal configurations, however their documents were written. Debug output shows names only.
#[derive(Clone, PartialEq, Eq)]
pub struct Model {
    global: Arc<Node>,
    databases: BTreeMap<String, Arc<Node>>,
}

impl Default for Model {
    fn default() -> Self {
        let global = Arc::new(Node::mapping::<&str>([]));
        Self { global, databases: BTreeMap::new() }
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("databases", &self.databases.keys()).finish_non_exhaustive()
    }
}

impl Model {
    /// The model of the files of a configuration folder: `global.yaml` and `database-*.yaml`, or their older names.
    ///
    /// # Errors
    /// Every problem of every file, with file and line.
    pub fn from_files(files: &[File<'_>], environment: Environment<'_>) -> Result<Self, Errors> {
        pando_config::parse_folder(files, environment)?;
        let mut model = Self::default();
        for file in files {
            let Some(root) = parse_raw(file.name, file.text)? else { continue };
            let is_database = root.get("databaseName").or_else(|| root.get("schemaName")).is_some();
            if is_database {
                let (read, _) = Database::from_tree(&root, environment)?;
                model = model.with_database(&named(&root, &read.name));
            } else {
                model.global = Arc::new(canonical::global(&root));
            }
        }
        Ok(model)
    }

    /// The model of one file in the form of the JDBC driver, which holds global keys and one database.
    ///
    /// # Errors
    /// Every problem of the file, with its line.
    pub fn from_file(file: File<'_>, environment: Environment<'_>) -> Result<Self, Errors> {
        let read = pando_config::parse_one(file, environment)?;
        let mut model = Self::default();
        if let Some(root) = parse_raw(file.name, file.text)? {
            model.global = Arc::new(canonical::global(&root));
            for database in &read.databases {
                model = model.with_database(&named(&root, &database.name));
            }
        }
        Ok(model)
    }

    /// The names of the logical databases, sorted.
    pub fn databases(&self) -> impl Iterator<Item = &str> {
        self.databases.keys().map(String::as_str)
    }

    /// A database as its rooms and pools need it, placeholders filled; also what is accepted but should be changed.
    ///
    /// # Errors
    /// `UnknownDatabase`; `InvalidDocument` where a placeholder cannot be filled.
    pub fn read(
        &self,
        database: &str,
        environment: Environment<'_>,
    ) -> Result<(Database, Vec<Problem>)> {
        let (_, tree) = self.database(database)?;
        Database::from_tree(tree, environment)
            .map_err(|errors| scrub::refusal(Kind::InvalidDocument, &errors, tree))
    }

    /// The settings of the whole server, placeholders filled; also what is accepted but should be changed.
    ///
    /// # Errors
    /// `InvalidDocument` where a placeholder cannot be filled.
    pub fn read_global(&self, environment: Environment<'_>) -> Result<(Global, Vec<Problem>)> {
        Global::from_tree(&self.global, environment)
            .map_err(|errors| scrub::refusal(Kind::InvalidDocument, &errors, &self.global))
    }

    /// One database as the YAML that [`Model::import`] takes. Passwords stand in it, or their placeholders.
    ///
    /// # Errors
    /// `UnknownDatabase`.
    pub fn yaml(&self, database: &str) -> Result<String> {
        Ok(print(self.database(database)?.1))
    }

    /// The settings of the whole server as a `global.yaml`, without `mode`, which is each instance's own.
    pub fn global_yaml(&self) -> String {
        print(&self.global)
    }

    /// Adds the database of a YAML document; an empty one of its name gives way.
    ///
    /// # Errors
    /// `InvalidDocument` with all its problems; `DatabaseExists`.
    pub fn import(&self, text: &str, around: &Around<'_>) -> Result<Change> {
        self.import_tree(&document("import", text)?, around)
    }

    /// Adds the database of a document that has been read.
    pub(crate) fn import_tree(&self, plain: &Node, around: &Around<'_>) -> Result<Change> {
        let read = Database::from_tree(plain, around.environment);
        let (read, _) =
            read.map_err(|errors| scrub::refusal(Kind::InvalidDocument, &errors, plain))?;
        let tree = canonical::database(&named(plain, &read.name));
        let seen = see(&tree, around, Kind::InvalidDocument)?;
        let name = seen.database.name.value.clone();
        if let Ok((own, old)) = self.database(&name) {
            let is_empty = old.get("dataSources").is_none_or(Node::is_empty)
                && old.get("rules").is_none_or(Node::is_empty);
            if !is_empty || own != name {
                let message = format!("database `{own}` exists already, and is not empty");
                return Err(Refusal::new(Kind::DatabaseExists, message));
            }
        }
        let units = || seen.database.storage_units.iter().map(|unit| unit.name.value.clone());
        let checks = units().map(|unit| Check::Connects { unit, privileges: Vec::new() });
        let mut tasks: Vec<Task> = units().map(|unit| Task::OpenPool { unit }).collect();
        tasks.push(Task::ReadTables);
        let checks = checks.chain(reach::checks(None, &seen, around)).collect();
        Ok(Change { model: self.with_tree(&name, tree), database: Some(name), checks, tasks })
    }

    /// CREATE DATABASE: a database without storage units and rules.
    ///
    /// # Errors
    /// `DatabaseExists`, whatever the case of its name.
    pub fn create_database(&self, name: &str) -> Result<Change> {
        if let Ok((own, _)) = self.database(name) {
            let message = format!("database `{own}` exists already");
            return Err(Refusal::new(Kind::DatabaseExists, message));
        }
        let valid = !name.trim().is_empty() && name.len() <= LONGEST_NAME && name.trim() == name;
        if !valid {
            let message = format!(
                "a database's name has 1 to {LONGEST_NAME} bytes, without white space around it"
            );
            return Err(Refusal::new(Kind::InvalidDocument, message));
        }
        if OF_SERVERS.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            let message = format!("`{name}` is a database of the servers' own");
            return Err(Refusal::new(Kind::InvalidDocument, message));
        }
        let tree = Node::mapping([("databaseName", Node::text(name))]);
        let tree = canonical::database(&tree);
        check_readable(&tree, Kind::InvalidDocument)?;
        let model = self.with_tree(name, tree);
        let (checks, tasks) = (Vec::new(), Vec::new());
        Ok(Change { model, database: Some(name.to_owned()), checks, tasks })
    }

    /// DROP DATABASE: forgets the database, whose units stay as they are.
    ///
    /// # Errors
    /// `UnknownDatabase`.
    pub fn drop_database(&self, name: &str) -> Result<Change> {
        let (own, tree) = self.database(name)?;
        let units = tree.get("dataSources").map(Node::pairs).unwrap_or_default();
        let tasks = units.iter().map(|unit| Task::ClosePool { unit: unit.key.clone() }).collect();
        let database = Some(own.to_owned());
        let mut model = self.clone();
        model.databases.remove(own);
        Ok(Change { model, database, checks: Vec::new(), tasks })
    }

    /// A database's name as it was given and its tree, by its name in any case.
    pub(crate) fn database(&self, name: &str) -> Result<(&str, &Node)> {
        let exact = self.databases.get_key_value(name);
        let any_case = || self.databases.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        let found = exact.or_else(any_case).map(|(own, tree)| (own.as_str(), &**tree));
        found.ok_or_else(|| {
            let message = format!("database {} does not exist", listed([name]));
            Refusal::new(Kind::UnknownDatabase, message)
        })
    }

    pub(crate) fn trees(&self) -> &BTreeMap<String, Arc<Node>> {
        &self.databases
    }

    pub(crate) fn global(&self) -> &Node {
        &self.global
    }

    pub(crate) fn with_global(&self, tree: &Node) -> Self {
        Self { global: Arc::new(canonical::global(tree)), ..self.clone() }
    }

    /// With the database of a document that names it.
    pub(crate) fn with_database(&self, root: &Node) -> Self {
        let tree = canonical::database(root);
        let name = tree.get("databaseName").and_then(Node::as_text).unwrap_or_default().to_owned();
        self.with_tree(&name, tree)
    }

    pub(crate) fn with_tree(&self, name: &str, tree: Node) -> Self {
        let mut model = self.clone();
        model.databases.insert(name.to_owned(), Arc::new(tree));
        model
    }
}

/// The plain tree of a document; `name` is the word for it in refusals.
pub(crate) fn document(name: &str, text: &str) -> Result<Node> {
    let invalid = |why: String| Refusal::new(Kind::InvalidDocument, why);
    // The scanner's message may quote the text, and with it a password.
    let root = parse_raw(name, text).map_err(|problem| {
        invalid(format!(
            "the document is not valid YAML at line {}, column {}",
            problem.at.line(),
            problem.at.column()
        ))
    })?;
    let root = root.ok_or_else(|| invalid("the document holds no configuration".to_owned()))?;
    Ok(root.plain())
}

/// The document with its database's name as it was read: the model finds databases by it, so it is no placeholder.
fn named(root: &Node, name: &str) -> Node {
    let mut root = root.clone();
    root.remove("schemaName");
    root.set("databaseName", Node::text(name));
    root
}

/// Names that clients ask for what every server has: a logical database of such a name would stand before it.
const OF_SERVERS: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];

/// As long as the shorter of the two vendors' names may be, in bytes.
const LONGEST_NAME: usize = 63;

/// Where a document of one database is wrong by itself, as line and column from 1; nothing where that cannot be told, or is no matter of the text.
pub fn wrong_at(text: &str, environment: Environment<'_>) -> Option<(usize, usize)> {
    let file = File { name: "database-document.yaml", text };
    let errors = parse_folder(&[file], environment).err()?;
    let mut places = errors.problems().iter().map(|problem| &problem.at);
    places.find(|at| at.line() > 0).map(|at| (at.line(), at.column()))
}
