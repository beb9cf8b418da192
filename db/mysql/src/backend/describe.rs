//! What a server tells of a statement that it has prepared.

use std::sync::Arc;

use bytes::Bytes;
use pando_kernel::{Column, Columns, Description, Error, Event, Format, Native, Result};

use super::connection::Connection;
use super::job::{Stage, Work};
use super::lifted::tells;
use super::statements::Statement;
use crate::codec::{Capabilities, ColumnDefinition, Eof, PrepareOk};
use crate::error::malformed;
use crate::types::column_of;

/// The definitions behind a prepare's answer, as far as they have come.
#[derive(Debug)]
pub(super) struct Definitions {
    pub(super) ok: PrepareOk,
    pub(super) parameters: Vec<Native>,
    pub(super) columns: Vec<Column>,
    pub(super) ends: u8,
}

impl Definitions {
    pub(super) fn new(ok: PrepareOk) -> Self {
        Self { ok, parameters: Vec::new(), columns: Vec::new(), ends: 0 }
    }

    pub(super) fn parameters_left(&self) -> bool {
        self.parameters.len() < usize::from(self.ok.parameters)
    }

    pub(super) fn columns_left(&self) -> bool {
        self.columns.len() < usize::from(self.ok.columns)
    }

    /// Whether an EOF comes next, for servers that send them.
    pub(super) fn end_due(&self) -> bool {
        let groups = u8::from(!self.parameters.is_empty()) + u8::from(!self.columns.is_empty());
        let open = (!self.parameters.is_empty() && self.parameters_left())
            || (!self.columns.is_empty() && self.columns_left());
        self.ends < groups && !open
    }
}

impl Connection {
    pub(super) fn definition(
        &mut self,
        mut definitions: Definitions,
        payload: &Bytes,
    ) -> Result<Option<Stage>> {
        let eofs = !self.agreement.capabilities.has(Capabilities::DEPRECATE_EOF);
        if eofs && definitions.end_due() {
            Eof::decode(payload).map_err(malformed)?;
            definitions.ends += 1;
            return self.prepared(definitions);
        }
        let capabilities = self.agreement.capabilities;
        let definition = ColumnDefinition::decode(payload, capabilities).map_err(malformed)?;
        let column = column_of(&definition, Format::Text);
        if definitions.parameters_left() {
            definitions.parameters.push(column.native);
        } else {
            definitions.columns.push(column);
        }
        self.prepared(definitions)
    }

    /// Goes on when all definitions of a prepared statement are there, else waits for the next.
    pub(super) fn prepared(&mut self, definitions: Definitions) -> Result<Option<Stage>> {
        let eofs = !self.agreement.capabilities.has(Capabilities::DEPRECATE_EOF);
        let due = eofs && definitions.end_due();
        if definitions.parameters_left() || definitions.columns_left() || due {
            return Ok(Some(Stage::Definitions(definitions)));
        }
        let statement = Statement {
            id: definitions.ok.statement,
            parameters: definitions.parameters.into(),
            tells: tells(&definitions.columns),
            columns: definitions.columns.into(),
        };
        let (id, count) = (statement.id, statement.parameters.len());
        let Some(job) = self.jobs.front_mut() else { return Ok(None) };
        let job = std::mem::take(job);
        let stage = match &job.work {
            Work::Prepared { sql, parameters } => {
                self.keep(sql, statement);
                self.statements.suited(sql, parameters);
                self.write_execute(id, count, parameters)
            }
            Work::Lifted { sql, parameters, .. } => {
                if !statement.tells {
                    self.write_close(id);
                    self.counts.give_up(sql);
                    if let Some(slot) = self.jobs.front_mut() {
                        *slot = job;
                    }
                    return Ok(self.text_instead());
                }
                self.keep(sql, statement);
                self.statements.suited(sql, parameters);
                self.write_execute(id, count, parameters)
            }
            Work::Describe { sql } => {
                self.keep(sql, statement.clone());
                Stage::Described(statement)
            }
            Work::Text(_) | Work::Reset | Work::Ping => {
                return Err(Error::internal("a statement was prepared for nothing"));
            }
        };
        self.held = matches!(job.work, Work::Lifted { .. });
        if let Some(slot) = self.jobs.front_mut() {
            *slot = job;
        }
        self.wire.input.expect(self.answered_from);
        Ok(Some(stage))
    }

    fn keep(&mut self, sql: &Arc<str>, statement: Statement) {
        if let Some(closed) = self.statements.keep(sql.clone(), statement) {
            self.write_close(closed);
        }
    }

    /// Answers a describe from the kept statement.
    pub(super) fn describe(&mut self, found: &Statement) {
        let columns = (!found.columns.is_empty())
            .then(|| Columns { list: Arc::clone(&found.columns), codec: self.text_rows.clone() });
        let parameters = found.parameters.to_vec();
        self.ready.push_back(Event::Described(Description { parameters, columns }));
        self.done();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_due_after_each_group_of_definitions() {
        let ok = PrepareOk { parameters: 1, columns: 1, ..PrepareOk::default() };
        let mut definitions = Definitions::new(ok);
        assert!(!definitions.end_due());
        definitions.parameters.push(Native::default());
        assert!(definitions.end_due());
        definitions.ends = 1;
        assert!(!definitions.end_due());
        definitions.columns.push(Column::computed("a", pando_kernel::Kind::Int));
        assert!(definitions.end_due());
        definitions.ends = 2;
        assert!(!definitions.end_due());
    }
}
