//! The sources that run in production, as tokens, and the functions and traits in them.

use crate::lexer::{Token, tokens};
use crate::tree::Tree;

/// Where production code stands.
const FOLDERS: [&str; 5] = ["crates/", "features/", "db/", "bench/", "xtask/"];
/// Stands in for a storage unit in tests.
const DOUBLE: &str = "db/fake/";

/// One file, without its tests.
#[derive(Debug)]
pub(crate) struct Source {
    /// From the root.
    pub(crate) path: String,
    pub(crate) tokens: Vec<Token>,
}

/// Every file of production code, in path order.
pub(crate) fn all(tree: &Tree) -> Vec<Source> {
    let is_production = |path: &str| {
        path.ends_with(".rs")
            && FOLDERS.iter().any(|folder| path.starts_with(folder))
            && !path.starts_with(DOUBLE)
            && !path.split('/').any(|part| matches!(part, "tests" | "tests.rs"))
    };
    let files = tree.iter().filter(|(path, _)| is_production(path));
    files.map(|(path, text)| Source { path: path.to_owned(), tokens: tokens(text) }).collect()
}

impl Source {
    /// The parameters of every function, a declared one included, each as its tokens.
    pub(crate) fn parameters(&self) -> Vec<&[Token]> {
        let starts = (0..self.tokens.len()).filter(|at| self.is_function(*at));
        let opens = starts.filter_map(|at| self.behind_generics(at + 2));
        opens.flat_map(|open| pieces(&self.tokens, open)).collect()
    }

    /// The names of the traits with the number of methods of each.
    pub(crate) fn traits(&self) -> Vec<(&str, usize)> {
        let mut found = Vec::new();
        for (at, pair) in self.tokens.windows(2).enumerate() {
            let [first, Token::Word(name)] = pair else { continue };
            if !first.is("trait") {
                continue;
            }
            let Some(open) = self.position(at, "{") else { continue };
            found.push((name.as_str(), self.methods(open).len()));
        }
        found
    }

    /// The names of the functions directly inside the braces that open here.
    pub(crate) fn methods(&self, open: usize) -> Vec<&str> {
        let mut depth = 0_usize;
        let mut found = Vec::new();
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token {
                Token::Sign('{' | '(' | '[') => depth += 1,
                Token::Sign('}' | ')' | ']') => depth -= 1,
                Token::Word(_) if depth == 1 && self.is_function(at) => {
                    if let Some(Token::Word(name)) = self.tokens.get(at + 1) {
                        found.push(name.as_str());
                    }
                }
                Token::Word(_) | Token::Text(_) | Token::Sign(_) => {}
            }
            if depth == 0 {
                break;
            }
        }
        found
    }

    /// The `{` of each `impl` for a type of this name, of a trait or not.
    pub(crate) fn implementations(&self, name: &str) -> Vec<usize> {
        let starts = (0..self.tokens.len()).filter(|at| self.tokens[*at].is("impl"));
        let opens = starts.filter_map(|at| self.position(at, "{").map(|open| (at, open)));
        let is_of = |(at, open): &(usize, usize)| {
            let head = &self.tokens[at + 1..*open];
            let head =
                head.iter().position(|token| token.is("for")).map_or(head, |at| &head[at + 1..]);
            matches!(head, [only] if only.is(name))
        };
        opens.filter(is_of).map(|(_, open)| open).collect()
    }

    /// The fields of the type of this name, if it is a struct with names for them.
    pub(crate) fn fields(&self, name: &str) -> Option<Vec<&str>> {
        let is_start = |pair: &[Token]| pair[0].is("struct") && pair[1].is(name);
        let at = self.tokens.windows(2).position(is_start)?;
        let open = self.position(at, "{")?;
        let field = |piece: &&[Token]| {
            let colon = piece.iter().position(|token| token.is(":"))?;
            colon.checked_sub(1)
        };
        let pieces = pieces(&self.tokens, open);
        let named = pieces.into_iter().filter_map(|piece| match &piece[field(&piece)?] {
            Token::Word(name) => Some(name.as_str()),
            Token::Text(_) | Token::Sign(_) => None,
        });
        Some(named.collect())
    }

    /// A name behind `fn`; a type `fn(…)` has none.
    fn is_function(&self, at: usize) -> bool {
        self.tokens[at].is("fn") && matches!(self.tokens.get(at + 1), Some(Token::Word(_)))
    }

    /// The `(` of a function's parameters, at or behind its generics.
    fn behind_generics(&self, start: usize) -> Option<usize> {
        let mut depth = 0_i32;
        for (at, token) in self.tokens.iter().enumerate().skip(start) {
            match token {
                Token::Sign('<') => depth += 1,
                Token::Sign('>') if !self.is_arrow(at) => depth -= 1,
                Token::Sign('(') if depth == 0 => return Some(at),
                Token::Word(_) | Token::Text(_) | Token::Sign(_) => {}
            }
        }
        None
    }

    fn is_arrow(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| self.tokens[before].is("-"))
    }

    fn position(&self, start: usize, sign: &str) -> Option<usize> {
        self.tokens.iter().skip(start).position(|token| token.is(sign)).map(|at| start + at)
    }
}

