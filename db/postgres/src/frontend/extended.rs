//! The extended protocol: Parse, Bind, Describe, Close and Sync.
//! <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY>

use std::sync::Arc;

use bytes::Bytes;
use pando_kernel::dialect::Language;
use pando_kernel::session::{Doorway, Session, TransactionState};
use pando_kernel::{Description, Error, ErrorKind, Named as Entry, Prepared, Request};
use pando_sql::Span;

use super::bind;
use super::client::Client;
use super::end::{End, Halt, own};
use super::portals::{Portal, Progress};
use super::shape;
use crate::codec::backend::{
    ParameterDescription, encode_bind_complete, encode_close_complete, encode_no_data,
};
use crate::codec::frontend::{Bind, Close, Describe, Named, Parse};
use crate::dialect::Postgres;
use crate::types::{FAMILY, oid};

impl<D: Doorway> Client<D> {
    pub(super) async fn parse(&mut self, parse: Parse<'_>) -> Result<(), Halt> {
        // A Parse without a name takes the place of the last one, also where it fails; one with a name is read before its name is looked at.
        if parse.name.is_empty() {
            self.unnamed = None;
        }
        let declared = parse.types().collect();
        let prepared = self.session.prepare(parse.text.into(), declared).await;
        let prepared = prepared.map_err(|error| of_several(error, parse.text))?;
        match parse.name {
            "" => self.unnamed = Some(prepared),
            name => self.session.statements().add(name, Entry::new(prepared, None))?,
        }
        self.parsed = Some(parse.name.into());
        Ok(())
    }

    pub(super) async fn bind(&mut self, bind: Bind<'_>, body: &Bytes) -> Result<(), Halt> {
        let prepared = self.prepared(bind.statement)?;
        if bind.portal.is_empty()
            && let Some(cursor) = self.portals.remove("")
        {
            self.run_quietly(Request::CloseCursor(cursor)).await?;
        }
        self.portals.check(bind.portal)?;
        if bind::needs_types(&prepared, &bind) {
            self.description(&prepared).await?;
        }
        let parameters = bind::parameters(&prepared, &bind, body, self.wire.encoding)?;
        let portal = Portal {
            prepared,
            parameters,
            formats: bind.results.to_vec(),
            progress: Progress::New,
            shape: None,
        };
        self.portals.insert(bind.portal, portal);
        encode_bind_complete(self.wire.output.buffer());
        Ok(())
    }

    pub(super) async fn describe(&mut self, describe: Describe<'_>) -> Result<(), Halt> {
        match describe.0 {
            Named::Statement(name) => self.describe_statement(name).await,
            Named::Portal(name) => {
                if !name.is_empty() && self.portals.get_mut(name).is_err() {
                    return self.describe_cursor(name).await;
                }
                let portal = self.portals.get_mut(name)?;
                if portal.progress == Progress::New {
                    // Most clients run the portal next: its columns then come with the reply, and
                    // nobody has to be asked for them.
                    self.deferred = Some(name.to_owned());
                    return Ok(());
                }
                match &portal.shape {
                    Some(shape) => self.wire.tell(|buf| shape.describe(buf))?,
                    None => encode_no_data(self.wire.output.buffer()),
                }
                Ok(())
            }
        }
    }

    async fn describe_statement(&mut self, name: &str) -> Result<(), Halt> {
        let prepared = self.prepared(name)?;
        let description = self.description(&prepared).await?;
        let types = parameter_types(&prepared, &description);
        self.complete_parse();
        let buf = self.wire.output.buffer();
        ParameterDescription::encode(buf, &types)?;
        match &description.columns {
            Some(columns) => self.wire.tell(|buf| shape::describe(buf, &columns.list, &[]))?,
            None => encode_no_data(buf),
        }
        Ok(())
    }

    /// A cursor made by DECLARE is a portal, too: it is described as what a FETCH from it returns.
    async fn describe_cursor(&mut self, name: &str) -> Result<(), Halt> {
        let text = format!("FETCH FORWARD 0 FROM \"{}\"", name.replace('"', "\"\""));
        let prepared = self.session.prepare(text.into(), Vec::new()).await?;
        match self.description(&prepared).await?.columns {
            Some(columns) => self.wire.tell(|buf| shape::describe(buf, &columns.list, &[]))?,
            // There is no such cursor.
            None => drop(self.portals.get_mut(name)?),
        }
        Ok(())
    }

