//! Statements the session answers itself: SET, USE, PREPARE, KILL, PREVIEW.

use pando_kernel::error::{Error, Result};
use pando_kernel::event::Event;
use pando_sql::ast::{CopyDirection, Kind, Statement, Transaction};

use crate::session::Session;
use crate::session::given::Given;
use crate::session::transaction::modes::is_global;

impl Session {
    /// Answers a statement that needs no storage unit; false when it needs one.
    pub(in crate::session) async fn start_local(
        &mut self,
        stmt: &Statement,
        given: &Given,
    ) -> Result<bool> {
        self.place.refuse_alone(&stmt.kind)?;
        match &stmt.kind {
            Kind::Empty => self.outbox.pending.push_back(Event::Empty),
            Kind::Transaction(Transaction::Set { session: true, .. }) if is_global(&stmt.text) => {
                return Err(Error::refused(
                    30001,
                    "the transaction modes of all sessions belong to each storage unit",
                    "set them on the storage units themselves",
                ));
            }
            Kind::Transaction(verb) => {
                self.transaction_verb(verb).await?;
                self.outbox.name_start(&stmt.text);
            }
            Kind::Set(assignments) => {
                self.work.refuse_if_failed(false)?;
                self.set(stmt, assignments, given).await?;
            }
            Kind::Use(name) => {
                self.use_database(&name.value).await?;
                self.complete("USE");
            }
            Kind::Kill { id, query_only } => {
                let whose = (!self.place.login.is_administrator).then_some(&*self.place.login.user);
                self.place.engine.kill(*id, *query_only, whose)?;
                self.complete("KILL");
            }
            Kind::Preview(span) => {
                self.work.refuse_if_failed(false)?;
                self.preview(span.of(&stmt.text), given).await?;
            }
            Kind::Administration => Box::pin(self.administer(&stmt.text)).await?,
            Kind::Define(define) => return Box::pin(self.define_database(stmt, define)).await,
            Kind::Prepare { name, types, body } => {
                self.work.refuse_if_failed(false)?;
                self.prepare_named((&name.value, types), body, &stmt.text)?;
            }
            Kind::Execute { name, arguments } => {
                self.work.refuse_if_failed(false)?;
                self.execute_named(&name.value, arguments, &stmt.text).await?;
            }
            Kind::Deallocate(name) => {
                self.work.refuse_if_failed(false)?;
                self.deallocate(name.as_ref().map(|name| &*name.value))?;
            }
            Kind::Cursor(cursor) => {
                self.work.refuse_if_failed(false)?;
                self.sql_cursor(stmt, cursor, given).await?;
            }
            Kind::Lock(tables) => {
                if !self.lock_in_transaction(stmt, tables).await? {
                    self.lock_tables(tables)?;
                }
            }
            Kind::Copy(copy) if copy.direction == CopyDirection::FromClient => {
                return self.start_bulk(stmt).await;
            }
            Kind::Copy(copy) if copy.direction == CopyDirection::ToClient => {
                let Some(query) = &copy.query else { return Ok(false) };
                return self.start_copy_of(stmt, query).await;
            }
            Kind::Load(_) => return self.start_bulk(stmt).await,
            Kind::Utility { verb, .. } if verb.starts_with("DISCARD") => {
                self.discard(verb).await?;
            }
            // LISTEN is refused: nobody listens.
            Kind::Utility { verb, .. } if verb.starts_with("UNLISTEN") => {
                self.work.refuse_if_failed(false)?;
                self.complete("UNLISTEN");
            }
            Kind::Utility { verb, .. } if verb == "SET CONSTRAINTS" => {
                return Box::pin(self.set_constraints(stmt)).await;
            }
            Kind::Show(show) if show.what.ends_with("PROCESSLIST") => self.processlist()?,
            Kind::Show(show) => return self.show_setting(show),
            Kind::Select(_) => return self.set_config(stmt, given).await,
            Kind::Utility { .. } => return self.maintain(stmt).await,
            Kind::Copy(_)
            | Kind::Insert(_)
            | Kind::Update(_)
            | Kind::Delete(_)
            | Kind::Explain { .. }
            | Kind::Opaque => return Ok(false),
        }
        Ok(true)
    }
}
