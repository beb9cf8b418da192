//! Actual tables by their names, for texts of storage units that name them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::table::LogicTable;

/// Which logic table an actual one belongs to, wherever it stands; those whose name alone does not say it are not known.
#[derive(Debug, Default)]
pub struct ActualNames {
    database: String,
    /// By the actual name in lower case.
    logic: HashMap<String, Option<Arc<str>>>,
}

impl ActualNames {
    /// Those of a database of this name, whose rooms know of these tables.
    pub fn of(database: &str, tables: &[LogicTable]) -> Self {
        let mut logic: HashMap<String, Option<Arc<str>>> = HashMap::new();
        for table in tables {
            let name: Arc<str> = table.name.as_str().into();
            for node in &table.nodes {
                let entry = logic.entry(node.table.to_lowercase());
                let known = entry.or_insert_with(|| Some(Arc::clone(&name)));
                if known.as_ref().is_some_and(|known| *known != name) {
                    *known = None;
                }
            }
        }
        for table in tables {
            // A logic table of that name may be meant as well.
            let own = table.name.to_lowercase();
            logic.entry(own).and_modify(|known| {
                *known = known.take().filter(|known| known.eq_ignore_ascii_case(&table.name));
            });
        }
        logic.retain(|actual, name| {
            name.as_ref().is_some_and(|name| !name.eq_ignore_ascii_case(actual))
        });
        Self { database: database.to_owned(), logic }
    }

    /// These (actual, logic), in the logical database of this name.
    pub fn new(database: &str, tables: &[(&str, &str)]) -> Self {
        let entry = |(actual, logic): &(&str, &str)| (actual.to_lowercase(), Some((*logic).into()));
        Self { database: database.to_owned(), logic: tables.iter().map(entry).collect() }
    }

    /// The logical database.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// The logic table that an actual one belongs to, where it is called otherwise.
    pub fn table(&self, actual: &str) -> Option<&str> {
        self.logic.get(&actual.to_lowercase())?.as_deref()
    }

    /// What an index or constraint is called that has an actual table's name at its end (`given_t_0`), as Pando names them, or in front
    /// (`t_0_pkey`), as servers do.
    pub fn inner(&self, name: &str) -> Option<String> {
        let cuts = || name.match_indices('_').map(|(at, _)| name.split_at(at));
        let given =
            cuts().find(|(front, end)| !front.is_empty() && self.table(&end[1..]).is_some());
        given.map(|(front, _)| front.to_owned()).or_else(|| {
            let mut made = cuts().filter_map(|(front, end)| Some((self.table(front)?, end)));
            made.next_back().map(|(logic, end)| format!("{logic}{end}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_told_by_the_names_they_were_given() {
        let names = ActualNames::new("shop", &[("t_0", "t"), ("t_1", "t"), ("t_0_1", "odd")]);
        let cases = [
            ("t_0_pkey", Some("t_pkey")),
            ("named_t_0", Some("named")),
            ("t_u_t_1", Some("t_u")),
            ("T_0_ibfk_1", Some("t_ibfk_1")),
            ("t_0_1_pkey", Some("odd_pkey")),
            ("t_0", None),
            ("other_pkey", None),
            ("_t_0", None),
            ("", None),
        ];
        for (name, told) in cases {
            assert_eq!(names.inner(name).as_deref(), told, "{name}");
        }
    }
}
