//! Trees to text.

use std::fmt::Write as _;

use crate::schema::Server;
use crate::tree::{
    Body, By, Change, Expr, Given, GroupForm, Insert, Key, LimitForm, Make, Query, Select, Source,
    Statement, What,
};
use crate::wire::{Call, Mode, Parameter};

/// The statement as it is sent in this mode.
pub(crate) fn call(server: Server, statement: &Statement, mode: Mode) -> Call {
    let mut writer = Writer { server, mode, sql: String::new(), parameters: Vec::new() };
    match statement {
        Statement::Select(query) => writer.query(query),
        Statement::Insert(insert) => writer.insert(insert),
        Statement::Update(change) | Statement::Delete(change) => writer.change(change),
        Statement::Make(make) => writer.make(make),
        Statement::Plain(text) => writer.sql.push_str(text),
    }
    Call { sql: writer.sql, parameters: writer.parameters, mode }
}

/// The statement as a text of its own.
pub(crate) fn text(server: Server, statement: &Statement) -> String {
    call(server, statement, Mode::Text).sql
}

/// An expression alone; to compare expressions by.
pub(crate) fn expression(expr: &Expr) -> String {
    let server = Server::Postgres;
    let mut writer =
        Writer { server, mode: Mode::Text, sql: String::new(), parameters: Vec::new() };
    writer.expr(expr);
    writer.sql
}

