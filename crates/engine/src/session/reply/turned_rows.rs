//! Rows that are told otherwise than their storage unit gave them: cells that a room turns, and those of a SHOW that
//! name actual tables.

use std::sync::Arc;

use bytes::BytesMut;
use pando_kernel::dialect::Facts;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Database;
use pando_kernel::merge::Position;
use pando_kernel::row::{Cell, Rows};
use pando_kernel::{CellMap, CellTurn, Column, Columns, DeclaredType, Dialect, Native, Value};
use pando_sql::ast::Kind;

use crate::copy_rows::{Change, FieldChanges, FieldTurn};
use crate::plan::Plan;

use crate::session::given::Given;
use crate::session::reply::show_rows::Retelling;
use crate::session::reply::told_rows;

/// What is told otherwise of one reply.
#[derive(Debug)]
pub(in crate::session) enum Turning {
    /// Fields of a SHOW, and its columns once they have come.
    Show(Retelling, Option<Columns>),
    /// Cells of a plan, and what they are of the columns that have come.
    Cells(Telling, Option<Turned>),
}

/// A plan whose cells are turned, and the language that their types are told in.
#[derive(Debug)]
pub(in crate::session) struct Telling {
    plan: Arc<Plan>,
    dialect: Arc<dyn Dialect>,
}

/// The cells of a reply whose columns are known.
#[derive(Debug)]
pub(in crate::session) struct Turned {
    stored: Columns,
    told: Columns,
    at: Vec<(usize, Arc<dyn CellTurn>)>,
}

impl Turning {
    /// Of rows that one unit gives; `None` when they can stay.
    pub(in crate::session) fn of_unit(
        database: &Database,
        facts: &Arc<Facts>,
        kind: &Kind,
        plan: &Arc<Plan>,
    ) -> Option<Box<Self>> {
        let unit = plan.units.first()?;
        let show = Retelling::of(database, facts, kind, &unit.target.unit);
        show.map(|show| Box::new(Self::Show(show, None))).or_else(|| Self::of_cells(database, plan))
    }

    /// Of rows that are merged; `None` when they can stay.
    pub(in crate::session) fn of_cells(database: &Database, plan: &Arc<Plan>) -> Option<Box<Self>> {
        if plan.merge.cells.is_empty() {
            return None;
        }
        let telling = Telling { plan: Arc::clone(plan), dialect: Arc::clone(&database.dialect) };
        Some(Box::new(Self::Cells(telling, None)))
    }

    /// The columns as the client is told of them. Those of the rows that follow.
    ///
    /// # Errors
    /// As [`turned_columns`].
    pub(in crate::session) fn columns(&mut self, columns: Columns) -> Result<Columns> {
        match self {
            Self::Show(_, seen) => {
                *seen = Some(columns.clone());
                Ok(columns)
            }
            Self::Cells(Telling { plan, dialect }, seen) => {
                let turned = Turned::of(&plan.merge.cells, columns, dialect.as_ref())?;
                let told = turned.told.clone();
                *seen = Some(turned);
                Ok(told)
            }
        }
    }

    /// The columns as they were told last.
    pub(in crate::session) fn told(&self) -> Option<&Columns> {
        match self {
            Self::Show(_, seen) => seen.as_ref(),
            Self::Cells(_, seen) => seen.as_ref().map(|turned| &turned.told),
        }
    }

    /// The rows as they are told.
    ///
    /// # Errors
    /// `Protocol` and `Value` for rows that cannot be read or written, and what a room says of a value.
    pub(in crate::session) fn rows(&self, rows: &Rows) -> Result<Rows> {
        let early = || Error::internal("rows came before their columns");
        match self {
            Self::Show(show, seen) => {
                let columns = seen.as_ref().ok_or_else(early)?;
                let all: Vec<usize> = (0..columns.list.len()).collect();
                written_anew(rows, columns, columns, &all, |at, value| {
                    Ok(columns.list.get(at).and_then(|column| show.field(&column.name, value)))
                })
            }
            Self::Cells(_, seen) => {
                let Turned { stored, told, at } = seen.as_ref().ok_or_else(early)?;
                let places: Vec<usize> = at.iter().map(|(place, _)| *place).collect();
                written_anew(rows, stored, told, &places, |place, value| {
                    let turn = at.iter().find(|(own, _)| *own == place);
                    turn.map(|(_, turn)| turn.value(value)).transpose()
                })
            }
        }
    }
}

/// The columns of a plan's rows as its client is told of them.
///
/// # Errors
/// `Refused` and `UnknownColumn` where a name stands for none or several of them, or two cells for the same.
pub(in crate::session) fn turned_columns(
    plan: &Plan,
    columns: Columns,
    dialect: &dyn Dialect,
) -> Result<Columns> {
    match plan.merge.cells.is_empty() {
        true => Ok(columns),
        false => {
            let told = Turned::of(&plan.merge.cells, columns, dialect)?.told;
            match &plan.merge.told {
                Some(how) => told_rows::merged_columns(how, told, dialect),
                None => Ok(told),
            }
        }
    }
}

/// The fields of lines that hold a plan's rows, as their client is told of them.
///
/// # Errors
/// As [`turned_columns`].
pub(in crate::session) fn told_fields(
    plan: &Plan,
    columns: Columns,
    dialect: &dyn Dialect,
) -> Result<FieldChanges> {
    let Turned { stored, told, at } = Turned::of(&plan.merge.cells, columns, dialect)?;
    let change = |(at, turn)| Change { at, keeps: false, turns: vec![FieldTurn::Told(turn)] };
    Ok(FieldChanges::told(at.into_iter().map(change).collect(), stored, told))
}

