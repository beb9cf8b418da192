//! Prepared statements: parsed once, described when asked.

use std::future::poll_fn;
use std::sync::Arc;

use pando_kernel::backend::Execution;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Description, Event};
use pando_kernel::feature::Catalog;
use pando_kernel::request::Prepared;
use pando_kernel::route::Need;
use pando_kernel::session::TransactionState;
use pando_kernel::{Column, Columns, Native, NeutralCodec};
use pando_sql::ast::{Kind, Transaction};

use crate::execute::Channel;
use crate::plan::Purpose;

use super::acquire::Aim;
use super::origin::Origin;
use super::recall::moment;
use super::{Bound, Session};

impl Session {
    /// Parses one statement.
    pub(super) fn make_prepared(
        &mut self,
        sql: Arc<str>,
        declared: Vec<u32>,
    ) -> Result<Arc<Prepared>> {
        let statement = self.read(&sql)?;
        let ends = matches!(
            statement.kind,
            Kind::Transaction(
                Transaction::Commit { .. }
                    | Transaction::Rollback { .. }
                    | Transaction::RollbackTo(_)
            ) | Kind::Empty
        );
        self.refuse_if_failed(ends)?;
        let share = self.engine.inner.reading.keep(&self.kept, (&sql, &statement))?;
        Ok(Arc::new(Prepared::new(sql, statement, declared).counted(share)))
    }

    /// What a prepared statement takes and returns.
    pub(super) async fn describe_prepared(
        &mut self,
        prepared: &Arc<Prepared>,
    ) -> Result<Description> {
        if let Some(known) = prepared.description.get() {
            return Ok(known.clone());
        }
        let description = match self.describe_afresh(prepared).await {
            Ok(description) => description,
            Err(error) => return Err(self.fail_statement(error).await),
        };
        // The cursor of a FETCH may be declared later, or be another one by then.
        if matches!(prepared.statement.kind, Kind::Cursor(_)) {
            return Ok(description);
        }
        Ok(prepared.description.get_or_init(|| description).clone())
    }

