//! Which file uses which, by the paths in it. A name that a file only hands on (`pub use`) is followed to where it is
//! made, and handing on is no use.

use std::collections::{BTreeMap, BTreeSet};

use super::circle::Graph;
use crate::lexer::Token;
use crate::source::Source;

/// A module from its crate's root: the crate's folder, then the names.
type Module = Vec<String>;

/// How often a name is followed from hand to hand.
const MAX_HANDS: usize = 8;

struct Names<'s> {
    /// The file of each module.
    files: BTreeMap<Module, &'s str>,
    /// What each module has imported, by the name it has there: the path, which starts with a module's.
    imported: BTreeMap<Module, BTreeMap<String, Module>>,
}

/// One path of a file.
struct Used {
    path: Vec<String>,
    is_import: bool,
    is_handed_on: bool,
    /// What an import is called here, where it says so itself.
    alias: Option<String>,
}

/// The uses between the files of each crate.
pub(crate) fn graph(sources: &[Source]) -> Graph {
    let modules: Vec<(Module, &Source)> =
        sources.iter().filter_map(|source| Some((module(&source.path)?, source))).collect();
    let files = modules.iter().map(|(module, source)| (module.clone(), source.path.as_str()));
    let mut names = Names { files: files.collect(), imported: BTreeMap::new() };
    let used: Vec<(&Module, &Source, Vec<Used>)> =
        modules.iter().map(|(module, source)| (module, *source, used(&source.tokens))).collect();
    for (module, _, all) in &used {
        for one in all.iter().filter(|one| one.is_import) {
            let Some(full) = names.absolute(module, &one.path) else { continue };
            let Some(name) = one.alias.as_ref().or(full.last()).cloned() else { continue };
            names.imported.entry((*module).clone()).or_default().insert(name, full);
        }
    }
    let mut graph = Graph::new();
    for (module, source, all) in &used {
        let mut found = BTreeSet::new();
        for one in all.iter().filter(|one| !one.is_handed_on) {
            let full = names.absolute(module, &one.path);
            let file = full.and_then(|full| names.file(&full));
            found.extend(file.filter(|file| *file != source.path).map(str::to_owned));
        }
        graph.insert(source.path.clone(), found);
    }
    graph
}

impl Names<'_> {
    /// A path as it is written in a module, from the crate's folder on; `None` where it leads out of the crate, or
    /// names no module.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        let mut full = match first.as_str() {
            "crate" => module[..1].to_vec(),
            "self" => module.clone(),
            "super" => module.get(..module.len().checked_sub(1)?)?.to_vec(),
            name => {
                let own = [module.as_slice(), &[name.to_owned()]].concat();
                let known = self.imported.get(module).and_then(|all| all.get(name));
                match known {
                    Some(known) => known.clone(),
                    None if self.files.contains_key(&own) => own,
                    None => return None,
                }
            }
        };
        for name in rest {
            match name.as_str() {
                "super" => drop(full.pop()?),
                _ => full.push(name.clone()),
            }
        }
        (!full.is_empty()).then_some(full)
    }

    /// The file that makes what a full path names.
    fn file(&self, full: &Module) -> Option<&str> {
        let mut full = full.clone();
        for _ in 0..MAX_HANDS {
            let known =
                (1..=full.len()).rev().find(|end| self.files.contains_key(&full[..*end]))?;
            let handed = full
                .get(known)
                .and_then(|name| self.imported.get(&full[..known])?.get(name))
                .map(|path| [path.as_slice(), &full[known + 1..]].concat());
            match handed {
                Some(next) if next != full => full = next,
                Some(_) | None => return self.files.get(&full[..known]).copied(),
            }
        }
        None
    }
}

/// `crates/a/src/b/c.rs` → the crate's folder, `b`, `c`. A program of its own below `bin` is its own root.
fn module(path: &str) -> Option<Module> {
    let (folder, inner) = path.split_once("/src/")?;
    let inner = inner.strip_suffix(".rs")?;
    if let Some(name) = inner.strip_prefix("bin/") {
        return Some(vec![format!("{folder}/bin/{name}")]);
    }
    let mut names: Vec<String> = inner.split('/').map(str::to_owned).collect();
    let is_root = matches!(names.as_slice(), [only] if only == "lib" || only == "main");
    if is_root || names.last().is_some_and(|last| last == "mod") {
        names.pop();
    }
    names.insert(0, folder.to_owned());
    Some(names)
}

fn used(tokens: &[Token]) -> Vec<Used> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].is("use") {
            let is_handed_on = at > 0 && (tokens[at - 1].is("pub") || tokens[at - 1].is(")"));
            let mut paths = Vec::new();
            at = tree(tokens, at + 1, &[], &mut paths);
            found.extend(paths.into_iter().map(|(path, alias)| Used {
                path,
                is_import: true,
                is_handed_on,
                alias,
            }));
        } else if tokens[at].is("in") && at > 0 && tokens[at - 1].is("(") {
            // `pub(in a::b)` says who may see it.
            at = plain(tokens, at + 1).1;
        } else if matches!(tokens[at], Token::Word(_)) {
            let (path, end) = plain(tokens, at);
            if path.len() > 1 {
                found.push(Used { path, is_import: false, is_handed_on: false, alias: None });
            }
            at = end;
        } else {
            at += 1;
        }
    }
    found
}

