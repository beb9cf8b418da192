//! Databases: the vendor's own, and those of others.

use pando_kernel::error::Result;
use pando_kernel::guard::{Reach, column_places, denied, labels};
use pando_sql::{Dotted, Item, alike};

use super::Judge;
use super::words::{CATALOGUE, OF_OTHERS, OWN_STATE, ROWS, SHIPPED};

impl Judge {
    /// The vendor's own databases, which are not all for everybody.
    pub(super) fn secrets(&self, name: &Dotted<'_>) -> Result<()> {
        let [schema, rest @ ..] = &name.parts[..] else { return Ok(()) };
        if rest.is_empty() && !name.star || self.known.is_column(name.span) {
            return Ok(());
        }
        let table = rest.first().map(|part| part.to_lowercase()).unwrap_or_default();
        if alike(schema, "mysql") && !SHIPPED.iter().any(|start| table.starts_with(start)) {
            return self.privileged("the database `mysql`");
        }
        if self.reach != Reach::Own {
            return Ok(());
        }
        let state = OWN_STATE.iter().any(|end| table.ends_with(end));
        let of_others = OF_OTHERS.iter().any(|start| table.starts_with(start));
        let is_others = alike(schema, "sys")
            || alike(schema, "performance_schema") && !state
            // Behind a hint nobody leaves out what is not the database's.
            || alike(schema, CATALOGUE) && (of_others || self.is_hinted);
        match is_others {
            true => {
                Err(denied(format!("`{schema}.{table}` shows what belongs to other databases")))
            }
            false => Ok(()),
        }
    }

    /// No name may be of another database; what cannot be told is refused. Tables that the tree knows are looked up by the logical databases later, unless a
    /// hint sends the text as it is.
    pub(super) fn own_only(&self, items: &[Item<'_>]) -> Result<()> {
        let (places, labels) = (column_places(items), labels(items));
        for (at, item) in items.iter().enumerate() {
            let Item::Name(name) = item else { continue };
            let is_single = name.parts.len() == 1 && !name.star;
            if is_single || self.known.is_column(name.span) {
                continue;
            }
            let is_table = self.known.is_table(name.span);
            if is_table && (!self.is_hinted || name.parts.len() == 1) || is_vendors(&name.parts[0])
            {
                continue;
            }
            let called = items.get(at + 1) == Some(&Item::Mark("("));
            let row = name.parts.len() == 2 && ROWS.iter().any(|row| alike(&name.parts[0], row));
            let is_labelled = labels.contains(&name.parts[0].to_lowercase());
            let column = places[at] && !called && !is_table && name.parts.len() == 2 && is_labelled
                || places[at] && name.star && is_labelled;
            if !row && !column {
                return Err(denied(format!(
                    "`{}` may be of another database",
                    name.parts.join(".")
                )));
            }
        }
        self.no_other_database(items)
    }

    /// Statements of code that name a database by itself; the tree tells of those that stand alone.
    fn no_other_database(&self, items: &[Item<'_>]) -> Result<()> {
        for (at, item) in items.iter().enumerate() {
            let inside = (at > 0 || self.depth > 0) && self.begins(items, at);
            if inside && item.is_word("use") {
                return Err(denied("a database is not chosen inside a statement"));
            }
            let asks = |item: &Item<'_>| item.is_word("in") || item.is_word("from");
            if inside && item.is_word("show") && items[at..].iter().any(asks) {
                return Err(denied("what another database shows cannot be judged in code"));
            }
        }
        Ok(())
    }
}

/// Databases of the vendor's that are judged by their tables.
fn is_vendors(schema: &str) -> bool {
    [CATALOGUE, "mysql", "performance_schema", "sys"].iter().any(|own| alike(own, schema))
}
