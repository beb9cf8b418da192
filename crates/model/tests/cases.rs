//! Statements and what becomes of them, as data. `BLESS=1` writes what comes out now, to be read before it is committed.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Outcome, after, given, run};
use pando_distsql::{Category, entries, parse};
use pando_model::{Kind, Model, Task};

struct Case {
    head: String,
    statements: Vec<String>,
    database: String,
    start: Vec<String>,
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
        start: Vec::new(),
        expected: expected.trim_end().to_owned(),
    };
    for line in case.head.clone().lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("given ") {
            case.start = given(name);
        } else if let Some(name) = line.strip_prefix("in ") {
            case.database = name.to_owned();
        } else if !line.is_empty() {
            case.statements.push(line.to_owned());
        }
    }
    assert!(!case.statements.is_empty(), "no statement:\n{text}");
    case
}

/// The last statement's entry of the grammar, what it led to, and the kind of its refusal.
fn outcome(case: &Case) -> (&'static str, String, Option<Kind>) {
    let (last, first) = case.statements.split_last().unwrap();
    let model = after(case.start.iter().chain(first).map(String::as_str));
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

/// The parts of the documents that are others than before, then what is to be checked and done.
fn changed(before: &Model, change: &pando_model::Change) -> String {
    let mut text = String::new();
    let documents = |model: &Model| {
        let mut parts: BTreeMap<String, String> = BTreeMap::new();
        let of_database = model.databases().map(|name| model.yaml(name).unwrap());
        for document in of_database.chain([model.global_yaml()]) {
            let mut key = String::new();
            for line in document.lines() {
                if !line.starts_with(' ') {
                    key = line.to_owned();
                }
                let part = parts.entry(key.clone()).or_default();
                let _ = writeln!(part, "{line}");
            }
        }
        parts
    };
    let old = documents(before);
    let new = documents(&change.model);
    for (_, part) in new.iter().filter(|(key, part)| old.get(*key) != Some(part)) {
        text.push_str(part);
    }
    for key in old.keys().filter(|key| key.starts_with("rules") && !new.contains_key(*key)) {
        let _ = writeln!(text, "{key} gone");
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

#[test]
fn every_case_gives_what_it_says() {
    let is_blessed = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    for path in files() {
        let mut written: Vec<String> = Vec::new();
        for case in cases(&path) {
            let (_, actual, _) = outcome(&case);
            if actual != case.expected {
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
            fs::write(&path, written.join("\n====\n")).unwrap();
        }
    }
    assert!(wrong.is_empty() || is_blessed, "{wrong}");
}

/// Statements about instances, files, locks and plugins, which neither change nor show a model.
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
    "IMPORT DATABASE CONFIGURATION",
    "IMPORT SCHEMA CONFIG",
    "EXPORT METADATA",
    "IMPORT METADATA",
    "EXPORT STORAGE NODES",
    "CONVERT YAML CONFIGURATION",
    "LOCK CLUSTER",
    "UNLOCK CLUSTER",
    "SHOW PLUGINS OF",
    "SHOW ALGORITHM PLUGINS",
    "SHOW IMPLEMENTATIONS",
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
];

#[test]
fn every_statement_about_the_model_has_a_good_case_and_a_refused_one() {
    let mut good: BTreeMap<&str, usize> = BTreeMap::new();
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unsupported: BTreeMap<&str, usize> = BTreeMap::new();
    for case in files().iter().flat_map(|path| cases(path)) {
        let (entry, _, kind) = outcome(&case);
        let counts = match kind {
            None => &mut good,
            Some(Kind::NotSupported) => &mut unsupported,
            Some(_) => &mut refused,
        };
        *counts.entry(entry).or_default() += 1;
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
