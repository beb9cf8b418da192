//! Where the sources refuse: calls of `Error::unsupported` and the like, and of functions that pass what they are given on to it.

use super::Refusal;
use super::text::{Scope, UNKNOWN};
use crate::lexer::{Token, tokens};
use crate::tree::Tree;

/// What refuses statements; the others only carry errors.
const FOLDERS: [&str; 6] =
    ["features", "crates/engine", "crates/kernel", "db/mysql", "db/postgres", "db/sqlite"];
/// What refuses a session variable, and how clients see that: the numbers of both ports.
const VARIABLE: (&str, &str) = ("variable_refused", "1193, 22023");
/// What a proof doubts is refused by this function of this file, if nothing else can answer it.
const PROOF: (&str, &str, &str) =
    ("features/sharding/src/proof", "features/sharding/src/found.rs", "spans_shards");
/// The function of `Error` that is told the reason, before all else.
const ANY: &str = "refused";
/// The functions of `Error` that refuse, and whether what they refuse may be answered over rows that are read first (`Because::is_of_several`).
const ROOTS: [(&str, bool); 9] = [
    (ANY, false),
    ("forbidden", false),
    ("unsupported", false),
    ("unmerged", true),
    ("stored_otherwise", true),
    ("uncarried", false),
    ("spans_shards", true),
    ("moves_row", false),
    ("limited_change", false),
];

struct File<'a> {
    path: &'a str,
    tokens: Vec<Token>,
}

/// A function that makes a refusal of its parameters.
struct Helper<'a> {
    file: &'a File<'a>,
    name: String,
    parameters: Vec<String>,
    /// Its first and last token.
    span: (usize, usize),
    /// The `(` of its call of one of [`ROOTS`].
    call: usize,
}

/// Every refusal, sorted by code and reason; one that several files have stands there for each.
pub(super) fn all(tree: &Tree) -> Vec<Refusal> {
    let files = files(tree);
    let helpers: Vec<Helper<'_>> = files.iter().flat_map(helpers).collect();
    let mut found = Vec::new();
    for file in &files {
        direct(file, &helpers, &mut found);
        let called = calls(file);
        for (at, name) in called {
            if name == VARIABLE.0 {
                variable(file, at, &mut found);
            }
            if let Some(helper) = meant(file, at, name, &helpers) {
                through(file, at, helper, &mut found);
            }
        }
    }
    found.iter_mut().for_each(|refusal| refusal.reason = refusal.reason.replace("……", UNKNOWN));
    // What only hands a reason on is told where the reason is.
    found.retain(|refusal| refusal.reason != UNKNOWN);
    found.sort();
    found.dedup();
    found
}

fn files(tree: &Tree) -> Vec<File<'_>> {
    let is_source = |path: &str| {
        path.ends_with(".rs")
            && path.contains("/src/")
            && !path.ends_with("/tests.rs")
            && FOLDERS.iter().any(|folder| path.starts_with(&format!("{folder}/")))
    };
    let sources = tree.iter().filter(|(path, _)| is_source(path));
    sources.map(|(path, text)| File { path, tokens: tokens(text) }).collect()
}

/// The `(` of every call, with the name in front of it.
fn calls<'a>(file: &'a File<'_>) -> Vec<(usize, &'a str)> {
    let pairs = file.tokens.windows(2).enumerate();
    let named = pairs.filter_map(|(at, pair)| match pair {
        [Token::Word(name), Token::Sign('(')] => Some((at + 1, name.as_str())),
        _ => None,
    });
    named.filter(|(at, _)| *at < 2 || !file.tokens[at - 2].is("fn")).collect()
}

/// Whether the call at this `(` is of one of [`ROOTS`] itself.
fn is_root(file: &File<'_>, open: usize) -> bool {
    root(file, open).is_some()
}

/// Which of [`ROOTS`] the call at this `(` is of.
fn root(file: &File<'_>, open: usize) -> Option<(&'static str, bool)> {
    let path = open.checked_sub(4)?;
    let words = ["Error", ":", ":"];
    let is_path = file.tokens[path..open].iter().zip(words).all(|(token, word)| token.is(word));
    ROOTS.into_iter().find(|(name, _)| is_path && file.tokens[open - 1].is(name))
}

/// The arguments behind a `(`, without the commas.
fn arguments(tokens: &[Token], open: usize) -> Vec<&[Token]> {
    let mut depth = 0_usize;
    let mut start = open + 1;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            Token::Sign(',') if depth == 1 => {
                found.push(&tokens[start..at]);
                start = at + 1;
            }
            Token::Word(_) | Token::Text(_) | Token::Sign(_) => {}
        }
        if depth == 0 {
            if start < at {
                found.push(&tokens[start..at]);
            }
            break;
        }
    }
    found
}

/// The bracket that closes the one at `open`.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            Token::Word(_) | Token::Text(_) | Token::Sign(_) => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// `fn name(parameters) -> Error { … Error::unsupported(…) … }` whose texts hang on a parameter.
fn helpers<'a>(file: &'a File<'a>) -> Vec<Helper<'a>> {
    let tokens = &file.tokens;
    let mut found = Vec::new();
    for at in 0..tokens.len().saturating_sub(2) {
        let (true, Token::Word(name), true) =
            (tokens[at].is("fn"), &tokens[at + 1], tokens[at + 2].is("("))
        else {
            continue;
        };
        let end = closing(tokens, at + 2);
        let returns = ["-", ">", "Error", "{"];
        let Some(head) = tokens.get(end + 1..end + 5) else { continue };
        if !head.iter().zip(returns).all(|(token, word)| token.is(word)) {
            continue;
        }
        let span = (at, closing(tokens, end + 4));
        let Some(call) =
            (end + 4..span.1).find(|open| tokens[*open].is("(") && is_root(file, *open))
        else {
            continue;
        };
        let parameters =
            arguments(tokens, at + 2).into_iter().filter_map(|parameter| match parameter {
                [Token::Word(name), Token::Sign(':'), ..] => Some(name.clone()),
                _ => None,
            });
        let helper =
            Helper { file, name: name.clone(), parameters: parameters.collect(), span, call };
        if helper.is_open() {
            found.push(helper);
        }
    }
    found
}

