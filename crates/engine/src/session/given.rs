//! What comes with a statement besides its text.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::request::{CursorId, Execute, Prepared};
use pando_kernel::{Format, Parameter};
use pando_sql::Modes;
use pando_sql::ast::Statement;

use crate::counters::Counted;
use crate::plan;
use crate::plan::{Lifted, Plan, Unit};
use crate::snapshot::LiveDatabase;

/// Numbers that were counted for rows of a table.
#[derive(Debug)]
pub(in crate::session) struct Made {
    /// The table's key.
    pub(in crate::session) table: String,
    pub(in crate::session) column: String,
    /// Never empty.
    pub(in crate::session) numbers: Vec<u64>,
    /// How many rows there are, those among them that bring a number.
    pub(in crate::session) rows: u64,
}

/// At most so many rows, then the rest waits in a cursor.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct Window {
    pub(in crate::session) left: u64,
    pub(in crate::session) cursor: Option<CursorId>,
}

/// Parameters, and the form of the answer.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Given {
    pub(in crate::session) parameters: Vec<Parameter>,
    pub(in crate::session) formats: Vec<Format>,
    pub(in crate::session) declared: Arc<[u32]>,
    /// The era of the definitions that it was planned by; 0 before that.
    pub(in crate::session) era: u64,
    /// It came as a prepared statement: run it as one.
    pub(in crate::session) prepared: bool,
    /// It came as text, and storage units may run it so: one for each of the plan's units, or none.
    pub(in crate::session) lifted: Vec<Lifted>,
    /// The text for the plan's one unit, where the plan was made for another statement of its shape.
    pub(in crate::session) text: Option<Arc<str>>,
    /// Its shape has come before, so that its plan is worth a template.
    pub(in crate::session) learns: bool,
    /// A client asked for it, and nobody was asked yet whether it may run: no step of another statement.
    pub(in crate::session) awaits_admission: bool,
    /// What is planned is to see one state of several units, and so no copies of them.
    pub(in crate::session) sees_one_state: bool,
    /// What it gives is written, or looked for, by a statement that follows.
    pub(in crate::session) is_step: bool,
    /// Its text is about what is stored: it goes past the rooms that have columns stored otherwise than clients see them.
    pub(in crate::session) is_about_stored: bool,
    /// The lines of the COPY TO are told otherwise than they are stored.
    pub(in crate::session) retells: bool,
    /// What is planned is shown and not run: it is planned as in the transaction of the change that reads it.
    pub(in crate::session) is_for_change: bool,
    /// Its rows have their numbers for the table's counted column, and the counter is behind those that they bring.
    pub(in crate::session) is_counted: bool,
    /// The first number that was counted for its rows; 0 where none was.
    pub(in crate::session) first_number: u64,
    /// The number that its last row brings for the counted column; 0 where it brings none.
    pub(in crate::session) last_number: u64,
    /// The numbers that were counted, where not every row need become a new one.
    pub(in crate::session) made: Option<Arc<Made>>,
    /// Counters of columns for which its shards compute values.
    pub(in crate::session) recounted: Vec<Arc<Counted>>,
}

impl Given {
    /// The same for another text that stands for the statement's: it is no shape that comes again.
    pub(in crate::session) fn for_another_text(&self) -> Self {
        Self { learns: false, text: None, lifted: Vec::new(), ..self.clone() }
    }
}

/// Another statement, with the types that were declared for a prepared one.
pub(in crate::session) fn in_place_of(prepared: &Prepared, stmt: Statement) -> Arc<Prepared> {
    Arc::new(Prepared::new(Arc::clone(&stmt.text), stmt, prepared.declared.to_vec()))
}

/// A statement of a text that waits for its turn.
#[derive(Debug, Clone)]
pub(in crate::session) struct Queued {
    pub(in crate::session) text: Arc<str>,
    /// As [`Given::learns`].
    pub(in crate::session) learns: bool,
    pub(in crate::session) cut: Cut,
}