    /// Asks for the types of a statement's parameters when it comes again without anybody knowing them: with them its units may keep it prepared. Once only it is
    /// left to each unit, which prepares it for that execution.
    ///
    /// # Errors
    /// What a storage unit says, as it would to the execution.
    pub(super) async fn learn_types(&mut self, prepared: &Arc<Prepared>) -> Result<()> {
        let keeps = self.dialect().is_some_and(|dialect| dialect.keeps_parameter_types());
        if !keeps || !prepared.runs() {
            return Ok(());
        }
        match self.describe_afresh(prepared).await {
            Ok(found) => drop(prepared.hold(&found.parameters)),
            Err(error) if matches!(error.kind(), ErrorKind::Server(_)) => return Err(error),
            // The execution is refused as well, or can do without.
            Err(_) => drop(prepared.hold(&[])),
        }
        Ok(())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    async fn describe_afresh(&mut self, prepared: &Arc<Prepared>) -> Result<Description> {
        let stmt = &prepared.statement;
        match &stmt.kind {
            Kind::Preview(_) => {
                let list = ["data_source_name", "actual_sql"]
                    .map(|name| Column::computed(name, pando_kernel::Kind::Text));
                let columns = Columns { list: list.into(), codec: Arc::new(NeutralCodec) };
                return Ok(Description { parameters: Vec::new(), columns: Some(columns) });
            }
            Kind::Execute { name, .. } => {
                let inner = Arc::clone(self.named.get(&name.value)?);
                let columns = Box::pin(self.describe_prepared(&inner)).await?.columns;
                return Ok(Description { parameters: Vec::new(), columns });
            }
            Kind::Cursor(cursor) => {
                let columns = match &**cursor {
                    pando_sql::ast::Cursor::Fetch { name, moves: false, .. } => {
                        self.sql_cursor_columns(&name.value)
                    }
                    _ => None,
                };
                return Ok(Description { parameters: Vec::new(), columns });
            }
            Kind::Administration => {
                self.refuse_if_failed(false)?;
                let columns = self.administration_columns(&stmt.text)?;
                return Ok(Description { parameters: Vec::new(), columns });
            }
            Kind::Transaction(_)
            | Kind::Set(_)
            | Kind::Use(_)
            | Kind::Prepare { .. }
            | Kind::Deallocate(_)
            | Kind::Lock(_)
            | Kind::Kill { .. }
            | Kind::Copy(_)
            | Kind::Load(_)
            | Kind::Empty => return Ok(Description { parameters: Vec::new(), columns: None }),
            Kind::Define(_) | Kind::Utility { .. } | Kind::Opaque if stmt.parameters == 0 => {
                return Ok(Description { parameters: Vec::new(), columns: None });
            }
            Kind::Select(_)
            | Kind::Insert(_)
            | Kind::Update(_)
            | Kind::Delete(_)
            | Kind::Define(_)
            | Kind::Show(_)
            | Kind::Explain { .. }
            | Kind::Utility { .. }
            | Kind::Opaque => {}
        }
        self.refuse_if_failed(false)?;
        let away = self.leave(stmt)?;
        let result = self.describe_on_unit(prepared).await;
        self.come_back(away);
        result
    }

    /// Lets a storage unit describe the statement as it would run on the first target.
    pub(super) async fn describe_on_unit(
        &mut self,
        prepared: &Arc<Prepared>,
    ) -> Result<Description> {
        self.refuse_without_database(&prepared.statement)?;
        let live = self.live()?;
        if !live.has_units() {
            return self.describe_alone(&prepared.statement);
        }
        self.settle_cursors().await?;
        let stmt = Arc::clone(&prepared.statement);
        Box::pin(self.look_at_temporaries(&live, &stmt)).await?;
        let plan = match self.plan(&live, &stmt, &Bound::default(), Purpose::Describe).await {
            Err(refusal) => return self.describe_in_steps(&live, prepared, refusal).await,
            Ok(plan) => plan,
        };
        let plan = Arc::new(plan);
        let unit = plan.units.first().ok_or_else(|| Error::internal("a plan without units"))?;
        let inside = self.transaction.state() != TransactionState::Idle;
        let (mut connection, swallow) = if inside {
            self.enlisted(&live, &unit.target.unit, Aim::Reads).await?
        } else {
            self.taken_from_pool(&live, &unit.target.unit, Aim::Reads).await?
        };
        let known = prepared.types();
        let open = |at: &u32| known.get(*at as usize).copied().unwrap_or(0);
        let types = unit.parameters.iter().map(open).collect();
        let started = connection.start(Execution::Describe {
            sql: Arc::clone(&unit.sql),
            types,
            era: moment(&live).era(),
        });
        let mut channel = Channel::new(connection, swallow, usize::from(started.is_ok()));
        let described = match started {
            Ok(()) => read_description(&mut channel).await,
            Err(error) => Err(error),
        };
        self.release_channel(channel).await;
        let mut described = described?;
        if let Some(columns) = &mut described.columns {
            Origin::of(&live, &plan).rename(columns);
        }
        let mut parameters = vec![Native::default(); stmt.parameters as usize];
        for (native, index) in described.parameters.iter().zip(&unit.parameters) {
            if let Some(slot) = parameters.get_mut(*index as usize) {
                *slot = *native;
            }
        }
        Ok(Description { parameters, columns: described.columns })
    }

    /// The columns of a logic table, as an empty result.
    pub(super) async fn fields(&mut self, table: &str) -> Result<()> {
        let live = self.live()?;
        let logic = table.to_lowercase();
        let is_temporary = self.temporaries().is_some_and(|own| own.names.contains(&logic));
        if !is_temporary && self.catalog(&live).columns(&logic).is_none() {
            self.find_out(&live, Need::Columns(logic.clone())).await?;
        }
        if !is_temporary
            && self.catalog(&live).columns(&logic).is_none_or(|columns| columns.is_empty())
        {
            return Err(super::needs::unknown_table(table));
        }
        let text = format!("SELECT * FROM {} WHERE 1 = 0", live.database.dialect.quote(table));
        let prepared = self.make_prepared(text.into(), Vec::new())?;
        let columns = self.describe_prepared(&prepared).await?.columns;
        self.pending.extend(columns.map(Event::Columns));
        self.pending.push_back(Event::Complete(Completion::default()));
        Ok(())
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only the description matters")]
async fn read_description(channel: &mut Channel) -> Result<Description> {
    let mut described = None;
    loop {
        match poll_fn(|cx| channel.poll_event(cx)).await? {
            Event::Described(description) => described = Some(description),
            Event::Done => break,
            _ => {}
        }
    }
    described.ok_or_else(|| Error::internal("a storage unit described nothing"))
}
