//! Wrong files and the exact problems they must give: `tests/cases/*.case`.
//!
//! A case is `== a sentence`, then files as `-- name` and their text, then `-> problem` lines in order; `\t` in a file
//! stands for a tab.

use std::path::PathBuf;

use pando_config::{File, parse_folder};

struct Case {
    name: String,
    files: Vec<(String, String)>,
    problems: Vec<String>,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            cases.push(Case { name: name.to_owned(), files: Vec::new(), problems: Vec::new() });
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        if let Some(name) = line.strip_prefix("-- ") {
            case.files.push((name.to_owned(), String::new()));
        } else if let Some(problem) = line.strip_prefix("-> ") {
            case.problems.push(problem.to_owned());
        } else if let Some((_, text)) = case.files.last_mut() {
            text.push_str(&line.replace("\\t", "\t"));
            text.push('\n');
        }
    }
    cases
}

fn found(case: &Case) -> Vec<String> {
    let files: Vec<File<'_>> = case.files.iter().map(|(name, text)| File { name, text }).collect();
    match parse_folder(&files, &|_| None) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.problems().iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn every_wrong_file_gives_its_problems_with_their_places() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut seen = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of cases") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a case file");
        for case in cases(&text) {
            seen += 1;
            let found = found(&case);
            if found != case.problems || found.is_empty() {
                let (name, wanted) = (&case.name, case.problems.join("\n   "));
                wrong.push(format!("== {name}\n   {wanted}\nfound\n   {}", found.join("\n   ")));
            }
        }
    }
    assert!(seen > 30, "only {seen} cases were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_bomb_of_aliases_is_stopped() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..20 {
        let alias = format!("*a{}, ", i - 1).repeat(10);
        text.push_str(&format!("a{i}: &a{i} [{}]\n", alias.trim_end_matches(", ")));
    }
    let file = File { name: "global.yaml", text: &text };
    let errors = parse_folder(&[file], &|_| None).expect_err("a bomb").to_string();
    assert!(errors.contains("aliases counted"), "{errors}");
}

#[test]
fn nesting_beyond_the_bound_is_an_error() {
    for text in [
        "[".repeat(5000),
        "- ".repeat(5000),
        "{a: ".repeat(200),
        "a:\n".to_owned() + &"- ".repeat(70) + "x",
    ] {
        let file = File { name: "global.yaml", text: &text };
        assert!(parse_folder(&[file], &|_| None).is_err());
    }
}

#[test]
fn cut_and_changed_files_never_panic() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/accepted/current");
    let text = std::fs::read_to_string(folder.join("database-shop.yaml")).expect("a fixture");
    for end in (0..text.len()).step_by(31).filter(|end| text.is_char_boundary(*end)) {
        let cut = File { name: "database-shop.yaml", text: &text[..end] };
        let _ = parse_folder(&[cut], &|_| None);
        for change in ["\t", "{", "]", ": ", "*x", "&a ", "!", "\"", "\u{0}"] {
            let changed = format!("{}{change}{}", &text[..end], &text[end..]);
            let file = File { name: "database-shop.yaml", text: &changed };
            let _ = parse_folder(&[file], &|_| None);
        }
    }
}
