//! Trees, as cases: a line `, text` or `: text` (the language) and below it the tree on one line.

#[path = "common/mod.rs"]
mod common;
#[path = "common/dump.rs"]
mod dump;

use pando_sql::parse;

/// With `BLESS` set in the environment the file is written anew; look at the difference before keeping it.
fn check(name: &str) {
    let path = format!("{}/tests/{name}.case", env!("CARGO_MANIFEST_DIR"));
    let cases = std::fs::read_to_string(&path).unwrap_or_default();
    let mut wrong = Vec::new();
    let mut blessed = String::new();
    let mut lines = cases.lines().peekable();
    while let Some(line) = lines.next() {
        blessed.push_str(line);
        blessed.push('\n');
        let (syntax, text) = match (line.strip_prefix(", "), line.strip_prefix(": ")) {
            (Some(text), _) => (&common::COMMAS, text),
            (_, Some(text)) => (&common::COLONS, text),
            (None, None) => continue,
        };
        let expected = lines.next_if(|next| next.starts_with("  ")).unwrap_or("").trim();
        let text = text.replace("\\n", "\n");
        let found = match parse(&text, syntax) {
            Ok(statement) => dump::statement(&statement),
            Err(error) => format!("error: {error}"),
        };
        let found = found.replace('\n', "\\n");
        blessed.push_str(&format!("  {found}\n"));
        if found != expected {
            wrong.push(format!("{text}\n  expected {expected}\n  found    {found}"));
        }
    }
    if std::env::var_os("BLESS").is_some() {
        assert!(std::fs::write(&path, blessed).is_ok(), "{path}");
        return;
    }
    assert!(!blessed.is_empty(), "{path} is empty");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn expressions_bind_as_the_languages_say() {
    check("expression");
}

#[test]
fn queries_keep_their_clauses() {
    check("query");
}

#[test]
fn statements_that_change_rows_keep_their_parts() {
    check("change");
}

#[test]
fn definitions_give_kind_and_names() {
    check("define");
}

#[test]
fn session_statements_give_their_parts() {
    check("session");
}

#[test]
fn broken_statements_name_the_unexpected_token() {
    check("error");
}
