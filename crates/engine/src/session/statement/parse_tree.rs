//! What PARSE tells of a statement: its kind, and its tree as indented lines.

use std::fmt;
use std::fmt::Write;

use pando_sql::ast::{Kind, Transaction};

use crate::session::reply::command_tag::tag;

/// Bytes of a tree that are told; the rest of a larger one is cut off.
const LONGEST: usize = 64 << 10;
/// What stands where it was cut.
const CUT: &str = "…";

/// The kind of a statement in the manner of a class name: `SelectStatement`, `CreateTableStatement`.
pub(in crate::session) fn name(kind: &Kind) -> String {
    let words = match kind {
        Kind::Transaction(verb) => match verb {
            Transaction::Begin(_) => "BEGIN TRANSACTION",
            Transaction::Commit { .. } => "COMMIT",
            Transaction::Rollback { .. } | Transaction::RollbackTo(_) => "ROLLBACK",
            Transaction::Savepoint(_) => "SAVEPOINT",
            Transaction::Release(_) => "RELEASE SAVEPOINT",
            Transaction::Set { .. } => "SET TRANSACTION",
            Transaction::TwoPhase => "TWO PHASE",
        },
        Kind::Execute { .. } => "EXECUTE",
        Kind::Cursor(_) => "CURSOR",
        Kind::Preview(_) => "PREVIEW",
        Kind::SetFor(_) => "SET STATEMENT",
        Kind::Immediate(_) => "EXECUTE IMMEDIATE",
        Kind::Utility { verb, .. } => verb,
        Kind::Administration => "ADMINISTRATION",
        Kind::Empty => "EMPTY",
        Kind::Opaque => "UNKNOWN",
        Kind::Select(_)
        | Kind::Insert(_)
        | Kind::Update(_)
        | Kind::Delete(_)
        | Kind::Define(_)
        | Kind::Set(_)
        | Kind::Show(_)
        | Kind::Use(_)
        | Kind::Explain { .. }
        | Kind::Copy(_)
        | Kind::Load(_)
        | Kind::Prepare { .. }
        | Kind::Deallocate(_)
        | Kind::Lock(_)
        | Kind::Kill { .. } => tag(kind),
    };
    let mut name = String::new();
    for word in words.split_ascii_whitespace() {
        let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(&rest.to_ascii_lowercase());
    }
    name + "Statement"
}

/// The tree without the places in the text, at most [`LONGEST`] bytes and what stands for the rest.
pub(in crate::session) fn tree(kind: &Kind) -> String {
    let mut lines = Lines::default();
    if writeln!(lines, "{kind:#?}").is_err() {
        lines.text.push_str(CUT);
    }
    lines.text.truncate(lines.text.trim_end().len());
    lines.text
}

/// Takes a tree as it is written line by line, and leaves out spans. Fails when there is enough.
#[derive(Debug, Default)]
struct Lines {
    text: String,
    line: String,
    /// Lines of a span still to come.
    skipped: u8,
}

/// A span is its opening, two numbers and its end.
const SPAN: u8 = 3;

impl Write for Lines {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        for part in piece.split_inclusive('\n') {
            if self.text.len() + self.line.len() + part.len() > LONGEST {
                return Err(fmt::Error);
            }
            self.line.push_str(part);
            if part.ends_with('\n') {
                self.take_line();
            }
        }
        Ok(())
    }
}

impl Lines {
    fn take_line(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
        } else if self.line.trim_end().ends_with("Span {") {
            self.skipped = SPAN;
        } else {
            self.text.push_str(&self.line);
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Kind {
        pando_sql::parse(text, &pando_fake::STANDARD).unwrap().kind
    }

    #[test]
    fn kinds_have_names() {
        for (text, expected) in [
            ("SELECT 1", "SelectStatement"),
            ("create table t (a int)", "CreateTableStatement"),
            ("begin", "BeginTransactionStatement"),
            ("VACUUM t", "VacuumStatement"),
            ("/* nothing */", "EmptyStatement"),
        ] {
            assert_eq!(name(&parsed(text)), expected, "{text}");
        }
    }

    #[test]
    fn a_tree_has_names_and_no_places() {
        let tree = tree(&parsed("SELECT a FROM t_order WHERE b = 'x\nSpan {'"));
        assert!(tree.starts_with("Select("), "{tree}");
        assert!(tree.contains("value: \"t_order\"") && tree.contains("x\\nSpan {"), "{tree}");
        assert!(!tree.contains("start:") && !tree.contains(" span: Span"), "{tree}");
    }

    #[test]
    fn a_large_tree_is_cut() {
        let tree = tree(&parsed(&format!("SELECT {}", vec!["a"; 20_000].join(", "))));
        assert!(tree.len() <= LONGEST + CUT.len() && tree.ends_with(CUT));
    }
}
