//! What one operation of each stage costs, in instructions: the same on a quiet machine and on a busy one.

// The futures of a whole line, from the client's bytes to the unit's, are one type.
#![recursion_limit = "256"]

mod figures;
mod line;
mod measure;
mod merge;
mod mysql;
mod outcome;
mod own;
mod plan;
mod postgres;
mod route;
mod shop;
mod stage;
mod stages;
mod text;

use std::io::Write;
use std::process::ExitCode;

use outcome::{Failure, Outcome};

const USAGE: &str = "\
stages [NAME…]            measures all stages, or those whose names begin so, and compares with figures.txt
stages --write [NAME…]    the same, and writes the new figures down
stages --profile STAGE    the functions a stage spends its instructions in
stages --list             the stages
stages --rehearse STAGE…  runs stages and measures nothing: what valgrind is given";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match obey(&arguments) {
        Ok(text) => {
            let written = std::io::stdout().write_all(text.as_bytes());
            if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(failure) => {
            let _unheard = writeln!(std::io::stderr(), "stages: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn obey(arguments: &[&str]) -> Outcome<String> {
    match arguments {
        ["--rehearse", names @ ..] => measure::rehearse(names).map(|()| String::new()),
        ["--profile", name] => measure::profile(stages::named(name)?),
        ["--list"] => {
            let lines = stages::all().map(|stage| format!("{:<36} per {}\n", stage.name, stage.of));
            Ok(lines.collect())
        }
        ["--help" | "-h"] => Ok(format!("{USAGE}\n")),
        ["--write", names @ ..] => figures::compare(names, figures::Keep::New),
        names => figures::compare(names, figures::Keep::Old),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_does_its_work() {
        for stage in stages::all() {
            (stage.run)(3).unwrap_or_else(|failure| panic!("{}: {failure}", stage.name));
        }
    }
}
