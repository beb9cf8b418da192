//! Columns as clients see them, beside those that are stored: a room may have one stored under another name, of another
//! type, or as several.

use std::fmt::Debug;
use std::sync::Arc;

use pando_sql::ast::Statement;

use crate::declared::DeclaredType;
use crate::error::{Error, Result};
use crate::feature::{Context, Feature};
use crate::refill::Refill;
use crate::route::Need;
use crate::table::TableColumn;

/// What shows tables' columns otherwise than they are stored. Pure, and always the same for the same columns: what it
/// gives is kept as long as what was read of the storage units.
pub trait ShowsColumns: Send + Sync + Debug {
    /// The columns of a logic table (by its key) as clients see them, in the order in which `*` gives them and an
    /// INSERT without a list takes them; `None` where all are as they are stored. `stored` are those that the table
    /// has, in table order. One that no logic column holds is not seen.
    fn logic(&self, table: &str, stored: &[TableColumn]) -> Option<Vec<LogicColumn>>;

    /// Every stored column that clients see under another name or not at all, in all tables of the rule: what the
    /// catalogue is told by, before any table's columns are read.
    fn names(&self) -> Vec<StoredName>;

    /// Whether any column of a table (by its key) is stored or told otherwise: by default, where it has a name for one.
    fn concerns(&self, table: &str) -> bool {
        self.names().iter().any(|own| own.table == table)
    }

    /// How each table's values are stored, by its key, as a number that is another where they are stored otherwise: a
    /// transaction that goes by an older rule must not write such a table.
    fn storage(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// How rows of a table (by its key) are brought in step, where one stored column is made of another; `None` where
    /// that is never to be done.
    fn refill(&self, _table: &str) -> Option<Arc<dyn Refill>> {
        None
    }

    /// Asked of an INSERT whose rows are read and written in steps, of which none tells where the values of others go;
    /// gives what must be known first.
    ///
    /// # Errors
    /// `Refused` where a value would go where it must not.
    fn carries(&self, _ctx: &Context<'_>, _stmt: &Statement) -> Result<Option<Need>> {
        Ok(None)
    }
}

/// What a stored column is called where clients see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredName {
    /// The logic table's key.
    pub table: String,
    /// What the table calls it.
    pub stored: String,
    /// What clients call it; `None` where they see nothing of it.
    pub logic: Option<String>,
    /// The type that clients see it of; `None` where that is the stored one's, or not known.
    pub declared: Option<DeclaredType>,
    /// The column as clients see it whose keys stand on this one, where they see nothing else of it.
    pub keys_of: Option<String>,
}

/// A column as clients see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogicColumn {
    /// Its name, its type and all else as clients see it.
    pub column: TableColumn,
    /// How its values may be compared by what is stored of them.
    pub compares: Compares,
    /// The stored columns that hold it; never empty. The first one is what is told of it, and what is compared.
    pub stored: Vec<TableColumn>,
}

/// How what is stored of a column's values may be compared in the place of the values. Of NULL nothing else is ever
/// stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compares {
    /// As the values themselves: equal ones are equal, and they stand in the same order.
    #[default]
    AsStored,
    /// What is stored of two values is equal where they are, by the collation of either, and the order says nothing.
    EqualOnly,
    /// What is stored says nothing.
    NotAtAll,
}

impl LogicColumn {
    /// A column that is as it is stored.
    pub fn plain(column: TableColumn) -> Self {
        Self { stored: vec![column.clone()], column, compares: Compares::AsStored }
    }

    /// Whether it is as it is stored.
    pub fn is_plain(&self) -> bool {
        self.compares == Compares::AsStored && self.stored[..] == [self.column.clone()]
    }
}

/// The columns of a table of which some are not as they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogicColumns {
    /// As clients see them, in their order.
    pub list: Vec<LogicColumn>,
    /// As the table has them, in table order.
    pub stored: Arc<Vec<TableColumn>>,
}

impl LogicColumns {
    /// What clients see.
    pub fn told(&self) -> Vec<TableColumn> {
        self.list.iter().map(|one| one.column.clone()).collect()
    }

