//! What follows what: reads, writes and transactions.

use super::Maker;
use crate::tree::Statement;
use crate::wire::Mode;

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

    fn step(&mut self, statement: Statement) -> Step {
        Step { statement, mode: self.mode() }
    }

    /// Statements that belong together: some reads, or a few writes, inside or outside of a transaction.
    pub(crate) fn batch(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        let plain =
            |text: &str| Step { statement: Statement::Plain(text.to_owned()), mode: Mode::Text };
        match self.chance.below(10) {
            0..=5 => {
                let count = self.chance.between(20, 40);
                for _ in 0..count {
                    let statement = self.select();
                    steps.push(self.step(statement));
                }
            }
            6..=7 => {
                let count = self.chance.between(2, 6);
                for _ in 0..count {
                    let statement = self.write();
                    steps.push(self.step(statement));
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
                    steps.push(self.step(statement));
                }
                let is_saved = steps
                    .iter()
                    .any(|step| step.statement == Statement::Plain("savepoint one".to_owned()));
                if is_saved && self.chance.percent(60) {
                    steps.push(plain("rollback to savepoint one"));
                    let statement = self.select();
                    steps.push(self.step(statement));
                }
                steps.push(plain(self.chance.pick(&["commit", "commit", "rollback"])));
            }
        }
        steps
    }
}
