//! How planning compares columns over several shards that a room has stored under other names: a room that renames them
//! and refuses nothing says what is stored of them compares as, and planning does the rest.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::sync::Arc;

use pando_engine::plan::{Planned, Purpose, plan};
use pando_fake::{Still, table_column};
use pando_kernel::changes::Changes;
use pando_kernel::dialect::TableColumn;
use pando_kernel::error::Result;
use pando_kernel::feature::{Catalog, Context, Database, Feature, Room, SessionView};
use pando_kernel::route::UnitName;
use pando_kernel::{Compares, Kind, LogicColumn, LogicColumns, ShowsColumns, StoredName, Target};
use pando_sql::ast::{Node, Statement};
use pando_sql::visit;

/// Has `name` of `t` stored as `kept` and `also`, by `kept` of it.
#[derive(Debug)]
struct Renaming(Compares);

impl Room for Renaming {
    fn name(&self) -> &'static str {
        "renaming"
    }

    fn columns(&self) -> Option<&dyn ShowsColumns> {
        Some(self)
    }
}

impl ShowsColumns for Renaming {
    fn logic(&self, table: &str, stored: &[TableColumn]) -> Option<Vec<LogicColumn>> {
        let [id, kept, also, note] = stored else { panic!("{table} has {stored:?}") };
        let name = LogicColumn {
            column: TableColumn { name: "name".into(), ..kept.clone() },
            compares: self.0,
            stored: vec![kept.clone(), also.clone()],
        };
        (table == "t")
            .then(|| vec![LogicColumn::plain(id.clone()), name, LogicColumn::plain(note.clone())])
    }

    fn names(&self) -> Vec<StoredName> {
        let name = |stored: &str, logic: Option<&str>| StoredName {
            table: "t".into(),
            stored: stored.into(),
            logic: logic.map(str::to_owned),
            declared: None,
            keys_of: None,
        };
        vec![name("kept", Some("name")), name("also", None)]
    }
}

impl Feature for Renaming {
    fn rewrite(
        &self,
        _: &Context<'_>,
        stmt: &Statement,
        _: &Target,
        changes: &mut Changes,
    ) -> Result<()> {
        visit::exprs(&stmt.kind, &mut |expr| {
            if let Node::Column(column) = &expr.node
                && let Some(last) = column.parts.last()
                && last.value == "name"
            {
                changes.text().replace(last.span, "kept");
            }
        });
        Ok(())
    }
}

#[derive(Debug)]
struct Known(LogicColumns);

impl Catalog for Known {
    fn columns(&self, _: &str) -> Option<Arc<Vec<TableColumn>>> {
        Some(Arc::new(self.0.told()))
    }

    fn logic(&self, table: &str) -> Option<Arc<LogicColumns>> {
        (table == "t").then(|| Arc::new(self.0.clone()))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::default())
    }
}

