//! Runs sqllogictest files in every layout.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, thread};

use crate::arena::{Arena, House, Room};
use crate::compare::{Order, Promise, Verdict, compare, shown};
use crate::layout::Layout;
use crate::report::{Report, nameless};
use crate::schema::Server;
use crate::slt::{Record, Script, Sides, Wants, parse};
use crate::wire::{Call, Fault, Mode, Reply};

/// What came of all files.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) report: Report,
    pub(crate) files: usize,
    /// What is wrong, by place and difference: told once, with every layout it is wrong in.
    pub(crate) wrong: BTreeMap<String, (String, BTreeSet<&'static str>)>,
    /// Refused statements: place, layout, reason.
    pub(crate) refused: Vec<String>,
}

impl Outcome {
    fn add_wrong(&mut self, key: String, text: String, layout: &'static str) {
        self.wrong.entry(key).or_insert((text, BTreeSet::new())).1.insert(layout);
    }
}

/// One file in one layout.
struct Job<'a> {
    name: &'a str,
    script: &'a Script,
    title: &'static str,
    layout: Layout,
}

/// The files for this server below `paths`, in order of their names.
pub(crate) fn files(server: Server, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Fault> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let family = if server.is_postgres() { "postgres" } else { "mysql" };
            for folder in ["common", family] {
                found.extend(listed(&path.join(folder))?);
            }
            let own = |file: &PathBuf| {
                let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                name.starts_with(&format!("{}-", server.name()))
            };
            found.extend(listed(&path.join("found"))?.into_iter().filter(own));
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|why| why.to_string())?.path();
        if path.extension().is_some_and(|ending| ending == "slt") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Runs every file in every layout, `workers` at a time.