    /// The column of this name, without regard to case.
    pub fn find(&self, name: &str) -> Option<&LogicColumn> {
        self.list.iter().find(|one| is_called(&one.column, name))
    }

    /// Whether a column of this name is there and is not as it is stored.
    pub fn turns(&self, name: &str) -> bool {
        self.find(name).is_some_and(|one| !one.is_plain())
    }

    /// The column that a stored one is a part of; `None` where clients see nothing of it.
    pub fn of_stored(&self, name: &str) -> Option<&LogicColumn> {
        self.list.iter().find(|one| one.stored.iter().any(|stored| is_called(stored, name)))
    }
}

fn is_called(column: &TableColumn, name: &str) -> bool {
    column.name == name || column.name.to_lowercase() == name.to_lowercase()
}

/// The columns of a logic table as all rooms together show them; `None` where all are as they are stored. A room that
/// comes later in the walking order is nearer to the storage units.
///
/// # Errors
/// `Refused` where two rooms turn one column; `Internal` for a list that cannot be one.
pub fn shown(
    rooms: &[Arc<dyn Feature>],
    table: &str,
    stored: &[TableColumn],
) -> Result<Option<LogicColumns>> {
    let mut list: Option<Vec<LogicColumn>> = None;
    for room in rooms.iter().rev() {
        let Some(shows) = room.columns() else { continue };
        let below = match &list {
            None => stored.to_vec(),
            Some(list) => list.iter().map(|one| one.column.clone()).collect(),
        };
        let Some(own) = shows.logic(table, &below) else { continue };
        check(room.name(), table, &own, &below)?;
        list = Some(match list {
            None => own,
            Some(list) => over(own, &list, room.name(), table)?,
        });
    }
    let list =
        list.filter(|list| list.len() != stored.len() || !list.iter().all(LogicColumn::is_plain));
    Ok(list.map(|list| LogicColumns { list, stored: Arc::new(stored.to_vec()) }))
}

/// What stored columns are called where clients see them, as all rooms together have it.
pub fn names(rooms: &[Arc<dyn Feature>]) -> Vec<StoredName> {
    let mut all: Vec<StoredName> = Vec::new();
    for shows in rooms.iter().rev().filter_map(|room| room.columns()) {
        for own in shows.names() {
            let is_below = |below: &&mut StoredName| {
                below.table == own.table && below.logic.as_deref() == Some(&*own.stored)
            };
            match all.iter_mut().find(is_below) {
                Some(below) => {
                    below.declared = own.declared.or(below.declared);
                    below.logic = own.logic;
                }
                None => all.push(own),
            }
        }
    }
    all
}

fn check(room: &str, table: &str, own: &[LogicColumn], below: &[TableColumn]) -> Result<()> {
    for (at, one) in own.iter().enumerate() {
        let is_again = own.iter().take(at).any(|other| is_called(&other.column, &one.column.name));
        let is_there = |stored: &TableColumn| below.contains(stored);
        if is_again || one.stored.is_empty() || !one.stored.iter().all(is_there) {
            let name = &one.column.name;
            return Err(Error::internal(format!(
                "`{room}` shows a column `{name}` of `{table}` twice, or out of nothing"
            )));
        }
    }
    Ok(())
}

