//! Which views of the storage units are over several actual tables, and what their queries are over logic ones.
//!
//! A server knows such a view over one actual table of each logic one: its columns, their types, what hangs on what and
//! who may do what are the server's to say. The query that it tells, in logic names, is the view's.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pando_kernel::feature::{Context, Database, LogicTable, SessionView, TableKind};
use pando_kernel::route::UnitName;
use pando_kernel::views::{LogicView, Taken, Unusable, Views};
use pando_sql::ast::{Kind, Query, QueryBody, SelectItem, Statement};
use pando_sql::visit::{self, Refers};
use pando_sql::{Edits, Span};

use super::known::Known;
use super::{expand, names};
use crate::clock::System;

/// Views in views, at most.
const DEEPEST: usize = 32;

/// A view as a storage unit tells it.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) unit: UnitName,
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
    pub(crate) definition: String,
    /// The names of its columns, where definitions may lack them.
    pub(crate) columns: Vec<String>,
    pub(crate) changes: Taken,
    /// As [`LogicView::is_strict`].
    pub(crate) is_strict: bool,
    pub(crate) is_materialized: bool,
    /// Where its unqualified tables stand: a schema, or the database.
    pub(crate) home: String,
}

/// A table of which a view sees one part of several, or which is called otherwise there.
pub(super) fn is_split(table: &LogicTable) -> bool {
    let is_itself =
        |table: &LogicTable| matches!(&table.nodes[..], [only] if *only.table == *table.name);
    table.kind == TableKind::Sharded && !is_itself(table)
}

/// Whether a database may have views over several actual tables.
pub(crate) fn are_possible(database: &Database) -> bool {
    database.features.iter().flat_map(|feature| feature.tables()).any(|table| is_split(&table))
}

/// The views over several actual tables, of all that were found: in the order of the units.
pub(crate) fn told(database: &Database, found: Vec<Stored>) -> Views {
    let parts = Parts::of(database);
    let read: Vec<Read> = found
        .into_iter()
        .filter(|stored| !parts.is_configured(database, stored))
        .map(|stored| Read::of(database, &parts, stored))
        .collect();
    // A view over such a view is one, too.
    let mut split: HashSet<(UnitName, String)> = HashSet::new();
    loop {
        let further = read.iter().filter(|view| {
            // The rows of a materialized one are in one place.
            let is_filled = |place: &(UnitName, String)| {
                read.iter().any(|other| {
                    other.stored.is_materialized
                        && other.stored.unit == place.0
                        && other.key == place.1
                })
            };
            let is_over = |name: &String| {
                let place = (Arc::clone(&view.stored.unit), name.clone());
                split.contains(&place) && !is_filled(&place)
            };
            view.is_split || view.names.iter().any(is_over)
        });
        let keys: Vec<_> =
            further.map(|view| (Arc::clone(&view.stored.unit), view.key.clone())).collect();
        let before = split.len();
        split.extend(keys);
        if split.len() == before {
            break;
        }
    }
    let mut views = Views::new();
    for view in read {
        if !split.contains(&(Arc::clone(&view.stored.unit), view.key.clone())) {
            continue;
        }
        let (key, own) = (view.key.clone(), view.into_logic());
        match views.get_mut(&key) {
            None => drop(views.insert(key, own)),
            // The same on another unit is the same view.
            Some(known) if known.own == own.own && known.schema == own.schema => {}
            Some(known) => {
                known.query = Err(Unusable {
                    reason: format!("several views over sharded tables are called `{key}`"),
                    instead: "give each a name of its own",
                });
            }
        }
    }
    whole(database, &mut views);
    views
}

/// Which actual tables stand for which logic ones.
struct Parts {
    /// By storage unit and key the logic table.
    by_place: HashMap<(UnitName, String), Arc<str>>,
    logic: HashSet<String>,
    /// Those of which a unit has but a part.
    split: HashSet<String>,
}