impl Helper<'_> {
    /// Whether what it says hangs on what it is given.
    fn is_open(&self) -> bool {
        const MARK: &str = "\u{1}";
        let given: Vec<(String, String)> =
            self.parameters.iter().map(|name| (name.clone(), MARK.to_owned())).collect();
        self.refusals(&given).iter().any(|refusal| {
            [&refusal.code, &refusal.reason, &refusal.instead]
                .iter()
                .any(|text| text.contains(MARK))
        })
    }

    fn refusals(&self, given: &[(String, String)]) -> Vec<Refusal> {
        made(self.file, self.call, given)
    }
}

/// What a call of one of [`ROOTS`] makes.
fn made(file: &File<'_>, open: usize, given: &[(String, String)]) -> Vec<Refusal> {
    let scope = Scope { file: &file.tokens, at: open, given };
    let Some((name, is_given_on)) = root(file, open) else { return Vec::new() };
    let mut list = arguments(&file.tokens, open);
    list.drain(..usize::from(name == ANY));
    let [code, reason, instead] = &list[..] else { return Vec::new() };
    let one = |expr: &[Token]| scope.texts(expr).join(" / ");
    let (code, instead) = (one(code), one(instead));
    let place = file.path.to_owned();
    let reasons = scope.texts(reason).into_iter();
    reasons
        .map(|reason| Refusal {
            code: code.clone(),
            reason,
            instead: instead.clone(),
            place: place.clone(),
            is_given_on,
        })
        .collect()
}

/// The calls of [`ROOTS`] outside helpers.
fn direct(file: &File<'_>, helpers: &[Helper<'_>], found: &mut Vec<Refusal>) {
    let own = |at: usize| {
        helpers.iter().any(|helper| {
            helper.file.path == file.path && (helper.span.0..helper.span.1).contains(&at)
        })
    };
    for (at, _) in calls(file) {
        if is_root(file, at) && !own(at) {
            found.extend(made(file, at, &[]));
        }
    }
}

/// The helper that a call means: the file's own one, else the crate's one that the file names or imports.
fn meant<'a>(
    file: &File<'_>,
    at: usize,
    name: &str,
    helpers: &'a [Helper<'a>],
) -> Option<&'a Helper<'a>> {
    if is_root(file, at) || at >= 2 && file.tokens[at - 2].is(".") {
        return None;
    }
    if name == "Doubt" && file.path.starts_with(PROOF.0) {
        return helpers.iter().find(|helper| helper.file.path == PROOF.1 && helper.name == PROOF.2);
    }
    let named = || helpers.iter().filter(|helper| helper.name == name);
    if let Some(own) = named().find(|helper| helper.file.path == file.path) {
        let inside = (own.span.0..own.span.1).contains(&at);
        return (!inside).then_some(own);
    }
    let is_path = at >= 2 && file.tokens[at - 2].is(":");
    let is_imported = || {
        let uses = file
            .tokens
            .split(|token| token.is(";"))
            .filter(|part| part.iter().any(|token| token.is("use")));
        uses.flatten().any(|token| token.is(name))
    };
    let folder = crate_of(file.path);
    let visible = |helper: &&Helper<'_>| {
        let before = helper.span.0.checked_sub(1).map(|at| &helper.file.tokens[at]);
        let is_public = before.is_some_and(|token| token.is(")") || token.is("pub"));
        is_public
            && (crate_of(helper.file.path) == folder
                || crate_of(helper.file.path) == "crates/kernel")
    };
    (is_path || is_imported()).then(|| named().find(visible)).flatten()
}

/// A session variable that may not be set as the client asks.
fn variable(file: &File<'_>, at: usize, found: &mut Vec<Refusal>) {
    let scope = Scope { file: &file.tokens, at, given: &[] };
    let arguments = arguments(&file.tokens, at);
    let [name, why] = &arguments[..] else { return };
    let (name, why) = (scope.texts(name).join("`, `"), scope.texts(why).join(" / "));
    found.push(Refusal {
        code: VARIABLE.1.to_owned(),
        reason: format!("variable `{name}` cannot be set: {why}"),
        instead: String::new(),
        place: file.path.to_owned(),
        is_given_on: false,
    });
}

fn crate_of(path: &str) -> &str {
    path.split_once("/src/").map_or(path, |(folder, _)| folder)
}

/// What a call of a helper refuses; decided where the call is.
fn through(file: &File<'_>, at: usize, helper: &Helper<'_>, found: &mut Vec<Refusal>) {
    let scope = Scope { file: &file.tokens, at, given: &[] };
    let mut arguments = arguments(&file.tokens, at);
    let code = [Token::Word("20030".to_owned())];
    if file.path.starts_with(PROOF.0) {
        arguments.insert(0, &code);
    }
    let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for (name, argument) in helper.parameters.iter().zip(arguments) {
        let texts = scope.texts(argument);
        all = all
            .iter()
            .flat_map(|given| {
                texts.iter().map(|text| {
                    let mut more = given.clone();
                    more.push((name.clone(), text.clone()));
                    more
                })
            })
            .collect();
    }
    for given in all {
        let made = helper.refusals(&given);
        found.extend(made.into_iter().map(|one| Refusal { place: file.path.to_owned(), ..one }));
    }
}
