//! Numbers that a unit gives by itself, in what it is sent and in what it answers.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use pando_kernel::error::{Error, Result};
use pando_kernel::oids::Way;
use pando_kernel::request::UNNUMBERED;
use pando_kernel::{
    Columns, Description, Dialect, Event, Execution, Format, Native, OidRules, Oids, Parameter,
    Rows, Whole,
};

/// What the types of one unit are shown as, and where they stand in the rows under way.
#[derive(Debug)]
pub(crate) struct Renumbering {
    dialect: Arc<dyn Dialect>,
    numbers: Arc<Oids>,
    /// The columns as the unit tells them, when cells of their rows hold numbers: those cells.
    cells: Option<(Columns, Vec<usize>)>,
}

impl Renumbering {
    /// `None` where a unit's types have the numbers that are shown.
    pub(crate) fn of(dialect: &Arc<dyn Dialect>, numbers: Option<&Arc<Oids>>) -> Option<Box<Self>> {
        let numbers = numbers.filter(|numbers| numbers.change_types())?;
        let (dialect, numbers) = (Arc::clone(dialect), Arc::clone(numbers));
        Some(Box::new(Self { dialect, numbers, cells: None }))
    }

    /// What the unit is sent has its own numbers.
    pub(crate) fn sent(&self, execution: &mut Execution) {
        match execution {
            Execution::Prepared { types, parameters, .. } => self.given(types, parameters),
            Execution::Describe { types, .. } => self.given(types, &mut []),
            Execution::Lifted { .. }
            | Execution::Text(_)
            | Execution::Aside(_)
            | Execution::Reset
            | Execution::Scrub
            | Execution::Ping => {}
        }
    }

    /// The same of what goes with a prepared statement.
    pub(crate) fn given(&self, types: &mut Arc<[u32]>, parameters: &mut [Parameter]) {
        let Some(oid_rules) = self.dialect.oid_rules() else { return };
        let own = |shown: u32| match shown {
            UNNUMBERED => UNNUMBERED,
            shown => self.numbers.own_type(shown),
        };
        if types.iter().any(|shown| own(*shown) != *shown) {
            *types = types.iter().map(|shown| own(*shown)).collect();
        }
        let way = Way::ToOwn(&self.numbers);
        for parameter in
            parameters.iter_mut().filter(|one| one.native.type_id >= oid_rules.first_made())
        {
            let shown = parameter.native.type_id;
            if let (Some(raw), Format::Binary) = (&parameter.raw, parameter.format) {
                let mut bytes = BytesMut::from(&raw[..]);
                oid_rules.renumber(way, shown, &mut bytes);
                parameter.raw = Some(bytes.freeze());
            }
            parameter.native.type_id = own(shown);
        }
    }

    /// A piece of the answer has the numbers that are shown.
    ///
    /// # Errors
    /// `Protocol` when rows are no such.
    pub(crate) fn event(&mut self, event: Event) -> Result<Event> {
        Ok(match event {
            Event::Columns(columns) => Event::Columns(self.columns(columns)),
            Event::Rows(rows) => Event::Rows(self.rows(rows)?),
            Event::Described(Description { parameters, columns }) => {
                let mut parameters = parameters;
                parameters.iter_mut().for_each(|native| self.native(native));
                Event::Described(Description {
                    parameters,
                    columns: columns.map(|columns| self.columns(columns)),
                })
            }
            other @ (Event::Complete(_)
            | Event::Notice(_)
            | Event::Parameter { .. }
            | Event::Empty
            | Event::Suspended
            | Event::Done
            | Event::CopyIn(_)
            | Event::CopyOut(_)
            | Event::CopyData(_)
            | Event::SendFile(_)) => other,
        })
    }

    /// The same of a whole answer.
    ///
    /// # Errors
    /// As [`Renumbering::event`].
    pub(crate) fn whole(&mut self, whole: Whole) -> Result<Whole> {
        let mut whole = whole;
        whole.columns = whole.columns.map(|columns| self.columns(columns));
        whole.rows = whole.rows.map(|rows| self.rows(rows)).transpose()?;
        Ok(whole)
    }

    fn native(&self, native: &mut Native) {
        native.type_id = self.numbers.shown_type(native.type_id);
    }

    fn columns(&mut self, columns: Columns) -> Columns {
        let Some(oid_rules) = self.dialect.oid_rules() else { return columns };
        let cells = columns.list.iter().enumerate();
        let cells = cells.filter(|(_, column)| oid_rules.holds_numbers(column)).map(|(at, _)| at);
        let cells: Vec<usize> = cells.collect();
        self.cells = (!cells.is_empty()).then(|| (columns.clone(), cells));
        let is_other = |type_id: u32| self.numbers.shown_type(type_id) != type_id;
        if !columns.list.iter().any(|column| is_other(column.native.type_id)) {
            return columns;
        }
        let mut columns = columns;
        Arc::make_mut(&mut columns.list)
            .iter_mut()
            .for_each(|column| self.native(&mut column.native));
        columns
    }

    fn rows(&self, rows: Rows) -> Result<Rows> {
        let (Some((columns, cells)), Some(oid_rules)) = (&self.cells, self.dialect.oid_rules())
        else {
            return Ok(rows);
        };
        let mut places: Vec<(u32, Range<usize>)> = Vec::new();
        let (mut at, mut fields) = (0, Vec::new());
        while let Some(rest) = rows.bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (length, body) = columns.codec.next(rest)?;
            let Cow::Borrowed(body) = body else {
                return Err(Error::internal("a row that is put together has no place"));
            };
            columns.codec.fields(&columns.list, body, &mut fields)?;
            let begin = at + (body.as_ptr() as usize - rest.as_ptr() as usize);
            for cell in cells {
                if let (Some(Some(field)), Some(column)) =
                    (fields.get(*cell), columns.list.get(*cell))
                {
                    let place = begin + field.start..begin + field.end;
                    places.push((column.native.type_id, place));
                }
            }
            at += length;
        }
        Ok(Rows { bytes: renumbered(rows.bytes, &places, oid_rules, &self.numbers), ..rows })
    }
}

fn renumbered(
    bytes: Bytes,
    places: &[(u32, Range<usize>)],
    oid_rules: &dyn OidRules,
    numbers: &Oids,
) -> Bytes {
    let mut bytes = bytes.try_into_mut().unwrap_or_else(|bytes| BytesMut::from(&bytes[..]));
    for (type_id, place) in places {
        if let Some(value) = bytes.get_mut(place.clone()) {
            oid_rules.renumber(Way::ToShown(numbers), *type_id, value);
        }
    }
    bytes.freeze()
}