impl Parts {
    fn of(database: &Database) -> Self {
        let syntax = database.dialect.syntax();
        let groups: Vec<_> =
            database.features.iter().flat_map(|feature| feature.groups().places).collect();
        let mut parts =
            Self { by_place: HashMap::new(), logic: HashSet::new(), split: HashSet::new() };
        for table in database.features.iter().flat_map(|feature| feature.tables()) {
            if table.kind != TableKind::Sharded {
                continue;
            }
            parts.logic.insert(syntax.table_key(&table.name).to_lowercase());
            if !is_split(&table) {
                continue;
            }
            parts.split.insert(table.name.to_lowercase());
            let logic: Arc<str> = table.name.as_str().into();
            for node in &table.nodes {
                let members = groups.iter().find(|group| group.name == node.unit);
                let units =
                    members.map_or(std::slice::from_ref(&node.unit), |group| &group.members);
                for unit in units {
                    let place = (Arc::clone(unit), syntax.table_key(&node.table).to_lowercase());
                    parts.by_place.insert(place, Arc::clone(&logic));
                }
            }
        }
        parts
    }

    /// Whether rules speak of a view: each actual one of it is over its own actual tables.
    fn is_configured(&self, database: &Database, stored: &Stored) -> bool {
        let key = database.dialect.syntax().table_key(&stored.name).to_lowercase();
        self.logic.contains(&key) || self.by_place.contains_key(&(Arc::clone(&stored.unit), key))
    }

    /// Whether a unit's table of this key has the name of a logic one, and is no part of it.
    fn is_away(&self, unit: &UnitName, key: &str) -> bool {
        self.split.contains(&key.to_lowercase()) && self.logic(unit, key).is_none()
    }

    fn logic(&self, unit: &UnitName, key: &str) -> Option<&Arc<str>> {
        self.by_place.get(&(Arc::clone(unit), key.to_lowercase()))
    }
}

/// A view whose definition was read.
struct Read {
    stored: Stored,
    key: String,
    is_split: bool,
    /// Why it cannot be used, though it could be read.
    fault: Option<Unusable>,
    /// The keys of what it is over.
    names: Vec<String>,
    /// Its query in logic names; `None` when it could not be read.
    query: Option<(String, Vec<String>)>,
}

impl Read {
    fn of(database: &Database, parts: &Parts, stored: Stored) -> Self {
        let syntax = database.dialect.syntax();
        let key = syntax.table_key(&stored.name);
        let text = stored.definition.trim_end().trim_end_matches(';').to_owned();
        let Some(stmt) = pando_sql::parse(&text, syntax).ok().filter(is_query) else {
            let is_split = words(&text).any(|word| parts.logic(&stored.unit, word).is_some());
            return Self { stored, key, is_split, fault: None, names: Vec::new(), query: None };
        };
        let mut names: Vec<String> = Vec::new();
        // Which actual table stands for a logic one in it.
        let mut stand: HashMap<Arc<str>, HashSet<String>> = HashMap::new();
        let mut fault = None;
        for table in visit::tables(&stmt.kind) {
            if !is_at_home(&stored, &table.name.parts) {
                continue;
            }
            let key = table.name.key();
            if let Some(logic) = parts.logic(&stored.unit, &key) {
                stand.entry(Arc::clone(logic)).or_default().insert(key.clone());
            }
            if parts.is_away(&stored.unit, &key) {
                fault = Some(Unusable {
                    reason: format!(
                        "view `{}` stands in `{}`, where `{key}` has no part",
                        stored.name, stored.unit
                    ),
                    instead: "drop it, and make it anew",
                });
            }
            names.push(key);
        }
        if database.turns_columns() && !stand.is_empty() {
            fault = Some(Unusable {
                reason: format!(
                    "view `{}` is over sharded tables, and tells their columns as they are stored",
                    stored.name
                ),
                instead: "write its query in the place of the view",
            });
        }
        // What names several parts of a table is about these.
        let is_split =
            fault.is_some() || !stand.is_empty() && stand.values().all(|keys| keys.len() == 1);
        let query = in_logic_names(database, parts, &stored, &stmt);
        let columns = select_names(&stmt);
        let columns = match columns {
            Some(own) if !stored.columns.is_empty() && own != stored.columns => {
                stored.columns.clone()
            }
            Some(_) | None => Vec::new(),
        };
        Self { stored, key, is_split, fault, names, query: Some((query, columns)) }
    }

