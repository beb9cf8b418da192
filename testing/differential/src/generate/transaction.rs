//! What follows what: reads, writes and transactions.

use super::Maker;
use crate::tree::Statement;
use crate::values::Constant;
use crate::visit;
use crate::wire::{Mode, Parameter};

/// A statement and how it travels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub(crate) statement: Statement,
    pub(crate) mode: Mode,
}

impl Maker<'_> {
    fn mode(&mut self) -> Mode {
        match self.chance.below(10) {
            0..=5 => Mode::Text,
            6..=7 => Mode::Prepared,
            _ => Mode::Binary,
        }
    }

    pub(super) fn step(&mut self, statement: Statement) -> Step {
        Step { statement, mode: self.mode() }
    }

    /// The same prepared statement again with other numbers: what was planned for the first may be wrong for the second.
    fn twin(&mut self, step: &Step) -> Option<Step> {
        if step.mode == Mode::Text || !self.chance.percent(45) {
            return None;
        }
        let mut twin = step.clone();
        let chance = &mut self.chance;
        visit::constants(&mut twin.statement, &mut |constant| {
            if matches!(constant.parameter, Some(Parameter::Whole(_))) && chance.percent(70) {
                let number = i64::try_from(chance.below(12)).unwrap_or(0);
                if constant.literal.parse::<i64>().is_ok() {
                    *constant = Constant::whole(number);
                }
            }
        });
        Some(twin)
    }

    pub(super) fn put(&mut self, steps: &mut Vec<Step>, statement: Statement) {
        let step = self.step(statement);
        let twin = self.twin(&step);
        steps.push(step);
        steps.extend(twin);
    }

    /// Statements that belong together: some reads, or a few writes, inside or outside of a transaction.
    pub(crate) fn batch(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        let plain =
            |text: &str| Step { statement: Statement::Plain(text.to_owned()), mode: Mode::Text };
        if self.chance.percent(8) {
            return self.made();
        }
        if self.chance.percent(6) {
            return self.shared();
        }
        match self.chance.below(10) {
            0..=4 => {
                let count = self.chance.between(15, 30);
                for _ in 0..count {
                    let statement = self.select();
                    self.put(&mut steps, statement);
                }
            }
            5..=7 => {
                let count = self.chance.between(4, 9);
                for _ in 0..count {
                    let statement = self.write();
                    self.put(&mut steps, statement);
                }
            }
            _ => {
                steps.push(plain("begin"));
                let count = self.chance.between(2, 7);
                for at in 0..count {
                    if at == 2 && self.chance.percent(25) {
                        steps.push(plain("savepoint one"));
                    }
                    let statement =
                        if self.chance.percent(55) { self.write() } else { self.select() };
                    self.put(&mut steps, statement);
                }
                let is_saved = steps
                    .iter()
                    .any(|step| step.statement == Statement::Plain("savepoint one".to_owned()));
                if is_saved && self.chance.percent(60) {
                    steps.push(plain("rollback to savepoint one"));
                    let statement = self.select();
                    self.put(&mut steps, statement);
                }
                steps.push(plain(self.chance.pick(&["commit", "commit", "rollback"])));
            }
        }
        steps
    }
}
