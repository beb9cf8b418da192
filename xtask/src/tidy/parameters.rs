//! What a function's parameters say to who reads the call: a tuple hides what stands where, `true` what is true.

use super::Violation;
use crate::figures::{self, Code};
use crate::tree::Tree;

/// Parameters that are tuples or bools all the same: the file, and the parameter as the figure tells it. The list may
/// only become shorter.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("crates/engine/src/plan/assemble/filter.rs", "(column, owner):(&Ident,&[Ident])"),
    ("crates/engine/src/plan/assemble/keyed.rs", "(leaf, columns):(&Leaf<'_>,&Columns)"),
    ("crates/engine/src/plan/assemble/mod.rs", "(purpose, form):(Purpose, Form)"),
    ("crates/engine/src/plan/assemble/tables.rs", "(leaf, leaves):(&Leaf<'_>,&[Leaf<'_>])"),
    ("crates/engine/src/plan/assemble/tables.rs", "(relations, edits):(&dyn Relations,&mut Edits)"),
    ("crates/engine/src/plan/plain.rs", "(merge, edits):(MergePlan, Edits)"),
    ("crates/engine/src/plan/rewrite.rs", "(mut merge, mut base):(MergePlan, Edits)"),
    ("crates/engine/src/plan/rewrite.rs", "(insert, text):(&Insert,&str)"),
    ("crates/engine/src/plan/rewrite.rs", "(span, name):(Span,&str)"),
    ("crates/engine/src/plan/template/everywhere.rs", "(stmt, slots):(&Statement,&[Slot])"),
    ("crates/engine/src/plan/template/everywhere.rs", "statement:(&str,&[Slot])"),
    ("crates/engine/src/plan/template/everywhere.rs", "(plan, chance):(&Plan, Chance)"),
    ("crates/engine/src/plan/template/everywhere.rs", "(slots, limit):(&[Slot], Limit)"),
    ("crates/engine/src/plan/template/one.rs", "statement:(&str,&[Slot])"),
    ("crates/engine/src/plan/template/parameterize/lifted.rs", "statement:(&'a str,&[Slot])"),
    ("crates/engine/src/plan/template/parameterize/lifted.rs", "(text, slots):(&'a str,&[Slot])"),
    ("crates/engine/src/plan/template/parameterize/lifted.rs", "(text, slots):(&str,&[Slot])"),
    ("crates/engine/src/copy_rows/binary.rs", "last: bool"),
    ("crates/engine/src/copy_rows/line.rs", "last: bool"),
    ("crates/engine/src/copy_rows/step.rs", "last: bool"),
    ("crates/engine/src/plan/rewrite.rs", "folds_lower: bool"),
    // What must hold, as `assert!` takes it.
    ("crates/distsql/src/own/mistakes.rs", "is_right: bool"),
];

const MESSAGE: &str = "give it a type whose name says it, or make two functions";

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    check_with(tree, EXCEPTIONS)
}

fn check_with(tree: &Tree, exceptions: &[(&str, &str)]) -> Vec<Violation> {
    let code = Code::read(tree);
    let (mut violations, mut used) = (Vec::new(), Vec::new());
    for place in figures::parameters(&code) {
        match exceptions.iter().find(|(path, parameter)| place == format!("{path}: {parameter}")) {
            Some(known) => used.push(known),
            None => {
                let (path, parameter) = place.split_once(": ").unwrap_or((&place, ""));
                violations.push(Violation::new(path, format!("`{parameter}`: {MESSAGE}")));
            }
        }
    }
    // A tree without the exception's file is a made-up one.
    let gone = exceptions.iter().filter(|known| !used.contains(known));
    for known in gone.filter(|known| tree.text(known.0).is_some()) {
        let message = format!("`{}` is gone: take the exception out of the list", known.1);
        violations.push(Violation::new(known.0, message));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: (&str, &str) =
        ("crates/a/src/b.rs", "fn c((d, e): (D, E), is_f: bool, both: (G, H), i: Option<bool>) {}");

    fn found(exceptions: &[(&str, &str)]) -> Vec<String> {
        let found = check_with(&Tree::of(&[FILE]), exceptions).into_iter();
        found.map(|v| format!("{}: {}", v.place, v.message)).collect()
    }

    #[test]
    fn tuples_and_bools_are_no_parameters() {
        assert_eq!(
            found(&[]),
            [
                format!("crates/a/src/b.rs: `(d, e):(D, E)`: {MESSAGE}"),
                format!("crates/a/src/b.rs: `both:(G, H)`: {MESSAGE}"),
                format!("crates/a/src/b.rs: `is_f: bool`: {MESSAGE}"),
            ]
        );
    }

    #[test]
    fn an_exception_is_one_place_and_goes_with_it() {
        let known = [
            ("crates/a/src/b.rs", "(d, e):(D, E)"),
            ("crates/a/src/b.rs", "both:(G, H)"),
            ("crates/a/src/b.rs", "is_f: bool"),
        ];
        assert_eq!(found(&known), [""; 0]);
        let gone = [&known[..], &[("crates/a/src/b.rs", "is_j: bool")]].concat();
        assert_eq!(
            found(&gone),
            ["crates/a/src/b.rs: `is_j: bool` is gone: take the exception out of the list"]
        );
    }
}
