//! Statements the session answers itself: SET, USE, PREPARE, KILL, PREVIEW.

use std::sync::Arc;

use bytes::BytesMut;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::event::Event;
use pando_kernel::row::{Cell, NeutralCodec, RowCodec, Rows};
use pando_kernel::{Column, Columns, Kind as ValueKind, Named, Parameter, Value};
use pando_sql::ast::{
    CopyDirection, Expr, Kind, Literal, Node, PrepareBody, QueryBody, SelectItem, Statement,
    Transaction,
};

use crate::plan::{Planned, Purpose};

use crate::session::place::Place;
use crate::session::reply::Outbox;
use crate::session::transaction::Work;
use crate::session::transaction::change_modes::Touched;
use crate::session::transaction::modes::{completed, is_global};
use crate::session::{Bound, Opened, Session};

impl Place {
    fn declared_type(&self, name: &str) -> Result<u32> {
        let known = self.dialect().and_then(|dialect| dialect.type_number(name));
        known.ok_or_else(|| {
            Error::refused(
                30001,
                format!("PREPARE does not know the type `{name}`"),
                "leave the types out, or use the driver's own prepared statements",
            )
        })
    }
}

impl Outbox {
    /// A transaction begun by START TRANSACTION is told so.
    fn name_start(&mut self, text: &str) {
        let word = text.trim_start().get(..5);
        if let Some(Event::Complete(done)) = self.pending.back_mut()
            && word.is_some_and(|word| word.eq_ignore_ascii_case("start"))
            && done.tag == "BEGIN"
        {
            done.tag = "START TRANSACTION".into();
        }
    }

    /// A warning for the client.
    pub(in crate::session) fn warn(&mut self, sqlstate: &str, message: &str) {
        self.pending.push_back(Event::Notice(Box::new(ServerError {
            sqlstate: sqlstate.to_owned(),
            message: message.to_owned(),
            severity: "WARNING".into(),
            ..ServerError::default()
        })));
    }
}

impl Work {
    /// The statement's own modes, then those set for the next transaction, then those of the session: the first of each kind counts.
    pub(in crate::session) fn modes_for(&mut self, own: Vec<String>) -> Vec<String> {
        let further = std::mem::take(&mut self.modes.next);
        completed(own, further.iter().chain(&self.modes.session))
    }
}

