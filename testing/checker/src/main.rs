//! `pando-checker LEVEL [--order data|process|time] FILE`: which anomalies a history shows, and whether the level forbids one of them.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::process::ExitCode;

use pando_checker::{History, Level, Order, Report, check};

const USAGE: &str = "usage: pando-checker LEVEL [--order data|process|time] FILE
LEVEL is read-committed, repeatable-read-mysql, repeatable-read-postgres or serializable. Ends with 1 when it is broken.";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            let _ = writeln!(io::stderr(), "pando-checker: {why}");
            ExitCode::from(2)
        }
    }
}

/// True if the level holds.
fn run(words: &[&str]) -> Result<bool, String> {
    let (level, order, file) = match words {
        [level, "--order", order, file] => (level, order, file),
        [level, file] => (level, &"data", file),
        _ => return Err(USAGE.to_owned()),
    };
    let level = Level::NAMES.iter().find(|(name, _)| name == level).map(|(_, level)| *level);
    let level = level.ok_or(USAGE)?;
    let order = match *order {
        "data" => Order::Data,
        "process" => Order::Process,
        "time" => Order::Time,
        _ => return Err(USAGE.to_owned()),
    };
    let input = File::open(file).map_err(|error| format!("`{file}`: {error}"))?;
    let history =
        History::read(BufReader::new(input)).map_err(|fault| format!("`{file}`, {fault}"))?;
    let report = check(&history, order);
    tell(&report, level).map_err(|error| error.to_string())?;
    Ok(!report.breaks(level))
}

fn tell(report: &Report, level: Level) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let Report { committed, aborted, unknown, dependencies, .. } = report;
    writeln!(
        out,
        "{committed} committed, {aborted} undone, {unknown} of unknown end, {dependencies} dependencies"
    )?;
    for (anomaly, count) in &report.counts {
        let verdict = if level.forbids(*anomaly) { "FORBIDDEN" } else { "permitted" };
        writeln!(out, "{verdict} {anomaly}: {count}")?;
        for finding in report.findings.iter().filter(|finding| finding.anomaly == *anomaly) {
            writeln!(out, "    {}", finding.witness)?;
        }
    }
    Ok(())
}
