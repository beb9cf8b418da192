//! What a fake unit answers, and to what.

use std::collections::HashMap;
use std::fmt;

use pando_kernel::dialect::TableColumn;
use pando_kernel::{Completion, Event, Kind, ServerError, Value};

use crate::error::server_error;
use crate::types::kind_name;

/// One scripted reply.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A result: (label, kind) per column, then rows of as many values.
    Rows(Vec<(String, Kind)>, Vec<Vec<Value>>),
    /// A completion without rows.
    Complete(Completion),
    /// The text held no statement.
    Empty,
    /// A result that breaks off: the server has rolled the transaction's part back as a deadlock's victim, where errors leave transactions open.
    Victim(Vec<(String, Kind)>, Vec<Vec<Value>>),
    /// The server's error.
    Error(ServerError),
    /// Nothing until the statement is cancelled or the unit's connections are broken.
    Hang,
    /// The connection breaks.
    Disconnect,
    /// These events as they are, then `Done`. After a `CopyIn` or `SendFile` the rest waits for the end of the copy data.
    Events(Vec<Event>),
}

impl Reply {
    /// A result from (label, kind) pairs and rows.
    pub fn rows(columns: &[(&str, Kind)], rows: Vec<Vec<Value>>) -> Self {
        Self::Rows(columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect(), rows)
    }

    /// A completion that affected so many rows.
    pub fn affected(count: u64) -> Self {
        Self::Complete(Completion { affected: Some(count), ..Completion::default() })
    }
}

type Test = Box<dyn Fn(&str) -> bool + Send>;
type Make = Box<dyn FnMut(&str, &[Value]) -> Reply + Send>;

/// The script: what was told first to answer a text wins, except that one-time replies go before all others.
#[derive(Default)]
pub(crate) struct Script {
    once: Vec<(String, Reply)>,
    exact: HashMap<String, Reply>,
    patterns: Vec<(Test, Make)>,
    tables: Vec<(String, String, Vec<TableColumn>)>,
    otherwise: Option<Reply>,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("once", &self.once)
            .field("exact", &self.exact)
            .field("patterns", &self.patterns.len())
            .field("otherwise", &self.otherwise)
            .finish_non_exhaustive()
    }
}

impl Script {
    pub(crate) fn once(&mut self, sql: &str, reply: Reply) {
        self.once.push((sql.to_owned(), reply));
    }

    pub(crate) fn exact(&mut self, sql: &str, reply: Reply) {
        self.exact.insert(sql.to_owned(), reply);
    }

    pub(crate) fn pattern(&mut self, test: Test, make: Make) {
        self.patterns.push((test, make));
    }

    pub(crate) fn otherwise(&mut self, reply: Reply) {
        self.otherwise = Some(reply);
    }

    /// Declares a table; `query` is the dialect's catalogue query for it.
    pub(crate) fn table(&mut self, name: &str, query: String, columns: Vec<TableColumn>) {
        self.tables.push((name.to_owned(), query, columns));
    }

    /// The reply to a text with these parameters. Transaction verbs and SET succeed unless told otherwise; anything else unknown is an error.
    pub(crate) fn answer(&mut self, sql: &str, parameters: &[Value], tables_query: &str) -> Reply {
        if let Some(reply) = self.told(sql) {
            return reply;
        }
        for (test, make) in &mut self.patterns {
            if test(sql) {
                return make(sql, parameters);
            }
        }
        if let Some(reply) = self.catalogue(sql, tables_query) {
            return reply;
        }
        if let Some(reply) = &self.otherwise {
            return reply.clone();
        }
        match verb(sql).as_str() {
            "BEGIN" | "START" | "COMMIT" | "ROLLBACK" | "SAVEPOINT" | "RELEASE" | "SET" => {
                Reply::Complete(Completion::default())
            }
            _ => Reply::Error(server_error("42000", format!("no reply is scripted for `{sql}`"))),
        }
    }

    /// The reply to something that is not a statement, if one is scripted: `RESET`, `PING`.
    pub(crate) fn told(&mut self, name: &str) -> Option<Reply> {
        match self.once.iter().position(|(text, _)| text == name) {
            Some(at) => Some(self.once.remove(at).1),
            None => self.exact.get(name).cloned(),
        }
    }

    fn catalogue(&self, sql: &str, tables_query: &str) -> Option<Reply> {
        if sql == tables_query {
            let rows = self
                .tables
                .iter()
                .map(|(name, _, _)| vec![Value::Null, Value::Text(name.clone())])
                .collect();
            return Some(Reply::rows(&[("schema", Kind::Text), ("name", Kind::Text)], rows));
        }
        let (_, _, columns) = self.tables.iter().find(|(_, query, _)| query == sql)?;
        let rows = columns.iter().map(catalogue_row).collect();
        let shape = [
            ("name", Kind::Text),
            ("kind", Kind::Text),
            ("type", Kind::Text),
            ("collation", Kind::Text),
            ("primary_key", Kind::Bool),
            ("auto_increment", Kind::Bool),
            ("nullable", Kind::Bool),
        ];
        Some(Reply::rows(&shape, rows))
    }
}

fn catalogue_row(column: &TableColumn) -> Vec<Value> {
    vec![
        Value::Text(column.name.clone()),
        Value::Text(kind_name(column.kind).to_owned()),
        Value::Text(column.type_name.clone()),
        Value::Text(column.collation.clone()),
        Value::Bool(column.primary_key),
        Value::Bool(column.auto_increment),
        Value::Bool(column.nullable),
    ]
}

/// The first word, upper-cased.
pub(crate) fn verb(sql: &str) -> String {
    sql.trim_start()
        .chars()
        .take_while(char::is_ascii_alphabetic)
        .map(|letter| letter.to_ascii_uppercase())
        .collect()
}