fn database(room: Renaming) -> Database {
    let folder = tempfile::tempdir().unwrap();
    let url = |name: &str| {
        format!("{{url: \"jdbc:mysql://127.0.0.1:1/{name}\", username: u, password: p}}")
    };
    let text = format!(
        "databaseName: shop
dataSources:
  ds_0: {}
  ds_1: {}
rules:
- !SHARDING
  tables:
    t:
      actualDataNodes: ds_${{0..1}}.t
      databaseStrategy: {{standard: {{shardingColumn: id, shardingAlgorithmName: db}}}}
  shardingAlgorithms:
    db: {{type: INLINE, props: {{algorithm-expression: \"ds_${{id % 2}}\"}}}}
",
        url("a"),
        url("b")
    );
    std::fs::write(folder.path().join("database-shop.yaml"), text).unwrap();
    let configuration = pando_config::load(folder.path()).unwrap();
    let built = pando_rooms::build(&configuration.databases[0], folder.path()).unwrap();
    let mut database = built.database;
    database.features.push(Arc::new(room));
    database
}

/// What is sent to the first unit, or read first, or why nothing is.
fn planned(compares: Compares, sql: &str) -> String {
    let database = database(Renaming(compares));
    let int = |name: &str| table_column(name, Kind::Int);
    let id = TableColumn { primary_key: true, ..int("id") };
    let stored = [id, int("kept"), int("also"), int("note")];
    let catalog = Known(database.logic_columns("t", &stored).unwrap().unwrap());
    let session = SessionView::default();
    let ctx = Context {
        database: &database,
        catalog: &catalog,
        dialect: database.dialect.as_ref(),
        parameters: None,
        session: &session,
        source: &Still,
    };
    let stmt = pando_sql::parse(sql, database.dialect.syntax()).unwrap();
    match plan(&ctx, &stmt, Purpose::Run) {
        Ok(Planned::Run(plan)) => format!("sent {}", plan.units[0].sql),
        Ok(Planned::Assembly(assembly)) => format!("read {}", assembly.reads[0].text),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("refused {error}"),
    }
}

/// Checks what is planned where values compare as they are stored, where they are equal only, and not at all: the same
/// as before where a text is empty.
fn check(sql: &str, expected: [&str; 3]) {
    let mut before = "";
    let all = [Compares::AsStored, Compares::EqualOnly, Compares::NotAtAll];
    for (compares, expected) in all.into_iter().zip(expected) {
        before = if expected.is_empty() { before } else { expected };
        let seen = planned(compares, sql);
        assert!(
            seen.contains(before),
            "{compares:?} {sql}\n    seen     {seen}\n    expected {before}"
        );
    }
}

const READ: &str = "read SELECT";

#[test]
fn an_order_needs_values_that_stand_in_the_order_of_what_is_stored() {
    check("SELECT id FROM t ORDER BY name", ["sent SELECT id", READ, ""]);
    check("SELECT name FROM t ORDER BY 1", ["sent SELECT kept", READ, ""]);
    check("SELECT MAX(name) FROM t", ["sent SELECT MAX(kept)", READ, ""]);
    check("SELECT note, MIN(name) FROM t GROUP BY note", ["sent SELECT note, MIN(kept)", READ, ""]);
    check(
        "SELECT name, COUNT(*) FROM t GROUP BY name ORDER BY name",
        ["sent SELECT kept, COUNT(*)", READ, ""],
    );
}

#[test]
fn groups_need_values_that_are_equal_where_what_is_stored_is() {
    check("SELECT name, COUNT(*) FROM t GROUP BY name", ["sent SELECT kept, COUNT(*)", "", READ]);
    check("SELECT DISTINCT name FROM t", ["sent SELECT DISTINCT kept", "", READ]);
    check("SELECT COUNT(*) FROM t GROUP BY name", ["sent SELECT COUNT(*)", "", READ]);
}

#[test]
fn what_is_only_counted_or_told_is_merged_whatever_is_stored() {
    check("SELECT name FROM t", ["sent SELECT kept FROM t", "", ""]);
    check("SELECT COUNT(name) FROM t", ["sent SELECT COUNT(kept) AS", "", ""]);
    check("SELECT name FROM t ORDER BY note", ["sent SELECT kept", "", ""]);
}

#[test]
fn a_refusal_names_the_column() {
    check(
        "SELECT id FROM t ORDER BY name FOR UPDATE",
        ["sent SELECT id", "refused rows of several shards cannot be merged by `name`", ""],
    );
}

#[test]
fn what_is_read_is_all_that_is_stored_of_a_column_and_no_condition_on_it() {
    let sql =
        "SELECT a.id FROM t a JOIN t b ON a.name = b.name WHERE a.name = 'x' AND a.note > 'a'";
    let read = planned(Compares::EqualOnly, sql);
    for part in ["kept", "also"] {
        assert!(read.contains(part), "{read}");
    }
    assert!(!read.contains("'x'"), "{read}");
}

#[test]
fn stars_and_lists_of_columns_are_written_before_rooms_see_them() {
    check("SELECT * FROM t", ["sent SELECT t.`id`, t.kept, t.`note` FROM t", "", ""]);
    check(
        "SELECT x.*, 1 AS one FROM t x WHERE x.id = 1",
        ["sent SELECT x.`id`, x.kept, x.`note`, 1 AS one FROM t x", "", ""],
    );
    check(
        "SELECT * FROM (SELECT * FROM t WHERE id = 1) d",
        ["sent SELECT * FROM (SELECT t.`id`, t.kept, t.`note` FROM t WHERE id = 1) d", "", ""],
    );
    check(
        "INSERT INTO t VALUES (1, 'a', 'b')",
        ["sent INSERT INTO t (`id`, `name`, `note`) VALUES (1, 'a', 'b')", "", ""],
    );
}
