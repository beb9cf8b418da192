//! Figures over the whole tree.

use super::circle::Graph;
use super::{Code, circle, imports};
use crate::lexer::Token;
use crate::rooms;
use crate::source::{is_bool, is_tuple};

const MOST_METHODS: usize = 6;
const LEAST_CIRCLE: usize = 4;
const COLUMNS: usize = 120;
const PAGES: [&str; 2] = ["ARCHITECTURE.md", "crates/engine/README.md"];

pub(super) fn tuples(code: &Code<'_>) -> Vec<String> {
    parameters(code, is_tuple)
}

pub(super) fn booleans(code: &Code<'_>) -> Vec<String> {
    parameters(code, is_bool)
}

fn parameters(code: &Code<'_>, counts: fn(&[Token]) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for source in &code.sources {
        let counted = source.parameters().into_iter().filter(|parameter| counts(parameter));
        found.extend(counted.map(|parameter| format!("{}: {}", source.path, text(parameter))));
    }
    found
}

fn text(tokens: &[Token]) -> String {
    let mut out = String::new();
    for token in tokens {
        match token {
            Token::Word(word) | Token::Text(word) => {
                if out.ends_with(|c: char| c == '_' || c.is_alphanumeric() || c == ',' || c == ':')
                {
                    out.push(' ');
                }
                out.push_str(word);
            }
            Token::Sign(sign) => out.push(*sign),
        }
    }
    out
}

pub(super) fn traits(code: &Code<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for source in &code.sources {
        let large = source.traits().into_iter().filter(|(_, methods)| *methods > MOST_METHODS);
        found.extend(large.map(|(name, n)| format!("{}: {name} has {n}", source.path)));
    }
    found
}

pub(super) fn circles(code: &Code<'_>) -> Vec<String> {
    let graph = imports::graph(&code.sources);
    let all = circle::circles(&graph);
    let large = all.iter().filter(|circle| circle.len() >= LEAST_CIRCLE);
    large.map(|circle| described(circle, &graph)).collect()
}

/// How many files a circle has, and a line for each with those of them that it uses.
fn described(circle: &[String], graph: &Graph) -> String {
    let mut out = format!("{} files", circle.len());
    for file in circle {
        let used = graph[file].iter().filter(|used| circle.contains(used));
        let used: Vec<&str> = used.map(String::as_str).collect();
        out.push_str(&format!("\n  {file}: {}", used.join(" ")));
    }
    out
}

/// A pattern `{ code: 30001, .. }`, or `code == 30001`.
pub(super) fn codes(code: &Code<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for source in &code.sources {
        let tokens = &source.tokens;
        for at in (0..tokens.len()).filter(|at| tokens[*at].is("code")) {
            let behind: Vec<&Token> = tokens[at + 1..].iter().take(3).collect();
            let is_condition = match behind.as_slice() {
                [colon, number, next] if colon.is(":") && is_code(number) => {
                    next.is("|") || is_open_pattern(&tokens[at + 2..])
                }
                [first, second, number] => {
                    (first.is("=") || first.is("!")) && second.is("=") && is_code(number)
                }
                _ => false,
            };
            if is_condition {
                found.push(format!(
                    "{}: {}",
                    source.path,
                    text(&tokens[at..tokens.len().min(at + 14)])
                ));
            }
        }
    }
    found
}

/// ShardingSphere's codes have five digits.
fn is_code(token: &Token) -> bool {
    match token {
        Token::Word(word) => word.len() == 5 && word.bytes().all(|byte| byte.is_ascii_digit()),
        Token::Text(_) | Token::Sign(_) => false,
    }
}

/// Whether `..` ends what stands here before a `}`: a value has all its fields.
fn is_open_pattern(tokens: &[Token]) -> bool {
    let end = tokens.iter().position(|token| token.is("}")).unwrap_or(0);
    matches!(&tokens[..end], [.., a, b] if a.is(".") && b.is("."))
}

/// Manifests and sources that name a room, each as often as it does; of the room that is named most.
pub(super) fn room_lines(code: &Code<'_>) -> Vec<String> {
    let all = rooms::all(code.tree, &code.sources);
    let places = all.into_iter().map(|room| [room.manifests, room.sources].concat());
    places.max_by_key(Vec::len).unwrap_or_default()
}

