//! One random world: tables, a layout, rows and statements, all from one seed.

use crate::arena::{Arena, Contents, Room};
use crate::case::{Case, load, promise, read_all, take_away};
use crate::chance::Chance;
use crate::compare::{Verdict, compare};
use crate::doubt;
use crate::generate::{Maker, Step};
use crate::layout::{self, Keeping};
use crate::render;
use crate::report::Report;
use crate::schema;
use crate::tree::Statement;
use crate::wire::{Fault, Reply};

/// A case as it was found, not yet cut down.
#[derive(Debug)]
pub(crate) struct Find {
    pub(crate) case: Case,
    pub(crate) seed: u64,
    pub(crate) what: String,
}

/// What became of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Ran,
    /// It failed, or was refused, or there is a disagreement.
    Without,
}

/// Disagreements after which a world is left: it has shown what is wrong with it.
const ENOUGH: usize = 6;

pub(crate) struct World<'a> {
    room: &'a Room,
    seed: u64,
    report: &'a mut Report,
    finds: Vec<Find>,
}

/// Runs `statements` statements of the world of this seed.
pub(crate) fn run(room: &Room, seed: u64, statements: usize, report: &mut Report) -> Vec<Find> {
    let mut world = World { room, seed, report, finds: Vec::new() };
    if let Err(what) = world.live(statements) {
        let case = Case {
            server: room.house.server,
            tables: Vec::new(),
            layout: layout::Layout {
                units: 1,
                places: Vec::new(),
                bound: Vec::new(),
                encrypted: Vec::new(),
            },
            contents: Contents::new(),
            steps: Vec::new(),
        };
        world.finds.push(Find { case, seed, what });
        world.report.disagreements += 1;
    }
    world.finds
}

impl World<'_> {
    fn live(&mut self, statements: usize) -> Result<(), Fault> {
        let server = self.room.house.server;
        let mut chance = Chance::new(self.seed);
        let mut tables = schema::tables(&mut chance, server);
        let mut layout = layout::draw(&mut chance, &mut tables);
        if self.room.house.keeping == Keeping::Encrypted {
            layout::encrypt(&mut chance, server, &tables, &mut layout);
        }
        let mut case =
            Case { server, tables, layout, contents: Contents::new(), steps: Vec::new() };
        let (tables, layout) = (case.tables.clone(), case.layout.clone());
        let mut arena =
            case.arena(self.room).map_err(|why| format!("{why}; {}", layout.words()))?;
        let mut maker = Maker::new(chance, server, &tables, &layout);
        for table in &tables {
            if let Some(insert) = maker.fill(table) {
                arena.must(&render::text(server, &Statement::Insert(insert)))?;
            }
        }
        case.contents = self.checked(&mut arena, &mut case)?;
        let mut run = 0;
        while run < statements && self.finds.len() < ENOUGH {
            let batch = maker.batch();
            run += batch.len();
            case.steps.clear();
            let made = batch.iter().find_map(|step| step.statement.made().cloned());
            for step in batch {
                let is_made = step.statement.made().is_some();
                let outcome = self.take(&mut arena, &mut case, step)?;
                // What is not there on both sides cannot be read on both.
                if is_made && outcome == Outcome::Without {
                    break;
                }
            }
            if let Some(make) = &made {
                take_away(&mut arena, make);
            }
            if case.steps.iter().any(|step| !matches!(step.statement, Statement::Select(_))) {
                case.contents = self.checked(&mut arena, &mut case)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, arena: &mut Arena, case: &mut Case, step: Step) -> Result<Outcome, Fault> {
        let kind = step.statement.kind();
        let call = render::call(case.server, &step.statement, step.mode);
        let count = self.report.kinds.entry(kind).or_default();
        count.run += 1;
        let answers = arena.both(&call);
        case.steps.push(step);
        let (right, ours) = match answers {
            Ok(both) => both,
            Err(what) => {
                self.find(case, what.clone());
                return Err(what);
            }
        };
        let statement = &case.steps[case.steps.len() - 1].statement;
        match compare(case.server, &right, &ours, &promise(statement)) {
            Verdict::Same => {
                if matches!(right, Reply::Failed(_)) {
                    count.failed += 1;
                    return Ok(Outcome::Without);
                }
                Ok(Outcome::Ran)
            }
            Verdict::Refused(reason) => {
                self.report.refused(kind, &reason, &call.sql);
                self.undo(arena, case, &right)?;
                Ok(Outcome::Without)
            }
            Verdict::Different(what) => {
                if doubt::answers_both(arena, case, &call, &ours)? {
                    self.report.both.push(call.sql);
                } else {
                    self.find(case, what);
                }
                self.undo(arena, case, &right)?;
                Ok(Outcome::Without)
            }
        }
    }

    fn find(&mut self, case: &Case, what: String) {
        self.report.disagreements += 1;
        self.finds.push(Find { case: case.clone(), seed: self.seed, what });
    }

    /// The two sides must go on from the same rows. A refused statement ran on one side only; a transaction in which that happened
    /// is given up on both.
    fn undo(&mut self, arena: &mut Arena, case: &mut Case, right: &Reply) -> Result<(), Fault> {
        let last = &case.steps[case.steps.len() - 1].statement;
        let inside = case.steps.iter().rev().find_map(|step| match &step.statement {
            Statement::Plain(text) if text == "begin" => Some(true),
            Statement::Plain(text) if text == "commit" || text == "rollback" => Some(false),
            Statement::Select(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Make(_)
            | Statement::Plain(_) => None,
        });
        let is_read = matches!(last, Statement::Select(_));
        // PostgreSQL gives a transaction up after an error; the other side must, too.
        let failed_alone = case.server.is_postgres() && !matches!(right, Reply::Failed(_));
        if inside == Some(true) && (failed_alone || !is_read) {
            for client in [&mut arena.straight, &mut arena.pando] {
                client.ask(&crate::wire::Call::text("rollback"))?;
            }
            case.steps.push(Step {
                statement: Statement::Plain("rollback".to_owned()),
                mode: crate::wire::Mode::Text,
            });
        }
        if !is_read {
            load(arena, &case.tables, &case.contents)?;
            case.steps.clear();
        }
        Ok(())
    }

    /// The tables' rows as the straight server has them; Pando is given the same if it had others.
    fn checked(&mut self, arena: &mut Arena, case: &mut Case) -> Result<Contents, Fault> {
        let (contents, different) = read_all(arena, &case.tables)?;
        if let Some(what) = different {
            self.find(case, what);
            load(arena, &case.tables, &contents)?;
        }
        Ok(contents)
    }
}
