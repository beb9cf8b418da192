//! From the table's syntax texts to nodes that the matcher walks. Done once, at the first use.

use std::sync::LazyLock;

use crate::entry::Fragment;
use crate::tables;

/// What a token, or a few, must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lexeme {
    /// An unquoted word that is not reserved, or a name in backticks or double quotes.
    Identifier,
    /// A text in single or double quotes.
    Text,
    /// The same, and not empty.
    Quoted,
    /// A whole number without sign.
    Integer,
    /// TRUE or FALSE.
    Boolean,
    /// Anything without a space in it: `127.0.0.1`, `sharding-count`, `ds_0.t_order_0`.
    Bare,
    /// All that is left of the text.
    Rest,
    /// Nothing is left.
    End,
}

/// The terminals that stand for themselves in a syntax text.
pub(crate) const LEXEMES: [(&str, Lexeme, &str); 8] = [
    ("identifier", Lexeme::Identifier, "a name"),
    ("string", Lexeme::Text, "a text in quotes"),
    ("quoted", Lexeme::Quoted, "a text in quotes"),
    ("integer", Lexeme::Integer, "a whole number"),
    ("boolean", Lexeme::Boolean, "`TRUE` or `FALSE`"),
    ("bare", Lexeme::Bare, "a word"),
    ("sql", Lexeme::Rest, "a statement"),
    ("end", Lexeme::End, "the end"),
];

/// One piece of grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Keyword(&'static str),
    Symbol(&'static str),
    Lexeme(Lexeme),
    /// Index into [`tables::FRAGMENTS`].
    Fragment(usize),
    /// A piece that builders find by its label, without a line in [`tables::FRAGMENTS`].
    Labelled(&'static str, Box<Node>),
    Sequence(Vec<Node>),
    /// The first that fits is taken.
    Choice(Vec<Node>),
    Optional(Box<Node>),
    /// One or more, separated by commas.
    List(Box<Node>),
}

/// The whole table, compiled.
#[derive(Debug)]
pub(crate) struct Grammar {
    /// In the order of [`tables::entries`].
    pub(crate) statements: Vec<Node>,
    /// In the order of [`tables::FRAGMENTS`].
    pub(crate) fragments: Vec<Node>,
    /// Every keyword once, sorted.
    pub(crate) keywords: Vec<&'static str>,
    /// What is wrong with the table; a test holds this empty.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test of the table reads it"))]
    pub(crate) mistakes: Vec<String>,
}

impl Grammar {
    /// A word (in capitals) is a keyword somewhere in the grammar.
    pub(crate) fn is_keyword(&self, word: &str) -> bool {
        self.keywords.binary_search(&word).is_ok()
    }
}

pub(crate) fn grammar() -> &'static Grammar {
    static GRAMMAR: LazyLock<Grammar> = LazyLock::new(compile);
    &GRAMMAR
}

fn compile() -> Grammar {
    let mut keywords = Vec::new();
    let mut mistakes = Vec::new();
    let mut read = |name: &'static str, syntax: &'static str| {
        let mut reader =
            Reader { name, rest: syntax, keywords: &mut keywords, mistakes: Vec::new() };
        let node = reader.choice();
        if !reader.rest.trim().is_empty() {
            reader.mistake(format!("`{}` is too much", reader.rest.trim()));
        }
        mistakes.append(&mut reader.mistakes);
        node
    };
    let fragments = tables::FRAGMENTS.iter().map(|piece| read(piece.name, piece.syntax)).collect();
    let statements = tables::entries().map(|entry| read(entry.name, entry.syntax)).collect();
    keywords.sort_unstable();
    keywords.dedup();
    Grammar { statements, fragments, keywords, mistakes }
}

/// What a syntax text is read as; with the mistakes in it where there are any.
#[cfg(test)]
pub(crate) fn read(syntax: &'static str) -> (Node, Vec<String>) {
    let mut keywords = Vec::new();
    let mut reader =
        Reader { name: "text", rest: syntax, keywords: &mut keywords, mistakes: Vec::new() };
    let node = reader.choice();
    let mistakes = std::mem::take(&mut reader.mistakes);
    (node, mistakes)
}

struct Reader<'k> {
    name: &'static str,
    rest: &'static str,
    keywords: &'k mut Vec<&'static str>,
    mistakes: Vec<String>,
}

