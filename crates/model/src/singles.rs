//! Which tables of the storage units are single tables, as the single room sees them.

use std::collections::{BTreeMap, HashMap, HashSet};

use pando_kernel::feature::TableKind;

use crate::around::{Around, SingleTable};
use crate::draft::{Seen, see};
use crate::model::Model;
use crate::refusal::{Kind, Result};

/// The tables found on the units, told apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Singles {
    /// Those that clients can use, by name.
    pub served: Vec<SingleTable>,
    /// Those that no rule names, and those that clients cannot use: their name is served from elsewhere, or stands in several units and no
    /// rule says which is meant. By name and unit; what is served without being named is in both.
    pub unloaded: Vec<SingleTable>,
}

impl Model {
    /// What of the tables found on a database's storage units are single tables. `found` has every table of every unit, by the unit's own
    /// name; replicas may be among them and are passed over. In the answer a group's tables stand under the group's name.
    ///
    /// # Errors
    /// `UnknownDatabase`; `InvalidDocument` where the database cannot be built.
    pub fn single_tables(
        &self,
        database: &str,
        found: &[SingleTable],
        around: &Around<'_>,
    ) -> Result<Singles> {
        let (_, tree) = self.database(database)?;
        let seen = see(tree, around, Kind::InvalidDocument)?;
        let places = Places::of(&seen);
        let mut by_name: BTreeMap<String, Vec<SingleTable>> = BTreeMap::new();
        for table in found {
            let name = table.table.to_lowercase();
            let Some(place) = places.of_unit.get(table.unit.as_str()) else { continue };
            let is_part = places.parts.contains(&((*place).to_owned(), name.clone()));
            if !is_part && !places.ruled.contains(&name) {
                let table = SingleTable { unit: (*place).to_owned(), ..table.clone() };
                by_name.entry(name).or_default().push(table);
            }
        }
        let patterns = seen.database.rules.single.iter().flat_map(|section| &section.tables);
        let patterns: Vec<Pattern<'_>> =
            patterns.filter_map(|text| Pattern::read(text.as_str())).collect();
        let mut singles = Singles::default();
        for (name, mut tables) in by_name {
            tables.sort_by(|a, b| (&a.unit, &a.schema).cmp(&(&b.unit, &b.schema)));
            let place = place(&name, &tables, &patterns, &places);
            for table in tables {
                let is_served = place.as_ref().is_some_and(|place| *place == table.unit);
                if !is_served || !patterns.iter().any(|own| own.fits(&table.unit, &name)) {
                    singles.unloaded.push(table.clone());
                }
                if is_served {
                    singles.served.push(table);
                }
            }
        }
        Ok(singles)
    }
}

/// The place a name is served from: the one it is loaded from, else the only one it stands in, or the only one that a `*` takes in, or the
/// only one among them that rules have put to work.
fn place(
    name: &str,
    tables: &[SingleTable],
    patterns: &[Pattern<'_>],
    places: &Places<'_>,
) -> Option<String> {
    if places.is_one {
        return tables.first().map(|table| table.unit.clone());
    }
    let exact = |own: &&Pattern<'_>| own.unit.is_some() && own.table.as_deref() == Some(name);
    if let Some(own) = patterns.iter().find(exact) {
        return own.unit.map(str::to_owned);
    }
    let mut all: Vec<String> = tables.iter().map(|table| table.unit.clone()).collect();
    all.dedup();
    let narrow = |all: &mut Vec<String>, fits: &dyn Fn(&String) -> bool| {
        if all.len() > 1 && all.iter().any(fits) {
            all.retain(fits);
        }
    };
    narrow(&mut all, &|unit| patterns.iter().any(|own| own.fits(unit, name)));
    narrow(&mut all, &|unit| places.at_work.contains(unit));
    match all.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    }
}

/// `unit.table` or `unit.schema.table`; absent is `*`. The schema says nothing: a table is known by its name alone.
struct Pattern<'p> {
    unit: Option<&'p str>,
    table: Option<String>,
}

impl<'p> Pattern<'p> {
    fn read(text: &'p str) -> Option<Self> {
        let parts: Vec<&str> = text.split('.').map(str::trim).collect();
        let (unit, table) = match parts.as_slice() {
            [unit, table] | [unit, _, table] => (*unit, *table),
            _ => return None,
        };
        let unless_star = |part: &'p str| (part != "*").then_some(part);
        Some(Self { unit: unless_star(unit), table: unless_star(table).map(str::to_lowercase) })
    }

    /// `name` is in lower case.
    fn fits(&self, unit: &str, name: &str) -> bool {
        self.unit.is_none_or(|own| own == unit)
            && self.table.as_deref().is_none_or(|table| table == name)
    }
}

/// What the rules of a database know about units and tables.
struct Places<'s> {
    /// Storage unit to group or itself; without replicas.
    of_unit: HashMap<&'s str, &'s str>,
    /// Whether everything stands in one place anyway.
    is_one: bool,
    /// Sharded and broadcast tables, in lower case.
    ruled: HashSet<String>,
    /// Place and actual table in lower case.
    parts: HashSet<(String, String)>,
    /// Groups, and what holds parts of sharded tables.
    at_work: HashSet<String>,
}

impl<'s> Places<'s> {
    fn of(seen: &'s Seen) -> Self {
        let units = seen.database.storage_units.iter().map(|unit| unit.name.value.as_str());
        let mut of_unit: HashMap<&str, &str> = units.map(|unit| (unit, unit)).collect();
        let rule = seen.database.rules.readwrite.as_ref();
        let groups = || rule.into_iter().flat_map(|section| section.groups.iter());
        let rule = seen.database.rules.shadow.as_ref();
        let shadows = || rule.into_iter().flat_map(|section| section.data_sources.iter());
        for (_, group) in groups() {
            for read in &group.read {
                of_unit.remove(read.as_str());
            }
        }
        for (name, group) in groups() {
            of_unit.insert(&group.write, name);
        }
        for (name, pair) in shadows() {
            of_unit.retain(|_, place| *place != pair.shadow.as_str());
            let own = of_unit.values_mut().filter(|place| **place == pair.production.as_str());
            own.for_each(|place| *place = name);
        }
        let ruled = seen.tables.iter().filter(|table| match table.kind {
            TableKind::Sharded | TableKind::Broadcast => true,
            TableKind::Single => false,
        });
        let nodes = || seen.sharded().flat_map(|table| &table.nodes);
        let groups = groups().map(|(name, _)| name).chain(shadows().map(|(name, _)| name));
        let groups = groups.map(|name| name.value.clone());
        let parted = nodes().map(|node| node.unit.to_string());
        Self {
            is_one: of_unit.len() == 1,
            of_unit,
            ruled: ruled.map(|table| table.name.to_lowercase()).collect(),
            at_work: groups.chain(parted).collect(),
            parts: nodes().map(|node| (node.unit.to_string(), node.table.to_lowercase())).collect(),
        }
    }
}
