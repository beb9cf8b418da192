//! The room: it has one column stored under another name and from behind, sends one value elsewhere, and counts.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use pando_columns::{Interest, Reference, StarPlace, Stop, Uses};
use pando_kernel::changes::{Changes, Turn, ValueMap};
use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::{Admission, Catalog, Context, Feature, Footprint, Room, Spellings};
use pando_kernel::merge::Position;
use pando_kernel::route::{Need, Route, UnitName};
use pando_kernel::{CellMap, CellTurn, Column, Effectful, Shortcut, Target, Value};
use pando_sql::ast::Statement;

use crate::asked::{ByValue, asked, elsewhere};
use crate::edits;
use crate::places::{self, Order};

/// The column as clients know it.
pub(crate) const LOGIC: &str = "secret";
/// The column as it stands on storage units.
pub(crate) const STORED: &str = "secret_stored";
/// The tables that have it.
pub(crate) const TABLES: [&str; 2] = ["room_t", "room_u"];
/// Tables of one unit, the same on all, and sharded by the column.
pub(crate) const OTHERS: [&str; 3] = ["room_s", "room_b", "room_k"];
/// A text that cannot be stored.
pub(crate) const UNSTORABLE: &str = "unstorable";
/// Where rows with [`crate::asked::VALUE`] are.
pub(crate) const ASIDE: &str = "ds_aside";

/// Texts from behind: what is stored of what is meant, and the other way round.
#[derive(Debug)]
pub(crate) struct Around {
    /// The client is to see the column under its own name.
    pub(crate) renames: bool,
}

impl CellTurn for Around {
    fn column(&self, column: &mut Column) {
        if self.renames {
            LOGIC.clone_into(&mut column.name);
        }
    }

    fn value(&self, value: Value) -> Result<Value> {
        if let Value::Text(text) = value {
            return Ok(Value::Text(text.chars().rev().collect()));
        }
        Err(Error::new(ErrorKind::Value(format!("{value:?} is no text"))))
    }

    fn goes_back(&self) -> bool {
        true
    }
}

impl ValueMap for Around {
    fn turned(&self, value: &Value) -> Result<Value> {
        if matches!(value, Value::Text(text) if text == UNSTORABLE) {
            return Err(Error::new(ErrorKind::Value(format!("`{UNSTORABLE}` cannot be stored"))));
        }
        self.value(value.clone())
    }
}

/// The room.
#[derive(Debug)]
pub(crate) struct Turning {
    interest: Interest,
    plain: Arc<dyn CellTurn>,
    renamed: Arc<dyn CellTurn>,
    stored: Turn,
    /// How many executions it lets through yet.
    budget: Arc<AtomicI64>,
}

impl Turning {
    pub(crate) fn new(budget: Arc<AtomicI64>) -> Self {
        Self {
            interest: Interest::new(TABLES.into_iter().chain(OTHERS).map(|table| (table, LOGIC))),
            plain: Arc::new(Around { renames: false }),
            renamed: Arc::new(Around { renames: true }),
            stored: Turn(Arc::new(Around { renames: false })),
            budget,
        }
    }

    /// The uses of the column; what must be known first.
    fn uses(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<std::result::Result<Uses, Need>> {
        let catalog = Logic(ctx.catalog);
        let ctx = Context { catalog: &catalog, ..*ctx };
        match pando_columns::uses(&ctx, stmt, &self.interest) {
            Ok(uses) => Ok(Ok(uses)),
            Err(Stop::Need(need)) => Ok(Err(need)),
            Err(Stop::Unclear { why }) => Err(refused(why)),
        }
    }

    /// The same, where routing has seen to it that all is known.
    fn known(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<Uses> {
        let need = |need| refused(format!("{need:?} is not known"));
        self.uses(ctx, stmt)?.map_err(need)
    }
}

/// What the room does not do right.
pub(crate) fn refused(why: impl Into<String>) -> Error {
    Error::unsupported(30001, why, "leave the column out of it")
}

impl Room for Turning {
    fn name(&self) -> &'static str {
        "turning"
    }
}

impl Feature for Turning {
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        let uses = match self.uses(ctx, stmt)? {
            Ok(uses) => uses,
            Err(need) => {
                *route = Route::Needs(need);
                return Ok(());
            }
        };
        places::check(&uses, Order::IsTold)?;
        if let Some(given) = asked(&uses, stmt, ctx)
            && given.is_elsewhere(ctx)
            && let Route::Units(units) = route
            && let Some(first) = units.targets.first().cloned()
        {
            units.targets = vec![elsewhere(first)];
        }
        Ok(())
    }

    fn rewrite(
        &self,
        ctx: &Context<'_>,
        stmt: &Statement,
        _: &Target,
        changes: &mut Changes,
    ) -> Result<()> {
        let uses = self.known(ctx, stmt)?;
        // The engine itself sorts by the column, to form groups.
        places::check(&uses, Order::IsOfGroups)?;
        edits::write(ctx, stmt, &uses, (changes, &self.stored))
    }

    fn shown(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<Vec<CellMap>> {
        let uses = self.known(ctx, stmt)?;
        let items = uses.columns.iter().filter_map(|one| places::told(&one.place));
        let mut cells: Vec<(usize, &Arc<dyn CellTurn>)> =
            items.map(|at| (at, &self.plain)).collect();
        for star in &uses.stars {
            if matches!(star.place, StarPlace::Result | StarPlace::Returning) {
                let columns = star.columns.iter().enumerate();
                cells.extend(columns.filter(|(_, one)| one.of.is_some()).map(|(at, one)| {
                    let is_renamed = one.by == Reference::Column;
                    (star.at + at, if is_renamed { &self.renamed } else { &self.plain })
                }));
            }
        }
        // The branches of a set operation give a column several times.
        cells.sort_by_key(|(at, _)| *at);
        cells.dedup_by_key(|(at, _)| *at);
        let cell = |(at, turn)| CellMap { at: Position::Index(at), turn: Arc::clone(turn) };
        Ok(cells.into_iter().map(cell).collect())
    }

    fn shortcut(&self, ctx: &Context<'_>, stmt: &Statement) -> Shortcut {
        let Ok(Ok(uses)) = self.uses(ctx, stmt) else { return Shortcut::None };
        match asked(&uses, stmt, ctx) {
            Some(given) => Shortcut::Choose(Arc::new(ByValue(given))),
            None => Shortcut::Idle,
        }
    }

    fn admission(&self) -> Option<&dyn Admission> {
        Some(self)
    }
}

impl Admission for Turning {
    fn admit(&self, _: &Context<'_>, _: &Footprint<'_>) -> Result<()> {
        match self.budget.fetch_sub(1, Ordering::Relaxed) {
            1.. => Ok(()),
            _ => Err(Error::forbidden(30001, "no more statements are let through", "")),
        }
    }
}

/// The catalogue as clients know it.
#[derive(Debug)]
struct Logic<'a>(&'a dyn Catalog);

impl Catalog for Logic<'_> {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        let known = self.0.columns(table)?;
        if !TABLES.contains(&table) && !OTHERS.contains(&table) {
            return Some(known);
        }
        let mut columns = Vec::clone(&known);
        for column in &mut columns {
            if column.name == STORED {
                LOGIC.clone_into(&mut column.name);
            }
        }
        Some(Arc::new(columns))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        self.0.tables()
    }

    fn spellings(&self) -> Option<Arc<Spellings>> {
        self.0.spellings()
    }

    fn effectful(&self, unit: &str) -> Option<Arc<Effectful>> {
        self.0.effectful(unit)
    }
}
