//! A database of each language to plan on, without servers.

use std::collections::HashMap;
use std::sync::Arc;

use pando_engine::plan::{Fit, Plan, Planned, Purpose, Template, plan};
use pando_fake::{Still, table_column};
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Context, Database, SessionView};
use pando_kernel::request::Parameter;
use pando_kernel::route::UnitName;
use pando_kernel::{Effectful, Kind};
use pando_sql::Shape;

/// The statement's own plan.
pub(crate) fn whole(fit: Option<Fit>) -> Option<Arc<Plan>> {
    fit.map(Fit::whole)
}

/// `t` by `id`, a number; `u` by unit `region`, a text, and table `id`; `r` on a group of replicas; `o` on one node; `b` broadcast; `s` single.
const RULES: &str = "
rules:
- !SHARDING
  tables:
    t:
      actualDataNodes: ds_${0..1}.t_${0..1}
      databaseStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: halves}}
      tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: quarters}}
    u:
      actualDataNodes: ds_${0..1}.u_${0..2}
      databaseStrategy: {standard: {shardingColumn: region, shardingAlgorithmName: texts}}
      tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: thirds}}
    r:
      actualDataNodes: group.r_${0..1}
      tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: halves}}
    o: {actualDataNodes: ds_1.o_7}
  shardingAlgorithms:
    halves: {type: MOD, props: {sharding-count: 2}}
    quarters: {type: INLINE, props: {algorithm-expression: 't_${id.intdiv(2) % 2}'}}
    thirds: {type: MOD, props: {sharding-count: 3}}
    texts: {type: HASH_MOD, props: {sharding-count: 2}}
- !BROADCAST
  tables: [b]
- !SINGLE
  tables: [ds_1.s, ds_0.other, ds_1.counted]
- !READWRITE_SPLITTING
  dataSourceGroups:
    group: {writeDataSourceName: ds_2, readDataSourceNames: [ds_3], transactionalReadQueryStrategy: PRIMARY, loadBalancerName: turn}
  loadBalancers:
    turn: {type: ROUND_ROBIN}
";

#[derive(Debug, Default)]
pub(crate) struct Known(pub(crate) HashMap<String, Arc<Vec<TableColumn>>>);

impl Catalog for Known {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        Some(self.0.get(table).cloned().unwrap_or_default())
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::default())
    }

    fn effectful(&self, _unit: &str) -> Option<Arc<Effectful>> {
        Some(Arc::default())
    }
}

pub(crate) fn column(name: &str, kind: Kind, type_name: &str, collation: &str) -> TableColumn {
    TableColumn {
        type_name: type_name.to_owned(),
        collation: collation.to_owned(),
        ..table_column(name, kind)
    }
}

pub(crate) struct Lab {
    pub(crate) database: Database,
    pub(crate) known: Known,
    pub(crate) session: SessionView,
}

impl Lab {
    pub(crate) fn new(url: &str, collation: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let unit = |n| format!("  ds_{n}: {{url: \"{url}{n}\", username: a, password: b}}\n");
        let units: String = (0..4).map(unit).collect();
        let text = format!("databaseName: shop\ndataSources:\n{units}{RULES}");
        std::fs::write(folder.path().join("database-shop.yaml"), text).unwrap();
        let configuration = pando_config::load(folder.path()).expect("it loads");
        let built =
            pando_rooms::build(&configuration.databases[0], folder.path()).expect("it builds");
        let columns = || {
            Arc::new(vec![
                column("id", Kind::Int, "bigint", ""),
                column("region", Kind::Text, "varchar(40)", collation),
                column("n", Kind::Int, "integer", ""),
                column("c", Kind::Text, "varchar(40)", collation),
            ])
        };
        let known =
            Known(["t", "u", "r", "o", "s"].map(|name| (name.to_owned(), columns())).into());
        let mut session = SessionView::default();
        Arc::make_mut(&mut session.facts).database = Some("shop".to_owned());
        Arc::make_mut(&mut session.facts).databases = Arc::from(["shop".to_owned()]);
        Self { database: built.database, known, session }
    }

    pub(crate) fn ctx<'a>(&'a self, parameters: Option<&'a [Parameter]>) -> Context<'a> {
        Context {
            database: &self.database,
            catalog: &self.known,
            dialect: self.database.dialect.as_ref(),
            parameters,
            session: &self.session,
            source: &Still,
        }
    }

    pub(crate) fn shape(&self, text: &str) -> Option<Shape> {
        let mut shape = Shape::default();
        shape.read(text, self.database.dialect.syntax()).then_some(shape)
    }

    pub(crate) fn full(&self, text: &str, parameters: Option<&[Parameter]>) -> Option<Arc<Plan>> {
        let stmt = pando_sql::parse(text, self.database.dialect.syntax()).ok()?;
        match plan(&self.ctx(parameters), &stmt, Purpose::Run) {
            Ok(Planned::Run(plan)) => Some(Arc::from(plan)),
            _ => None,
        }
    }

    pub(crate) fn template(
        &self,
        text: &str,
        parameters: Option<&[Parameter]>,
    ) -> Option<Template> {
        let stmt = pando_sql::parse(text, self.database.dialect.syntax()).ok()?;
        let plan = self.full(text, parameters)?;
        Template::of(&self.ctx(parameters), &Arc::new(stmt), &self.shape(text)?, &plan)
    }
}

pub(crate) fn labs() -> [Lab; 2] {
    [
        Lab::new("jdbc:postgresql://127.0.0.1:1/d", "C"),
        Lab::new("jdbc:mysql://127.0.0.1:1/d", "utf8mb4_bin"),
    ]
}