    fn into_logic(self) -> LogicView {
        let Self { stored, key, query, fault, .. } = self;
        let unreadable = || Unusable {
            reason: format!("the definition of view `{key}` cannot be read"),
            instead: "write it in another way, or read its tables",
        };
        let (own, columns) = query.unwrap_or_default();
        let own: Arc<str> = own.into();
        LogicView {
            unit: stored.unit,
            schema: stored.schema,
            is_found: true,
            query: match fault {
                Some(fault) => Err(fault),
                None if own.is_empty() => Err(unreadable()),
                None => Ok(Arc::clone(&own)),
            },
            columns,
            own,
            changes: stored.changes,
            is_strict: stored.is_strict,
            is_materialized: stored.is_materialized,
        }
    }
}

fn is_query(stmt: &Statement) -> bool {
    matches!(stmt.kind, Kind::Select(_))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).filter(|w| !w.is_empty())
}

/// Whether a name means a table where the rules look for it: in every schema, as they speak of none.
fn is_at_home(stored: &Stored, parts: &[pando_sql::ast::Ident]) -> bool {
    match parts {
        [_] => true,
        [.., schema, _] if stored.schema.is_some() => schema.value != "pg_catalog",
        [.., schema, _] => schema.value.eq_ignore_ascii_case(&stored.home),
        [] => false,
    }
}

/// The query with logic names in the places of actual ones, and without the database's own name, which is another
/// there.
fn in_logic_names(database: &Database, parts: &Parts, stored: &Stored, stmt: &Statement) -> String {
    let has_schemas = stored.schema.is_some();
    let syntax = database.dialect.syntax();
    let mut edits = Edits::default();
    // Where tables stand that get another name, and which.
    let mut renamed: HashMap<Span, String> = HashMap::new();
    for table in visit::tables(&stmt.kind) {
        let name = table.name;
        let (true, Some(last)) = (is_at_home(stored, &name.parts), name.parts.last()) else {
            continue;
        };
        if let [.., before, _] = &name.parts[..]
            && !has_schemas
        {
            edits.replace(Span::new(before.span.start, last.span.start), "");
        }
        let Some(logic) = parts.logic(&stored.unit, &name.key()) else { continue };
        let logic = match syntax.exact_tables {
            true => logic.to_string(),
            false => logic.to_lowercase(),
        };
        let mut called = last.clone();
        called.value.clone_from(&logic);
        let quoted = database.dialect.quote(&logic);
        let has_alias = table.table.is_some_and(|table| table.alias.is_some());
        let own = same_tables(stmt, &name.key());
        if has_alias || !names::is_called(stmt, &called, &own) {
            edits.replace(last.span, quoted.clone());
            renamed.insert(name.span, quoted);
        } else {
            edits.replace(last.span, format!("{quoted} AS {}", last.span.of(&stmt.text)));
        }
    }
    for owner in visit::column_owners(&stmt.kind) {
        let Refers::Table(name) = owner.refers else { continue };
        if let Some(quoted) = renamed.get(&name.span) {
            edits.replace(owner.span, quoted.clone());
        } else if let ([_, .., last], true) = (owner.parts, is_at_home(stored, &name.parts)) {
            edits.replace(Span::new(owner.span.start, last.span.start), "");
        }
    }
    edits.apply(&stmt.text)
}