struct Writer {
    server: Server,
    mode: Mode,
    sql: String,
    parameters: Vec<Parameter>,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.sql.push_str(text);
    }

    fn list<T>(&mut self, of: &[T], between: &str, mut each: impl FnMut(&mut Self, &T)) {
        for (at, one) in of.iter().enumerate() {
            if at > 0 {
                self.push(between);
            }
            each(self, one);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Raw(text) => self.push(text),
            Expr::Column(alias, name) if alias.is_empty() => self.push(name),
            Expr::Column(alias, name) => {
                let _ = write!(self.sql, "{alias}.{name}");
            }
            Expr::Value(constant, given) => match (&constant.parameter, given, self.mode) {
                (Some(parameter), Given::Bound, Mode::Prepared | Mode::Binary) => {
                    self.parameters.push(parameter.clone());
                    if self.server.is_postgres() {
                        let _ = write!(self.sql, "${}", self.parameters.len());
                    } else {
                        self.push("?");
                    }
                }
                _ => self.push(&constant.literal),
            },
            Expr::Parts(parts) => {
                for part in parts {
                    self.expr(part);
                }
            }
            Expr::Query(query) => {
                self.push("(");
                self.query(query);
                self.push(")");
            }
        }
    }

    fn clause(&mut self, word: &str, expr: Option<&Expr>) {
        if let Some(expr) = expr {
            self.push(word);
            self.expr(expr);
        }
    }

    fn query(&mut self, query: &Query) {
        if !query.with.is_empty() {
            self.push("with ");
            self.list(&query.with, ", ", |own, common| {
                let _ = write!(own.sql, "{} as (", common.name);
                own.query(&common.query);
                own.push(")");
            });
            self.push(" ");
        }
        match &query.body {
            Body::Select(select) => self.select(select),
            Body::Set { operator, left, right } => {
                self.operand(left);
                let _ = write!(self.sql, " {operator} ");
                self.operand(right);
            }
        }
        if !query.order.is_empty() {
            self.push(" order by ");
            self.list(&query.order, ", ", |own, key| own.key(query, key));
        }
        self.limit(query);
        if let Some(lock) = &query.lock {
            let _ = write!(self.sql, " {lock}");
        }
    }

    fn operand(&mut self, query: &Query) {
        let is_bare = query.order.is_empty() && query.limit.is_none() && query.with.is_empty();
        if is_bare && matches!(query.body, Body::Select(_)) {
            self.query(query);
        } else {
            self.push("(");
            self.query(query);
            self.push(")");
        }
    }

    fn key(&mut self, query: &Query, key: &Key) {
        let find = |id: &usize| query.items().iter().position(|item| item.id == *id);
        match &key.by {
            By::Ordinal(id) => {
                let _ = write!(self.sql, "{}", find(id).map_or(0, |at| at + 1));
            }
            By::Name(id) => match find(id).and_then(|at| query.items().get(at)) {
                Some(item) => match (&item.alias, &query.body) {
                    (Some(alias), _) => self.push(&alias.clone()),
                    (None, _) => self.expr(&item.expr.clone()),
                },
                None => self.push("null"),
            },
            By::Hidden(expr) => self.expr(expr),
        }
        self.push(&key.suffix);
    }

    fn limit(&mut self, query: &Query) {
        let Some(limit) = &query.limit else {
            // MySQL has no OFFSET alone; PostgreSQL has.
            if self.server.is_postgres() {
                self.clause(" offset ", query.offset.as_ref());
            }
            return;
        };
        match query.form {
            LimitForm::Limit => {
                self.clause(" limit ", Some(limit));
                self.clause(" offset ", query.offset.as_ref());
            }
            LimitForm::Comma => {
                self.push(" limit ");
                if let Some(offset) = &query.offset {
                    self.expr(offset);
                    self.push(", ");
                }
                self.expr(limit);
            }
            LimitForm::Fetch | LimitForm::Ties => {
                self.clause(" offset ", query.offset.as_ref());
                self.clause(" fetch first ", Some(limit));
                let is_ties = query.form == LimitForm::Ties;
                self.push(if is_ties { " rows with ties" } else { " rows only" });
            }
        }
    }

    fn select(&mut self, select: &Select) {
        self.push(if select.distinct { "select distinct " } else { "select " });
        self.list(&select.items, ", ", |own, item| {
            own.expr(&item.expr);
            if let Some(alias) = &item.alias {
                let _ = write!(own.sql, " as {alias}");
            }
        });
        if !select.from.is_empty() {
            self.push(" from ");
            self.sources(&select.from);
        }
        self.clause(" where ", select.filter.as_ref());
        if !select.group.is_empty() {
            let rollup_first = select.rollup && self.server.is_postgres();
            self.push(if rollup_first { " group by rollup (" } else { " group by " });
            self.list(&select.group, ", ", |own, group| own.group(select, group));
            match (select.rollup, rollup_first) {
                (true, true) => self.push(")"),
                (true, false) => self.push(" with rollup"),
                (false, _) => {}
            }
        }
        self.clause(" having ", select.having.as_ref());
    }

    fn group(&mut self, select: &Select, group: &Expr) {
        let shown = select.items.iter().position(|item| item.expr == *group);
        match (select.grouped_by, shown) {
            (GroupForm::Ordinal, Some(at)) => {
                let _ = write!(self.sql, "{}", at + 1);
            }
            (GroupForm::Alias, Some(at)) if select.items[at].alias.is_some() => {
                let alias = select.items[at].alias.clone().unwrap_or_default();
                self.push(&alias);
            }
            _ => self.expr(group),
        }
    }

    fn sources(&mut self, from: &[Source]) {
        for (at, source) in from.iter().enumerate() {
            if at > 0 {
                let space = if source.join == "," { "" } else { " " };
                let _ = write!(self.sql, "{space}{} ", source.join);
            }
            match &source.what {
                What::Table(name) => self.push(name),
                What::Derived(query) => {
                    self.push("(");
                    self.query(query);
                    self.push(")");
                }
            }
            if !matches!(&source.what, What::Table(name) if *name == source.alias) {
                let _ = write!(self.sql, " {}", source.alias);
            }
            if at > 0 {
                self.clause(" ", source.on.as_ref());
            }
        }
    }

    fn make(&mut self, make: &Make) {
        let _ = write!(self.sql, "create {} {} as ", make.what, make.name);
        // A definition has no parameters.
        self.mode = Mode::Text;
        self.query(&make.query);
    }

    fn insert(&mut self, insert: &Insert) {
        let Insert { verb, table, columns, .. } = insert;
        let _ = write!(self.sql, "{verb} {table} ({}) ", columns.join(", "));
        match &insert.query {
            Some(query) => self.query(query),
            None => {
                self.push("values ");
                self.list(&insert.rows, ", ", |own, row| {
                    own.push("(");
                    own.list(row, ", ", Self::expr);
                    own.push(")");
                });
            }
        }
        self.clause(" ", insert.conflict.as_ref());
        self.clause(" returning ", insert.returning.as_ref());
    }

    fn change(&mut self, change: &Change) {
        let _ = write!(self.sql, "{} ", change.verb);
        self.sources(&change.from);
        if !change.sets.is_empty() {
            self.push(" set ");
            self.list(&change.sets, ", ", |own, (name, value)| {
                let _ = write!(own.sql, "{name} = ");
                own.expr(value);
            });
        }
        if let Some((word, sources)) = &change.beside {
            let _ = write!(self.sql, " {word} ");
            self.sources(sources);
        }
        self.clause(" where ", change.filter.as_ref());
        if !change.order.is_empty() {
            self.push(" order by ");
            self.list(&change.order, ", ", Self::expr);
        }
        self.clause(" limit ", change.limit.as_ref());
        self.clause(" returning ", change.returning.as_ref());
    }
}