pub(super) fn wide_lines(code: &Code<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for page in PAGES {
        let lines = code.tree.text(page).unwrap_or_default().lines().enumerate();
        let wide = lines.filter(|(_, line)| line.chars().count() > COLUMNS);
        found.extend(wide.map(|(at, line)| format!("{page}:{}: {}", at + 1, line.chars().count())));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::counted;

    #[test]
    fn parameters_are_told_as_they_stand() {
        let files = [("crates/a/src/b.rs", "fn c((d, e): (D, E), is_f: bool) {}")];
        assert_eq!(counted("tuples", &files), ["crates/a/src/b.rs: (d, e):(D, E)"]);
        assert_eq!(counted("booleans", &files), ["crates/a/src/b.rs: is_f: bool"]);
    }

    #[test]
    fn tests_and_doubles_are_not_counted() {
        let text = "fn c(is_f: bool) {}";
        let files = [
            ("crates/a/tests/b.rs", text),
            ("crates/a/src/tests.rs", text),
            ("db/fake/src/lib.rs", text),
            ("testing/src/lib.rs", text),
        ];
        assert_eq!(counted("booleans", &files), [""; 0]);
    }

    #[test]
    fn seven_methods_are_too_many() {
        let of = |n: usize| format!("trait T {{ {} }}", "fn f();".repeat(n));
        let (six, seven) = (of(6), of(7));
        let files = [("crates/a/src/b.rs", six.as_str()), ("crates/a/src/c.rs", seven.as_str())];
        assert_eq!(counted("traits", &files), ["crates/a/src/c.rs: T has 7"]);
    }

    #[test]
    fn circles_of_three_files_are_let_be() {
        let of = |n: usize| {
            let next = |at: usize| format!("use crate::m{};", (at + 1) % n);
            (0..n).map(|at| (format!("crates/a/src/m{at}.rs"), next(at))).collect::<Vec<_>>()
        };
        for (n, expected) in [(3, 0), (4, 1)] {
            let files = of(n);
            let files: Vec<(&str, &str)> =
                files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            assert_eq!(counted("circles", &files).len(), expected, "{n}");
        }
    }

    #[test]
    fn a_code_that_is_made_steers_nothing() {
        let check = |text: &str, expected: usize| {
            assert_eq!(
                counted("steering-codes", &[("crates/a/src/b.rs", text)]).len(),
                expected,
                "{text}"
            );
        };
        check("matches!(kind, ErrorKind::Refused { code: 30001 | 20030, .. })", 1);
        check("matches!(kind, ErrorKind::Refused { code: 20036, .. })", 1);
        check("if code == 20031 {}", 1);
        check("ErrorKind::Refused { code: 30001, reason, instead }", 0);
        check("ErrorKind::Refused { code, .. }", 0);
        check("if code == 7 {}", 0);
    }

    #[test]
    fn the_lines_are_those_of_the_room_with_most() {
        let files = [
            ("Cargo.toml", "[workspace.dependencies]\npando-a = 1\npando-b = 1\n"),
            ("features/a/Cargo.toml", "[package]\nname = \"pando-a\"\n"),
            ("features/b/Cargo.toml", "[package]\nname = \"pando-b\"\n"),
            (
                "crates/rooms/Cargo.toml",
                "[package]\nname = \"r\"\n[dependencies]\npando-a = 1\npando-b = 1\n",
            ),
            ("crates/rooms/src/lib.rs", "const R: &[R] = &[pando_a::R, pando_b::R, pando_b::S];"),
            ("crates/rooms/tests/a.rs", "use pando_b::R;"),
        ];
        assert_eq!(
            counted("room-lines", &files),
            [
                "Cargo.toml",
                "crates/rooms/Cargo.toml",
                "crates/rooms/src/lib.rs",
                "crates/rooms/src/lib.rs"
            ]
        );
    }

    #[test]
    fn columns_are_characters() {
        let wide = format!("{}\n{}\n", "ä".repeat(120), "ä".repeat(121));
        let files = [("ARCHITECTURE.md", wide.as_str())];
        assert_eq!(counted("wide-lines", &files), ["ARCHITECTURE.md:2: 121"]);
    }
}
