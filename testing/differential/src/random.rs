//! Many random worlds, several at a time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::arena::{House, Room};
use crate::case::Case;
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

/// Cuts a case down and writes it, unless one like it is there already.
fn keep(room: &Room, plan: &Plan, total: &Mutex<Report>, find: Find, say: &(dyn Fn(&str) + Sync)) {
    let server = room.house.server.name();
    let text_of = |case: &Case| {
        let texts: Vec<String> =
            case.steps.iter().map(|step| render::text(case.server, &step.statement)).collect();
        texts.join("; ")
    };
    let early = alike(server, &find.what);
    let is_known = early.is_some_and(|key| count(&mut lock(total).found, &key, None));
    if is_known {
        return;
    }
    let is_shrunk = lock(total).found.len() < plan.shrunk && !find.case.tables.is_empty();
    let small = if is_shrunk { shrink::shrink(room, &find.case) } else { None };
    let (key, text) = match &small {
        Some((case, difference)) => {
            let shape = shape(&text_of(case));
            let key = alike(server, &difference.what)
                .unwrap_or_else(|| format!("{server}: {}: {shape}", difference.kind()));
            (key, case.slt(difference, find.seed))
        }
        None => {
            let told = find.what.chars().take(600).collect::<String>();
            let last =
                find.case.steps.last().map(|step| render::text(find.case.server, &step.statement));
            let last = last.unwrap_or_default();
            let key = alike(server, &find.what)
                .unwrap_or_else(|| format!("{server}: {}: {}", nameless(&find.what), shape(&last)));
            (key, format!("# seed {}: {told}\n# {last}\n", find.seed))
        }
    };
    let is_known = count(&mut lock(total).found, &key, Some(&text));
    if is_known {
        return;
    }
    match (&small, is_shrunk) {
        (Some(_), _) => say(&format!("DISAGREEMENT\n{text}")),
        (None, true) => say(&format!("DISAGREEMENT, not shown again when run alone\n{text}")),
        (None, false) => say(&format!("DISAGREEMENT, not cut down\n{text}")),
    }
    if let (Some(_), Some(folder)) = (&small, &plan.found) {
        let name = format!("{server}-{:x}.slt", hash(&text));
        let _ = std::fs::create_dir_all(folder);
        let _ = std::fs::write(folder.join(name), text);
    }
}

/// What two errors, or two differences of columns, have in common. `None` where only the statements tell.
fn alike(server: &str, what: &str) -> Option<String> {
    let is_telling = ["error ", "column ", "through "].iter().any(|word| what.starts_with(word));
    is_telling.then(|| format!("{server}: {}", nameless(what)))
}

/// Counts one of this key; true if it is not the first. Only with a text a new key is made.
fn count(found: &mut BTreeMap<String, (usize, String)>, key: &str, text: Option<&str>) -> bool {
    match (found.get_mut(key), text) {
        (Some(entry), _) => {
            entry.0 += 1;
            true
        }
        (None, Some(text)) => {
            found.insert(key.to_owned(), (1, text.to_owned()));
            false
        }
        (None, None) => false,
    }
}

/// FNV-1a, for names of files.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
