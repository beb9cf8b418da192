//! The cells that are masked.

use std::sync::Arc;

use pando_columns::{Origin, Place, StarPlace, Uses};
use pando_kernel::column::Native;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_kernel::merge::Position;
use pando_kernel::{CellMap, CellTurn, Column, Kind, Value};

use crate::algorithm::Mask;
use crate::rule::Rule;

/// Cells of a masked column. They are texts, whatever the column holds.
#[derive(Debug)]
pub(crate) struct Masked(pub(crate) Arc<dyn Mask>);

impl CellTurn for Masked {
    fn column(&self, column: &mut Column) {
        if column.kind != Kind::Text {
            column.kind = Kind::Text;
            column.native = Native::default();
            column.extended = Box::default();
        }
    }

    fn value(&self, value: Value) -> Result<Value> {
        let text = match value {
            Value::Text(text) => text,
            Value::Int(n) => n.to_string(),
            Value::UInt(n) => n.to_string(),
            Value::Decimal(n) => n.to_plain_string(),
            Value::Float(n) => n.to_string(),
            Value::Bool(b) => b.to_string(),
            Value::Bytes(_) | Value::Null => {
                return Err(Error::new(ErrorKind::Value(
                    "only texts and numbers are masked".into(),
                )));
            }
        };
        self.0.masked(&text).map(Value::Text)
    }
}

/// Every column of the result that a masked one is, by its place.
fn told(uses: &Uses) -> Vec<(usize, &Origin)> {
    let mut told = Vec::new();
    for one in &uses.columns {
        if let Place::Item { at, .. } | Place::Returning { at, .. } = one.place {
            told.push((at, &one.of));
        }
    }
    for star in &uses.stars {
        if matches!(star.place, StarPlace::Result | StarPlace::Returning) {
            let columns = star.columns.iter().enumerate();
            told.extend(columns.filter_map(|(at, one)| Some((star.at + at, one.of.as_ref()?))));
        }
    }
    told
}

/// The cells of a statement's rows that are masked for this user.
pub(crate) fn cells(rule: &Rule, ctx: &Context<'_>, uses: &Uses) -> Vec<CellMap> {
    let user = &ctx.session.facts.user;
    let mut cells: Vec<CellMap> = Vec::new();
    for (at, of) in told(uses) {
        let Some(column) = rule.column(of).filter(|column| column.is_masked_for(user)) else {
            continue;
        };
        let at = Position::Index(at);
        // The branches of a set operation give a column several times, with one mask (`places`).
        if !cells.iter().any(|known| known.at == at) {
            cells.push(CellMap { at, turn: Arc::clone(&column.shown) });
        }
    }
    cells
}

/// Whether users see different cells of it.
pub(crate) fn hangs_on_users(rule: &Rule, uses: &Uses) -> bool {
    let columns = uses.columns.iter().map(|one| &one.of);
    let stars = uses.stars.iter().flat_map(|star| &star.columns);
    let mut all = columns.chain(stars.filter_map(|one| one.of.as_ref()));
    all.any(|of| rule.column(of).is_some_and(|column| !column.unmasked.is_empty()))
}
