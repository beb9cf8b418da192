//! What clients see of encrypted columns: their names in the place of the stored ones, and values.

use std::sync::Arc;

use pando_columns::{Place, StarPlace, Uses};
use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::merge::Position;
use pando_kernel::route::Need;
use pando_kernel::table::TableColumn;
use pando_kernel::{CellMap, CellTurn, Compares, LogicColumn, Refill, ShowsColumns, StoredName};
use pando_sql::Fold;
use pando_sql::ast::Statement;

use crate::canonical::Declared;
use crate::column::{EncryptedColumn, Part, Purpose};
use crate::refill::Columns;
use crate::rule::Rule;
use crate::{Encrypt, places};

impl ShowsColumns for Encrypt {
    fn logic(&self, table: &str, stored: &[TableColumn]) -> Option<Vec<LogicColumn>> {
        logic(&self.rule, table, stored)
    }

    fn names(&self) -> Vec<StoredName> {
        names(&self.rule)
    }

    fn concerns(&self, table: &str) -> bool {
        self.rule.interest.has_table(table)
    }

    fn storage(&self) -> Vec<(String, u64)> {
        self.rule.storage()
    }

    fn refill(&self, table: &str) -> Option<Arc<dyn Refill>> {
        Some(Arc::new(Columns::of(&self.rule, table)?))
    }

    /// A plain column gets no value of an encrypted one.
    fn carries(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<Option<Need>> {
        match self.uses(ctx, stmt)? {
            Ok(uses) => places::check_kept(&uses).map(|()| None),
            Err(need) => Ok(Some(need)),
        }
    }
}

/// An encrypted column stands where what is told of it does. One whose stored columns are not all there is not shown:
/// the table is not as the rule says, and whoever names the column is told that there is none.
pub(crate) fn logic(rule: &Rule, table: &str, stored: &[TableColumn]) -> Option<Vec<LogicColumn>> {
    let columns: Vec<&EncryptedColumn> = rule.of_table(table).map(Arc::as_ref).collect();
    if columns.is_empty() {
        return None;
    }
    let is_part = |own: &TableColumn, part: &Part| rule.is_called(&own.name, &part.name);
    let logic = |own: &TableColumn| {
        let is_told = |one: &&&EncryptedColumn| is_part(own, &one.told);
        let Some(column) = columns.iter().find(is_told) else {
            let is_further =
                |one: &&EncryptedColumn| one.all_parts().any(|part| is_part(own, part));
            return (!columns.iter().any(is_further)).then(|| LogicColumn::plain(own.clone()));
        };
        let held = |part: &Part| stored.iter().find(|own| is_part(own, part)).cloned();
        Some(LogicColumn {
            column: column.seen(own, column.beside_plain().and_then(held).as_ref()),
            compares: match column.told.makes.abilities().equal {
                _ if column.is_told_plain() => Compares::AsStored,
                true => Compares::EqualOnly,
                false => Compares::NotAtAll,
            },
            stored: column.parts().map(held).collect::<Option<Vec<_>>>()?,
        })
    };
    let mut list: Vec<LogicColumn> = stored.iter().filter_map(logic).collect();
    if let Some(order) = rule.order(table) {
        // Those that were added since stand behind the others.
        let place = |one: &LogicColumn| {
            order.iter().position(|own| *own == one.column.name).unwrap_or(order.len())
        };
        list.sort_by_key(place);
    }
    Some(list)
}

impl EncryptedColumn {
    /// The one in the plain that is written and not read.
    fn beside_plain(&self) -> Option<&Part> {
        self.beside.iter().find(|part| part.purpose == Purpose::Plain)
    }

    /// The column as clients see it, of which what is told is stored so, and perhaps still stands in the plain.
    fn seen(&self, told: &TableColumn, plain: Option<&TableColumn>) -> TableColumn {
        let mut seen = TableColumn { name: self.of.column.to_string(), ..told.clone() };
        if self.is_told_plain() {
            return seen;
        }
        if let Some(plain) = plain {
            seen.nullable &= plain.nullable;
            seen.type_name.clone_from(&plain.type_name);
        }
        if let Some(Declared { declared, fold }) = self.declared {
            (seen.kind, seen.type_name) = (declared.kind(), declared.spelled(fold));
            if !declared.is_text() {
                (seen.collation, seen.collate) = (String::new(), String::new());
            }
        }
        seen
    }
}

/// What each stored column is called where clients see it.
pub(crate) fn names(rule: &Rule) -> Vec<StoredName> {
    let of = |column: &Arc<EncryptedColumn>| {
        let is_for_keys = |part: &Part| {
            !matches!(part.purpose, Purpose::Value | Purpose::Plain)
                && column.equality().is_some_and(|equal| equal.name == part.name)
        };
        let name = |part: &Part, logic: Option<&str>| StoredName {
            table: column.of.table.to_string(),
            stored: part.name.clone(),
            logic: logic.map(str::to_owned),
            declared: match part.purpose {
                Purpose::Plain => None,
                Purpose::Value | Purpose::Equality | Purpose::Like => {
                    logic.and(column.declared).map(|own| own.declared)
                }
            },
            keys_of: is_for_keys(part).then(|| column.of.column.to_string()),
        };
        let mut names = vec![name(&column.told, Some(&column.of.column))];
        names.extend(column.all_parts().skip(1).map(|part| name(part, None)));
        names
    };
    rule.all().flat_map(of).collect()
}

impl Rule {
    pub(crate) fn is_called(&self, own: &str, name: &str) -> bool {
        match self.fold {
            Fold::Lower => own == name,
            Fold::Keep => own.to_lowercase() == name.to_lowercase(),
        }
    }
}

/// The cells of a statement's rows that are decrypted.
pub(crate) fn cells(rule: &Rule, uses: &Uses) -> Result<Vec<CellMap>> {
    let mut cells: Vec<(usize, Arc<dyn CellTurn>)> = Vec::new();
    for one in &uses.columns {
        if let Place::Item { at, .. } | Place::Returning { at, .. } = one.place
            && let Some(shown) = rule.column(&one.of).and_then(|column| column.shown.as_ref())
        {
            cells.push((at, Arc::clone(shown)));
        }
    }
    for star in &uses.stars {
        if !matches!(star.place, StarPlace::Result | StarPlace::Returning) {
            continue;
        }
        for (at, one) in star.columns.iter().enumerate() {
            let column = one.of.as_ref().and_then(|of| rule.column(of));
            if let Some(shown) = column.and_then(|column| column.shown.as_ref()) {
                cells.push((star.at + at, Arc::clone(shown)));
            }
        }
    }
    // The branches of a set operation give a column several times, of one encryptor (`places`).
    cells.sort_by_key(|(at, _)| *at);
    cells.dedup_by_key(|(at, _)| *at);
    Ok(cells.into_iter().map(|(at, turn)| CellMap { at: Position::Index(at), turn }).collect())
}
