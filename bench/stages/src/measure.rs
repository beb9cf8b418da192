//! Counting instructions: a stage runs N times and 2 N times under callgrind, and what the second run costs more is the cost of N.
//! <https://valgrind.org/docs/manual/cl-format.html>

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::stage::Stage;
use crate::{Failure, Outcome, stages};

/// Instructions and allocations, per thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    pub(crate) instructions: f64,
    /// Calls of the C library's allocating functions; freeing is not counted.
    pub(crate) allocations: f64,
}

const ALLOCATING: [&str; 6] =
    ["malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "memalign"];
/// Makes the C library copy and fill in loops, whatever the length.
const UNREPEATED: &str =
    "glibc.cpu.x86_rep_movsb_threshold=1073741824:glibc.cpu.x86_rep_stosb_threshold=1073741824";
/// Functions that a profile lists.
const LISTED: usize = 30;

/// What a run cost, by function.
#[derive(Debug, Default)]
struct Run {
    total: u64,
    functions: HashMap<String, Function>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Function {
    own: u64,
    /// With everything it calls. A function that calls itself counts more than once.
    inclusive: u64,
    calls: u64,
}

/// A stage's two runs: N times, and 2 N times.
#[derive(Debug)]
pub(crate) struct Pair {
    few: Run,
    many: Run,
}

/// Between two of its calls callgrind counts one run: it writes its counters out, and begins anew, whenever this is called.
#[inline(never)]
fn mark() {
    std::hint::black_box(());
}

/// Runs stages for callgrind to count.
///
/// # Errors
/// The first that a stage meets.
pub(crate) fn rehearse(names: &[&str]) -> Outcome {
    for name in names {
        let stage = stages::named(name)?;
        // What is made once in a process, as a random generator's seed, belongs to nobody.
        (stage.run)(1)?;
        mark();
        (stage.run)(stage.times)?;
        mark();
        (stage.run)(stage.times * 2)?;
        mark();
    }
    Ok(())
}

/// What one of a stage's things costs.
pub(crate) fn cost(stage: &Stage, pair: &Pair) -> Cost {
    let count = f64::from(stage.times) * f64::from(stage.each);
    let allocations = |run: &Run| {
        let calls = ALLOCATING.iter().filter_map(|name| run.functions.get(*name));
        calls.map(|function| function.calls).sum::<u64>()
    };
    let Pair { few, many } = pair;
    Cost {
        instructions: more(few.total, many.total) / count,
        allocations: more(allocations(few), allocations(many)) / count,
    }
}

/// What a list is sorted by.
type Key = fn(&Function) -> u64;

/// The functions in which a stage spends most, by themselves and with what they call, in instructions per operation.
///
/// # Errors
/// As [`count`].
pub(crate) fn profile(stage: &'static Stage) -> Outcome<String> {
    let pairs = count(&[stage])?;
    let Pair { few, many } = pairs.first().ok_or("nothing was measured")?;
    let count = f64::from(stage.times);
    let each = |name: &str, of: fn(&Function) -> u64| {
        let of = |run: &Run| run.functions.get(name).map_or(0, of);
        more(of(few), of(many)) / count
    };
    let total = more(few.total, many.total) / count;
    let mut text = format!("{}: {total:.0} instructions per operation\n", stage.name);
    let lists: [(&str, Key); 2] =
        [("by themselves", |f| f.own), ("with what they call", |f| f.inclusive)];
    for (title, of) in lists {
        let costs = many.functions.keys().map(|name| (each(name, of), name));
        let mut costs: Vec<_> = costs.filter(|(cost, _)| *cost >= 0.5).collect();
        costs.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        write!(text, "\n{title}\n{:>10} {:>6} {:>8}  function\n", "each", "part", "calls")?;
        for (cost, name) in costs.into_iter().take(LISTED) {
            let calls = each(name, |function| function.calls);
            writeln!(text, "{cost:>10.0} {:>5.1}% {calls:>8.2}  {name}", cost / total * 100.0)?;
        }
    }
    Ok(text)
}

fn more(few: u64, many: u64) -> f64 {
    many as f64 - few as f64
}

/// Runs stages under callgrind, all in one process: to load it takes longer than most of them.
///
/// # Errors
/// When valgrind is not to be had, or a stage fails.
pub(crate) fn count(stages: &[&'static Stage]) -> Outcome<Vec<Pair>> {
    let folder = Folder::new()?;
    let file = folder.0.join("out");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--compress-strings=no", "--compress-pos=no"])
        .arg(format!("--dump-before={}::mark", module_path!()))
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(std::env::current_exe()?)
        .arg("--rehearse")
        .args(stages.iter().map(|stage| stage.name))
        // Else long copies are one instruction that callgrind counts once for each byte.
        .env("GLIBC_TUNABLES", UNREPEATED)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("valgrind cannot be run: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("a stage failed under valgrind:\n{said}").into());
    }
    let run = |number: usize| {
        let part = file.with_extension(number.to_string());
        let text = std::fs::read_to_string(&part)
            .map_err(|error| format!("callgrind has not written {}: {error}", part.display()))?;
        read(&text)
    };
    // Three parts each: what came before, N times, 2 N times. Parts count from 1.
    let pair = |at: usize| Ok(Pair { few: run(at * 3 + 2)?, many: run(at * 3 + 3)? });
    (0..stages.len()).map(pair).collect()
}

/// A folder for callgrind's files, deleted when it is no longer needed.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Outcome<Self> {
        let path = std::env::temp_dir().join(format!("pando-stages-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be deleted stays in the temporary folder; the figures are right all the same.
        let _left = std::fs::remove_dir_all(&self.0);
    }
}

/// Reads callgrind's output.
fn read(text: &str) -> Outcome<Run> {
    let mut run = Run::default();
    let mut function = String::new();
    let mut called: Option<(String, u64)> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            name.clone_into(&mut function);
        } else if let Some(name) = line.strip_prefix("cfn=") {
            called = Some((name.to_owned(), 0));
        } else if let Some(rest) = line.strip_prefix("calls=") {
            let count = rest.split(' ').next().unwrap_or_default().parse()?;
            if let Some(called) = &mut called {
                called.1 = count;
            }
        } else if let Some(total) = line.strip_prefix("totals: ") {
            run.total = total.trim().parse()?;
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let cost: u64 = line.split(' ').nth(1).unwrap_or_default().parse()?;
            let own = run.functions.entry(function.clone()).or_default();
            own.inclusive += cost;
            match called.take() {
                None => own.own += cost,
                Some((name, count)) => run.functions.entry(name).or_default().calls += count,
            }
        }
    }
    if run.total == 0 {
        return Err(Failure::from("callgrind's output has no total"));
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_costs_calls_and_totals_are_read() {
        let text = "events: Ir\nfl=a.rs\nfn=outer\n10 5\ncfn=malloc\ncalls=3 0\n11 30\n12 2\n\
            fn=malloc\n0 30\ntotals: 37\n";
        let run = read(text).unwrap();
        let (outer, malloc) = (run.functions["outer"], run.functions["malloc"]);
        assert_eq!((outer.own, outer.inclusive, malloc.own, malloc.calls), (7, 37, 30, 3));
        assert_eq!(run.total, 37);
        assert!(read("fn=x\n1 1\n").is_err());
    }
}