impl Session {
    /// Answers a statement that needs no storage unit; false when it needs one.
    pub(in crate::session) async fn start_local(
        &mut self,
        stmt: &Statement,
        bound: &Bound,
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
                self.set(stmt, assignments, bound).await?;
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
                self.preview(span.of(&stmt.text), bound).await?;
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
                self.sql_cursor(stmt, cursor, bound).await?;
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
            Kind::Show(show) if is_processlist(&show.what) => self.processlist()?,
            Kind::Show(show) => return self.show_setting(show),
            Kind::Select(_) => return self.set_config(stmt, bound).await,
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

    /// Opens a transaction for the client.
    pub(in crate::session) fn begin(&mut self, modes: Vec<String>) {
        let all = self.work.modes_for(modes);
        self.work.transaction.begin(all, self.course());
        self.work.touched = Touched::Nothing;
        self.work.names_tables = false;
        self.work.opened = Opened::Client;
        self.settings.at_begin = Some(self.settings.variables.clone());
        self.work.modes.at_begin.clone_from(&self.work.modes.session);
    }

    /// Rows made here.
    pub(in crate::session) fn rows(
        &mut self,
        tag: &str,
        names: &[&str],
        rows: &[Vec<Value>],
    ) -> Result<()> {
        let list = names.iter().map(|name| Column::computed(*name, ValueKind::Text)).collect();
        self.typed_rows(tag, list, rows)
    }

    /// Rows made here, of columns that say what they hold.
    pub(in crate::session) fn typed_rows(
        &mut self,
        tag: &str,
        list: Vec<Column>,
        rows: &[Vec<Value>],
    ) -> Result<()> {
        self.place.counts_rows(-1);
        let mut out = BytesMut::new();
        for row in rows {
            let cells: Vec<Cell<'_>> = row.iter().map(Cell::Value).collect();
            NeutralCodec.write(&list, &cells, &mut out)?;
        }
        let columns = Columns { list: list.into(), codec: Arc::new(NeutralCodec) };
        self.outbox.pending.push_back(Event::Columns(columns));
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        if count > 0 {
            self.outbox.pending.push_back(Event::Rows(Rows { bytes: out.freeze(), count }));
        }
        self.outbox.pending.push_back(Event::Complete(pando_kernel::Completion {
            tag: tag.to_owned().into(),
            affected: Some(u64::from(count)),
            more: !self.outbox.queue.is_empty(),
            ..pando_kernel::Completion::default()
        }));
        Ok(())
    }

    async fn preview(&mut self, text: &str, bound: &Bound) -> Result<()> {
        let live = self.place.live()?;
        let syntax = live.database.dialect.syntax();
        if self.place.engine.administration().is_some_and(|own| own.takes(text, syntax)) {
            return Err(Error::refused(
                30001,
                "a statement about the configuration is sent to no storage unit",
                "PREVIEW is for statements about rows and tables",
            ));
        }
        let stmt = pando_sql::parse(text, syntax).map_err(crate::plan::unread)?;
        self.place.guard(&stmt)?;
        let mut units = Vec::new();
        match self.planned(&live, &stmt, bound, Purpose::Run).await {
            Ok(Planned::Plan(plan)) => units.extend(plan.units),
            Ok(Planned::Assembly(assembly)) => units = self.shown(&live, &assembly, bound).await?,
            Ok(Planned::Needs(_)) => {
                return Err(Error::internal("planning asks for what is known"));
            }
            Err(refusal) => units = self.shown_steps(&live, &stmt, bound, refusal).await?,
        }
        let rows: Vec<Vec<Value>> = units
            .iter()
            .map(|unit| {
                vec![Value::Text(unit.target.unit.to_string()), Value::Text(unit.sql.to_string())]
            })
            .collect();
        self.rows("PREVIEW", &["data_source_name", "actual_sql"], &rows)
    }

    fn prepare_named(
        &mut self,
        (name, types): (&str, &[String]),
        body: &PrepareBody,
        text: &str,
    ) -> Result<()> {
        let sql: Arc<str> = match body {
            PrepareBody::Span(span) => span.of(text).into(),
            PrepareBody::Text(text) => text.as_str().into(),
            PrepareBody::Variable(name) => {
                return Err(Error::refused(
                    30001,
                    format!("PREPARE from the user variable `{name}` is not supported"),
                    "write the statement as a string",
                ));
            }
        };
        let declared =
            types.iter().map(|name| self.place.declared_type(name)).collect::<Result<_>>()?;
        let prepared = self.make_prepared(sql, declared)?;
        let named = Named::new(prepared, Some(text.into()));
        // MySQL's takes the place of the one before.
        match self.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction()) {
            true => self.memory.named.add(name, named)?,
            false => self.memory.named.put(name, named)?,
        }
        self.complete("PREPARE");
        Ok(())
    }

    async fn execute_named(&mut self, name: &str, arguments: &[Expr], text: &str) -> Result<()> {
        let prepared = Arc::clone(self.memory.named.get(name)?);
        let declared = prepared.declared.iter().copied().chain(std::iter::repeat(0));
        let parameters: Result<Vec<Parameter>> = arguments
            .iter()
            .zip(declared)
            .map(|(argument, declared)| {
                self.argument((argument, text), declared).map(Parameter::made)
            })
            .collect();
        let parameters = parameters?;
        if parameters.len() as u64 != u64::from(prepared.statement.parameters) {
            return Err(ErrorKind::Value(format!(
                "`{name}` takes {} parameters, {} were given",
                prepared.statement.parameters,
                parameters.len()
            ))
            .into());
        }
        if prepared.has_open_types() {
            Box::pin(self.learn_types(&prepared)).await?;
        }
        let declared = Arc::clone(prepared.types());
        let bound = Bound { parameters, declared, prepared: true, ..Bound::default() };
        let statement = Arc::clone(&prepared.statement);
        Box::pin(self.start_statement(&statement, bound)).await
    }