/// How a text of several statements was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) struct Cut {
    pub(in crate::session) modes: Modes,
    /// Comments that some servers run were settled by these modes, too.
    pub(in crate::session) is_settled: bool,
}

/// One planned statement, and where it runs.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct Run<'a> {
    pub(in crate::session) live: &'a Arc<LiveDatabase>,
    pub(in crate::session) stmt: &'a Statement,
    pub(in crate::session) plan: &'a Arc<Plan>,
}

/// What a statement is about to do on a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Aim {
    /// It reads.
    Reads,
    /// It changes something, or may do so.
    Writes,
    /// It changes something on several units, on all or on none.
    WritesAsOne,
}

impl Aim {
    /// A plan's.
    pub(in crate::session) fn of(plan: &Plan) -> Self {
        if plan.writes { Self::Writes } else { Self::Reads }
    }
}

/// What units are to run: a plan, and what came with its statement.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct Order<'a> {
    pub(in crate::session) plan: &'a Plan,
    pub(in crate::session) given: &'a Given,
}

impl Given {
    /// What comes with a prepared statement.
    pub(in crate::session) fn of(execute: Execute) -> Self {
        Self {
            declared: Arc::clone(execute.prepared.types()),
            parameters: execute.parameters,
            formats: execute.result_formats,
            prepared: true,
            ..Self::of_client()
        }
    }

    /// What comes with a client's text.
    pub(in crate::session) fn of_client() -> Self {
        Self { awaits_admission: true, ..Self::default() }
    }

    /// The values that a unit of the plan takes, in its order.
    ///
    /// # Errors
    /// `Value` for one that is missing, or cannot be stored.
    pub(in crate::session) fn parameters_of(&self, unit: &Unit) -> Result<Vec<Parameter>> {
        let missing = || Error::new(ErrorKind::Value("a parameter is not bound".into()));
        let own = unit.parameters.iter().map(|at| self.parameters.get(*at as usize).cloned());
        let own: Option<Vec<Parameter>> = own.collect();
        let mut own = own.ok_or_else(missing)?;
        for (place, turn) in &unit.turns {
            if let Some(parameter) = own.get_mut(*place) {
                *parameter = Parameter::made(turn.of(&parameter.value)?);
            }
        }
        for (place, value) in &unit.replaced {
            if let Some(parameter) = own.get_mut(*place) {
                let native = parameter.native;
                *parameter = Parameter { native, ..Parameter::made(value.clone()) };
            }
        }
        Ok(own)
    }

    /// The types of these, of those declared for the statement; 0 where the server is to find out.
    pub(in crate::session) fn types_of(&self, unit: &Unit) -> Arc<[u32]> {
        let declared = &self.declared;
        let are_its_own = are_in_order(&unit.parameters) && unit.turns.is_empty();
        if are_its_own && declared.len() <= unit.parameters.len() {
            return Arc::clone(declared);
        }
        let is_turned = |at: usize| unit.turns.iter().any(|(turned, _)| *turned == at);
        let own = |(at, index): (usize, &u32)| match is_turned(at) {
            true => 0,
            false => declared.get(*index as usize).copied().unwrap_or(0),
        };
        unit.parameters.iter().enumerate().map(own).collect()
    }

    /// The plan with the statement's own text, for whom that is more than something to send.
    pub(in crate::session) fn written(&self, plan: &Arc<Plan>) -> Arc<Plan> {
        match &self.text {
            Some(text) => plan::with_text(plan, Arc::clone(text)),
            None => Arc::clone(plan),
        }
    }

    /// What a unit of the plan is sent.
    pub(in crate::session) fn text_for(&self, unit: &Unit) -> Arc<str> {
        Arc::clone(self.text.as_ref().unwrap_or(&unit.sql))
    }
}

/// Whether a unit takes the statement's parameters as they come.
pub(in crate::session) fn are_in_order(parameters: &[u32]) -> bool {
    parameters.iter().enumerate().all(|(at, own)| at == *own as usize)
}
