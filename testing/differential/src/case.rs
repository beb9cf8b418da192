//! A case: tables, where they stand, what is in them, and statements of which one is answered differently.

use std::fmt::Write as _;

use crate::arena::{Arena, Contents, Room, done};
use crate::compare::{Promise, Verdict, compare};
use crate::generate::Step;
use crate::layout::Layout;
use crate::render;
use crate::schema::{self, Kind, MOMENT, Server, Table};
use crate::tree::{Make, Statement};
use crate::wire::{Call, Cell, Fault, Mode, Reply};

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) server: Server,
    pub(crate) tables: Vec<Table>,
    pub(crate) layout: Layout,
    pub(crate) contents: Contents,
    pub(crate) steps: Vec<Step>,
}

/// What was different, and after which step; the step after the last stands for the tables' whole content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) step: usize,
    pub(crate) what: String,
}

impl Difference {
    /// Its kind, so that a smaller case is of the same kind and not another fault.
    pub(crate) fn kind(&self) -> String {
        let words: Vec<&str> = self.what.split_whitespace().collect();
        match words.as_slice() {
            ["error", code, ..] => format!("error {code}"),
            ["an", "answer", ..] => "answer".to_owned(),
            ["column", ..] => "column".to_owned(),
            ["connection:", ..] | ["through", ..] => "connection".to_owned(),
            ["content", ..] => "content".to_owned(),
            ["row", ..] | [_, "rows", ..] => "rows".to_owned(),
            _ => "tag".to_owned(),
        }
    }
}

/// What a statement promises about its rows.
pub(crate) fn promise(statement: &Statement) -> Promise {
    match statement {
        Statement::Select(query) => Promise::of(query),
        Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Make(_)
        | Statement::Plain(_) => Promise::none(),
    }
}

/// Runs one step on both sides.
pub(crate) fn run_step(arena: &mut Arena, step: &Step) -> Result<Verdict, Fault> {
    let call = render::call(arena.server, &step.statement, step.mode);
    let (right, ours) = arena.both(&call)?;
    Ok(compare(arena.server, &right, &ours, &promise(&step.statement)))
}

/// Reads every table whole on both sides: the straight server's rows, and what is different.
pub(crate) fn read_all(
    arena: &mut Arena,
    tables: &[Table],
) -> Result<(Contents, Option<String>), Fault> {
    let (mut contents, mut different) = (Contents::new(), None);
    for table in tables {
        let key: Vec<&str> = table.key.iter().map(|at| table.columns[*at].name.as_str()).collect();
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let sql =
            format!("select {} from {} order by {}", names.join(", "), table.name, key.join(", "));
        let (right, ours) = arena.both(&Call::text(sql))?;
        if let Verdict::Refused(what) | Verdict::Different(what) =
            compare(arena.server, &right, &ours, &Promise::none())
            && different.is_none()
        {
            different = Some(format!("content of {}: {what}", table.name));
        }
        if table.timed {
            let sql = format!("select count(distinct {MOMENT}) from {}", table.name);
            let (right, ours) = arena.both(&Call::text(sql))?;
            if let Verdict::Refused(what) | Verdict::Different(what) =
                compare(arena.server, &right, &ours, &Promise::none())
                && different.is_none()
            {
                different = Some(format!("content of {}: different times: {what}", table.name));
            }
        }
        match right {
            Reply::Rows { rows, .. } => contents.push((table.name.clone(), rows)),
            Reply::Failed(failure) => return Err(failure.to_string()),
            Reply::Done(_) => return Err("no rows".to_owned()),
        }
    }
    Ok((contents, different))
}

/// Makes both sides hold exactly these rows, whatever they held before.
pub(crate) fn load(arena: &mut Arena, tables: &[Table], contents: &Contents) -> Result<(), Fault> {
    for table in tables {
        for sql in restore(arena.server, table, contents) {
            arena.must(&sql)?;
        }
    }
    Ok(())
}

fn restore(server: Server, table: &Table, contents: &Contents) -> Vec<String> {
    let mut all = vec![format!("delete from {}", table.name)];
    all.extend(inserts(server, table, contents));
    all
}

/// INSERT statements that make a table's content.
pub(crate) fn inserts(server: Server, table: &Table, contents: &Contents) -> Option<String> {
    let rows = contents.iter().find(|(name, _)| *name == table.name).map(|(_, rows)| rows)?;
    if rows.is_empty() {
        return None;
    }
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let mut sql = format!("insert into {} ({}) values ", table.name, names.join(", "));
    for (at, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row
            .iter()
            .zip(&table.columns)
            .map(|(cell, column)| literal(server, column.kind, cell))
            .collect();
        let _ = write!(sql, "{}({})", if at > 0 { ", " } else { "" }, cells.join(", "));
    }
    Some(sql)
}

