//! What the numbers of each storage unit's types and relations are shown as: those of the catalogue that clients are shown, in which the first unit tells
//! of types, and the unit of a table's first node of the table.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::feature::{Database, LogicTable};
use pando_kernel::oids::{
    ListedRelation, ListedType, Listing, Oids, Others, ShownRelation, TypeName,
};
use pando_kernel::presentation::Presentation;
use pando_kernel::route::UnitName;

use crate::plan::writer_of;

/// A node of a table that another one stands for in the catalogue.
struct Part {
    actual: Arc<str>,
    first: Arc<str>,
    /// Who shows it.
    shower: UnitName,
}

/// The names of a unit's tables that clients are shown under another number or whose number others are shown under.
pub(crate) fn asked_tables(database: &Database, unit: &UnitName) -> Vec<String> {
    let mut writers = Writers { database, known: HashMap::new() };
    let writer = writers.of(unit);
    let mut names = Vec::new();
    for table in tables(database).filter(|table| table.nodes.len() > 1) {
        for node in &table.nodes {
            if writers.of(&node.unit) == writer {
                names.push(node.table.to_string());
                names.push(node.table.to_lowercase());
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// The units whose listings tell what the numbers of this one are shown as; itself first.
pub(crate) fn needed_units(database: &Database, unit: &UnitName) -> Vec<UnitName> {
    let mut needed = vec![Arc::clone(unit)];
    let showers = parts(database, unit).into_iter().map(|part| part.shower);
    for other in database.units.first().cloned().into_iter().chain(showers) {
        if !needed.contains(&other) {
            needed.push(other);
        }
    }
    if needed.len() == 1 && parts(database, unit).is_empty() {
        // All of it is shown as it is.
        needed.clear();
    }
    needed
}

/// What a unit's numbers are shown as, by what is listed in [`needed_units`].
pub(crate) fn of_listings(
    database: &Database,
    presentation: &dyn Presentation,
    unit: &UnitName,
    listings: &HashMap<UnitName, Arc<Listing>>,
) -> Oids {
    let mut numbers = Oids::default();
    let shift =
        |number, unit: &UnitName| presentation.relation_number(number, place(database, unit));
    let first = database.dialect.oid_rules().map_or(u32::MAX, |oid_rules| oid_rules.first_made());
    let higher = shift(first, unit).wrapping_sub(first);
    numbers.show_others(Others { first, higher });
    let Some(own) = listings.get(unit) else { return numbers };
    let parts = parts(database, unit);
    let home = database.units.first().and_then(|home| listings.get(home));
    let writer = writer_of(database, Arc::clone(unit));
    for (name, listed) in &own.types {
        let part =
            parts.iter().find(|part| listed.is_of_table && is_called(&part.actual, &name.name));
        let shown = match part {
            Some(part) => listings
                .get(&part.shower)
                .and_then(|shower| of_first(shower, name, part))
                .map(|number| shift(number, &part.shower)),
            None if listed.is_of_table => None,
            None => home.and_then(|home| home.types.get(name)).map(|home| home.number),
        };
        let shown = shown.unwrap_or_else(|| shift(listed.number, &writer));
        numbers.show_type(*listed, shown);
    }
    for part in &parts {
        let shower = listings.get(&part.shower);
        if let Some(own) = relation(own, &part.actual)
            && let Some(first) = shower.and_then(|shower| relation(shower, &part.first))
        {
            let shown = ShownRelation {
                number: shift(first.number, &part.shower),
                attributes: other_attributes(own, first),
            };
            numbers.show_relation(own.number, shown);
        }
    }
    numbers
}

/// The place by which a unit's numbers are shown: that of the one whose numbers it has.
pub(crate) fn place(database: &Database, unit: &UnitName) -> usize {
    let writer = writer_of(database, Arc::clone(unit));
    database.units.iter().position(|known| *known == writer).unwrap_or(0)
}

/// The number of the type that rows (or arrays of rows) of a part's first node have.
fn of_first(shower: &Listing, name: &TypeName, part: &Part) -> Option<u32> {
    let called = |table: String| TypeName { name: table, ..name.clone() };
    let exact = shower.types.get(&called(part.first.to_string()));
    let listed: Option<&ListedType> =
        exact.or_else(|| shower.types.get(&called(part.first.to_lowercase())));
    listed.map(|listed| listed.number)
}

/// A name configured in mixed case and never quoted in a statement is a lower-case table.
fn relation<'a>(listing: &'a Listing, table: &str) -> Option<&'a ListedRelation> {
    listing.relations.get(table).or_else(|| listing.relations.get(&table.to_lowercase()))
}

fn is_called(configured: &str, own: &str) -> bool {
    configured == own || configured.to_lowercase() == own
}

fn other_attributes(own: &ListedRelation, shown: &ListedRelation) -> Vec<(i16, i16)> {
    let both = own.attributes.iter().map(|(name, own)| (*own, shown.attributes.get(name)));
    // A column that the shown one does not have is none of its.
    let both = both.map(|(own, shown)| (own, shown.copied().unwrap_or_default()));
    both.filter(|(own, shown)| own != shown).collect()
}

/// Who takes the writes of each unit, asked once of the rooms.
struct Writers<'a> {
    database: &'a Database,
    known: HashMap<UnitName, UnitName>,
}

impl Writers<'_> {
    fn of(&mut self, unit: &UnitName) -> UnitName {
        let new = || writer_of(self.database, Arc::clone(unit));
        Arc::clone(self.known.entry(Arc::clone(unit)).or_insert_with(new))
    }
}

/// What stands in a unit and is shown as something that stands elsewhere, or beside it.
fn parts(database: &Database, unit: &UnitName) -> Vec<Part> {
    let mut writers = Writers { database, known: HashMap::new() };
    let writer = writers.of(unit);
    let mut parts = Vec::new();
    for table in tables(database) {
        let Some(first) = table.nodes.first() else { continue };
        let shower = writers.of(&first.unit);
        for (number, node) in table.nodes.iter().enumerate() {
            let is_here = writers.of(&node.unit) == writer;
            let stands_for_itself = number == 0 && shower == *unit;
            if is_here && !stands_for_itself && table.nodes.len() > 1 {
                let (actual, first) = (Arc::clone(&node.table), Arc::clone(&first.table));
                parts.push(Part { actual, first, shower: Arc::clone(&shower) });
            }
        }
    }
    parts
}

fn tables(database: &Database) -> impl Iterator<Item = LogicTable> {
    database.features.iter().flat_map(|feature| feature.tables())
}