/// Where the table of this key is named.
fn same_tables(stmt: &Statement, key: &str) -> Vec<Span> {
    let tables = visit::tables(&stmt.kind).into_iter();
    tables.filter(|table| table.name.key() == key).map(|table| table.name.span).collect()
}

/// What the query calls its columns; `None` where it does not show.
fn select_names(stmt: &Statement) -> Option<Vec<String>> {
    let Kind::Select(query) = &stmt.kind else { return None };
    let mut query: &Query = query;
    let select = loop {
        match &query.body {
            QueryBody::Select(select) => break select,
            QueryBody::Set { left, .. } => query = left,
            QueryBody::Values(_) => return None,
        }
    };
    let name = |item: &SelectItem| match item {
        SelectItem::Expr { alias: Some(alias), .. } => Some(alias.value.clone()),
        SelectItem::Expr { alias: None, .. }
        | SelectItem::Star(_)
        | SelectItem::QualifiedStar(..) => None,
    };
    select.items.iter().map(name).collect()
}

/// Writes the views out that stand in views.
fn whole(database: &Database, views: &mut Views) {
    let (session, source) = (SessionView::default(), System::default());
    let catalog = crate::catalog::UnitCatalog::default();
    let dialect = database.dialect.as_ref();
    for (key, own) in views.clone() {
        let mut text = Arc::clone(&own.own);
        let mut outcome = own.query.clone();
        for depth in 0.. {
            if outcome.is_err() {
                break;
            }
            let ctx = Context {
                database,
                catalog: &catalog,
                dialect,
                parameters: None,
                session: &session,
                source: &source,
            };
            let known = Known { ctx: &ctx, views };
            let Ok(stmt) = pando_sql::parse(&text, dialect.syntax()) else {
                outcome = Err(unusable(&key, "cannot be read"));
                break;
            };
            match expand::expanded(&known, &stmt, expand::Query::Own) {
                Ok(None) => break,
                Ok(Some(_)) if depth == DEEPEST => {
                    outcome = Err(unusable(&key, "is made of too many others, one in the other"));
                }
                Ok(Some(further)) => {
                    text = further.into();
                    outcome = Ok(Arc::clone(&text));
                }
                Err(_) => outcome = Err(unusable(&key, "is over others that cannot stand there")),
            }
        }
        if let Some(view) = views.get_mut(&key) {
            view.query = outcome;
        }
    }
}

fn unusable(view: &str, what: &str) -> Unusable {
    Unusable {
        reason: format!("view `{view}` {what}"),
        instead: "make a table of what the innermost view shows, or write the query in another way",
    }
}

#[cfg(test)]
mod tests {
    use pando_fake::FakeDialect;
    use pando_kernel::feature::{DataNode, Feature, Room};

    use super::*;

    /// `t` in two units, and `moved`, of which `ds_0` has no part.
    #[derive(Debug)]
    struct Rules;

    impl Room for Rules {
        fn name(&self) -> &'static str {
            "rules"
        }