fn literal(server: Server, kind: Kind, cell: &Cell) -> String {
    let Some(bytes) = cell else { return "null".to_owned() };
    if kind == Kind::Bytes && !server.is_postgres() {
        let hex: String = bytes.iter().fold(String::new(), |mut all, byte| {
            let _ = write!(all, "{byte:02x}");
            all
        });
        return format!("x'{hex}'");
    }
    let text = String::from_utf8_lossy(bytes);
    if kind.class().is_number() {
        return text.into_owned();
    }
    let text = text.replace('\'', "''");
    let text = if server.is_postgres() { text } else { text.replace('\\', "\\\\") };
    format!("'{text}'")
}

/// So that it can be made again; what went wrong there is told by what comes next.
pub(crate) fn take_away(arena: &mut Arena, make: &Make) {
    for client in [&mut arena.straight, &mut arena.pando] {
        let _ = client.ask(&Call::text(make.undone())).map(done);
    }
}

impl Case {
    /// Both sides with the case's tables, still empty.
    pub(crate) fn arena(&self, room: &Room) -> Result<Arena, Fault> {
        let mut arena = room.arena(&self.layout)?;
        for sql in schema::before(self.server) {
            arena.must(sql)?;
        }
        for table in &self.tables {
            let sql = table.definition(self.server);
            room.create(&mut arena, &self.layout, &table.name, &sql)?;
            // A database with encrypted columns has no views over shards.
            if self.layout.encrypted.is_empty() {
                arena.must(&table.view())?;
            }
        }
        Ok(arena)
    }

    /// The first difference when it is run from its beginning.
    pub(crate) fn run(&self, arena: &mut Arena) -> Option<Difference> {
        let connection = |step| move |what: Fault| Difference { step, what };
        // What an earlier attempt left open must not count.
        for client in [&mut arena.straight, &mut arena.pando] {
            let _ = client.ask(&Call::text("rollback")).map(done);
        }
        for step in &self.steps {
            if let Some(make) = step.statement.made() {
                take_away(arena, make);
            }
        }
        if load(arena, &self.tables, &self.contents).is_err() {
            return None;
        }
        match self.run_steps(arena) {
            Ok(found) => found,
            Err((step, what)) => Some(connection(step)(what)),
        }
    }

    /// The same without loading the rows anew.
    pub(crate) fn run_steps(
        &self,
        arena: &mut Arena,
    ) -> Result<Option<Difference>, (usize, Fault)> {
        for (at, step) in self.steps.iter().enumerate() {
            if let Verdict::Different(what) = run_step(arena, step).map_err(|what| (at, what))? {
                return Ok(Some(Difference { step: at, what }));
            }
        }
        if self.steps.iter().all(|step| matches!(step.statement, Statement::Select(_))) {
            return Ok(None);
        }
        let step = self.steps.len();
        let (_, different) = read_all(arena, &self.tables).map_err(|what| (step, what))?;
        Ok(different.map(|what| Difference { step, what }))
    }

    /// A ready `.slt` file.
    pub(crate) fn slt(&self, difference: &Difference, seed: u64) -> String {
        let server = self.server;
        let mut text = String::new();
        let first = difference.what.chars().take(400).collect::<String>().replace('\n', " ");
        let _ = writeln!(text, "# {first}");
        let _ = writeln!(
            text,
            "# found on {} with seed {seed}; {}",
            server.name(),
            self.layout.words()
        );
        text.push_str(&crate::directives::written(&self.layout));
        let _ = writeln!(text);
        for sql in schema::before(server) {
            let _ = writeln!(text, "statement ok\n{sql}\n");
        }
        for table in &self.tables {
            let _ = writeln!(text, "statement ok\n{}\n", table.definition(server));
            if self.layout.encrypted.is_empty() {
                let _ = writeln!(text, "statement ok\n{}\n", table.view());
            }
            if let Some(sql) = inserts(server, table, &self.contents) {
                let _ = writeln!(text, "statement ok\n{sql}\n");
            }
        }
        for step in &self.steps {
            let sql = render::text(server, &step.statement);
            if step.mode != Mode::Text {
                let call = render::call(server, &step.statement, step.mode);
                let _ = writeln!(text, "# sent prepared: {} with {:?}", call.sql, call.parameters);
            }
            let _ = match &step.statement {
                Statement::Select(query) => {
                    let total = promise(&step.statement).order == crate::compare::Order::Total;
                    let kinds = "T".repeat(query.items().len());
                    let mode = if total { "nosort" } else { "rowsort" };
                    writeln!(text, "query {kinds} {mode}\n{sql}\n----\n")
                }
                Statement::Insert(_)
                | Statement::Update(_)
                | Statement::Delete(_)
                | Statement::Make(_)
                | Statement::Plain(_) => writeln!(text, "statement maybe\n{sql}\n"),
            };
        }
        text
    }
}
