//! Tables and views out of queries, and what is read from them.

use super::Maker;
use super::transaction::Step;
use crate::tree::{Expr, Make, Query, Source, Statement, What};
use crate::wire::Mode;

const NAME: &str = "made";

impl Maker<'_> {
    /// One is made, read a few times, and goes.
    pub(super) fn made(&mut self) -> Vec<Step> {
        (self.items, self.aliases, self.is_writing) = (0, 0, true);
        let mut query = self.inner();
        let fields = self.named_columns(&mut query, NAME);
        let kinds: &[&str] = if self.postgres() {
            &["table", "temporary table", "view", "view", "materialized view"]
        } else {
            &["table", "temporary table", "view", "view"]
        };
        let make = Make { what: self.chance.pick(kinds), name: NAME.to_owned(), query };
        let undone = Statement::Plain(make.undone());
        let plain = |statement| Step { statement, mode: Mode::Text };
        let mut steps = vec![plain(Statement::Make(make))];
        self.is_writing = false;
        let whole = self.select_of(vec![source()], None);
        let mut whole = Query::of(whole);
        if let crate::tree::Body::Select(select) = &mut whole.body {
            for field in &fields {
                let mut item = self.item(field.expr(), field.class);
                item.loose = field.standing != super::Standing::Exact;
                select.items.push(item);
            }
        }
        self.put(&mut steps, Statement::Select(whole));
        let count = self.chance.between(1, 3);
        for _ in 0..count {
            let query = self.outer(vec![source()], &fields);
            self.put(&mut steps, Statement::Select(query));
        }
        steps.push(plain(undone));
        steps
    }
}

fn source() -> Source {
    Source {
        join: String::new(),
        what: What::Table(NAME.to_owned()),
        alias: NAME.to_owned(),
        on: None::<Expr>,
        unique: Vec::new(),
    }
}
