//! How large the session is, and how tangled.

use std::collections::BTreeSet;

use super::circle::circles;
use super::{Code, calls};
use crate::source::Source;

const ENGINE: &str = "crates/engine/src/";
const FOLDER: &str = "crates/engine/src/session/";
const NAME: &str = "Session";

pub(super) fn fields(code: &Code<'_>) -> Vec<String> {
    let found = engine(code).find_map(|source| Some((source, source.fields(NAME)?)));
    let Some((source, fields)) = found else { return Vec::new() };
    fields.into_iter().map(|field| format!("{}: {field}", source.path)).collect()
}

pub(super) fn methods(code: &Code<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for source in engine(code) {
        for open in source.implementations(NAME) {
            let methods = source.methods(open).into_iter();
            found.extend(methods.map(|method| format!("{}: {method}", source.path)));
        }
    }
    found
}

pub(super) fn implementations(code: &Code<'_>) -> Vec<String> {
    let all = engine(code)
        .flat_map(|source| source.implementations(NAME).into_iter().map(|_| source.path.clone()));
    all.collect()
}

/// Files in which most of `session.field` stand. Each field is a part with private fields of its own, and who asks one
/// part or two knows little of the session; who names most of them has to hold the whole in mind.
pub(super) fn users(code: &Code<'_>) -> Vec<String> {
    let fields: BTreeSet<&str> = engine(code)
        .find_map(|source| source.fields(NAME))
        .unwrap_or_default()
        .into_iter()
        .collect();
    let names_most = |source: &&Source| {
        let has_methods = !source.implementations(NAME).is_empty();
        let named = calls::selected(source).filter(|(holder, name, is_call)| {
            let is_session = *holder == "session" || (*holder == "self" && has_methods);
            is_session && !is_call && fields.contains(name)
        });
        let named: BTreeSet<&str> = named.map(|(_, name, _)| name).collect();
        named.len() * 2 > fields.len()
    };
    engine(code).filter(names_most).map(|source| source.path.clone()).collect()
}

pub(super) fn flat(code: &Code<'_>) -> Vec<String> {
    let own = code.tree.below(FOLDER.trim_end_matches('/'));
    let is_flat = |path: &&str| path.ends_with(".rs") && !path[FOLDER.len()..].contains('/');
    own.filter(is_flat).map(str::to_owned).collect()
}

pub(super) fn circle(code: &Code<'_>) -> Vec<String> {
    circles(&calls::graph(&code.sources)).into_iter().next().unwrap_or_default()
}

fn engine<'c>(code: &'c Code<'_>) -> impl Iterator<Item = &'c Source> {
    code.sources.iter().filter(|source| source.path.starts_with(ENGINE))
}

#[cfg(test)]
mod tests {
    use super::super::tests::counted;

    const FILES: &[(&str, &str)] = &[
        (
            "crates/engine/src/session/mod.rs",
            "pub struct Session { a: A, b: B, }\nimpl Session { fn c(&self) { self.a; self.b; self.d() } }",
        ),
        (
            "crates/engine/src/session/e/f.rs",
            "impl Session { fn d(&self) { self.g() } }\nimpl Door for Session { fn h(&self) {} }",
        ),
        ("crates/engine/src/session/i.rs", "impl Session { fn g(&self) { self.c(); self.z() } }"),
        ("crates/engine/src/j.rs", "impl Other { fn c(&self) { self.a; self.d() } }"),
        ("crates/engine/src/k.rs", "fn c(session: &Session) { session.b; session.a }"),
        ("crates/engine/src/m.rs", "fn c(session: &Session) { session.b; session.a() }"),
        ("crates/engine/src/l.rs", "impl Session { fn z(&self) { self.d(); self.a() } }"),
    ];

    #[test]
    fn the_session_is_measured() {
        let count = |name| counted(name, FILES).len();
        assert_eq!(counted("session-fields", FILES)[1], "crates/engine/src/session/mod.rs: b");
        assert_eq!((count("session-fields"), count("session-methods")), (2, 5));
        assert_eq!((count("session-impls"), count("session-flat")), (5, 2));
        assert_eq!(
            counted("session-users", FILES),
            ["crates/engine/src/k.rs", "crates/engine/src/session/mod.rs"]
        );
        assert_eq!(counted("session-circle", FILES).len(), 4);
    }

    #[test]
    fn functions_over_the_session_tie_as_its_methods_do() {
        let files = [
            ("crates/engine/src/session/a.rs", "fn c(session: &Session) { super::b::d(session) }"),
            ("crates/engine/src/session/b.rs", "fn d(session: &Session) { session.e() }"),
            (
                "crates/engine/src/session/f.rs",
                "impl Session { fn e(&self) { super::a::c(self) } }",
            ),
        ];
        assert_eq!(counted("session-circle", &files).len(), 3);
    }

    #[test]
    fn a_method_that_two_files_make_ties_nobody() {
        let files = [
            ("crates/engine/src/a.rs", "impl Session { fn a(&self) { self.b() } }"),
            ("crates/engine/src/b.rs", "impl Session { fn b(&self) { self.a() } }"),
            ("crates/engine/src/c.rs", "impl Door for Session { fn b(&self) {} }"),
        ];
        assert!(counted("session-circle", &files).is_empty());
        assert_eq!(counted("session-circle", &files[..2]).len(), 2);
    }
}
