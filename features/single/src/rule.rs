//! `!SINGLE`, validated, and what this room must know of the tables of others.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pando_config::{Placed, Problem, rules};
use pando_kernel::feature::{DataNode, LogicTable, TableKind};
use pando_kernel::route::{Place, UnitName};

use crate::pattern::Pattern;

#[derive(Debug)]
pub(crate) struct Rule {
    patterns: Vec<Pattern>,
    default: Option<UnitName>,
    places: Vec<Place>,
    /// Storage unit to place, for the units that take writes.
    place_of: HashMap<UnitName, UnitName>,
    /// Names of the tables other rooms answer for, in lower case and as configured.
    others: HashSet<String>,
    /// Place and name, likewise, of actual tables: parts of a sharded table, no tables of their own.
    parts: HashSet<(UnitName, String)>,
    /// Groups, and what holds parts of sharded tables: the places that rules have put to work.
    at_work: HashSet<UnitName>,
}

impl Rule {
    pub(crate) fn new(
        section: Option<&rules::Single>,
        places: &[Place],
        others: &[LogicTable],
    ) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let default = section.and_then(|section| section.default_data_source.as_ref());
        if let Some(name) = default.filter(|name| find(places, name).is_none()) {
            problems.push(undefined(name, name));
        }
        let mut patterns = Vec::new();
        for text in section.map(|section| section.tables.as_slice()).unwrap_or_default() {
            let Some(pattern) = Pattern::read(text) else {
                problems.push(text.at.problem("expected `unit.table` or `unit.schema.table`"));
                continue;
            };
            if let Some(place) =
                pattern.place.as_deref().filter(|place| find(places, place).is_none())
            {
                problems.push(undefined(text, place));
            }
            patterns.push(pattern);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let sharded = others.iter().filter(|table| table.kind == TableKind::Sharded);
        let both = |name: &str| [name.to_lowercase(), name.to_owned()];
        let part = |node: &DataNode| both(&node.table).map(|name| (Arc::clone(&node.unit), name));
        let writer = |place: &Place| Some((place.members.first()?.clone(), place.name.clone()));
        let is_group =
            |place: &&Place| !matches!(&place.members[..], [only] if *only == place.name);
        let groups = places.iter().filter(is_group).map(|place| place.name.clone());
        let parted = sharded.clone().flat_map(|table| &table.nodes).map(|node| node.unit.clone());
        Ok(Self {
            patterns,
            default: default.map(|name| name.as_str().into()),
            places: places.to_vec(),
            place_of: places.iter().filter_map(writer).collect(),
            others: others.iter().flat_map(|table| both(&table.name)).collect(),
            at_work: groups.chain(parted).collect(),
            parts: sharded.flat_map(|table| &table.nodes).flat_map(part).collect(),
        })
    }

    /// Another room answers for this table. `name` is its key.
    pub(crate) fn is_other(&self, name: &str) -> bool {
        self.others.contains(name)
    }

    /// The place a table is said to stand in by name. `name` is its key.
    pub(crate) fn configured(&self, name: &str) -> Option<&UnitName> {
        let exact = self.patterns.iter().filter(|own| own.exact().is_some());
        let place = exact.filter(|own| own.is_for(name)).find_map(|own| own.place.as_deref())?;
        find(&self.places, place)
    }

    /// The places a table was found in, without parts of sharded tables. Several are narrowed by the configured patterns, then to the places that
    /// rules have put to work: a unit that is only registered, as a replica on its way into or out of its group, takes no table from them.
    /// `name` is its key.
    pub(crate) fn found(&self, name: &str, units: &[UnitName]) -> Vec<UnitName> {
        let mut places: Vec<UnitName> = Vec::new();
        for place in units.iter().filter_map(|unit| self.place_of.get(unit)) {
            let is_part = self.parts.contains(&(Arc::clone(place), name.to_owned()));
            if !is_part && !places.contains(place) {
                places.push(Arc::clone(place));
            }
        }
        if places.len() > 1 {
            let fits = |place: &UnitName| self.patterns.iter().any(|own| own.fits(place, name));
            if places.iter().any(fits) {
                places.retain(fits);
            }
        }
        if places.len() > 1 && places.iter().any(|place| self.at_work.contains(place)) {
            places.retain(|place| self.at_work.contains(place));
        }
        places
    }

    /// Where a new table goes: `defaultDataSource`, else the first place.
    pub(crate) fn default_place(&self) -> Option<&UnitName> {
        self.default.as_ref().or_else(|| self.places.first().map(|place| &place.name))
    }

    /// The only place, when there is just one: then it is its server that knows which tables there are.
    pub(crate) fn only_place(&self) -> Option<&UnitName> {
        match self.places.as_slice() {
            [only] => Some(&only.name),
            _ => None,
        }
    }

    /// The tables named one by one in the configuration.
    pub(crate) fn logic_tables(&self) -> Vec<LogicTable> {
        let exact = self.patterns.iter().filter_map(Pattern::exact);
        exact
            .map(|(place, table)| LogicTable {
                name: table.to_owned(),
                kind: TableKind::Single,
                nodes: vec![DataNode { unit: place.into(), table: table.into() }],
                spread: String::new(),
                keys: Vec::new(),
            })
            .collect()
    }
}

fn find<'a>(places: &'a [Place], name: &str) -> Option<&'a UnitName> {
    places.iter().map(|place| &place.name).find(|own| ***own == *name)
}

fn undefined(at: &Placed<String>, place: &str) -> Problem {
    at.at.problem(format!("`{place}` is neither a storage unit nor a group"))
}