/// What one room shows over what those nearer to the storage units do.
fn over(
    own: Vec<LogicColumn>,
    below: &[LogicColumn],
    room: &str,
    table: &str,
) -> Result<Vec<LogicColumn>> {
    let one = |one: LogicColumn| {
        let find = |stored: &TableColumn| below.iter().find(|below| below.column == *stored);
        if one.is_plain() {
            return Ok(find(&one.column).cloned().unwrap_or(one));
        }
        match one.stored.iter().filter_map(find).all(LogicColumn::is_plain) {
            true => Ok(one),
            false => Err(Error::unsupported(
                30001,
                format!(
                    "column `{}` of `{table}`, which `{room}` has stored as another, is another rule's already",
                    one.column.name
                ),
                "let one rule only concern the column",
            )),
        }
    };
    own.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Attribute;
    use crate::feature::Room;
    use crate::value::Kind;

    /// Shows a stored column under another name, and hides one.
    #[derive(Debug)]
    struct Renames {
        stored: &'static str,
        logic: &'static str,
        hidden: &'static str,
    }

    impl Room for Renames {
        fn name(&self) -> &'static str {
            self.logic
        }

        fn columns(&self) -> Option<&dyn ShowsColumns> {
            Some(self)
        }
    }

    impl Feature for Renames {}

    impl ShowsColumns for Renames {
        fn logic(&self, table: &str, stored: &[TableColumn]) -> Option<Vec<LogicColumn>> {
            let seen = stored.iter().filter(|own| own.name != self.hidden);
            let one = |own: &TableColumn| match own.name == self.stored {
                true => LogicColumn {
                    column: TableColumn { name: self.logic.into(), ..own.clone() },
                    compares: Compares::EqualOnly,
                    stored: vec![own.clone()],
                },
                false => LogicColumn::plain(own.clone()),
            };
            (table == "t").then(|| seen.map(one).collect())
        }

        fn names(&self) -> Vec<StoredName> {
            let name = |stored: &str, logic: Option<&str>| StoredName {
                table: "t".into(),
                stored: stored.into(),
                logic: logic.map(str::to_owned),
                declared: None,
                keys_of: None,
            };
            vec![name(self.stored, Some(self.logic)), name(self.hidden, None)]
        }
    }

    fn column(name: &str) -> TableColumn {
        TableColumn {
            name: name.into(),
            kind: Kind::Int,
            type_name: String::new(),
            collation: String::new(),
            collate: String::new(),
            zone: None,
            primary_key: false,
            auto_increment: false,
            nullable: true,
            timed: None,
            invisible: false,
            attribute: Attribute::default(),
        }
    }

    fn rooms(list: &[(&'static str, &'static str, &'static str)]) -> Vec<Arc<dyn Feature>> {
        let room = |&(stored, logic, hidden): &(_, _, _)| -> Arc<dyn Feature> {
            Arc::new(Renames { stored, logic, hidden })
        };
        list.iter().map(room).collect()
    }

    /// `logic<stored` of each column, without the latter where it is plain.
    fn check(list: &[(&'static str, &'static str, &'static str)], expected: &str) {
        let stored = ["a", "b", "c", "d"].map(column);
        let told = match shown(&rooms(list), "t", &stored) {
            Err(_) => "refused".to_owned(),
            Ok(None) => "as stored".to_owned(),
            Ok(Some(logic)) => {
                let one = |one: &LogicColumn| match one.is_plain() {
                    true => one.column.name.clone(),
                    false => format!("{}<{}", one.column.name, one.stored[0].name),
                };
                logic.list.iter().map(one).collect::<Vec<_>>().join(" ")
            }
        };
        assert_eq!(told, expected, "{list:?}");
    }

    #[test]
    fn the_room_that_comes_last_is_nearest_to_what_is_stored() {
        check(&[], "as stored");
        check(&[("a", "a2", "d")], "a2<a b c");
        check(&[("b", "b2", "c"), ("a", "a2", "d")], "a2<a b2<b");
        // The first knows a column by the name that the second gives it.
        check(&[("a2", "a3", ""), ("b", "a2", "d")], "refused");
        check(&[("a", "a2", ""), ("a", "a3", "")], "a3<a b c d");
    }

    #[test]
    fn a_name_is_told_once_for_each_column() {
        check(&[("a", "b", "")], "refused");
        let names = names(&rooms(&[("b", "b2", "c"), ("a", "a2", "d")]));
        let told: Vec<String> =
            names.iter().map(|one| format!("{}>{:?}", one.stored, one.logic)).collect();
        assert_eq!(told.join(" "), r#"a>Some("a2") d>None b>Some("b2") c>None"#);
    }

    #[test]
    fn other_tables_are_as_they_are_stored() {
        let shown = shown(&rooms(&[("a", "a2", "d")]), "u", &[column("a")]);
        assert!(shown.is_ok_and(|logic| logic.is_none()));
    }
}