pub(crate) fn run(house: &House, files: &[PathBuf], workers: usize) -> Result<Outcome, Fault> {
    let mut scripts = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).map_err(|why| format!("{}: {why}", file.display()))?;
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or("file").to_owned();
        let told = |why: String| format!("{}: {why}", file.display());
        let mut script = parse(&text, house.server).map_err(told)?;
        let includes = std::mem::take(&mut script.includes);
        for include in includes.iter().rev() {
            let path = file.with_file_name(include);
            let told = |why: String| format!("{}: {why}", path.display());
            let text = fs::read_to_string(&path).map_err(|why| told(why.to_string()))?;
            script.put_before(parse(&text, house.server).map_err(told)?);
        }
        scripts.push((name, script));
    }
    let jobs: Vec<Job<'_>> = scripts
        .iter()
        .flat_map(|(name, script)| {
            let layouts = script.layouts().into_iter();
            layouts.map(move |(title, layout)| Job { name, script, title, layout })
        })
        .collect();
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Outcome { files: files.len(), ..Outcome::default() });
    thread::scope(|scope| {
        for worker in 0..workers {
            let (next, total, jobs) = (&next, &total, &jobs);
            scope.spawn(move || {
                let room =
                    Room { house: house.clone(), name: format!("{}c{worker}", std::process::id()) };
                let mut own = Outcome::default();
                if let Err(why) = room.open() {
                    own.add_wrong(why.clone(), why, "every layout");
                } else {
                    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        one(&room, job, &mut own);
                    }
                    let _ = room.close();
                }
                let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
                total.report.add(own.report);
                for (key, (text, layouts)) in own.wrong {
                    total.wrong.entry(key).or_insert((text, BTreeSet::new())).1.extend(layouts);
                }
                total.refused.extend(own.refused);
            });
        }
    });
    Ok(total.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn one(room: &Room, job: &Job<'_>, outcome: &mut Outcome) {
    let mut run = Run { job, outcome, is_given_up: false, has_refused: false };
    let done = room.arena(&job.layout).and_then(|mut arena| run.all(room, &mut arena));
    if let Err(why) = done {
        let told = format!("{}: {why}", job.name);
        run.outcome.add_wrong(nameless(&told), told, job.title);
    }
}

struct Run<'a, 'o> {
    job: &'a Job<'a>,
    outcome: &'o mut Outcome,
    /// The rest of a transaction in which a statement was refused.
    is_given_up: bool,
    /// Something was refused before: a later statement may fail where the file does not expect it.
    has_refused: bool,
}

impl Run<'_, '_> {
    fn all(&mut self, room: &Room, arena: &mut Arena) -> Result<(), Fault> {
        let mut is_open = false;
        for record in &self.job.script.records {
            let word = record.sql.split_whitespace().next().unwrap_or("").to_lowercase();
            let ends = matches!(word.as_str(), "commit" | "rollback" | "end")
                && !record.sql.to_lowercase().contains(" to ");
            if self.is_given_up {
                self.is_given_up = !ends;
                is_open &= !ends;
                continue;
            }
            is_open = (is_open || matches!(word.as_str(), "begin" | "start")) && !ends;
            let at = |why: Fault| format!("line {}: {why}", record.line);
            if let Some(table) = created(&record.sql)
                && record.sides == Sides::Both
                && record.wants == Wants::Success
            {
                room.create(arena, &self.job.layout, &table, &record.sql).map_err(at)?;
                continue;
            }
            match record.wants {
                Wants::Rows { .. } => {
                    // A change must not happen twice, and MySQL's EXECUTE cannot be prepared itself.
                    let once = ["execute", "insert", "update", "delete", "replace"];
                    let modes: &[Mode] = if once.contains(&word.as_str()) {
                        &[Mode::Text]
                    } else {
                        &[Mode::Text, Mode::Binary]
                    };
                    for &mode in modes {
                        self.query(arena, record, mode).map_err(at)?;
                    }
                }
                Wants::Success | Wants::Error | Wants::Either => {
                    self.statement(arena, record, is_open).map_err(at)?;
                }
            }
        }
        Ok(())
    }

    fn wrong(&mut self, record: &Record, what: &str) {
        let Job { name, title, layout, .. } = self.job;
        self.outcome.report.disagreements += 1;
        let key = format!("{name}:{} {}", record.line, nameless(what.lines().next().unwrap_or("")));
        let text = format!(
            "{name}:{}: {what}\n    {}\n    in {}",
            record.line,
            record.sql.replace('\n', "\n    "),
            layout.words()
        );
        self.outcome.add_wrong(key, text, title);
    }

    fn refused(&mut self, kind: &'static str, record: &Record, reason: &str) {
        self.has_refused |= kind != "select";
        self.outcome.report.refused(kind, reason, &record.sql);
        let Job { name, title, .. } = self.job;
        self.outcome.refused.push(format!("{name}:{} in `{title}`: {reason}", record.line));
    }

    fn query(&mut self, arena: &mut Arena, record: &Record, mode: Mode) -> Result<(), Fault> {
        let call = Call { sql: record.sql.clone(), parameters: Vec::new(), mode };
        self.outcome.report.kinds.entry("select").or_default().run += 1;
        let (right, ours) = arena.both(&call)?;
        if let Reply::Failed(failure) = &right {
            self.wrong(record, &format!("the straight server fails: {failure}"));
            return Ok(());
        }
        let Wants::Rows { is_ordered, is_loose } = record.wants else { return Ok(()) };
        let order = if is_ordered { Order::Total } else { Order::None };
        let loose = match &right {
            Reply::Rows { columns, .. } => vec![is_loose; columns.len()],
            Reply::Done(_) | Reply::Failed(_) => Vec::new(),
        };
        let promise = Promise { order, loose, ..Promise::none() };
        match compare(arena.server, &right, &ours, &promise) {
            Verdict::Same => {}
            Verdict::Refused(reason) => self.refused("select", record, &reason),
            Verdict::Different(what) => {
                let told = format!(
                    "{what} ({mode:?})\n  straight: {}\n  pando:    {}",
                    brief(&right),
                    brief(&ours)
                );
                self.wrong(record, &told);
            }
        }
        Ok(())
    }

    /// Pando goes first: what it refuses must not happen on the other side.
    fn statement(
        &mut self,
        arena: &mut Arena,
        record: &Record,
        is_open: bool,
    ) -> Result<(), Fault> {
        let call = Call::text(record.sql.clone());
        self.outcome.report.kinds.entry("statement").or_default().run += 1;
        match record.sides {
            Sides::Straight => return arena.straight.ask(&call).map(drop),
            Sides::Pando => return arena.pando.ask(&call).map(drop),
            Sides::Both => {}
        }
        let ours = arena.pando.ask(&call).map_err(|why| format!("through Pando: {why}"))?;
        if let Reply::Failed(failure) = &ours
            && failure.state == "0A000"
            && record.wants != Wants::Error
        {
            self.refused("statement", record, &failure.message);
            if is_open {
                for client in [&mut arena.straight, &mut arena.pando] {
                    client.ask(&Call::text("rollback"))?;
                }
                self.is_given_up = true;
            }
            return Ok(());
        }
        let right = arena.straight.ask(&call)?;
        match (&right, record.wants) {
            (Reply::Failed(failure), Wants::Success) if !self.has_refused => {
                self.wrong(record, &format!("the straight server fails: {failure}"));
            }
            (Reply::Rows { .. } | Reply::Done(_), Wants::Error) if !self.has_refused => {
                self.wrong(record, "the straight server does not fail");
            }
            _ => {}
        }
        match compare(arena.server, &right, &ours, &Promise::none()) {
            Verdict::Same => {}
            Verdict::Refused(reason) => self.refused("statement", record, &reason),
            Verdict::Different(what) => self.wrong(record, &what),
        }
        self.contents(arena, record)
    }

    /// After each change every table must hold the same rows.
    fn contents(&mut self, arena: &mut Arena, record: &Record) -> Result<(), Fault> {
        for table in self.job.script.tables() {
            let (right, ours) = arena.both(&Call::text(format!("select * from {table}")))?;
            match compare(arena.server, &right, &ours, &Promise::none()) {
                Verdict::Same => {}
                Verdict::Refused(what) | Verdict::Different(what) => {
                    self.wrong(record, &format!("content of {table} afterwards: {what}"));
                }
            }
        }
        Ok(())
    }
}

/// The table that is made.
fn created(sql: &str) -> Option<String> {
    let words: Vec<&str> = sql
        .split(|c: char| c.is_whitespace() || c == '(')
        .filter(|word| !word.is_empty())
        .collect();
    match words.as_slice() {
        [create, table, name, ..]
            if create.eq_ignore_ascii_case("create") && table.eq_ignore_ascii_case("table") =>
        {
            Some((*name).to_owned())
        }
        _ => None,
    }
}

/// A reply in one line.
fn brief(reply: &Reply) -> String {
    match reply {
        Reply::Failed(failure) => failure.to_string(),
        Reply::Done(tag) => tag.clone(),
        Reply::Rows { rows, .. } => {
            let some: Vec<String> = rows.iter().take(12).map(|row| shown(row)).collect();
            let more = if rows.len() > some.len() { ", …" } else { "" };
            format!("{} rows: {}{more}", rows.len(), some.join(", "))
        }
    }
}
