//! Which file of the engine's session uses which.

use std::collections::BTreeMap;

use super::circle::Graph;
use super::imports;
use crate::lexer::Token;
use crate::source::Source;

const ENGINE: &str = "crates/engine/src/";
const FOLDER: &str = "crates/engine/src/session/";
const NAME: &str = "Session";

/// By paths, and by `self.method(…)` or `session.method(…)` where one file alone makes a method of the session of that
/// name.
pub(crate) fn graph(sources: &[Source]) -> Graph {
    let mut makers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in engine(sources) {
        for open in source.implementations(NAME) {
            for method in source.methods(open) {
                makers.entry(method).or_default().push(&source.path);
            }
        }
    }
    let mut graph: Graph = imports::graph(sources);
    graph.retain(|path, _| path.starts_with(FOLDER));
    for uses in graph.values_mut() {
        uses.retain(|path| path.starts_with(FOLDER));
    }
    for source in engine(sources) {
        let calls = selected(source)
            .filter(|(holder, _, is_call)| *is_call && matches!(*holder, "self" | "session"));
        let made = calls.filter_map(|(_, name, _)| match makers.get(name)?.as_slice() {
            [only] if *only != source.path => Some((*only).to_owned()),
            _ => None,
        });
        graph.entry(source.path.clone()).or_default().extend(made);
    }
    graph
}

fn engine(sources: &[Source]) -> impl Iterator<Item = &Source> {
    sources.iter().filter(|source| source.path.starts_with(ENGINE))
}

/// Every `holder.name`, and whether a call follows.
pub(super) fn selected(source: &Source) -> impl Iterator<Item = (&str, &str, bool)> {
    let tokens = &source.tokens;
    (0..tokens.len()).filter_map(|at| match tokens.get(at..at + 3)? {
        [Token::Word(holder), Token::Sign('.'), Token::Word(name)] => {
            let is_call = tokens.get(at + 3).is_some_and(|token| token.is("("));
            Some((holder.as_str(), name.as_str(), is_call))
        }
        _ => None,
    })
}
