//! Rows that the client sends.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::event::Completion;
use pando_kernel::feature::{Catalog, Context, SessionView, Source};
use pando_kernel::route::{Need, Route, Spread, UnitName};
use pando_kernel::{Columns, Parameter, Value};
use pando_sql::ast::Statement;

use crate::copy_rows::{Changed, FieldChanges, Records, malformed};
use crate::counters::Counted;
use crate::execute::Channel;
use crate::plan::Plan;
use crate::plan::sequence_calls::Named;
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
    /// The column that lines leave out, and that their shards are told first.
    pub(in crate::session) filling: Option<Filling>,
    /// That column, for the binary form.
    pub(in crate::session) first: Option<Columns>,
    /// The field that moves a counter.
    pub(in crate::session) moving: Option<Moving>,
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

/// A column that the lines of bulk data leave out.
#[derive(Debug)]
pub(in crate::session) enum Filling {
    /// The room that routes a line makes its value.
    Made,
    /// A ledger counts it.
    Counted {
        counted: Arc<Counted>,
        /// The first number of all.
        first: u64,
    },
    /// A sequence counts it.
    Numbered {
        sequence: Named,
        /// Numbers that were asked for, and those that are asked for at once.
        left: VecDeque<i64>,
        size: usize,
        /// The last one that was used.
        last: Option<i64>,
    },
}

/// A field that the client gives, and behind which a counter counts on.
#[derive(Debug)]
pub(in crate::session) struct Moving {
    pub(in crate::session) at: usize,
    pub(in crate::session) counted: Arc<Counted>,
    /// The first number that a line was given; 0 while none was.
    pub(in crate::session) first: u64,
}

/// Where a line is routed from.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct Seat<'a> {
    pub(in crate::session) catalog: &'a dyn Catalog,
    pub(in crate::session) source: &'a dyn Source,
}

/// Where a line goes, and what else its fields say.
#[derive(Debug, Default)]
pub(in crate::session) struct LinePlace {
    /// The plan's units: one, or all where rows are the same everywhere.
    pub(in crate::session) units: Range<usize>,
    /// What was made for the column that the line leaves out.
    pub(in crate::session) made: Option<Value>,
    /// The value of the field that moves a counter.
    pub(in crate::session) brings: Option<Value>,
}

impl CopyIn {
    /// No connection is held between batches.
    pub(in crate::session) fn into_channels(self) -> Vec<Channel> {
        Vec::new()
    }

    /// Where a record belongs. `counted` is what its first column is to be, where that is counted for it.
    pub(in crate::session) fn places(
        &self,
        record: &[u8],
        counted: Option<&Value>,
        seat: Seat<'_>,
    ) -> Result<Placed> {
        // Its unit judges what it is sent, as of a statement that is passed on.
        if self.plan.units.len() == 1 {
            return Ok(Ok(LinePlace { units: 0..1, ..LinePlace::default() }));
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
        let brings = self.moving.as_ref().and_then(|moving| values.get(moving.at)).cloned();
        let parameters = counted.cloned().into_iter().chain(values.into_iter().map(told));
        let parameters: Vec<Parameter> = parameters.map(Parameter::made).collect();
        let ctx = Context {
            database: &self.live.database,
            catalog: seat.catalog,
            dialect: self.live.database.dialect.as_ref(),
            parameters: Some(&parameters),
            session: &self.view,
            source: seat.source,
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
            let units = 0..self.plan.units.len();
            return Ok(Ok(LinePlace { units, made: None, brings }));
        }
        let units = route.units()?;
        let made = units.keys.as_ref().and_then(|keys| keys.values.first().cloned());
        if made.is_some() && self.filling.is_none() {
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
        let placed = |place: &usize| LinePlace { units: *place..*place + 1, made, brings };
        place.map(|place| Ok(placed(place))).ok_or_else(|| {
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

/// Where a record goes, or what must be known first.
pub(in crate::session) type Placed = std::result::Result<LinePlace, Need>;