/// Refuses, before anything is sent, what would tell or store values other than a client means.
///
/// # Errors
/// `Refused` for bulk data that nobody looks into, and for a step whose values would be written otherwise than they
/// were stored.
pub(in crate::session) fn refuse_unturned(kind: &Kind, plan: &Plan, given: &Given) -> Result<()> {
    let cells = &plan.merge.cells;
    if cells.is_empty() {
        return Ok(());
    }
    if matches!(kind, Kind::Copy(_)) && !given.retells {
        return Err(Error::unsupported(
            30001,
            "COPY of a table some of whose columns are told otherwise than they are stored is not supported",
            "use COPY (SELECT …) TO",
        ));
    }
    if given.is_step && !cells.iter().all(|cell| cell.turn.goes_back()) {
        return Err(Error::unsupported(
            30001,
            "a statement that writes or looks for values it has read before cannot do so with columns whose values are shown otherwise than they are stored",
            "narrow it to one shard by an equality on the sharding key",
        ));
    }
    Ok(())
}

impl Turned {
    fn of(cells: &[CellMap], stored: Columns, dialect: &dyn Dialect) -> Result<Self> {
        let mut told = stored.clone();
        let list = Arc::make_mut(&mut told.list);
        let mut at: Vec<(usize, Arc<dyn CellTurn>)> = Vec::with_capacity(cells.len());
        for cell in cells {
            let place = place(&cell.at, &stored.list)?;
            let column = list.get_mut(place);
            let column = column.ok_or_else(|| Error::internal("a cell of no column"))?;
            let format = column.format;
            if let Some(declared) = cell.turn.declared() {
                column.kind = declared.kind();
                column.native = native(dialect, declared, &column.native);
                column.extended = Box::default();
            }
            cell.turn.column(column);
            column.format = format;
            let turn = Arc::clone(&cell.turn);
            match at.iter_mut().find(|(other, _)| *other == place) {
                Some((_, first)) => *first = Arc::new(OneByOne { first: Arc::clone(first), turn }),
                None => at.push((place, turn)),
            }
        }
        at.sort_by_key(|(place, _)| *place);
        Ok(Self { stored, told, at })
    }
}

/// What several rooms make of one cell, those first that are nearer to the storage units.
#[derive(Debug)]
struct OneByOne {
    first: Arc<dyn CellTurn>,
    turn: Arc<dyn CellTurn>,
}

impl CellTurn for OneByOne {
    fn value(&self, value: Value) -> Result<Value> {
        let value = self.first.value(value)?;
        if value.is_null() { Ok(value) } else { self.turn.value(value) }
    }

    fn goes_back(&self) -> bool {
        self.first.goes_back() && self.turn.goes_back()
    }
}

/// How a family describes a column that is declared so.
pub(in crate::session) fn native(
    dialect: &dyn Dialect,
    declared: DeclaredType,
    stored: &Native,
) -> Native {
    dialect.presentation().map_or(*stored, |family| family.native(declared, stored))
}

fn place(at: &Position, columns: &[Column]) -> Result<usize> {
    let name = match at {
        Position::Index(place) => return Ok(*place),
        Position::Derived(_) => return Err(Error::internal("a derived column has no cells")),
        Position::Name(name) => name,
    };
    let mut found =
        columns.iter().enumerate().filter(|(_, one)| one.name.eq_ignore_ascii_case(name));
    match (found.next(), found.next()) {
        (Some((place, _)), None) => Ok(place),
        (None, _) => Err(ErrorKind::UnknownColumn(name.clone()).into()),
        (Some(_), Some(_)) => Err(Error::unsupported(
            30001,
            format!("several columns of the result are called `{name}`"),
            "name the columns in the select list, each by a name of its own",
        )),
    }
}

/// Rows with some of their fields changed: those at `places`, in order, for which `turn` gives a value. All others keep
/// their bytes.
fn written_anew(
    rows: &Rows,
    stored: &Columns,
    told: &Columns,
    places: &[usize],
    mut turn: impl FnMut(usize, Value) -> Result<Option<Value>>,
) -> Result<Rows> {
    let mut out = BytesMut::with_capacity(rows.bytes.len());
    let mut fields = Vec::new();
    let mut changed: Vec<(usize, Value)> = Vec::with_capacity(places.len());
    rows.for_each(stored, |body| {
        stored.codec.fields(&stored.list, body, &mut fields)?;
        let raw = |at: usize| fields.get(at).cloned().flatten().and_then(|range| body.get(range));
        changed.clear();
        for at in places {
            let column = stored.list.get(*at);
            let column = column.ok_or_else(|| Error::internal("a cell of no column"))?;
            let Some(field) = raw(*at) else { continue };
            let value = stored.codec.value(column, Some(field))?;
            changed.extend(turn(*at, value)?.map(|value| (*at, value)));
        }
        let mut next = changed.iter().peekable();
        let cells: Vec<Cell<'_>> = (0..fields.len())
            .map(|at| match next.next_if(|(own, _)| *own == at) {
                Some((_, Value::Null)) => Cell::Raw(None),
                Some((_, value)) => Cell::Value(value),
                None => Cell::Raw(raw(at)),
            })
            .collect();
        told.codec.write(&told.list, &cells, &mut out)
    })?;
    Ok(Rows { bytes: out.freeze(), count: rows.count })
}