    /// An argument of EXECUTE: a literal, or a user variable set to one. A cast of a string or a whole number to the very type of the parameter, and no length of it,
    /// says nothing new.
    fn argument(&self, (argument, text): (&Expr, &str), declared: u32) -> Result<Value> {
        if let Node::Cast { operand, to } = &argument.node {
            let to = to.of(text);
            let known = self.place.dialect().and_then(|dialect| dialect.type_number(to));
            let to = known.filter(|_| !to.contains('('));
            let is_exact = matches!(
                operand.node,
                Node::Literal(Literal::Text(_) | Literal::Integer(_) | Literal::Null)
            );
            let is_same = declared != 0 && to == Some(declared) && is_exact;
            return if is_same { literal(operand) } else { Err(no_literal()) };
        }
        let Node::Variable(name) = &argument.node else { return literal(argument) };
        let name = name.to_lowercase();
        let known = self.settings.variables.list().iter().find(|(known, _)| *known == name);
        let Some((_, text)) = known else { return Ok(Value::Null) };
        let live = self.place.live()?;
        let select = pando_sql::parse(&format!("SELECT {text}"), live.database.dialect.syntax())
            .map_err(crate::plan::unread)?;
        if let Kind::Select(query) = &select.kind
            && let QueryBody::Select(select) = &query.body
            && let [SelectItem::Expr { expr, .. }] = &select.items[..]
        {
            return literal(expr);
        }
        Err(Error::internal("a user variable's value cannot be read"))
    }

    fn deallocate(&mut self, name: Option<&str>) -> Result<()> {
        match name {
            None => {
                self.memory.named.clear();
                self.complete("DEALLOCATE ALL");
            }
            Some(name) => {
                if !self.memory.named.remove(name) {
                    return Err(ErrorKind::UnknownStatement(name.to_owned()).into());
                }
                self.complete("DEALLOCATE");
            }
        }
        Ok(())
    }
}

pub(in crate::session) fn no_transaction(verb: &str) -> Error {
    server_error(0, "25P01", &format!("{verb} can only be used in transaction blocks"))
}

pub(in crate::session) fn server_error(number: u32, sqlstate: &str, message: &str) -> Error {
    ErrorKind::Server(Box::new(ServerError {
        number,
        sqlstate: sqlstate.to_owned(),
        message: message.to_owned(),
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into()
}

/// The value of a literal argument.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
/// Behind either door: PostgreSQL has no such setting, and its clients ask for it, too.
fn is_processlist(what: &str) -> bool {
    ["PROCESSLIST", "FULL PROCESSLIST"].iter().any(|own| what.eq_ignore_ascii_case(own))
}

fn literal(expr: &Expr) -> Result<Value> {
    let value = match &expr.node {
        Node::Literal(literal) => match literal {
            Literal::Integer(n) => Some(Value::Int(*n)),
            Literal::Number(text) => Value::decimal(text),
            Literal::Text(text) | Literal::Typed(_, text) => Some(Value::Text(text.clone())),
            Literal::Bytes(bytes) => Some(Value::Bytes(bytes.clone().into())),
            Literal::Boolean(b) => Some(Value::Bool(*b)),
            Literal::Null => Some(Value::Null),
        },
        Node::Nested(inner) => return literal(inner),
        Node::Unary { op, operand } if op == "-" => match literal(operand)? {
            Value::Int(n) => n.checked_neg().map(Value::Int),
            Value::Decimal(n) => Some(Value::Decimal(-n)),
            _ => None,
        },
        _ => None,
    };
    value.ok_or_else(no_literal)
}

fn no_literal() -> Error {
    Error::refused(
        30001,
        "EXECUTE takes literals only",
        "use the driver's own prepared statements for other values",
    )
}
