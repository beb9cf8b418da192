//! Many random worlds, several at a time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::arena::{House, Room};
use crate::render;
use crate::report::{Report, nameless, shape};
use crate::shrink;
use crate::wire::Fault;
use crate::world::{self, Find};

/// How much is run, and from which seed.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) statements: usize,
    /// Statements in one world.
    pub(crate) each: usize,
    pub(crate) seed: u64,
    pub(crate) workers: usize,
    /// Where found cases are written; none if `None`.
    pub(crate) found: Option<PathBuf>,
    /// Cases that are cut down; later ones are only counted.
    pub(crate) shrunk: usize,
}

/// Runs the plan's worlds. The same plan gives the same statements, however many workers there are.
pub(crate) fn run(
    house: &House,
    plan: &Plan,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Report, Fault> {
    let worlds = plan.statements.div_ceil(plan.each.max(1));
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Report::default());
    let problem = Mutex::new(None);
    thread::scope(|scope| {
        for worker in 0..plan.workers {
            let (next, total, problem) = (&next, &total, &problem);
            scope.spawn(move || {
                let room =
                    Room { house: house.clone(), name: format!("{}{worker}", std::process::id()) };
                let outcome = room.open().and_then(|()| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        if at >= worlds {
                            return room.close();
                        }
                        let seed = plan.seed.wrapping_add(at as u64);
                        let mut report = Report::default();
                        let finds = world::run(&room, seed, plan.each, &mut report);
                        for find in finds {
                            keep(&room, plan, total, find, say);
                        }
                        lock(total).add(report);
                    }
                });
                if let Err(why) = outcome {
                    *lock(problem) = Some(why);
                }
            });
        }
    });
    match problem.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(why) => Err(why),
        None => Ok(total.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cuts a case down and writes it, unless one of its shape is there already.
fn keep(room: &Room, plan: &Plan, total: &Mutex<Report>, find: Find, say: &(dyn Fn(&str) + Sync)) {
    let server = room.house.server.name();
    let raw = |find: &Find| {
        let sql =
            find.case.steps.last().map(|step| render::text(find.case.server, &step.statement));
        format!("{server}: {}: {}", nameless(&find.what), shape(&sql.unwrap_or_default()))
    };
    let count = |found: &mut BTreeMap<String, (usize, String)>, key: String, text: String| {
        let entry = found.entry(key).or_insert((0, text));
        entry.0 += 1;
        entry.0 == 1
    };
    let is_shrunk = lock(total).found.len() < plan.shrunk && !find.case.tables.is_empty();
    let small = if is_shrunk { shrink::shrink(room, &find.case) } else { None };
    let Some((case, difference)) = small else {
        let key = raw(&find);
        let told = find.what.chars().take(600).collect::<String>();
        let sql =
            find.case.steps.last().map(|step| render::text(find.case.server, &step.statement));
        let text = format!("seed {}: {told}\n  {}", find.seed, sql.unwrap_or_default());
        if count(&mut lock(total).found, key, text.clone())
            && (is_shrunk || find.case.tables.is_empty())
        {
            say(&format!("DISAGREEMENT (not repeated alone) {server} {text}\n"));
        }
        return;
    };
    let sql: Vec<String> =
        case.steps.iter().map(|step| render::text(case.server, &step.statement)).collect();
    let key = format!("{server}: {}: {}", difference.kind(), shape(&sql.join("; ")));
    let text = case.slt(&difference, find.seed);
    if count(&mut lock(total).found, key, text.clone()) {
        say(&format!("DISAGREEMENT\n{text}"));
        if let Some(folder) = &plan.found {
            let name = format!("{server}-{:x}.slt", hash(&text));
            let _ = std::fs::create_dir_all(folder);
            let _ = std::fs::write(folder.join(name), text);
        }
    }
}

/// FNV-1a, for names of files.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
