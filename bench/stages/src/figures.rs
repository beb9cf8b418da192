//! The last figures, kept in the repository, and how the new ones differ from them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use crate::measure::{self, Cost};
use crate::{Outcome, stages};

/// Whether measured figures replace those that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Old,
    New,
}

const HEAD: &str =
    "# Instructions and allocations of one operation; written by `bench/stages/run --write`.\n";

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("figures.txt")
}

/// Measures the stages whose names begin with one of `names` (all, when there is none), and shows them beside the kept figures.
///
/// # Errors
/// When no stage is named so, when one cannot be measured, or when the file cannot be read or written.
pub(crate) fn compare(names: &[&str], keep: Keep) -> Outcome<String> {
    let mut kept = match std::fs::read_to_string(file()) {
        Ok(text) => read(&text)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
        Err(error) => return Err(error.into()),
    };
    let wanted = |name: &str| names.is_empty() || names.iter().any(|start| name.starts_with(start));
    let mut table = format!(
        "{:<38} {:>12} {:>12} {:>8} {:>11} {:>8}\n",
        "stage", "instructions", "before", "change", "allocations", "before"
    );
    let stages: Vec<_> = stages::all().filter(|stage| wanted(stage.name)).collect();
    if stages.is_empty() {
        return Err("no stage is named so; see --list".into());
    }
    for (stage, pair) in stages.iter().zip(&measure::count(&stages)?) {
        let cost = measure::cost(stage, pair);
        let before = kept.insert(stage.name.to_owned(), cost);
        table.push_str(&row(stage.name, cost, before));
    }
    if keep == Keep::New {
        std::fs::write(file(), write(&kept)?)?;
    }
    Ok(table)
}

fn row(name: &str, cost: Cost, before: Option<Cost>) -> String {
    let (was, change, allocations) = match before {
        None => ("-".to_owned(), "new".to_owned(), "-".to_owned()),
        Some(before) => (
            format!("{:.0}", before.instructions),
            format!("{:+.1}%", (cost.instructions / before.instructions - 1.0) * 100.0),
            format!("{:.1}", before.allocations),
        ),
    };
    let Cost { instructions: now, allocations: taken } = cost;
    format!("{name:<38} {now:>12.0} {was:>12} {change:>8} {taken:>11.1} {allocations:>8}\n")
}

fn read(text: &str) -> Outcome<BTreeMap<String, Cost>> {
    let mut figures = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (Some(name), Some(instructions), Some(allocations), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(
                format!("figures.txt: `{line}` is not name, instructions, allocations").into()
            );
        };
        let cost = Cost { instructions: instructions.parse()?, allocations: allocations.parse()? };
        figures.insert(name.to_owned(), cost);
    }
    Ok(figures)
}

/// In the order of the stages; what is no stage any more is left out.
fn write(figures: &BTreeMap<String, Cost>) -> Outcome<String> {
    let mut text = HEAD.to_owned();
    for stage in stages::all() {
        if let Some(cost) = figures.get(stage.name) {
            let Cost { instructions, allocations } = cost;
            writeln!(text, "{:<38} {instructions:>10.0} {allocations:>7.1}", stage.name)?;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_figures_are_read_again_and_broken_lines_are_refused() {
        let name = stages::all().next().unwrap().name;
        let cost = Cost { instructions: 1234.0, allocations: 2.5 };
        let text = write(&BTreeMap::from([(name.to_owned(), cost)])).unwrap();
        assert_eq!(read(&text).unwrap()[name], cost);
        assert!(read("parse 12\n").is_err());
        assert!(
            row(name, cost, Some(Cost { instructions: 1000.0, allocations: 2.0 }))
                .contains("+23.4%")
        );
    }
}
