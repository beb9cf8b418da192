//! The tables that stand on storage units before and after a change: asked for once, and found by their names.

use std::collections::HashMap;

use pando_config::Database;
use pando_kernel::error::Result;
use pando_kernel::feature::DataNode;

use crate::house::{Found, House, MOST_COUNTED};

/// The tables of a database's storage units at one moment.
#[derive(Debug)]
pub(crate) struct Standing {
    /// All of them.
    pub(crate) all: Vec<Found>,
    /// Their places in the list, by name in lower case.
    by_name: HashMap<String, Vec<usize>>,
}

impl Standing {
    /// Asks the storage units.
    ///
    /// # Errors
    /// What they say.
    pub(crate) async fn of(house: &dyn House, database: &Database) -> Result<Self> {
        let all = house.tables(database).await?;
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, one) in all.iter().enumerate() {
            by_name.entry(one.table.to_lowercase()).or_default().push(at);
        }
        Ok(Self { all, by_name })
    }

    /// The tables of these nodes, as far as they are there.
    pub(crate) fn at<'s>(&'s self, nodes: &'s [DataNode]) -> impl Iterator<Item = &'s Found> {
        nodes.iter().flat_map(|node| self.at_one(node))
    }

    fn at_one<'s>(&'s self, node: &'s DataNode) -> impl Iterator<Item = &'s Found> {
        let places = self.by_name.get(&node.table.to_lowercase()).into_iter().flatten();
        let tables = places.filter_map(|at| self.all.get(*at));
        tables.filter(|one| *node.unit == *one.unit)
    }

    /// Which of the nodes are there and which are not, where it is some of both.
    pub(crate) fn torn(&self, nodes: &[DataNode]) -> Option<String> {
        let stands = |node: &&DataNode| self.at_one(node).next().is_some();
        let (there, missing): (Vec<_>, Vec<_>) = nodes.iter().partition(stands);
        let (first, gap) = there.first().zip(missing.first())?;
        Some(format!(
            "`{}.{}` is there, `{}.{}` is not ({} of {} are there)",
            first.unit,
            first.table,
            gap.unit,
            gap.table,
            there.len(),
            nodes.len()
        ))
    }
}

/// A database before and after a change, each looked at once at most; where its storage units are the same, once for both.
pub(crate) struct Looks<'l> {
    house: &'l dyn House,
    /// As it is served; absent where it has no storage units yet.
    pub(crate) before: Option<&'l Database>,
    /// As it would be.
    pub(crate) after: &'l Database,
    earlier: Option<Standing>,
    later: Option<Standing>,
}

impl<'l> Looks<'l> {
    /// Nothing has been looked at yet.
    pub(crate) fn new(
        house: &'l dyn House,
        before: Option<&'l Database>,
        after: &'l Database,
    ) -> Self {
        let before = before.filter(|before| !before.storage_units.is_empty());
        Self { house, before, after, earlier: None, later: None }
    }

    /// The database whose tables may have rows that a change would lose: as it is served, or as it will be where there is none yet.
    pub(crate) fn source(&self) -> &'l Database {
        self.before.unwrap_or(self.after)
    }

    /// What stands there.
    ///
    /// # Errors
    /// What the storage units say.
    pub(crate) async fn at_source(&mut self) -> Result<&Standing> {
        match self.before {
            Some(before) if !same_units(before, self.after) => {
                let known = match self.earlier.take() {
                    Some(known) => known,
                    None => Standing::of(self.house, before).await?,
                };
                Ok(self.earlier.insert(known))
            }
            Some(_) | None => self.at_end().await,
        }
    }

    /// What stands on the storage units of the database as it would be.
    ///
    /// # Errors
    /// What they say.
    pub(crate) async fn at_end(&mut self) -> Result<&Standing> {
        let known = match self.later.take() {
            Some(known) => known,
            None => Standing::of(self.house, self.after).await?,
        };
        Ok(self.later.insert(known))
    }
}

fn same_units(one: &Database, other: &Database) -> bool {
    let places = |database: &Database| -> Vec<(String, String)> {
        let units = database.storage_units.iter();
        units.map(|unit| (unit.name.value.clone(), format!("{:?}", unit.url.value))).collect()
    };
    places(one) == places(other)
}

/// A table as messages name it.
pub(crate) fn told(table: &Found) -> String {
    match table.schema.as_deref().filter(|schema| *schema != "public") {
        None => format!("{}.{}", table.unit, table.table),
        Some(schema) => format!("{}.{schema}.{}", table.unit, table.table),
    }
}

/// A number of rows as messages tell it.
pub(crate) fn counted(rows: usize) -> String {
    match rows {
        0 => "no rows".to_owned(),
        1 => "1 row".to_owned(),
        rows if rows > MOST_COUNTED => format!("more than {MOST_COUNTED} rows"),
        rows => format!("{rows} rows"),
    }
}
