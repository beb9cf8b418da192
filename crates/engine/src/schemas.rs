//! In which schemas tables stand, where the first one that names without a schema are looked for in does not have all.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pando_kernel::feature::{Database, TableKind};

/// A table, view or sequence of a storage unit.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    /// Its actual name's key.
    pub(crate) key: String,
    pub(crate) schema: String,
    /// Where its schema comes among those that a fresh connection looks into; `None` where it does not.
    pub(crate) rank: Option<i64>,
}

/// Which schemas have tables of a name, over all storage units of a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Schemas {
    /// Those that a fresh connection looks into, first to last, as far as any table stands in them.
    path: Vec<String>,
    /// By logic table's key, in order; without tables that stand in the first of the path alone.
    beside: HashMap<String, Vec<String>>,
}

impl Schemas {
    /// Of all that was found.
    pub(crate) fn of(database: &Database, found: &[Standing]) -> Self {
        let ranks = found.iter().filter_map(|one| Some((one.rank?, one.schema.as_str())));
        let path: BTreeMap<i64, &str> = ranks.collect();
        let path: Vec<String> = path.into_values().map(str::to_owned).collect();
        let is_beside = |one: &&Standing| path.first() != Some(&one.schema);
        if !found.iter().any(|one| is_beside(&one)) {
            return Self { path, beside: HashMap::new() };
        }
        let logic = logic_keys(database);
        let key = |one: &Standing| logic.get(&one.key).unwrap_or(&one.key).clone();
        let mut beside: HashMap<String, BTreeSet<&str>> = HashMap::new();
        for one in found.iter().filter(is_beside) {
            beside.entry(key(one)).or_default().insert(&one.schema);
        }
        for one in found {
            if let Some(schemas) = beside.get_mut(&key(one)) {
                schemas.insert(&one.schema);
            }
        }
        let owned = |schemas: BTreeSet<&str>| schemas.into_iter().map(str::to_owned).collect();
        let beside = beside.into_iter().map(|(key, schemas)| (key, owned(schemas))).collect();
        Self { path, beside }
    }

    /// Whether every table stands in the first schema of the path.
    pub(crate) fn are_one(&self) -> bool {
        self.beside.is_empty()
    }

    /// Those that names without a schema are looked for in, as far as any table stands in them.
    pub(crate) fn path(&self) -> &[String] {
        &self.path
    }

    /// Whether tables of this key may be meant that stand in another schema than the first.
    pub(crate) fn has_beside(&self, key: &str) -> bool {
        self.beside.contains_key(key)
    }

    /// Where the table stands that a name without a schema means to whoever looks into these schemas; `None` for
    /// nothing.
    pub(crate) fn found(&self, key: &str, path: &[String]) -> Option<&str> {
        let home = self.path.first().map(std::slice::from_ref).unwrap_or_default();
        let own = self.beside.get(key).map_or(home, Vec::as_slice);
        path.iter().find_map(|schema| own.iter().find(|known| *known == schema)).map(String::as_str)
    }

    /// Where the table stands whose columns are known under its key alone: what a fresh connection means, else the only
    /// one that there is.
    pub(crate) fn usual(&self, key: &str) -> Option<&str> {
        let only = || match self.beside.get(key).map(Vec::as_slice) {
            Some([only]) => Some(only.as_str()),
            Some(_) | None => None,
        };
        self.found(key, &self.path).or_else(only)
    }

    /// Whether whoever looks into these schemas means the same as a fresh connection, by whatever name.
    pub(crate) fn is_usual_path(&self, path: &[String]) -> bool {
        let has_some = |schema: &&String| {
            self.path.contains(*schema) || self.beside.values().flatten().any(|own| own == *schema)
        };
        path.iter().filter(has_some).eq(self.path.iter())
    }
}

/// By the key of an actual table that of the table it is a part of, where that is another.
fn logic_keys(database: &Database) -> HashMap<String, String> {
    let syntax = database.dialect.syntax();
    let mut keys = HashMap::new();
    for table in database.features.iter().flat_map(|feature| feature.tables()) {
        if table.kind == TableKind::Single {
            continue;
        }
        let own = syntax.table_key(&table.name);
        for node in &table.nodes {
            let actual = syntax.table_key(&node.table);
            if actual != own {
                keys.insert(actual, own.clone());
            }
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pando_fake::FakeDialect;
    use pando_kernel::feature::{DataNode, Feature, LogicTable, Room};

    use super::*;

    #[derive(Debug)]
    struct Rules;

    impl Room for Rules {
        fn name(&self) -> &'static str {
            "rules"
        }

        fn tables(&self) -> Vec<LogicTable> {
            let node = |table: &str| DataNode { unit: "ds_0".into(), table: table.into() };
            vec![LogicTable {
                name: "t".into(),
                kind: TableKind::Sharded,
                nodes: vec![node("t_0"), node("t_1")],
                spread: String::new(),
                keys: vec!["id".into()],
            }]
        }
    }

    impl Feature for Rules {}

    /// Of tables written as `schema.table`, where `a` and `b` are looked into, in this order.
    fn schemas(tables: &[&str]) -> Schemas {
        let database = Database {
            name: "shop".into(),
            units: vec!["ds_0".into()],
            features: vec![Arc::new(Rules)],
            dialect: Arc::new(FakeDialect::default()),
        };
        let one = |name: &&str| {
            let (schema, key) = name.split_once('.').unwrap();
            let rank = ["a", "b"].iter().position(|known| *known == schema);
            Standing {
                key: key.into(),
                schema: schema.into(),
                rank: rank.map(|rank| i64::try_from(rank).unwrap()),
            }
        };
        Schemas::of(&database, &tables.iter().map(one).collect::<Vec<_>>())
    }

    #[test]
    fn tables_of_the_first_schema_need_no_telling_apart() {
        let one = schemas(&["a.t_0", "a.t_1", "a.x"]);
        assert!(one.are_one() && !one.has_beside("t"));
        assert_eq!(one.usual("x"), Some("a"));
        assert_eq!(one.found("x", &["c".into()]), None);
    }

    #[test]
    fn actual_tables_stand_for_the_logic_one() {
        let several = schemas(&["a.t_0", "a.t_1", "c.t_0", "c.t_1"]);
        assert!(several.has_beside("t") && !several.has_beside("t_0"));
        assert_eq!(several.usual("t"), Some("a"));
        assert_eq!(several.found("t", &["b".into(), "c".into(), "a".into()]), Some("c"));
    }

    #[test]
    fn the_only_table_is_usual_wherever_it_stands() {
        let several = schemas(&["a.x", "c.y", "c.z", "d.z", "b.w", "d.w"]);
        let usual = ["x", "y", "z", "w"].map(|key| several.usual(key));
        assert_eq!(usual, [Some("a"), Some("c"), None, Some("b")]);
        assert_eq!(several.found("y", several.path()), None);
    }

    #[test]
    fn a_path_is_usual_where_it_finds_the_same() {
        let several = schemas(&["a.x", "b.y", "c.z"]);
        let usual = |path: &[&str]| {
            several.is_usual_path(&path.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>())
        };
        assert!(usual(&["a", "b"]) && usual(&["empty", "a", "b"]));
        assert!(!usual(&["b", "a"]) && !usual(&["a"]) && !usual(&["a", "b", "c"]));
    }
}
