//! The differential bench: the same statement on the same rows, straight to one server and through Pando over many shards.

mod arena;
mod case;
mod chance;
mod compare;
mod corpus;
mod directives;
mod doubt;
mod generate;
mod layout;
mod lexing;
mod pando;
mod random;
mod render;
mod report;
mod schema;
mod shrink;
mod slt;
mod tree;
mod values;
mod visit;
mod wire;
mod world;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use arena::House;
use layout::Keeping;
use random::Plan;
use schema::Server;

const USAGE: &str = "usage: pando-differential random SERVER [--statements N] [--each N] [--seed N] [--workers N] [--found FOLDER] [--shrunk N] [--encrypted]
       pando-differential slt SERVER [--refused] FILE|FOLDER...
       pando-differential lexing SERVER [--texts N] [--seed N] [--modes MODE,MODE]
SERVER is postgres, mariadb or mysql; PANDO_BIN and PG1_PORT, MARIADB1_PORT, … say where things are";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "pando-differential: {why}");
            ExitCode::from(2)
        }
    }
}

/// True if nothing was different.
fn run(words: &[String]) -> Result<bool, String> {
    let [command, server, rest @ ..] = words else { return Err(USAGE.to_owned()) };
    if command == "lexing" {
        return lexing(server, rest);
    }
    let house = house(server)?;
    match command.as_str() {
        "random" => random(&house, rest),
        "slt" => slt(&house, rest),
        _ => Err(USAGE.to_owned()),
    }
}

/// The server, and the ports of those there are.
fn servers(server: &str) -> Result<(Server, Vec<u16>), String> {
    let (server, name) = match server {
        "postgres" => (Server::Postgres, "PG"),
        "mariadb" => (Server::MariaDb, "MARIADB"),
        "mysql" => (Server::MySql, "MYSQL"),
        _ => return Err(USAGE.to_owned()),
    };
    let variable = |name: String| std::env::var(name).ok();
    let ports: Vec<u16> =
        (1..=2).filter_map(|at| variable(format!("{name}{at}_PORT"))?.parse().ok()).collect();
    match ports.is_empty() {
        true => Err(format!("{name}1_PORT is not set")),
        false => Ok((server, ports)),
    }
}

fn lexing(server: &str, words: &[String]) -> Result<bool, String> {
    let (server, ports) = servers(server)?;
    let (mut texts, mut seed, mut modes) = (10_000, 1, "");
    for pair in words.chunks(2) {
        let [word, value] = pair else { return Err(USAGE.to_owned()) };
        let number = || value.parse::<usize>().map_err(|_| format!("{word} wants a number"));
        match word.as_str() {
            "--texts" => texts = number()?,
            "--seed" => seed = number()? as u64,
            "--modes" => modes = value,
            _ => return Err(USAGE.to_owned()),
        }
    }
    let began = Instant::now();
    let outcome = lexing::run(server, ports[0], &lexing::Tries { texts, seed, modes })?;
    say(&outcome.text(server.name()));
    say(&format!("  in {} s\n", began.elapsed().as_secs()));
    Ok(outcome.disagreements.is_empty() && outcome.is_telling())
}

fn house(server: &str) -> Result<House, String> {
    let (server, ports) = servers(server)?;
    let binary = std::env::var("PANDO_BIN").map_err(|_| "PANDO_BIN is not set")?;
    let folder = std::env::temp_dir().join(format!("pando-differential.{}", std::process::id()));
    Ok(House { server, ports, binary: PathBuf::from(binary), folder, keeping: Keeping::Plain })
}

fn random(house: &House, words: &[String]) -> Result<bool, String> {
    let is_encrypted = |word: &String| word == "--encrypted";
    let keeping = match words.iter().any(is_encrypted) {
        true => Keeping::Encrypted,
        false => Keeping::Plain,
    };
    let house = &House { keeping, ..house.clone() };
    let words: Vec<String> = words.iter().filter(|word| !is_encrypted(word)).cloned().collect();
    let plan = plan(&words)?;
    let began = Instant::now();
    let outcome = random::run(house, &plan, &say);
    let _ = std::fs::remove_dir_all(&house.folder);
    let report = outcome?;
    say(&report.text(house.server.name(), began.elapsed()));
    Ok(report.disagreements == 0)
}

/// Every `.slt` file named, or below the folders named.
fn slt(house: &House, words: &[String]) -> Result<bool, String> {
    let began = Instant::now();
    let shows_refused = words.iter().any(|word| word == "--refused");
    let paths: Vec<PathBuf> =
        words.iter().filter(|word| !word.starts_with("--")).map(PathBuf::from).collect();
    let files = corpus::files(house.server, &paths)?;
    let outcome = corpus::run(house, &files, 3);
    let _ = std::fs::remove_dir_all(&house.folder);
    let outcome = outcome?;
    if outcome.files == 0 {
        return Err("none of these files is for this family".to_owned());
    }
    for (text, layouts) in outcome.wrong.values() {
        let layouts: Vec<&str> = layouts.iter().copied().collect();
        say(&format!("WRONG {text}\n    layouts: {}\n", layouts.join(", ")));
    }
    if shows_refused {
        for refused in &outcome.refused {
            say(&format!("refused {refused}\n"));
        }
    }
    say(&outcome.report.text(house.server.name(), began.elapsed()));
    say(&format!("  {} files, {} wrong\n", outcome.files, outcome.wrong.len()));
    Ok(outcome.wrong.is_empty())
}

fn plan(words: &[String]) -> Result<Plan, String> {
    let mut plan =
        Plan { statements: 10_000, each: 500, seed: 1, workers: 3, found: None, shrunk: 40 };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or(USAGE)?;
        let number = || value.parse::<usize>().map_err(|_| format!("{word} wants a number"));
        match word.as_str() {
            "--statements" => plan.statements = number()?,
            "--each" => plan.each = number()?,
            "--seed" => plan.seed = number()? as u64,
            "--workers" => plan.workers = number()?.max(1),
            "--found" => plan.found = Some(PathBuf::from(value)),
            "--shrunk" => plan.shrunk = number()?,
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(plan)
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}
