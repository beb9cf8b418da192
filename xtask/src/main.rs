//! Project chores: `cargo xtask tidy` checks what the compiler and clippy cannot; `cargo xtask refusals` writes the
//! list of refusals; `cargo xtask figures` tells how the house stands.

mod figures;
mod lexer;
mod manifest;
mod refusals;
mod rooms;
mod source;
mod tidy;
mod tree;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use tree::Tree;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["tidy"] => run_tidy(),
        ["tidy", "--rules"] => list_rules(),
        ["refusals"] => write_refusals(),
        ["figures"] => tell_figures(None),
        ["figures", name] => tell_figures(Some(name)),
        _ => {
            let _ = writeln!(
                io::stderr(),
                "usage: cargo xtask tidy [--rules] | refusals | figures [NAME]"
            );
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run_tidy() -> io::Result<ExitCode> {
    let tree = Tree::read(&root())?;
    let found = tidy::check(&tree);
    let mut out = io::stdout().lock();
    for violation in &found {
        writeln!(out, "{violation}")?;
    }
    let (rules, files) = (tidy::RULES.len(), tree.len());
    writeln!(out, "tidy: {rules} rules over {files} files, {} violations", found.len())?;
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn list_rules() -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    for rule in tidy::RULES {
        writeln!(out, "{:14} {}", rule.name, rule.says)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_refusals() -> io::Result<ExitCode> {
    let page = refusals::page(&Tree::read(&root())?);
    std::fs::write(root().join(refusals::PAGE), page)?;
    Ok(ExitCode::SUCCESS)
}

/// The table, or what one of its figures counts.
fn tell_figures(name: Option<&str>) -> io::Result<ExitCode> {
    let tree = Tree::read(&root())?;
    let code = figures::Code::read(&tree);
    let mut out = io::stdout().lock();
    let Some(name) = name else {
        write!(out, "{}", figures::table(&code))?;
        return Ok(ExitCode::SUCCESS);
    };
    let Some(places) = figures::places(&code, name) else {
        writeln!(io::stderr(), "no figure is called `{name}`; `cargo xtask figures` lists them")?;
        return Ok(ExitCode::from(2));
    };
    for place in places {
        writeln!(out, "{place}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The repository, wherever the command was started.
fn root() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    own.parent().map_or(own.clone(), PathBuf::from)
}
