//! Walks the compiled grammar along the tokens. Where nothing fits it remembers the furthest place and what could have stood there.

use crate::ebnf::{Grammar, LEXEMES, Lexeme, Node};
use crate::source::Source;
use crate::tables::FRAGMENTS;
use crate::tree::Tree;

pub(crate) struct Matcher<'t> {
    source: &'t Source<'t>,
    grammar: &'static Grammar,
    at: usize,
    /// Fragments with a title that are open, each with the token where it began.
    open: Vec<(usize, &'static str)>,
    /// The furthest token at which something else was wanted.
    pub(crate) furthest: usize,
    /// What was wanted there, each once: keywords and symbols as they are, the rest by title.
    pub(crate) expected: Vec<Expected>,
}

/// What the grammar wanted at a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Expected {
    Keyword(&'static str),
    Symbol(&'static str),
    Thing(&'static str),
}

impl<'t> Matcher<'t> {
    pub(crate) fn new(source: &'t Source<'t>, grammar: &'static Grammar) -> Self {
        Self { source, grammar, at: 0, open: Vec::new(), furthest: 0, expected: Vec::new() }
    }

    /// The parts of the statement when the node fits all of it.
    pub(crate) fn whole(&mut self, node: &Node) -> Option<Vec<Tree>> {
        self.at = 0;
        let mut parts = Vec::new();
        let fits = self.accept(node, &mut parts) && self.lexeme(Lexeme::End, &mut Vec::new());
        fits.then_some(parts)
    }

    /// Moves behind the node and appends what it found, or leaves both as they were.
    fn accept(&mut self, node: &Node, parts: &mut Vec<Tree>) -> bool {
        let (at, count) = (self.at, parts.len());
        let fits = match node {
            Node::Keyword(keyword) => self.keyword(keyword, parts),
            Node::Symbol(symbol) => self.symbol(symbol),
            Node::Lexeme(lexeme) => self.lexeme(*lexeme, parts),
            Node::Fragment(index) => self.fragment(*index, parts),
            Node::Labelled(label, inner) => self.labelled(label, inner, parts),
            Node::Sequence(nodes) => nodes.iter().all(|node| self.accept(node, parts)),
            Node::Choice(nodes) => nodes.iter().any(|node| self.accept(node, parts)),
            Node::Optional(inner) => {
                self.accept(inner, parts);
                true
            }
            Node::List(inner) => self.list(inner, parts),
        };
        if !fits {
            self.at = at;
            parts.truncate(count);
        }
        fits
    }

    fn list(&mut self, item: &Node, parts: &mut Vec<Tree>) -> bool {
        if !self.accept(item, parts) {
            return false;
        }
        loop {
            let before = self.at;
            if !self.symbol(",") || !self.accept(item, parts) {
                // The comma belongs to what follows the list.
                self.at = before;
                return true;
            }
        }
    }

    fn fragment(&mut self, index: usize, parts: &mut Vec<Tree>) -> bool {
        let Some(fragment) = FRAGMENTS.get(index) else { return false };
        let Some(node) = self.grammar.fragments.get(index) else { return false };
        if !fragment.title.is_empty() {
            self.open.push((self.at, fragment.title));
        }
        let fits = self.labelled(fragment.name, node, parts);
        if !fragment.title.is_empty() {
            self.open.pop();
        }
        fits
    }

    fn labelled(&mut self, label: &'static str, node: &Node, parts: &mut Vec<Tree>) -> bool {
        let from = self.at;
        let mut inner = Vec::new();
        let fits = self.accept(node, &mut inner);
        if fits {
            parts.push(Tree { label, tokens: (from, self.at), parts: inner });
        }
        fits
    }

    fn keyword(&mut self, keyword: &'static str, parts: &mut Vec<Tree>) -> bool {
        if !self.source.is_keyword(self.at, keyword) {
            self.want(Expected::Keyword(keyword));
            return false;
        }
        self.take(keyword, 1, parts);
        true
    }

    fn symbol(&mut self, symbol: &'static str) -> bool {
        let fits = self.source.is_symbol(self.at, symbol);
        if fits {
            self.at += 1;
        } else {
            self.want(Expected::Symbol(symbol));
        }
        fits
    }

    fn lexeme(&mut self, lexeme: Lexeme, parts: &mut Vec<Tree>) -> bool {
        let known = LEXEMES.iter().find(|(_, known, _)| *known == lexeme);
        let (name, _, title) = known.copied().unwrap_or(("", lexeme, ""));
        let found = self.source.lexeme(lexeme, self.at);
        match found {
            Some(count) => self.take(name, count, parts),
            None => self.want(Expected::Thing(title)),
        }
        found.is_some()
    }

    fn take(&mut self, label: &'static str, count: usize, parts: &mut Vec<Tree>) {
        let from = self.at;
        self.at += count;
        parts.push(Tree { label, tokens: (from, self.at), parts: Vec::new() });
    }

    /// Notes what could have stood at this token, if no later one is known.
    fn want(&mut self, expected: Expected) {
        if self.at < self.furthest {
            return;
        }
        if self.at > self.furthest {
            self.furthest = self.at;
            self.expected.clear();
        }
        let titled = self.open.iter().find(|(from, _)| *from == self.at);
        let expected = titled.map_or(expected, |(_, title)| Expected::Thing(title));
        if !self.expected.contains(&expected) {
            self.expected.push(expected);
        }
    }
}
