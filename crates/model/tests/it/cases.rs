//! Statements and what becomes of them, as data. `BLESS=1` writes what comes out now, to be read before it is committed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use crate::common::{Outcome, run};
use pando_config::{Content, Node, parse_raw, print};
use pando_distsql::{Category, entries, parse};
use pando_model::{Change, Keeping, Kind, Model, Task};

struct Case {
    head: String,
    statements: Vec<String>,
    database: String,
    start: String,
    expected: String,
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "case"));
    files.sort();
    assert!(!files.is_empty());
    files
}

fn cases(path: &Path) -> Vec<Case> {
    let text = fs::read_to_string(path).unwrap();
    text.split("\n====\n").map(case).collect()
}

fn case(text: &str) -> Case {
    let (head, expected) = text.split_once("\n---\n").unwrap_or((text, ""));
    let mut case = Case {
        head: head.trim().to_owned(),
        statements: Vec::new(),
        database: "shop".to_owned(),
        start: String::new(),
        expected: expected.trim_end().to_owned(),
    };
    for line in case.head.clone().lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("given ") {
            case.start = name.to_owned();
        } else if let Some(name) = line.strip_prefix("in ") {
            case.database = name.to_owned();
        } else if !line.is_empty() {
            case.statements.push(line.to_owned());
        }
    }
    assert!(!case.statements.is_empty(), "no statement:\n{text}");
    case
}

/// The model that cases with this `given` begin with, made once.
fn started(name: &str) -> Model {
    static MADE: Mutex<BTreeMap<String, Model>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap();
    let new = || {
        let empty = Model::default().create_database("shop").unwrap().model;
        let statements = if name.is_empty() { Vec::new() } else { given(name) };
        after(empty, statements.iter().map(String::as_str))
    };
    made.entry(name.to_owned()).or_insert_with(new).clone()
}

/// Every case of every file with its outcome, found out once.
fn outcomes() -> &'static [(PathBuf, Vec<Seen>)] {
    static FOUND: OnceLock<Vec<(PathBuf, Vec<Seen>)>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let seen = |case: Case| {
            let (entry, actual, kind) = outcome(&case);
            Seen { case, entry, actual, kind }
        };
        let file = |path: PathBuf| {
            let seen = cases(&path).into_iter().map(seen).collect();
            (path, seen)
        };
        files().into_iter().map(file).collect()
    })
}

struct Seen {
    case: Case,
    entry: &'static str,
    actual: String,
    kind: Option<Kind>,
}

/// The last statement's entry of the grammar, what it led to, and the kind of its refusal.
fn outcome(case: &Case) -> (&'static str, String, Option<Kind>) {
    let (last, first) = case.statements.split_last().unwrap();
    let model = after(started(&case.start), first.iter().map(String::as_str));
    let statement = parse(last).unwrap_or_else(|error| panic!("{last}: {error}"));
    let (text, kind) = match run(&model, &case.database, &statement) {
        Ok(Outcome::Changed(change)) => (changed(&model, &change), None),
        Ok(Outcome::Shown(rows)) => {
            let mut text = rows.columns.join(" | ");
            for row in &rows.rows {
                assert_eq!(row.len(), rows.columns.len(), "{last}");
                let values: Vec<&str> =
                    row.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect();
                text.push('\n');
                text.push_str(values.join(" | ").trim_end());
            }
            (text, None)
        }
        Err(refusal) => {
            let (code, sqlstate) = (refusal.kind.code(), refusal.kind.sqlstate());
            let text = format!("refused {code} {sqlstate} {:?}: {refusal}", refusal.kind);
            (text, Some(refusal.kind))
        }
    };
    (statement.entry.name, text, kind)
}

/// New parts of the documents as they stand there, changes inside old ones value by value; then what is to be checked and done.
fn changed(before: &Model, change: &Change) -> String {
    let mut text = String::new();
    let (old, new) = (documents(before), documents(&change.model));
    for (key, part) in &new {
        match old.get(key) {
            Some(other) if other == part => {}
            Some(other) if !other.is_empty() => text.push_str(&differences(other, part)),
            Some(_) | None => text.push_str(&print(&Node::mapping([(key.as_str(), part.clone())]))),
        }
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        let _ = writeln!(text, "{key}: gone");
    }
    if *before == change.model {
        text.push_str("no change\n");
    }
    for check in &change.checks {
        let _ = writeln!(text, "check: {check:?}");
    }
    for task in change.tasks.iter().filter(|task| **task != Task::ReadTables) {
        let _ = writeln!(text, "task: {task:?}");
    }
    text.trim_end().to_owned()
}