    /// Describes a portal that is not run next after all.
    pub(super) async fn describe_deferred(&mut self, name: &str) -> Result<(), Halt> {
        let portal = self.portals.get_mut(name)?;
        let (prepared, formats) = (portal.prepared.clone(), portal.formats.clone());
        let description = self.description(&prepared).await?;
        match &description.columns {
            Some(columns) => self.wire.tell(|buf| shape::describe(buf, &columns.list, &formats))?,
            None => encode_no_data(self.wire.output.buffer()),
        }
        Ok(())
    }

    pub(super) async fn close(&mut self, close: Close<'_>) -> Result<(), Halt> {
        match close.0 {
            Named::Statement(name) => self.forget(name),
            Named::Portal(name) => self.close_portal(name).await?,
        }
        encode_close_complete(self.wire.output.buffer());
        Ok(())
    }

    /// The statement of that name. PREPARE makes such as well as Parse.
    pub(super) fn prepared(&mut self, name: &str) -> Result<Arc<Prepared>, Error> {
        if name.is_empty() {
            let missing = || own("26000", "unnamed prepared statement does not exist".into());
            return self.unnamed.clone().ok_or_else(missing);
        }
        self.session.statements().get(name).cloned()
    }

    pub(super) fn forget(&mut self, name: &str) {
        match name {
            "" => self.unnamed = None,
            name => drop(self.session.statements().remove(name)),
        }
    }

    async fn close_portal(&mut self, name: &str) -> Result<(), Halt> {
        match self.portals.remove(name) {
            Some(cursor) => self.run_quietly(Request::CloseCursor(cursor)).await,
            None => Ok(()),
        }
    }

    /// Ends a pipeline: what it did is committed, or rolled back when it failed.
    pub(super) async fn sync(&mut self) -> Result<(), End> {
        self.skipping = false;
        self.executed = false;
        if self.opened
            && let Err(halt) = self.end_pipeline().await
        {
            self.fail(halt, None).await?;
        }
        self.rest().await
    }

    /// Ends a request: portals do not outlive their transaction, and the client hears that the next may come.
    pub(super) async fn rest(&mut self) -> Result<(), End> {
        if self.session.state().transaction == TransactionState::Idle {
            let ended = std::mem::take(&mut self.ended);
            for cursor in ended.into_iter().chain(self.portals.take_all()) {
                if let Err(halt) = self.run_quietly(Request::CloseCursor(cursor)).await {
                    self.fail(halt, None).await?;
                    break;
                }
            }
        }
        self.ready().await
    }

    /// Commits what executions with more behind them have opened.
    pub(super) async fn end_pipeline(&mut self) -> Result<(), Halt> {
        self.executed = false;
        if std::mem::take(&mut self.opened) {
            self.run_quietly(Request::Sync).await?;
        }
        Ok(())
    }
}

/// What a server says of a text that it would read, but for being several statements.
fn of_several(error: Error, text: &str) -> Error {
    if !matches!(error.kind(), ErrorKind::Syntax { .. }) {
        return error;
    }
    let syntax = Postgres.syntax();
    let pieces = pando_sql::split(text, syntax).unwrap_or_default();
    let is_read = |piece: &Span| pando_sql::parse(piece.of(text), syntax).is_ok();
    if pieces.len() < 2 || !pieces.iter().all(is_read) {
        return error;
    }
    own("42601", "cannot insert multiple commands into a prepared statement".into())
}

/// One type per parameter: the unit's, the declared one, or text where neither is known.
fn parameter_types(prepared: &Prepared, description: &Description) -> Vec<u32> {
    (0..prepared.statement.parameters as usize)
        .map(|index| {
            let described = description.parameters.get(index).filter(|n| n.family == FAMILY);
            let described = described.map_or(0, |native| native.type_id);
            let declared = prepared.declared.get(index).copied().unwrap_or(0);
            [declared, described].into_iter().find(|oid| *oid != 0).unwrap_or(oid::TEXT)
        })
        .collect()
}
