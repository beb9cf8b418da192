//! The room: it has one column stored under another name and from behind, sends one value elsewhere, and counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use pando_columns::{Interest, Reference, StarPlace, Stop, Uses};
use pando_kernel::changes::{Changes, Turn, ValueMap};
use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::{Admission, Context, Entry, Feature, Footprint, Permits, Room};
use pando_kernel::merge::Position;
use pando_kernel::route::{Need, Route};
use pando_kernel::{
    CellMap, CellTurn, Column, Compares, LogicColumn, Shortcut, ShowsColumns, StoredName, Target,
    Value,
};
use pando_sql::ast::Statement;

use crate::asked::{ByValue, asked, elsewhere};
use crate::edits::{self, Turns};
use crate::places;

/// The column as clients know it.
pub(crate) const LOGIC: &str = "secret";
/// The column as it stands on storage units.
pub(crate) const STORED: &str = "secret_stored";
/// What it is stored as besides, in one form of the room: what lists of constants are compared with.
pub(crate) const ASKED: &str = "secret_asked";
/// The tables that have it.
pub(crate) const TABLES: [&str; 2] = ["room_t", "room_u"];
/// Tables of one unit, the same on all, and sharded by the column.
pub(crate) const OTHERS: [&str; 3] = ["room_s", "room_b", "room_k"];
/// All of them.
pub(crate) fn turned() -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().chain(OTHERS)
}

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

/// As how many columns it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    One,
    Two,
}

/// Texts with a sign in front: what lists of constants are compared with.
#[derive(Debug)]
struct Signed;

impl ValueMap for Signed {
    fn turned(&self, value: &Value) -> Result<Value> {
        match value {
            Value::Text(text) => Ok(Value::Text(format!("={text}"))),
            other => Err(Error::new(ErrorKind::Value(format!("{other:?} is no text")))),
        }
    }
}

/// The room.
#[derive(Debug)]
pub(crate) struct Turning {
    interest: Interest,
    plain: Arc<dyn CellTurn>,
    renamed: Arc<dyn CellTurn>,
    turns: Turns,
    /// How many executions it lets through yet.
    budget: Arc<AtomicI64>,
}

impl Turning {
    pub(crate) fn new(form: Form, budget: Arc<AtomicI64>) -> Self {
        let asked: Option<Arc<dyn ValueMap>> = match form {
            Form::One => None,
            Form::Two => Some(Arc::new(Signed)),
        };
        Self {
            interest: Interest::new(turned().map(|table| (table, LOGIC))),
            plain: Arc::new(Around { renames: false }),
            renamed: Arc::new(Around { renames: true }),
            turns: Turns {
                stored: Turn(Arc::new(Around { renames: false })),
                asked: asked.map(Turn),
            },
            budget,
        }
    }

    /// The uses of the column; what must be known first.
    fn uses(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<std::result::Result<Uses, Need>> {
        match pando_columns::uses(ctx, stmt, &self.interest) {
            Ok(uses) => Ok(Ok(uses)),
            Err(Stop::Need(need)) => Ok(Err(need)),
            Err(Stop::Unclear { why }) => Err(refused(why)),
            Err(Stop::Unknown { column }) => Err(ErrorKind::UnknownColumn(column).into()),
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

    fn columns(&self) -> Option<&dyn ShowsColumns> {
        Some(self)
    }
}

impl ShowsColumns for Turning {
    fn logic(&self, table: &str, stored: &[TableColumn]) -> Option<Vec<LogicColumn>> {
        let asked = stored.iter().find(|column| column.name == ASKED);
        let logic = |own: &TableColumn| match own.name.as_str() {
            STORED => LogicColumn {
                column: TableColumn { name: LOGIC.to_owned(), ..own.clone() },
                compares: Compares::EqualOnly,
                stored: std::iter::once(own).chain(asked).cloned().collect(),
            },
            _ => LogicColumn::plain(own.clone()),
        };
        let seen = stored.iter().filter(|own| own.name != ASKED);
        turned().any(|turned| turned == table).then(|| seen.map(logic).collect())
    }

    fn names(&self) -> Vec<StoredName> {
        let name = |table: &str, stored: &str, logic: Option<&str>| StoredName {
            table: table.to_owned(),
            stored: stored.to_owned(),
            logic: logic.map(str::to_owned),
            declared: None,
            keys_of: None,
        };
        let told = turned().map(|table| name(table, STORED, Some(LOGIC)));
        let asked = TABLES.map(|table| name(table, ASKED, None));
        let asked = asked.into_iter().filter(|_| self.turns.asked.is_some());
        told.chain(asked).collect()
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
        places::check(uses.columns.iter(), &uses.stars)?;
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
        let told = uses.columns.iter().filter(|one| !changes.is_added(one.span));
        places::check(told, &uses.stars)?;
        edits::write(ctx, stmt, &uses, (changes, &self.turns))
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
    fn admit(&self, _: &Context<'_>, _: &Footprint<'_>, _: &mut Permits) -> Result<Entry> {
        match self.budget.fetch_sub(1, Ordering::Relaxed) {
            1.. => Ok(Entry::Now),
            _ => Err(Error::forbidden(30001, "no more statements are let through", "")),
        }
    }
}
