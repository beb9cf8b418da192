//! Everyday statements of both languages give the right kind.

mod common;

use pando_sql::ast::{Kind, Transaction};
use pando_sql::{Syntax, parse};

/// The kind in one or two words.
fn name_of(kind: &Kind) -> String {
    match kind {
        Kind::Select(_) => "select".into(),
        Kind::Insert(_) => "insert".into(),
        Kind::Update(_) => "update".into(),
        Kind::Delete(_) => "delete".into(),
        Kind::Define(define) => format!("{:?} {:?}", define.action, define.object).to_lowercase(),
        Kind::Transaction(transaction) => match transaction {
            Transaction::Begin(_) => "begin",
            Transaction::Commit { .. } => "commit",
            Transaction::Rollback { .. } => "rollback",
            Transaction::Savepoint(_) => "savepoint",
            Transaction::Release(_) => "release",
            Transaction::RollbackTo(_) => "rollback to",
            Transaction::Set { .. } => "set transaction",
            Transaction::TwoPhase => "two phase",
        }
        .into(),
        Kind::Set(_) => "set".into(),
        Kind::Show(_) => "show".into(),
        Kind::Use(_) => "use".into(),
        Kind::Explain { inner, .. } => format!("explain {}", name_of(inner)),
        Kind::Copy(_) => "copy".into(),
        Kind::Load(_) => "load".into(),
        Kind::Prepare { .. } => "prepare".into(),
        Kind::Execute { .. } => "execute".into(),
        Kind::Deallocate(_) => "deallocate".into(),
        Kind::Cursor(_) => "cursor".into(),
        Kind::Lock(_) => "lock".into(),
        Kind::Kill { .. } => "kill".into(),
        Kind::Preview(_) => "preview".into(),
        Kind::SetFor(_) => "set for".into(),
        Kind::Immediate(_) => "execute immediate".into(),
        Kind::Administration => "administration".into(),
        Kind::Utility { verb, .. } => format!("utility {}", verb.to_lowercase()),
        Kind::Empty => "empty".into(),
        Kind::Opaque => "opaque".into(),
    }
}

/// Reads a corpus: `== kind` opens a section, every other line is one statement of that kind.
fn check(corpus: &str, syntax: &Syntax) {
    let mut expected = "";
    let mut wrong = Vec::new();
    let mut seen = 0;
    for line in corpus.lines().filter(|line| !line.is_empty()) {
        if let Some(kind) = line.strip_prefix("== ") {
            expected = kind;
            continue;
        }
        seen += 1;
        let found = match parse(line, syntax) {
            Ok(statement) => name_of(&statement.kind),
            Err(error) => error.to_string(),
        };
        if found != expected {
            wrong.push(format!("{line}\n    expected {expected}, found {found}"));
        }
    }
    assert!(seen > 0);
    assert!(wrong.is_empty(), "{} of {seen} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn statements_with_comma_syntax_give_their_kind() {
    check(include_str!("commas.corpus"), &common::COMMAS);
}

#[test]
fn statements_with_colon_syntax_give_their_kind() {
    check(include_str!("colons.corpus"), &common::COLONS);
}