impl Reader<'_> {
    fn mistake(&mut self, what: impl std::fmt::Display) {
        self.mistakes.push(format!("{}: {what}", self.name));
    }

    fn choice(&mut self) -> Node {
        let mut branches = vec![self.sequence()];
        while self.eat("|") {
            branches.push(self.sequence());
        }
        one_or(branches, Node::Choice)
    }

    fn sequence(&mut self) -> Node {
        let mut nodes = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.is_empty() || self.rest.starts_with(['|', ')', ']']) {
                return one_or(nodes, Node::Sequence);
            }
            let node = self.item();
            nodes.push(if self.eat("...") { Node::List(Box::new(node)) } else { node });
        }
    }

    fn item(&mut self) -> Node {
        if self.eat("[") {
            let inner = self.choice();
            self.close("]");
            return Node::Optional(Box::new(inner));
        }
        if self.eat("(") {
            let inner = self.choice();
            self.close(")");
            return inner;
        }
        if self.eat("'") {
            let (symbol, rest) = self.rest.split_once('\'').unwrap_or((self.rest, ""));
            self.rest = rest;
            return Node::Symbol(symbol);
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        self.word(word)
    }

    fn word(&mut self, word: &'static str) -> Node {
        if word.starts_with(|c: char| c.is_ascii_uppercase()) {
            self.keywords.push(word);
            return Node::Keyword(word);
        }
        if let Some((_, lexeme, _)) = LEXEMES.iter().find(|(name, ..)| *name == word) {
            return Node::Lexeme(*lexeme);
        }
        let named = |fragment: &Fragment| fragment.name == word;
        if let Some(index) = tables::FRAGMENTS.iter().position(named) {
            return Node::Fragment(index);
        }
        let rest = self.rest;
        self.mistake(format_args!("`{word}` is not defined, before `{rest}`"));
        // So that reading goes on behind a character that means nothing.
        let mut chars = self.rest.chars();
        if word.is_empty() {
            chars.next();
        }
        self.rest = chars.as_str();
        Node::Choice(Vec::new())
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let rest = self.rest.trim_start();
        let found = rest.strip_prefix(symbol);
        self.rest = found.unwrap_or(rest);
        found.is_some()
    }

    fn close(&mut self, symbol: &str) {
        if !self.eat(symbol) {
            let rest = self.rest;
            self.mistake(format_args!("`{symbol}` is missing before `{rest}`"));
        }
    }
}

/// The only node of a list, or all of them together.
pub(crate) fn one_or(mut nodes: Vec<Node>, many: fn(Vec<Node>) -> Node) -> Node {
    match (nodes.len(), nodes.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            nodes.extend(last);
            many(nodes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_written_in_the_notation() {
        assert!(grammar().mistakes.is_empty(), "{:#?}", grammar().mistakes);
    }

    /// So the depth of nesting has a bound: that of the table.
    #[test]
    fn no_fragment_contains_itself() {
        fn walk(node: &Node, open: &mut Vec<usize>) {
            match node {
                Node::Fragment(index) => {
                    let name = tables::FRAGMENTS[*index].name;
                    assert!(!open.contains(index), "{name} contains itself");
                    open.push(*index);
                    walk(&grammar().fragments[*index], open);
                    open.pop();
                }
                Node::Sequence(nodes) | Node::Choice(nodes) => {
                    nodes.iter().for_each(|node| walk(node, open));
                }
                Node::Optional(inner) | Node::List(inner) | Node::Labelled(_, inner) => {
                    walk(inner, open);
                }
                Node::Keyword(_) | Node::Symbol(_) | Node::Lexeme(_) => {}
            }
        }
        grammar().statements.iter().for_each(|node| walk(node, &mut Vec::new()));
    }

    #[test]
    fn every_fragment_is_used() {
        let texts = tables::entries().map(|entry| entry.syntax);
        let texts: Vec<&str> =
            texts.chain(tables::FRAGMENTS.iter().map(|piece| piece.syntax)).collect();
        for fragment in tables::FRAGMENTS {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let used = texts
                .iter()
                .any(|text| text.split(|c| !is_name(c)).any(|word| word == fragment.name));
            assert!(used, "{} is not used", fragment.name);
        }
    }
}