/// The names that `::` joins from here on, and where they end.
fn plain(tokens: &[Token], start: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    let mut at = start;
    while let Some(Token::Word(name)) = tokens.get(at) {
        path.push(name.clone());
        at += 1;
        if !joins(tokens, at) || !matches!(tokens.get(at + 2), Some(Token::Word(_))) {
            break;
        }
        at += 2;
    }
    (path, at)
}

fn joins(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| token.is(":"))
        && tokens.get(at + 1).is_some_and(|token| token.is(":"))
}

/// The paths of a `use` from here on, below `prefix`; gives where it ends.
fn tree(
    tokens: &[Token],
    start: usize,
    prefix: &[String],
    found: &mut Vec<(Vec<String>, Option<String>)>,
) -> usize {
    let (own, mut at) = plain(tokens, start);
    let mut path = [prefix, &own].concat();
    if joins(tokens, at) {
        at += 2;
    }
    if tokens.get(at).is_some_and(|token| token.is("{")) {
        at += 1;
        while tokens.get(at).is_some_and(|token| !token.is("}")) {
            at = tree(tokens, at, &path, found);
            if tokens.get(at).is_some_and(|token| token.is(",")) {
                at += 1;
            }
        }
        return at + 1;
    }
    // `use a::{self}` names `a`.
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let mut alias = None;
    if let (Some(word), Some(Token::Word(name))) = (tokens.get(at), tokens.get(at + 1))
        && word.is("as")
    {
        alias = Some(name.clone());
        at += 2;
    }
    found.push((path, alias));
    // What ends it, or a `*`, is stepped over, unless a bracket is still open.
    match tokens.get(at) {
        Some(token) if token.is("}") || token.is(",") => at,
        Some(_) | None => at + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::circle::circles;
    use super::*;
    use crate::lexer::tokens;

    fn of(files: &[(&str, &str)]) -> Graph {
        let source =
            |(path, text): &(&str, &str)| Source { path: (*path).into(), tokens: tokens(text) };
        graph(&files.iter().map(source).collect::<Vec<_>>())
    }

    fn uses<'g>(graph: &'g Graph, file: &str) -> Vec<&'g str> {
        graph[file].iter().map(String::as_str).collect()
    }

    #[test]
    fn a_path_leads_to_the_file_of_its_module() {
        let graph = of(&[
            ("a/src/lib.rs", "mod b; mod c; fn f() { b::g() }"),
            ("a/src/b/mod.rs", "mod d; use crate::c::{self, E, h as i}; use std::fmt;"),
            ("a/src/b/d.rs", "fn j() { super::g(); super::super::c::h(); let k = l::m; }"),
            ("a/src/c.rs", "use super::b::d::{j, *}; pub(in crate::b) fn n() { for o in p {} }"),
        ]);
        assert_eq!(uses(&graph, "a/src/lib.rs"), ["a/src/b/mod.rs"]);
        assert_eq!(uses(&graph, "a/src/b/mod.rs"), ["a/src/c.rs"]);
        assert_eq!(uses(&graph, "a/src/b/d.rs"), ["a/src/b/mod.rs", "a/src/c.rs"]);
        assert_eq!(uses(&graph, "a/src/c.rs"), ["a/src/b/d.rs"]);
        assert_eq!(circles(&graph).len(), 1);
    }

    #[test]
    fn a_name_that_is_handed_on_is_followed() {
        let graph = of(&[
            ("a/src/lib.rs", "mod b; mod c; pub use b::{B, G as H};"),
            ("a/src/b.rs", "use crate::c::C;"),
            ("a/src/c.rs", "use crate::B; use crate::H;"),
            ("a/src/d.rs", "use super::c; fn e() { c::B::new() }"),
        ]);
        assert!(uses(&graph, "a/src/lib.rs").is_empty());
        assert_eq!(uses(&graph, "a/src/c.rs"), ["a/src/b.rs"]);
        assert_eq!(uses(&graph, "a/src/d.rs"), ["a/src/b.rs", "a/src/c.rs"]);
    }

    #[test]
    fn crates_and_programs_are_apart() {
        let graph = of(&[
            ("a/src/lib.rs", "use crate::c::D;"),
            ("a/src/bin/e.rs", "use crate::c::D;"),
            ("b/src/c.rs", ""),
        ]);
        assert_eq!(uses(&graph, "a/src/lib.rs"), [""; 0]);
        assert_eq!(uses(&graph, "a/src/bin/e.rs"), [""; 0]);
    }
}