/// The root keys of all documents.
fn documents(model: &Model) -> BTreeMap<String, Node> {
    let of_databases = model.databases().map(|name| model.yaml(name).unwrap());
    let mut parts = BTreeMap::new();
    for document in of_databases.chain([model.global_yaml()]) {
        let Some(root) = parse_raw("t.yaml", &document).unwrap() else { continue };
        parts.extend(root.plain().pairs().iter().map(|e| (e.key.clone(), e.value.clone())));
    }
    parts
}

fn differences(old: &Node, new: &Node) -> String {
    let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
    leaves("", old, &mut before);
    leaves("", new, &mut after);
    let mut text = String::new();
    for line in before.union(&after) {
        match (before.contains(line), after.contains(line)) {
            (true, false) => text.push_str(&format!("- {line}\n")),
            (false, true) => text.push_str(&format!("+ {line}\n")),
            _ => {}
        }
    }
    text
}

fn leaves(path: &str, node: &Node, lines: &mut BTreeSet<String>) {
    let path = match &node.tag {
        Some(tag) => format!("{path} !{tag}"),
        None => path.to_owned(),
    };
    match &node.content {
        Content::Mapping(entries) if !entries.is_empty() => {
            entries.iter().for_each(|e| leaves(&format!("{path} {}", e.key), &e.value, lines));
        }
        Content::Sequence(items) if items.iter().any(|item| item.tag.is_some()) => {
            items.iter().for_each(|item| leaves(&path, item, lines));
        }
        Content::Sequence(items) => {
            let texts: Vec<&str> = items.iter().filter_map(Node::as_text).collect();
            lines.insert(format!("{}: [{}]", path.trim(), texts.join(", ")));
        }
        Content::Scalar { .. } | Content::Mapping(_) => {
            lines.insert(format!("{}: {}", path.trim(), node.as_text().unwrap_or("")));
        }
    }
}

/// A model after some statements on its database `shop`, all of which must succeed.
fn after<'s>(start: Model, statements: impl IntoIterator<Item = &'s str>) -> Model {
    let mut model = start;
    for text in statements {
        let statement = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        match run(&model, "shop", &statement) {
            Ok(Outcome::Changed(change)) => model = change.model,
            Ok(Outcome::Shown(_)) => {}
            Err(refusal) => panic!("{text}: {refusal}"),
        }
    }
    model
}

/// The statements of a file in `cases/given`.
fn given(name: &str) -> Vec<String> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/given").join(format!("{name}.sql"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

#[test]
fn every_case_gives_what_it_says() {
    let is_blessed = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    for (path, seen) in outcomes() {
        let mut written: Vec<String> = Vec::new();
        for Seen { case, actual, .. } in seen {
            if *actual != case.expected {
                let name = path.file_name().unwrap().to_string_lossy();
                let _ = writeln!(
                    wrong,
                    "{name}\n{}\n--- expected\n{}\n--- found\n{actual}\n",
                    case.head, case.expected
                );
            }
            written.push(format!("{}\n---\n{actual}\n", case.head));
        }
        if is_blessed {
            fs::write(path, written.join("\n====\n")).unwrap();
        }
    }
    assert!(wrong.is_empty() || is_blessed, "{wrong}");
}

/// Statements about instances, locks, health and what the units say about tables, which neither change nor show a model; the README has
/// the same list.
const ELSEWHERE: &[&str] = &[
    "ENABLE COMPUTE NODE",
    "ENABLE INSTANCE",
    "LABEL COMPUTE NODE",
    "UNLABEL COMPUTE NODE",
    "LABEL INSTANCE",
    "ALTER COMPUTE NODE",
    "ALTER READWRITE_SPLITTING RULE ENABLE",
    "ENABLE READWRITE_SPLITTING",
    "ENABLE STORAGE UNIT",
    "REFRESH DATABASE METADATA",
    "REFRESH TABLE METADATA",
    "SHOW TABLE METADATA",
    "SHOW STATUS FROM STORAGE UNITS",
    "SHOW STATUS FROM LIMIT RULES",
    "SHOW STATUS FROM CIRCUIT BREAKERS",
    "SHOW STATUS FROM ENCRYPT TABLES",
    "SHOW STATUS FROM MIRROR RULES",
    "SHOW DIFFERENCES FROM MIRROR RULES",
    "SHOW IN DOUBT TRANSACTIONS",
    "SHOW TRANSACTION STATUS",
    "RESOLVE IN DOUBT TRANSACTION",
    "LOCK CLUSTER",
    "UNLOCK CLUSTER",
];