        fn tables(&self) -> Vec<LogicTable> {
            let table = |name: &str, nodes: &[(&str, &str)]| LogicTable {
                name: name.into(),
                kind: TableKind::Sharded,
                nodes: nodes
                    .iter()
                    .map(|(unit, table)| DataNode { unit: (*unit).into(), table: (*table).into() })
                    .collect(),
                spread: String::new(),
                keys: vec!["id".into()],
            };
            vec![
                table("t", &[("ds_0", "t_0"), ("ds_0", "t_1"), ("ds_1", "t_2")]),
                table("moved", &[("ds_1", "moved_0"), ("ds_1", "moved_1")]),
            ]
        }
    }

    impl Feature for Rules {}

    fn database() -> Database {
        Database {
            name: "shop".into(),
            units: vec!["ds_0".into(), "ds_1".into()],
            features: vec![Arc::new(Rules)],
            dialect: Arc::new(FakeDialect::default()),
        }
    }

    fn stored(unit: &str, name: &str, definition: &str) -> Stored {
        Stored {
            unit: unit.into(),
            schema: None,
            name: name.into(),
            definition: definition.into(),
            columns: Vec::new(),
            changes: Taken::Any,
            is_strict: false,
            is_materialized: false,
            home: "db".into(),
        }
    }

    /// Each view's name with its query, or why it has none.
    fn check(found: Vec<Stored>, expected: &[(&str, &str)]) {
        let views = told(&database(), found);
        let mut views: Vec<(&str, &str)> = views
            .iter()
            .map(|(key, view)| match &view.query {
                Ok(query) => (key.as_str(), &**query),
                Err(unusable) => (key.as_str(), unusable.reason.as_str()),
            })
            .collect();
        views.sort_unstable();
        assert_eq!(views, expected);
    }

    #[test]
    fn a_view_over_one_part_is_over_the_table() {
        check(
            vec![
                stored("ds_0", "v", "SELECT t_0.id AS id FROM db.t_0 WHERE t_0.n > 0;"),
                stored("ds_0", "single", "SELECT id FROM other"),
                stored("ds_0", "elsewhere", "SELECT id FROM foreign_db.t_0"),
            ],
            &[("v", r#"SELECT "t".id AS id FROM "t" WHERE "t".n > 0"#)],
        );
    }

    #[test]
    fn a_table_keeps_its_label_where_its_name_means_something_else() {
        check(
            vec![stored("ds_0", "v", "SELECT t_0.id FROM t_0, other AS t WHERE t.a = t_0.a")],
            &[("v", r#"SELECT t_0.id FROM "t" AS t_0, other AS t WHERE t.a = t_0.a"#)],
        );
    }

    #[test]
    fn a_view_over_several_parts_is_its_servers_own() {
        let union = "SELECT id FROM t_0 UNION ALL SELECT id FROM t_1";
        check(vec![stored("ds_0", "v", union)], &[]);
    }

    #[test]
    fn views_in_views_are_written_out() {
        check(
            vec![
                stored("ds_0", "b", "SELECT a.id AS id FROM a"),
                stored("ds_0", "a", "SELECT id AS id FROM t_1"),
            ],
            &[
                ("a", r#"SELECT id AS id FROM "t""#),
                ("b", r#"SELECT a.id AS id FROM (SELECT id AS id FROM "t") AS a"#),
            ],
        );
    }

    #[test]
    fn views_of_one_name_are_one_only_if_they_say_the_same() {
        let both = |second: &str| {
            vec![stored("ds_0", "v", "SELECT id FROM t_0"), stored("ds_1", "v", second)]
        };
        check(both("SELECT id FROM t_2"), &[("v", r#"SELECT id FROM "t""#)]);
        check(
            both("SELECT n FROM t_2"),
            &[("v", "several views over sharded tables are called `v`")],
        );
    }

    #[test]
    fn what_cannot_be_read_right_cannot_be_used() {
        check(
            vec![
                stored("ds_0", "unread", "SELECT FROM WHERE t_0 ("),
                stored("ds_0", "left", "SELECT id FROM moved"),
            ],
            &[
                ("left", "view `left` stands in `ds_0`, where `moved` has no part"),
                ("unread", "the definition of view `unread` cannot be read"),
            ],
        );
    }

    #[test]
    fn views_are_nested_so_deep_and_no_deeper() {
        let mut found = vec![stored("ds_0", "v0", "SELECT id AS id FROM t_0")];
        for depth in 1..=DEEPEST + 2 {
            let query = format!("SELECT id AS id FROM v{}", depth - 1);
            found.push(stored("ds_0", &format!("v{depth}"), &query));
        }
        let views = told(&database(), found);
        assert!(views[&format!("v{DEEPEST}")].query.is_ok());
        assert!(views[&format!("v{}", DEEPEST + 2)].query.is_err());
    }
}
