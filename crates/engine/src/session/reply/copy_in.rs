//! Rows that the client sends.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::event::Completion;
use pando_kernel::feature::{Catalog, Context, SessionView};
use pando_kernel::route::{Need, Route, Spread, UnitName};
use pando_kernel::{Columns, Parameter, Value};
use pando_sql::ast::Statement;

use crate::clock::System;
use crate::copy_rows::{Changed, FieldChanges, Records, malformed};
use crate::execute::Channel;
use crate::plan::Plan;
use crate::snapshot::LiveDatabase;

use crate::session::reply::pieces::Verb;

/// Rows on their way from the client to several storage units.
#[derive(Debug)]
pub(in crate::session) struct CopyIn {
    pub(in crate::session) live: Arc<LiveDatabase>,
    pub(in crate::session) plan: Plan,
    pub(in crate::session) records: Records,
    /// The columns' types, for the binary form.
    pub(in crate::session) types: Option<Columns>,
    /// The fields that go as others.
    pub(in crate::session) changes: Option<FieldChanges>,
    /// The INSERT that routes a line.
    pub(in crate::session) insert: Statement,
    pub(in crate::session) columns: Vec<String>,
    /// The server's own error for a wrong number of fields has a code of its own.
    pub(in crate::session) is_copy: bool,
    pub(in crate::session) view: SessionView,
    /// Unit and actual table to the plan's unit.
    pub(in crate::session) places: HashMap<(Arc<str>, Arc<str>), usize>,
    pub(in crate::session) logic: String,
    pub(in crate::session) batches: Vec<BytesMut>,
    pub(in crate::session) waiting: usize,
    pub(in crate::session) rows_read: u64,
    /// Rows the storage units took.
    pub(in crate::session) rows: u64,
    /// What they said of the batches so far, as of one.
    pub(in crate::session) told: Completion,
    /// Units on which a savepoint stands for the statement, where one that fails leaves the client's transaction open.
    pub(in crate::session) marked: Vec<UnitName>,
    pub(in crate::session) verb: Verb,
}

impl CopyIn {
    /// No connection is held between batches.
    pub(in crate::session) fn into_channels(self) -> Vec<Channel> {
        Vec::new()
    }

    /// The plan's units a record belongs to: one, or all where rows are the same everywhere.
    pub(in crate::session) fn places(
        &self,
        record: &[u8],
        catalog: &dyn Catalog,
    ) -> Result<Placed> {
        // Its unit judges what it is sent, as of a statement that is passed on.
        if self.plan.units.len() == 1 {
            return Ok(Ok(0..1));
        }
        let values = self.records.fields(record, self.types.as_ref());
        let values = values.map_err(|error| self.unreadable(error))?;
        if values.len() != self.columns.len() {
            return Err(self.miscounted(values.len()));
        }
        let is_same = self.plan.spread == Spread::Same;
        // To MySQL a zero in a column it counts up is none; the rooms are told so, and look at no other column of such
        // a table.
        let is_none = |value: &Value| {
            let counts = is_same && !self.is_copy;
            counts && matches!(value, Value::Text(text) if reads_as_zero(text))
        };
        let told = |value: Value| if is_none(&value) { Value::Null } else { value };
        let parameters = values.into_iter().map(told);
        let parameters: Vec<Parameter> = parameters.map(Parameter::made).collect();
        // No key is made for bulk data, so the process's own worker is not needed.
        let ctx = Context {
            database: &self.live.database,
            catalog,
            dialect: self.live.database.dialect.as_ref(),
            parameters: Some(&parameters),
            session: &self.view,
            source: &System::default(),
        };
        let mut route = Route::Unclaimed;
        for feature in &self.live.database.features {
            feature.route(&ctx, &self.insert, &mut route)?;
            if let Route::Needs(need) = route {
                return Ok(Err(need));
            }
        }
        // The rooms have been asked all the same: a row may be one that each copy would complete by itself.
        if is_same {
            return Ok(Ok(0..self.plan.units.len()));
        }
        let units = route.units()?;
        if units.keys.is_some() {
            return Err(Error::unsupported(
                20030,
                format!("bulk data for `{}` must bring its generated key column", self.logic),
                "add the column to the data",
            ));
        }
        let target = units.targets.first().filter(|_| units.targets.len() == 1);
        let target = target.ok_or_else(|| Error::internal("a line goes to several shards"))?;
        let actual = target.actual(&self.logic).unwrap_or(&self.logic);
        let place = self.places.get(&(Arc::clone(&target.unit), Arc::from(actual)));
        place.map(|place| Ok(*place..*place + 1)).ok_or_else(|| {
            Error::unsupported(
                20030,
                "a line of bulk data that a rule sends elsewhere than its statement is not supported",
                "use INSERT for such rows",
            )
        })
    }
}

impl CopyIn {
    /// A record with its fields as they are stored.
    ///
    /// # Errors
    /// `Value` for one that cannot be stored, naming line and column; what a record with other fields is answered with.
    pub(in crate::session) fn turned(&self, record: Bytes) -> Result<Bytes> {
        let Some(changes) = &self.changes else { return Ok(record) };
        match self.records.changed(&record, changes) {
            Ok(Changed::Record(record)) => Ok(record),
            Ok(Changed::Miscounted(fields)) => Err(self.miscounted(fields)),
            Err(error) => {
                let ErrorKind::Value(message) = error.kind() else { return Err(error) };
                let line = self.rows_read + 1;
                Err(ErrorKind::Value(format!("line {line} of the bulk data, {message}")).into())
            }
        }
    }

    /// The error for a record with another number of fields than columns.
    pub(in crate::session) fn miscounted(&self, fields: usize) -> Error {
        let (wanted, number) = (self.columns.len(), self.rows_read + 1);
        if !self.is_copy {
            let message =
                format!("line {number} of the bulk data has {fields} fields for {wanted} columns");
            return ErrorKind::Value(message).into();
        }
        let message = match (&self.records, self.columns.get(fields)) {
            (Records::Tuples(_), _) => format!("row field count is {fields}, expected {wanted}"),
            (Records::Lines(_), Some(column)) => format!("missing data for column \"{column}\""),
            (Records::Lines(_), None) => "extra data after last expected column".to_owned(),
        };
        malformed(message, Some(format!("COPY {}, line {number}", self.logic)))
    }

    /// The server's own code for text in another encoding.
    pub(in crate::session) fn unreadable(&self, error: Error) -> Error {
        if !self.is_copy || !matches!(error.kind(), ErrorKind::Value(_)) {
            return error;
        }
        ErrorKind::Server(Box::new(ServerError {
            sqlstate: "22021".into(),
            message: "invalid byte sequence for encoding \"UTF8\"".into(),
            severity: "ERROR".into(),
            fields: vec![(b'W', format!("COPY {}, line {}", self.logic, self.rows_read + 1))],
            ..ServerError::default()
        }))
        .into()
    }
}

/// Whether a whole number that is read of a text may be zero.
fn reads_as_zero(text: &str) -> bool {
    text.trim().parse::<f64>().map_or(true, |number| number.is_nan() || number.abs() < 0.5)
}

/// The plan's units that a record goes to, or what must be known first.
pub(in crate::session) type Placed = std::result::Result<Range<usize>, Need>;
