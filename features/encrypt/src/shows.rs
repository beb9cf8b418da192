//! What clients see of encrypted columns: their names in the place of the stored ones, and values.

use std::sync::Arc;

use pando_columns::{Place, StarPlace, Uses};
use pando_kernel::error::Result;
use pando_kernel::merge::Position;
use pando_kernel::table::TableColumn;
use pando_kernel::{CellMap, CellTurn, Compares, LogicColumn, StoredName};
use pando_sql::Fold;

use crate::canonical::Declared;
use crate::column::{EncryptedColumn, Part, Purpose};
use crate::rule::Rule;

/// An encrypted column stands where its cipher text does. One whose stored columns are not all there is not shown:
/// the table is not as the rule says, and whoever names the column is told that there is none.
pub(crate) fn logic(rule: &Rule, table: &str, stored: &[TableColumn]) -> Option<Vec<LogicColumn>> {
    let columns: Vec<&EncryptedColumn> = rule.of_table(table).map(Arc::as_ref).collect();
    if columns.is_empty() {
        return None;
    }
    let is_part = |own: &TableColumn, part: &Part| rule.is_called(&own.name, &part.name);
    let logic = |own: &TableColumn| {
        let is_cipher = |one: &&&EncryptedColumn| is_part(own, &one.cipher);
        let Some(column) = columns.iter().find(is_cipher) else {
            let is_further = |one: &&EncryptedColumn| one.further().any(|part| is_part(own, part));
            return (!columns.iter().any(is_further)).then(|| LogicColumn::plain(own.clone()));
        };
        let held = |part: &Part| stored.iter().find(|own| is_part(own, part)).cloned();
        Some(LogicColumn {
            column: column.seen(own),
            compares: match column.cipher.makes.abilities().equal {
                true => Compares::EqualOnly,
                false => Compares::NotAtAll,
            },
            stored: column.parts().map(held).collect::<Option<Vec<_>>>()?,
        })
    };
    Some(stored.iter().filter_map(logic).collect())
}

impl EncryptedColumn {
    /// The column as clients see it, whose cipher text is stored so.
    fn seen(&self, cipher: &TableColumn) -> TableColumn {
        let mut seen = TableColumn { name: self.of.column.to_string(), ..cipher.clone() };
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
            part.purpose != Purpose::Value
                && column.equality().is_some_and(|equal| equal.name == part.name)
        };
        let name = |part: &Part, logic: Option<&str>| StoredName {
            table: column.of.table.to_string(),
            stored: part.name.clone(),
            logic: logic.map(str::to_owned),
            declared: logic.and(column.declared).map(|own| own.declared),
            keys_of: is_for_keys(part).then(|| column.of.column.to_string()),
        };
        let mut names = vec![name(&column.cipher, Some(&column.of.column))];
        names.extend(column.further().map(|part| name(part, None)));
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
            && let Some(column) = rule.column(&one.of)
        {
            cells.push((at, Arc::clone(&column.shown)));
        }
    }
    for star in &uses.stars {
        if !matches!(star.place, StarPlace::Result | StarPlace::Returning) {
            continue;
        }
        for (at, one) in star.columns.iter().enumerate() {
            if let Some(column) = one.of.as_ref().and_then(|of| rule.column(of)) {
                cells.push((star.at + at, Arc::clone(&column.shown)));
            }
        }
    }
    // The branches of a set operation give a column several times, of one encryptor (`places`).
    cells.sort_by_key(|(at, _)| *at);
    cells.dedup_by_key(|(at, _)| *at);
    Ok(cells.into_iter().map(|(at, turn)| CellMap { at: Position::Index(at), turn }).collect())
}