/// They ask about no database and name nothing.
const NEVER_REFUSED: &[&str] = &[
    "SHOW DIST VARIABLES",
    "SHOW ALL VARIABLES",
    "SHOW COMPUTE NODES",
    "SHOW INSTANCE LIST",
    "SHOW COMPUTE NODE INFO",
    "SHOW INSTANCE INFO",
    "SHOW COMPUTE NODE MODE",
    "SHOW INSTANCE MODE",
    "SHOW AUTHORITY RULE",
    "SHOW TRANSACTION RULE",
    "SHOW SQL_PARSER RULE",
    "SHOW SQL_FEDERATION RULE",
    "SHOW SQL_TRANSLATOR RULE",
    "SHOW GLOBAL CLOCK RULE",
    "EXPORT METADATA",
    "SHOW ALGORITHM PLUGINS",
];

#[test]
fn every_statement_about_the_model_has_a_good_case_and_a_refused_one() {
    let mut good: BTreeMap<&str, usize> = BTreeMap::new();
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unsupported: BTreeMap<&str, usize> = BTreeMap::new();
    for Seen { entry, kind, .. } in outcomes().iter().flat_map(|(_, seen)| seen) {
        let counts = match kind {
            None => &mut good,
            Some(Kind::NotSupported) => &mut unsupported,
            Some(_) => &mut refused,
        };
        *counts.entry(*entry).or_default() += 1;
    }
    let mut missing = Vec::new();
    for entry in entries() {
        let is_ours = match entry.category {
            Category::Rdl | Category::Rql => true,
            Category::Ral => !ELSEWHERE.contains(&entry.name),
            Category::Rul => false,
        };
        let is_gone = entry.name.contains("DB_DISCOVERY");
        if !is_ours || (is_gone && unsupported.contains_key(entry.name)) {
            continue;
        }
        if !good.contains_key(entry.name) {
            missing.push(format!("good: {}", entry.name));
        }
        if !refused.contains_key(entry.name) && !NEVER_REFUSED.contains(&entry.name) {
            missing.push(format!("refused: {}", entry.name));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Whoever runs statements reads there what is left to do.
#[test]
fn the_readme_lists_exactly_the_statements_that_are_not_the_models() {
    let text = include_str!("../../README.md");
    let (_, section) = text.split_once("## What is not here").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let listed: BTreeSet<&str> =
        section.lines().filter_map(|line| line.strip_prefix("- `")?.split('`').next()).collect();
    let elsewhere = entries()
        .filter(|entry| entry.category == Category::Rul || ELSEWHERE.contains(&entry.name));
    let elsewhere: BTreeSet<&str> = elsewhere.map(|entry| entry.name).collect();
    assert_eq!(listed, elsewhere);
    assert_eq!(ELSEWHERE.len(), elsewhere.len() - entries_of(Category::Rul));
}

fn entries_of(category: Category) -> usize {
    entries().filter(|entry| entry.category == category).count()
}

#[test]
fn every_example_of_the_grammar_is_carried_out_or_refused() {
    for start in ["", "units", "sharded", "groups", "features"] {
        let model = started(start);
        let asked = entries().filter(|entry| entry.category != Category::Rul);
        for text in asked.flat_map(|entry| entry.examples) {
            match run(&model, "shop", &parse(text).unwrap()) {
                Ok(Outcome::Changed(change)) => {
                    let entries = change.model.entries(Keeping::Open).unwrap();
                    assert!(Model::from_entries(&entries, None).unwrap() == change.model, "{text}");
                }
                Ok(Outcome::Shown(rows)) => {
                    let width = rows.columns.len();
                    assert!(width > 0 && rows.rows.iter().all(|row| row.len() == width), "{text}");
                }
                Err(refusal) => assert!(!refusal.message.is_empty(), "{text}"),
            }
        }
    }
}
