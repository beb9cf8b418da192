//! Prepared statements: prepare, execute, fetch, reset, close.

use std::sync::Arc;

use bytes::Bytes;
use pando_kernel::session::{Doorway, Session};
use pando_kernel::{CursorId, Execute, Format, Pipeline, Request, Result};

use super::bind::{Spoken, bind};
use super::client::Client;
use super::end::End;
use super::reply::{Form, Outcome, Purpose, too_large};
use super::shape::Shape;
use super::statements::Statement;
use super::text::read;
use crate::codec::{self, ColumnDefinition, ExecuteHead, PrepareOk};
use crate::error::ClientError;
use crate::types::{BINARY_CHARSET, ColumnType, flag};

impl<D: Doorway> Client<D> {
    pub(super) async fn prepare(&mut self, text: &[u8]) -> Result<(), End> {
        self.statements.forget_latest();
        let text = match read(text, self.wire.charsets.client) {
            Ok(text) => text,
            Err(error) => return self.fail(&error),
        };
        if !self.statements.has_room() {
            let text = "Can't create more than max_prepared_stmt_count statements";
            return self.fail(&ClientError::new(1461, b"42000", text));
        }
        match self.describe(text).await {
            Ok((statement, columns)) => self.prepared(statement, columns),
            Err(error) => self.fail_with(error).await,
        }
    }

    async fn describe(&mut self, text: Arc<str>) -> Result<(Statement, Option<Shape>)> {
        let prepared = self.session.prepare(text, Vec::new()).await?;
        let description = Box::pin(self.description(&prepared)).await?;
        let parameters = description.parameters.len();
        if parameters > usize::from(u16::MAX) {
            return Err(too_large("a statement has more than 65535 placeholders"));
        }
        let results = self.wire.charsets.results;
        let columns = description.columns.map(|columns| Shape::new(columns, Form::Binary, results));
        Ok((Statement::new(prepared, parameters), columns))
    }

    fn prepared(&mut self, statement: Statement, columns: Option<Shape>) -> Result<(), End> {
        let parameters = statement.parameters as u16;
        let count = columns.as_ref().map_or(0, Shape::len);
        let ok = PrepareOk {
            statement: self.statements.add(statement),
            columns: u16::try_from(count).unwrap_or(u16::MAX),
            parameters,
            warnings: 0,
        };
        let capabilities = self.facts.capabilities;
        self.wire.output.packet(|out| ok.encode(out));
        if parameters > 0 {
            let placeholder = placeholder();
            for _ in 0..parameters {
                self.wire.output.packet(|out| placeholder.encode(capabilities, out));
            }
            self.end_of_columns();
        }
        if let Some(shape) = columns.filter(|_| count > 0) {
            shape.define(capabilities, &mut self.wire.output);
            self.end_of_columns();
        }
        Ok(())
    }

    pub(super) async fn execute(
        &mut self,
        payload: &Bytes,
        head: ExecuteHead<'_>,
    ) -> Result<(), End> {
        let (id, cursor) = (self.statements.meant(head.statement), head.cursor);
        let long = self.statements.take_long(id);
        let Some(statement) = self.statements.get(id) else {
            return self.unknown_statement(id, "mysqld_stmt_execute");
        };
        let had_cursor = statement.cursor.take().is_some();
        let (capabilities, charset) = (self.facts.capabilities, self.wire.charsets.client);
        let bound = bind(statement, long, payload, head, Spoken { capabilities, charset });
        let prepared = Arc::clone(&statement.prepared);
        if had_cursor && let Err(error) = Box::pin(self.drop_cursor(id)).await {
            return self.fail_with(error).await;
        }
        let parameters = match bound {
            Ok(parameters) => parameters,
            Err(error) => return self.fail_with(error).await,
        };
        let request = Request::Execute(Execute {
            prepared,
            parameters,
            result_formats: vec![Format::Binary],
            limit: cursor.then_some(0),
            cursor: cursor.then_some(CursorId(u64::from(id))),
            pipeline: Pipeline::Alone,
        });
        let purpose = if cursor { Purpose::Cursor } else { Purpose::Whole(Form::Binary) };
        match self.begin(request).await {
            Ok(Some(whole)) => return self.whole(purpose, whole).await,
            Ok(None) => {}
            Err(error) => return self.fail_with(error).await,
        }
        let outcome = self.reply(purpose).await?;
        self.keep_cursor(id, outcome);
        Ok(())
    }

    fn keep_cursor(&mut self, id: u32, outcome: Outcome) {
        if let (Some(statement), Outcome::Waiting(shape)) = (self.statements.get(id), outcome) {
            statement.cursor = Some(shape);
        }
    }

    pub(super) async fn fetch(&mut self, id: u32, rows: u32) -> Result<(), End> {
        let id = self.statements.meant(id);
        let Some(statement) = self.statements.get(id) else {
            return self.unknown_statement(id, "mysqld_stmt_fetch");
        };
        let Some(shape) = statement.cursor.take() else {
            let text = format!("The statement ({id}) has no open cursor.");
            return self.fail(&ClientError::new(1421, b"HY000", text));
        };
        let cursor = CursorId(u64::from(id));
        if let Err(error) = Box::pin(self.start(Request::Fetch { cursor, limit: Some(rows) })).await
        {
            return self.fail_with(error).await;
        }
        let outcome = self.reply(Purpose::Fetch(shape)).await?;
        self.keep_cursor(id, outcome);
        Ok(())
    }

    /// Forgets long data and cursor; the statement stays.
    pub(super) async fn reset_statement(&mut self, id: u32) -> Result<(), End> {
        let id = self.statements.meant(id);
        self.statements.take_long(id);
        let Some(statement) = self.statements.get(id) else {
            return self.unknown_statement(id, "mysqld_stmt_reset");
        };
        if statement.cursor.take().is_some()
            && let Err(error) = Box::pin(self.drop_cursor(id)).await
        {
            return self.fail_with(error).await;
        }
        self.ok()
    }

    /// Forgets a statement. The command has no answer, so an error of the session shows with the next one.
    pub(super) async fn close(&mut self, id: u32) -> Result<(), End> {
        let id = self.statements.meant(id);
        let closed = self.statements.remove(id);
        if closed.is_some_and(|statement| statement.cursor.is_some()) {
            let _ = self.drop_cursor(id).await;
        }
        Ok(())
    }

    async fn drop_cursor(&mut self, id: u32) -> Result<()> {
        self.run_quietly(Request::CloseCursor(CursorId(u64::from(id)))).await
    }
}

/// The definition of every placeholder: as in MySQL, it tells nothing.
fn placeholder() -> ColumnDefinition<'static> {
    let column = codec::Column {
        charset: BINARY_CHARSET,
        type_id: ColumnType::VarString as u8,
        flags: flag::BINARY,
        ..codec::Column::default()
    };
    ColumnDefinition { name: b"?", column, ..ColumnDefinition::default() }
}

#[cfg(test)]
mod tests {
    use bytes::BufMut;

    use super::*;
    use crate::codec::Capabilities;

    #[test]
    fn a_placeholders_definition_is_named_as_in_mysql() {
        let mut out = bytes::BytesMut::new();
        placeholder().encode(Capabilities::default(), &mut out);
        out.put_u8(0xFB);
        let read = ColumnDefinition::decode(&out, Capabilities::default()).unwrap();
        assert_eq!(read.name, b"?");
    }
}