/// What stands between the commas of the bracket that opens here; a comma inside another bracket, or between `<` and
/// `>`, parts nothing.
pub(crate) fn pieces(tokens: &[Token], open: usize) -> Vec<&[Token]> {
    let (mut depth, mut angles) = (0_usize, 0_i32);
    let mut start = open + 1;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            Token::Sign('<') if depth == 1 => angles += 1,
            Token::Sign('>') if depth == 1 && !tokens[at - 1].is("-") => angles -= 1,
            Token::Sign(',') if depth == 1 && angles == 0 => {
                found.push(&tokens[start..at]);
                start = at + 1;
            }
            Token::Word(_) | Token::Text(_) | Token::Sign(_) => {}
        }
        if depth == 0 {
            found.push(&tokens[start..at]);
            break;
        }
    }
    found.retain(|piece| !piece.is_empty());
    found
}

/// Whether a parameter is a tuple, taken apart or whole, by value or by reference.
pub(crate) fn is_tuple(parameter: &[Token]) -> bool {
    let kind = parameter.iter().position(|token| token.is(":")).map(|colon| colon + 1);
    [Some(0), kind].into_iter().flatten().any(|start| {
        let is_lifetime = |at: usize| at > start && parameter[at - 1].is("'");
        let is_before = |at: &usize| {
            let token = &parameter[*at];
            ["&", "'", "mut"].iter().any(|word| token.is(word)) || is_lifetime(*at)
        };
        let first = (start..parameter.len()).find(|at| !is_before(at));
        let open = first.filter(|at| parameter[*at].is("("));
        open.is_some_and(|open| pieces(parameter, open).len() > 1)
    })
}

/// Whether a parameter is a `bool`.
pub(crate) fn is_bool(parameter: &[Token]) -> bool {
    matches!(parameter, [.., colon, last] if colon.is(":") && last.is("bool"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { path: "a.rs".into(), tokens: tokens(text) }
    }

    #[test]
    fn tuples_and_booleans_are_seen_in_parameters_alone() {
        let text = "fn a<F: Fn(bool) -> (u8, u8)>((b, c): (B, C), d: bool, e: HashMap<u8, bool>) {\
                    let (f, g): (bool, bool) = h; i(|(j, k): (J, K)| j) } type L = fn((m, n): O);";
        let source = source(text);
        let parameters = source.parameters();
        assert_eq!(parameters.len(), 3);
        assert_eq!(parameters.iter().filter(|parameter| is_tuple(parameter)).count(), 1);
        assert_eq!(parameters.iter().filter(|parameter| is_bool(parameter)).count(), 1);
    }

    #[test]
    fn tuples_are_seen_whole_and_behind_references() {
        let check = |parameter: &str, expected: bool| {
            assert_eq!(is_tuple(&tokens(parameter)), expected, "{parameter}");
        };
        check("(a, b): (A, B)", true);
        check("(mut a, b): Pair", true);
        check("&(a, b): &(A, B)", true);
        check("both: (A, B)", true);
        check("both: &'a mut (A, B)", true);
        check("all: &[(A, B)]", false);
        check("mut a: A", false);
        check("one: ()", false);
        check("ask: &(dyn Fn(A, B) -> C + Sync)", false);
        check("self: Pin<&mut (A, B)>", false);
    }

    #[test]
    fn methods_are_counted_and_what_stands_in_them_is_not() {
        let source = source("trait A { fn b(); fn c() { fn d() {} } } trait E: F {}");
        assert_eq!(source.traits(), [("A", 2), ("E", 0)]);
    }

    #[test]
    fn implementations_are_those_of_the_type_itself() {
        let text =
            "impl A { fn b() {} fn c() {} } impl D for A { fn e() {} } impl A for F { fn g() {} }";
        let source = source(text);
        let methods: Vec<&str> =
            source.implementations("A").iter().flat_map(|open| source.methods(*open)).collect();
        assert_eq!(methods, ["b", "c", "e"]);
    }

    #[test]
    fn fields_have_names_and_types_may_have_commas() {
        let source = source(
            "pub struct A { b: HashMap<u8, u8>, pub(crate) c: fn(u8) -> u8, d: (u8, u8), } struct E;",
        );
        assert_eq!(source.fields("A").unwrap(), ["b", "c", "d"]);
        assert_eq!(source.fields("F"), None);
    }
}
