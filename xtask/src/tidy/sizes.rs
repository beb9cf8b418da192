//! How long a file may be.

use super::violation::Violation;
use crate::tree::Tree;

/// Lines before the file's tests.
const FILE: usize = 600;
const LIB: usize = 150;

/// Files below a folder named `tables` are data; files of tests may be long.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let sources = tree.iter().filter(|(path, _)| path.ends_with(".rs") && !is_exempt(path));
    sources
        .filter_map(|(path, text)| {
            let most = if is_contents_page(path) { LIB } else { FILE };
            let lines = lines_without_tests(text);
            let message = || format!("has {lines} lines without tests, at most {most}");
            (lines > most).then(|| Violation::new(path, message()))
        })
        .collect()
}

fn is_exempt(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tables" | "tests" | "tests.rs"))
}

fn is_contents_page(path: &str) -> bool {
    path.ends_with("/lib.rs") || path.ends_with("/mod.rs")
}

/// The tests are the tail that a `#[cfg(test)]` on a module with a body opens; one on an item in between counts as code.
fn lines_without_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let opens = |at: usize| {
        let item = lines[at + 1..].iter().find(|line| !line.starts_with("#["));
        lines[at] == "#[cfg(test)]"
            && item.is_some_and(|line| line.contains("mod ") && line.ends_with('{'))
    };
    (0..lines.len()).find(|at| opens(*at)).unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;

    fn lines(count: usize) -> String {
        "x\n".repeat(count)
    }

    #[test]
    fn a_file_may_have_six_hundred_lines_and_its_tests() {
        let tests = format!("#[cfg(test)]\n#[allow(x)]\nmod tests {{\n{}}}\n", lines(900));
        let (most, over) = (lines(600) + &tests, lines(601) + &tests);
        assert_eq!(
            found(super::check, &[("a/src/most.rs", &most), ("a/src/over.rs", &over)]),
            ["a/src/over.rs: has 601 lines without tests, at most 600"]
        );
    }

    #[test]
    fn a_test_only_item_in_the_middle_ends_nothing() {
        let text = format!("{}#[cfg(test)]\nmod tests;\n{}", lines(300), lines(300));
        assert_eq!(
            found(super::check, &[("a/src/x.rs", &text)]),
            ["a/src/x.rs: has 602 lines without tests, at most 600"]
        );
    }

    #[test]
    fn contents_pages_are_short_and_tables_and_tests_are_free() {
        let (page, long) = (lines(151), lines(5000));
        assert_eq!(
            found(
                super::check,
                &[
                    ("a/src/lib.rs", &page),
                    ("a/src/b/mod.rs", &page),
                    ("a/src/tables/words.rs", &long),
                    ("a/tests/all.rs", &long)
                ]
            ),
            [
                "a/src/b/mod.rs: has 151 lines without tests, at most 150",
                "a/src/lib.rs: has 151 lines without tests, at most 150"
            ]
        );
    }
}
