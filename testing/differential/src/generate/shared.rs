//! What belongs to one server and here to all shards: sequences, locks.

use super::Maker;
use super::transaction::Step;
use crate::schema::Server;
use crate::tree::{Expr, Statement};
use crate::wire::Mode;

impl Maker<'_> {
    /// Numbers of a sequence, or locks. On MySQL and MariaDB locks are their server's, which the two sides share.
    pub(super) fn shared(&mut self) -> Vec<Step> {
        match self.server {
            Server::Postgres if self.chance.percent(30) => self.locks(),
            Server::Postgres | Server::MariaDb => self.numbers(),
            Server::MySql => self.reads(),
        }
    }

    fn reads(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        let statement = self.select();
        self.put(&mut steps, statement);
        steps
    }

    fn other(&mut self, text: impl Into<String>) -> Step {
        self.step(Statement::Plain(text.into()))
    }

    /// A statement that fails has taken numbers up to where it failed, on each side another one: each begins anew.
    fn numbers(&mut self) -> Vec<Step> {
        let postgres = self.postgres();
        let next = if postgres { "nextval('sq')" } else { "nextval(sq)" };
        let last = if postgres { "currval('sq')" } else { "lastval(sq)" };
        let mut steps = Vec::new();
        let count = self.chance.between(1, 4);
        for _ in 0..count {
            // MariaDB sets no sequence back.
            self.next_id += 1000;
            let first = self.next_id;
            let set = if postgres {
                format!("select setval('sq', {first})")
            } else {
                format!("select setval(sq, {first})")
            };
            steps.push(Step { statement: Statement::Plain(set), mode: Mode::Text });
            let step = match self.chance.below(5) {
                0 => self.other(format!("select {next}")),
                1 => self.other(format!("select {next} as a, {next} as b, 7 as c")),
                2 => {
                    let step = self.other(format!("select {next} + 1"));
                    steps.push(step);
                    self.other(format!("select {last}"))
                }
                _ => {
                    let statement = self.numbered(next);
                    self.step(statement)
                }
            };
            steps.push(step);
        }
        self.next_id += 1000;
        steps
    }

    /// Rows whose ids are the sequence's.
    fn numbered(&mut self, next: &str) -> Statement {
        (self.items, self.aliases, self.is_writing) = (0, 0, true);
        let at = self.chance.below(self.tables.len());
        let mut insert = self.insert(&self.tables[at]);
        // The shards of a single unit draw for their own rows: which row has which number no server promises.
        if self.layout.units == 1 {
            insert.rows.truncate(1);
        }
        for row in &mut insert.rows {
            if let Some(id) = row.first_mut() {
                *id = Expr::raw(next);
            }
        }
        Statement::Insert(insert)
    }

    fn locks(&mut self) -> Vec<Step> {
        let (a, b) = (self.chance.below(5), self.chance.below(3));
        let texts = [
            format!("select pg_try_advisory_lock({a})"),
            format!("select pg_advisory_lock({a}, {b})"),
            format!("select pg_try_advisory_lock_shared({b})"),
            format!("select pg_advisory_unlock({a})"),
            format!("select pg_advisory_unlock({b})"),
            format!("select pg_advisory_unlock({a}, {b})"),
            "begin".to_owned(),
            format!("select pg_try_advisory_xact_lock({a})"),
            format!("select pg_advisory_xact_lock({b}), {a} as a"),
            "commit".to_owned(),
            "select pg_advisory_unlock_all()".to_owned(),
        ];
        // Some of them are left out, never the end of what was begun.
        let kept = texts.into_iter().filter(|text| {
            let ends = matches!(text.as_str(), "begin" | "commit") || text.ends_with("_all()");
            ends || self.chance.percent(60)
        });
        let kept: Vec<String> = kept.collect();
        kept.into_iter().map(|text| self.other(text)).collect()
    }
}
