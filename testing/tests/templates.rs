//! Templates give the plans that planning gives: for every value, of every type, for text and prepared statements, in both languages.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

use std::collections::HashMap;
use std::sync::Arc;

use pando_engine::plan::{Chance, Fit, Lifted, Plan, Planned, Purpose, Template, plan};
use pando_fake::{Still, table_column};
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Context, Database, SessionView};
use pando_kernel::request::Parameter;
use pando_kernel::route::UnitName;
use pando_kernel::{Kind, Value};
use pando_sql::Shape;

/// The statement's own plan.
fn whole(fit: Option<Fit>) -> Option<Arc<Plan>> {
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
struct Known(HashMap<String, Arc<Vec<TableColumn>>>);

impl Catalog for Known {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        Some(self.0.get(table).cloned().unwrap_or_default())
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::default())
    }
}

fn column(name: &str, kind: Kind, type_name: &str, collation: &str) -> TableColumn {
    TableColumn {
        type_name: type_name.to_owned(),
        collation: collation.to_owned(),
        ..table_column(name, kind)
    }
}

struct Lab {
    database: Database,
    known: Known,
    session: SessionView,
}

impl Lab {
    fn new(url: &str, collation: &str) -> Self {
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

    fn ctx<'a>(&'a self, parameters: Option<&'a [Parameter]>) -> Context<'a> {
        Context {
            database: &self.database,
            catalog: &self.known,
            dialect: self.database.dialect.as_ref(),
            parameters,
            session: &self.session,
            source: &Still,
        }
    }

    fn shape(&self, text: &str) -> Option<Shape> {
        let mut shape = Shape::default();
        shape.read(text, self.database.dialect.syntax()).then_some(shape)
    }

    fn full(&self, text: &str, parameters: Option<&[Parameter]>) -> Option<Arc<Plan>> {
        let stmt = pando_sql::parse(text, self.database.dialect.syntax()).ok()?;
        match plan(&self.ctx(parameters), &stmt, Purpose::Run) {
            Ok(Planned::Plan(plan)) => Some(Arc::from(plan)),
            _ => None,
        }
    }

    fn template(&self, text: &str, parameters: Option<&[Parameter]>) -> Option<Template> {
        let stmt = pando_sql::parse(text, self.database.dialect.syntax()).ok()?;
        let plan = self.full(text, parameters)?;
        Template::of(&self.ctx(parameters), &Arc::new(stmt), &self.shape(text)?, &plan)
    }
}

fn labs() -> [Lab; 2] {
    [
        Lab::new("jdbc:postgresql://127.0.0.1:1/d", "C"),
        Lab::new("jdbc:mysql://127.0.0.1:1/d", "utf8mb4_bin"),
    ]
}

/// Values a literal may have. Those of other types, NULL-like and odd ones are what a template must leave to planning.
const VALUES: [&str; 12] = [
    "1",
    "2",
    "3",
    "0",
    "41",
    "9223372036854775807",
    "18446744073709551615",
    "2.0",
    "2.5",
    "'2'",
    "''",
    "'x''y'",
];

/// Statements with a template: `#` is a literal.
const WITH: [&str; 24] = [
    "select c from t where id = #",
    "SELECT t.c, c || #, 'fixed' FROM t WHERE n > # AND t.id = # ORDER BY 1 DESC LIMIT 3;",
    "select sum(n), count(*) from t x where x.id = # and (n between # and # or c in (#, #))",
    "select distinct c from t where # = id order by c",
    "select case when n = # then # else c end from t where id = # and c like #",
    "select c from t where id = # for update",
    "update t set n = n + #, c = # where id = #",
    "delete from t where id = # and n <> #",
    "insert into t (id, n, c) values (#, #, #)",
    "INSERT INTO u (c, region, id) VALUES (#, #, #)",
    "select * from u where region = # and id = #",
    "select * from r where id = #",
    "update r set c = # where id = #",
    "select c from t where (id = #) and not (n = #)",
    "select c from o where n = # order by c limit 3",
    "select * from o",
    "update o set c = # where id = #",
    "insert into o (id, n, c) values (#, #, #)",
    "select count(*) from b where id > #",
    "select x.c from b x, b y where x.id = y.n and y.id = #",
    "select c from s where id = #",
    "select x.c from s x left join s y on x.id = y.n where y.id = #",
    "insert into s (id, n, c) values (#, #, #), (#, #, #)",
    "delete from s where id = #",
];

/// Statements without one.
const WITHOUT: [&str; 22] = [
    "select c from t where id > #",
    "select c from t where id = # or n = #",
    "select c from t where id = # and id < #",
    "select c from u where id = #",
    "select c from t where n = # limit # offset #",
    "select c from t where id between # and # and id between # and #",
    "select c from t where id not between # and #",
    "select c from t where n = # for update",
    "update t set c = # where n = #",
    "select c from t where id = -#",
    "select now(), c from t where id = #",
    "select c from t where id = # and n = (select max(n) from t where id = #)",
    "update t set id = # where id = #",
    "insert into t (id, n) values (#, #), (#, #)",
    "insert into t (n) values (#)",
    "select t.c from t, u where t.id = # and u.id = #",
    "update b set c = # where id = #",
    "select c from b where id = # for update",
    "select s.c from s, o where s.id = o.id and o.id = #",
    "select s.c from s, other where s.id = other.id and s.id = #",
    "select b.c from t, b where t.id = # and b.id = t.n",
    "select c from missing where id = #",
];

/// Queries that go everywhere, with their limits and ranges.
const WIDE: [&str; 14] = [
    "select c from t where n = #",
    "SELECT id, n, c FROM t WHERE n >= # ORDER BY n, id LIMIT #",
    "select c from t where id between # and #",
    "select sum(n) from t where id between # and #",
    "select distinct c from t where id between # and # order by c",
    "select c from t where id between # and # order by c",
    "select n, count(*), avg(id) from t where c <> # group by n order by n",
    "select n, count(*) from t group by n order by 2 desc, 1 limit #",
    "select x.c from t x where x.id between # and # and x.n in (#, #, #)",
    "select c || # from t where n + # > id order by n * # limit #",
    "select min(n), max(n), count(c) from t",
    "select n, 'a literal', # from t order by id limit #",
    "select c from u where region between # and # and n = #",
    "select id from u where c like # order by id desc limit #",
];

fn filled(text: &str, values: &mut dyn FnMut() -> String) -> String {
    let mut out = String::new();
    for (at, piece) in text.split('#').enumerate() {
        if at > 0 {
            out.push_str(&values());
        }
        out.push_str(piece);
    }
    out
}

/// Every value in every place, one place at a time, and all places alike.
fn variants(text: &str) -> Vec<String> {
    let places = text.matches('#').count();
    let mut all = Vec::new();
    for value in VALUES {
        for place in 0..=places {
            let mut at = 0;
            all.push(filled(text, &mut || {
                at += 1;
                if place == 0 || at == place { value.to_owned() } else { "1".to_owned() }
            }));
        }
    }
    all
}

#[test]
fn templates_plan_as_planning_does() {
    for lab in labs() {
        for text in WITH {
            let region = text.contains("region");
            let typed = |place: usize| match region && place == usize::from(text.starts_with('I')) {
                true => "'north'".to_owned(),
                false => "5".to_owned(),
            };
            let mut place = 0;
            let first = filled(text, &mut || {
                place += 1;
                typed(place - 1)
            });
            let template = lab.template(&first, None);
            let template = template.unwrap_or_else(|| panic!("no template: {first}"));
            let own = lab.shape(&first).unwrap();
            let again = whole(template.plan(&lab.ctx(None), &first, own.slots()));
            assert_eq!(again, lab.full(&first, None), "{first}");
            let mut short = 0;
            for other in variants(text) {
                let Some(shape) = lab.shape(&other) else { continue };
                if shape.key() != own.key() {
                    continue;
                }
                if let Some(plan) = whole(template.plan(&lab.ctx(None), &other, shape.slots())) {
                    assert_eq!(Some(plan), lab.full(&other, None), "{other}");
                    short += 1;
                }
            }
            assert!(short > 2 || region, "{text}: {short}");
        }
    }
}

/// Every value in every place, the others so that a range is wide.
fn wide_variants(text: &str) -> Vec<String> {
    let places = text.matches('#').count();
    let mut all = Vec::new();
    for value in VALUES {
        for place in 0..=places {
            let mut at = 0;
            all.push(filled(text, &mut || {
                at += 1;
                if place == at { value.to_owned() } else { (100 * at).to_string() }
            }));
        }
    }
    all
}

#[test]
fn queries_that_go_everywhere_are_planned_as_planning_does() {
    for mut lab in labs() {
        for connections in [1, 2] {
            lab.session.connections_per_query = connections;
            let mut found = 0;
            for text in WIDE {
                found += usize::from(is_planned_alike(&lab, text));
            }
            // Those that the two languages refuse or assemble have none.
            assert!(found > 11, "{found}");
        }
    }
}

/// Whether a query has a template; it must then plan as planning does.
fn is_planned_alike(lab: &Lab, text: &str) -> bool {
    let mut place = 0;
    let first = filled(text, &mut || {
        place += 1;
        (100 * place).to_string()
    });
    let Some(template) = lab.template(&first, None) else { return false };
    let own = lab.shape(&first).unwrap();
    assert_eq!(whole(template.plan(&lab.ctx(None), &first, own.slots())), lab.full(&first, None));
    for other in wide_variants(text) {
        let Some(shape) = lab.shape(&other).filter(|shape| shape.key() == own.key()) else {
            continue;
        };
        if let Some(plan) = whole(template.plan(&lab.ctx(None), &other, shape.slots())) {
            assert_eq!(Some(plan), lab.full(&other, None), "{other}");
        }
    }
    true
}

#[test]
fn ranges_and_limits_are_parameters_too() {
    let [postgres, mysql] = labs();
    let texts = [
        (&postgres, "select id, c from t where id between $1 and $2 order by id limit $3"),
        (&mysql, "select id, c from t where id between ? and ? order by id limit ?"),
    ];
    for (lab, text) in texts {
        let made = |values: [Value; 3]| values.map(Parameter::made);
        let first = made([Value::Int(1), Value::Int(100), Value::Int(10)]);
        let template = lab.template(text, Some(&first)).expect("a template");
        let shape = lab.shape(text).unwrap();
        let odd = [Value::Null, Value::Int(-1), Value::Text("7".into()), Value::Float(2.5)];
        let mut short = 0;
        for place in 0..3 {
            for value in odd.iter().cloned().chain((0..120).step_by(7).map(Value::Int)) {
                let mut parameters = first.clone();
                parameters[place] = Parameter::made(value);
                let plan = whole(template.plan(&lab.ctx(Some(&parameters)), text, shape.slots()));
                if let Some(plan) = plan {
                    assert_eq!(Some(plan), lab.full(text, Some(&parameters)), "{parameters:?}");
                    short += 1;
                }
            }
        }
        assert!(short > 30, "{short}");
        assert_eq!(whole(template.plan(&lab.ctx(None), text, shape.slots())), None);
    }
}

#[test]
fn a_template_ends_where_tables_are_read_otherwise() {
    let mut lab = labs().into_iter().next().unwrap();
    let text = "select id, n from t where n = 3 order by id";
    let template = lab.template(text, None).expect("a template");
    let shape = lab.shape(text).unwrap();
    assert!(whole(template.plan(&lab.ctx(None), text, shape.slots())).is_some());
    lab.session.connections_per_query = 2;
    assert_eq!(whole(template.plan(&lab.ctx(None), text, shape.slots())), None);
}

#[test]
fn what_depends_on_more_than_one_value_has_no_template() {
    for lab in labs() {
        for text in WITHOUT {
            let first = filled(text, &mut || "5".to_owned());
            assert!(lab.template(&first, None).is_none(), "{first}");
        }
    }
}

#[test]
fn parameters_are_values_too() {
    let lab = &labs()[0];
    let text = "select c from t where id = $2 and n = $1 and c = 'a'";
    let made = |values: [Value; 2]| values.map(Parameter::made);
    let first = made([Value::Int(1), Value::Int(6)]);
    let template = lab.template(text, Some(&first)).expect("a template");
    let shape = lab.shape(text).unwrap();
    let values = [Value::Int(3), Value::Text("3".into()), Value::Null, Value::Float(3.5)];
    for value in values {
        let parameters = made([value.clone(), value.clone()]);
        let short = whole(template.plan(&lab.ctx(Some(&parameters)), text, shape.slots()));
        match value {
            Value::Null | Value::Float(_) => assert_eq!(short, None),
            _ => assert_eq!(short, lab.full(text, Some(&parameters)), "{value:?}"),
        }
    }
    assert_eq!(whole(template.plan(&lab.ctx(None), text, shape.slots())), None);
}

#[test]
fn replicas_are_chosen_anew_each_time() {
    let mut lab = labs().into_iter().next().unwrap();
    let text = "select * from r where id = 4";
    let template = lab.template(text, None).expect("a template");
    let shape = lab.shape(text).unwrap();
    let unit = |lab: &Lab| {
        let plan = whole(template.plan(&lab.ctx(None), text, shape.slots())).expect("a plan");
        plan.units[0].target.unit.to_string()
    };
    assert_eq!(unit(&lab), "ds_3");
    lab.session.transaction = pando_kernel::session::TransactionState::Open;
    lab.session.has_written = true;
    assert_eq!(unit(&lab), "ds_2");
}

#[test]
fn replicas_of_all_shards_are_chosen_anew_each_time() {
    for mut lab in labs() {
        let text = "select c from r where n = 5";
        let template = lab.template(text, None).expect("a template");
        let shape = lab.shape(text).unwrap();
        let plan = |lab: &Lab| whole(template.plan(&lab.ctx(None), text, shape.slots()));
        assert_eq!(plan(&lab), lab.full(text, None));
        assert!(plan(&lab).unwrap().units.iter().all(|unit| &*unit.target.unit == "ds_3"));
        lab.session.transaction = pando_kernel::session::TransactionState::Open;
        lab.session.has_written = true;
        assert_eq!(plan(&lab), lab.full(text, None));
        assert!(plan(&lab).unwrap().units.iter().all(|unit| &*unit.target.unit == "ds_2"));
    }
}

/// The template of the first text gives for the second one what planning gives, or nothing.
fn is_alike_for(lab: &Lab, first: &str, other: &str) {
    let Some(template) = lab.template(first, None) else { return };
    let Some(shape) = lab.shape(other).filter(|read| read.key() == lab.shape(first).unwrap().key())
    else {
        return;
    };
    if let Some(plan) = whole(template.plan(&lab.ctx(None), other, shape.slots())) {
        assert_eq!(Some(plan), lab.full(other, None), "{other}");
    }
}

#[test]
fn a_value_that_names_something_is_no_value() {
    let [_, mysql] = labs();
    let long = format!("select concat(t.c, '{}') from t", "x".repeat(300));
    for other in [
        "select concat(t.c, 'a`b') from t",
        "select concat(t.c, '` from t_0 where 1 = 0 union all select c from s -- ') from t",
        "select concat(t.c, '\u{1F600}') from t",
        &long,
    ] {
        is_alike_for(&mysql, "select concat(t.c, 'x') from t", other);
    }
    is_alike_for(
        &mysql,
        "select t.n + 5 from t where t.id = '1'",
        "select t.n + 6 from t where t.id = '2'",
    );
    is_alike_for(
        &mysql,
        "select n as 'a', id as 'b' from t order by n limit 1",
        "select n as 'id', id as 'n' from t order by n limit 1",
    );
}

#[test]
fn reading_from_one_node_needs_no_columns() {
    for mut lab in labs() {
        lab.known = Known::default();
        for text in ["select c from o where id = 3", "update s set c = 'a' where id = 3"] {
            assert!(lab.template(text, None).is_some(), "{text}");
        }
        assert!(lab.template("insert into o (id, c) values (1, 'a')", None).is_none());
    }
}

#[test]
fn keys_that_the_server_counts_are_read_by_the_statements_own_values() {
    let [postgres, mut mysql] = labs();
    let text = "insert into counted (id, c) values (5, 'a')";
    assert!(mysql.template(text, None).is_none(), "nobody knows the columns");
    let id = TableColumn { auto_increment: true, ..column("id", Kind::Int, "bigint", "") };
    let known = Arc::new(vec![id, column("c", Kind::Text, "varchar(40)", "utf8mb4_bin")]);
    mysql.known.0.insert("counted".to_owned(), known);
    assert!(mysql.template(text, None).is_none(), "0 would be counted");
    assert!(mysql.template("select c from counted where id = 5", None).is_some());
    assert!(postgres.template(text, None).is_some(), "PostgreSQL tells no keys");
}

/// Statements out of which numbers are lifted, and what is sent then. The key of `s` is `id`; `t` has none, but is sharded by it.
const LIFTED: [(&str, &str, &[i64]); 16] = [
    ("select c from t where id = 8", "select c from t_0 where id = $1", &[8]),
    ("SELECT * FROM t WHERE 9 = id;", "SELECT * FROM t_0 WHERE $1 = id", &[9]),
    (
        "select t.*, n, 7 from t where t.id = 10 and n in (1, -2) and n between -3 and - 4",
        "select t_1.*, n, 7 from t_1 where t_1.id = $1 and n in ($2, $3) and n between $4 and $5",
        &[10, 1, -2, -3, -4],
    ),
    (
        "select distinct c from t x where (x.id = 8) and (n <> 1 and n < 2) and c is not null order by c",
        "select distinct c from t_0 x where (x.id = $1) and (n <> $2 and n < $3) and c is not null order by c",
        &[8, 1, 2],
    ),
    ("update t set n = 3 where id = 8", "update t_0 set n = $1 where id = $2", &[3, 8]),
    (
        "update t set n = n - 3, c = null, region = c where id = 8 and n >= -1",
        "update t_0 set n = n - $1, c = null, region = c where id = $2 and n >= $3",
        &[3, 8, -1],
    ),
    ("delete from t where id = 8", "delete from t_0 where id = $1", &[8]),
    ("select c from t where id = 2147483648", "select c from t_0 where id = $1", &[2_147_483_648]),
    ("select c from s where id = -5 limit 3", "select c from s where id = $1 limit 3", &[-5]),
    (
        "select c from s where id = -9223372036854775808",
        "select c from s where id = $1",
        &[i64::MIN],
    ),
    ("select c from s where id in (1, 2)", "select c from s where id in ($1, $2)", &[1, 2]),
    (
        "select c from s where id between 1 and 20",
        "select c from s where id between $1 and $2",
        &[1, 20],
    ),
    ("delete from s where id = 007", "delete from s where id = $1", &[7]),
    (
        "select c from s where n = 3 and id = 1 order by 1",
        "select c from s where n = $1 and id = $2 order by 1",
        &[3, 1],
    ),
    ("update s set id = 4 where id = 3", "update s set id = $1 where id = $2", &[4, 3]),
    ("select \"$1\" from s where id = 3", "select \"$1\" from s where id = $1", &[3]),
];

/// Statements that are sent as they are, one for each rule.
const NOT_LIFTED: [&str; 68] = [
    "select c from t where id = 8 and c = 'x'",
    "select c, 'x' from t where id = 8",
    "select c from t where id = 8 and n < 1.5",
    "select length(c) from t where id = 8",
    "select count(*) filter (where n = 1) from t where id = 8",
    "select count(n) over () from t where id = 8",
    "select array_agg(n) from t where id = 8",
    "select sum(n + 1) from t where id = 8",
    "select n + 1 from t where id = 8",
    "select c::text from t where id = 8",
    "select c from t where id = 8 and n = 1::int",
    "select c from t where id = 8 and n::int = 1",
    "select c from t where id = 8 and (n = 1 or n = 2)",
    "select c from t where id = 8 and not n = 1",
    "select c from t where id = 8 and n = 1 + 2",
    "select c from t where id = 8 and n + 1 = 2",
    "select c from t where id = 8 and n = (1)",
    "select c from t where id = 8 and n = +1",
    "select c from t where id = 8 and n = - -1",
    "select c from t where id = 8 and n = null",
    "select c from t where id = 8 and n = n",
    "select c from t where id = 8 and c",
    "select c from t where id = 8 and n not in (1, 2)",
    "select c from t where id = 8 and n not between 1 and 2",
    "select c from t where id = 8 and n between symmetric 1 and 2",
    "select c from t where id = 8 and n is not distinct from 1",
    "select c from t where id = 8 and c like '1'",
    "select c from t where id = 8 limit 3",
    "select c from t where id = 8 order by n + 1",
    "select c from t where id = 8 order by c using <",
    "select c from t where id = 8 group by c",
    "select c from t where id = 8 for update",
    "select distinct on (n) c from t where id = 8",
    "select c from s where id = 1 offset 2",
    "select c from s where id = 1 limit 2 offset 2",
    "select c from s where n = 1",
    "select c from s where id > 1",
    "select c from only s where id = 1",
    "select x.c from s x, s y where x.id = y.n and y.id = 1",
    "select c from s where id in (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)",
    "select c as a123456789a123456789a123456789a123456789a123456789a123456789a123 from s where id = 1",
    "update t set n = 1 where id = 8 returning c",
    "update t set n = n * 2 where id = 8",
    "update t set n = 1 + n where id = 8",
    "update t set n = 'x' where id = 8",
    "update t set missing = 'x' where id = 8",
    "update t set c = e'x' where id = 8",
    "update t set c = 'x' 'y' where id = 8",
    r"update t set c = 'x\y' where id = 8",
    "update t set c = 'x' where id = 8 and c = 'y'",
    "delete from t where id = 8 returning c",
    "delete from s where n = 1",
    "select c from s where n >= 1 order by n",
    "select c from s where n >= 1 order by id limit 3",
    "select c from s where n >= 1 order by n limit 101",
    "select c from s where n >= 1 and id <> 2 order by n limit 3",
    "select c from s where n <> 1 order by n limit 3",
    "select c from s where n = 1 order by n, id limit 3",
    "select id as n, c from s where n >= 1 order by n limit 3",
    "select distinct n from s where n >= 1 order by n limit 3",
    "insert into o values (1, 2)",
    "insert into o (id, n) values (1, 2), (3, 4)",
    "insert into o (id, n) values (1, 2 + 3)",
    "insert into o (id, n) values (1, 2) returning id",
    "insert into o (id, n) values (1, 2) on conflict do nothing",
    "insert into o (id, n) values (1, '2')",
    "insert into o (id, d) values (1, '2')",
    "insert into o (id) select 1",
];

impl Lab {
    /// What of a statement is lifted, after five others of its shape.
    fn lifted(&self, text: &str, chance: Chance) -> Option<Lifted> {
        let template = self.template(text, None)?;
        let shape = self.shape(text)?;
        let ctx = self.ctx(None);
        let plan = whole(template.plan(&ctx, text, shape.slots()))?;
        let lift = |chance| template.lifted(&ctx, (text, shape.slots()), &plan, chance);
        (0..5).for_each(|_| assert_eq!(lift(Chance::Second), [], "too early: {text}"));
        let lifted = lift(chance);
        assert!(lifted.is_empty() || lifted.len() == plan.units.len(), "{text}");
        for (lifted, unit) in lifted.iter().zip(&plan.units) {
            let sent = unit.sql.replace("- ", "-").replace("007", "7");
            assert_eq!(put_back(lifted).replace("- ", "-"), sent, "{text}");
        }
        lifted.into_iter().next()
    }
}

/// The text with the values back in their places: what would be sent.
fn put_back(lifted: &Lifted) -> String {
    let mut sql = lifted.sql.to_string();
    for (at, parameter) in lifted.parameters.iter().enumerate().rev() {
        let value = match &parameter.value {
            Value::Int(number) => number.to_string(),
            Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
            other => panic!("{other:?}"),
        };
        sql = match sql.contains('?') {
            true => {
                sql.rsplit_once('?').map(|(head, tail)| format!("{head}{value}{tail}")).unwrap()
            }
            false => {
                let name = format!("${}", at + 1);
                let mut pieces = sql.split(&name);
                let first = pieces.next().unwrap().to_owned();
                pieces.fold(first, |head, tail| match head.ends_with(['"', '\'']) {
                    // A column may be called so, and a string say so.
                    true => format!("{head}{name}{tail}"),
                    false => format!("{head}{value}{tail}"),
                })
            }
        };
    }
    sql
}

fn lab_with_keys() -> Lab {
    let [lab, _] = labs();
    with_keys(lab, &["s"])
}

fn with_keys(mut lab: Lab, tables: &[&str]) -> Lab {
    let id = TableColumn { primary_key: true, ..column("id", Kind::Int, "bigint", "") };
    let rest = [
        column("n", Kind::Int, "integer", ""),
        column("c", Kind::Text, "text", "C"),
        column("d", Kind::Other, "date", ""),
        column("region", Kind::Text, "character varying(40)", "C"),
        column("y", Kind::UInt, "year(4)", ""),
        column("bits", Kind::UInt, "bit(3)", ""),
        column("small", Kind::Int, "smallint", ""),
        column("code", Kind::Text, "character varying(3)", "C"),
        column("object", Kind::Int, "oid", ""),
        column("twice", Kind::Int, "integer", ""),
        column("Twice", Kind::Other, "date", ""),
    ];
    let columns: Vec<TableColumn> = [id].into_iter().chain(rest).collect();
    for name in tables {
        lab.known.0.insert((*name).to_owned(), Arc::new(columns.clone()));
    }
    lab
}

#[test]
fn numbers_beside_columns_are_lifted() {
    let lab = lab_with_keys();
    for (text, sql, numbers) in LIFTED {
        let lifted = lab.lifted(text, Chance::Second).unwrap_or_else(|| panic!("stays: {text}"));
        let values = lifted.parameters.iter().map(|parameter| parameter.value.clone());
        let numbers: Vec<Value> = numbers.iter().copied().map(Value::Int).collect();
        assert_eq!((&*lifted.sql, values.collect::<Vec<_>>()), (sql, numbers), "{text}");
    }
}

#[test]
fn what_a_column_may_not_take_stays_in_the_text() {
    let lab = with_keys(lab_with_keys(), &["o"]);
    for (fits, does_not) in [
        ("update s set small = -32768 where id = 1", "update s set small = -32769 where id = 1"),
        ("update s set n = 2147483647 where id = 1", "update s set n = 2147483648 where id = 1"),
        ("update s set code = 'abc' where id = 1", "update s set code = 'abcd' where id = 1"),
        ("update s set code = 'aü' where id = 1", "update s set code = 'aüü' where id = 1"),
        ("insert into o (id, small) values (1, 7)", "insert into o (id, small) values (1, 70000)"),
    ] {
        assert!(lab.lifted(fits, Chance::Only).is_some(), "{fits}");
        assert_eq!(lab.lifted(does_not, Chance::Only), None, "{does_not}");
    }
    assert!(lab.lifted("select c from s where id = 1 and small = 70000", Chance::Only).is_some());
}

#[test]
fn names_that_may_mean_another_are_not_looked_up() {
    let lab = with_keys(lab_with_keys(), &["S", "x"]);
    for text in [
        "select c from \"S\" where id = 1",
        "select c from public.s where id = 1",
        "select c from s where id = 1 and twice = 1",
        "select c from s where id = 1 and object = 1",
        "select c from s where id = 1 and missing = 1",
        "update s set twice = 1 where id = 1",
    ] {
        assert_eq!(lab.lifted(text, Chance::Second), None, "{text}");
    }
}

#[test]
fn a_number_has_the_type_it_has_in_a_text() {
    let lab = lab_with_keys();
    for (number, type_id) in [
        ("2147483647", 23),
        ("2147483648", 20),
        ("-2147483648", 23),
        ("-2147483649", 20),
        ("9223372036854775807", 20),
    ] {
        let text = format!("select c from s where id = {number}");
        let lifted = lab.lifted(&text, Chance::Second).expect("it is lifted");
        assert_eq!(lifted.parameters[0].native.type_id, type_id, "{number}");
    }
    assert_eq!(lab.lifted("select c from s where id = 9223372036854775808", Chance::Second), None);
}

#[test]
fn what_could_mean_something_else_stays_in_the_text() {
    let lab = lab_with_keys();
    for text in NOT_LIFTED {
        assert_eq!(lab.lifted(text, Chance::Second), None, "{text}");
    }
}

/// On MySQL: numbers beside integers, and none that an error would tell.
const LIFTED_BESIDE_INTEGERS: [(&str, &str, &[i64]); 8] = [
    ("insert into s (id, n) values (1, 2)", "insert into s (id, n) values (?, ?)", &[1, 2]),
    (
        "select sum(n), count(*) from s where id = 3",
        "select sum(n), count(*) from s where id = ?",
        &[3],
    ),
    ("select c from t where id = 8", "select c from t_0 where id = ?", &[8]),
    (
        "SELECT * FROM s WHERE n BETWEEN 1 AND 20 AND id IN (3, 4)",
        "SELECT * FROM s WHERE n BETWEEN ? AND ? AND id IN (?, ?)",
        &[1, 20, 3, 4],
    ),
    ("update s set n = 3 where id = 8", "update s set n = ? where id = ?", &[3, 8]),
    ("update s set n = n + 1 where id = 8", "update s set n = n + 1 where id = ?", &[8]),
    ("delete from s where id = 007", "delete from s where id = ?", &[7]),
    ("select id, 5 from s where id = 1 limit 3", "select id, 5 from s where id = ? limit 3", &[1]),
];

const NOT_BESIDE_INTEGERS: [&str; 11] = [
    "insert into s (id, c) values (1, 'x')",
    "insert into s (id, y) values (1, 99)",
    "select c from t where id = 8 and c = 5",
    "select c from t where id = 8 and missing = 5",
    "select c from s where id = 8 and y = 99",
    "select c from s where id = 8 and bits < 2",
    "select c from s where id = -8",
    "select c from s where id = 9223372036854775808",
    "update s set c = 3 where id = 8",
    "update s set c = n + 3 where id = 8",
    "update s set n = c + 3 where id = 8",
];

#[test]
fn numbers_beside_integers_alone_are_lifted_where_a_parameter_takes_its_columns_type() {
    let [_, lab] = labs();
    let lab = with_keys(lab, &["s"]);
    for (text, sql, numbers) in LIFTED_BESIDE_INTEGERS {
        let lifted = lab.lifted(text, Chance::Second).unwrap_or_else(|| panic!("stays: {text}"));
        let values = lifted.parameters.iter().map(|parameter| parameter.value.clone());
        let numbers: Vec<Value> = numbers.iter().copied().map(Value::Int).collect();
        assert_eq!((&*lifted.sql, values.collect::<Vec<_>>()), (sql, numbers), "{text}");
    }
    for text in NOT_BESIDE_INTEGERS {
        assert_eq!(lab.lifted(text, Chance::Second), None, "{text}");
    }
}

/// What of statements that assign strings.
#[test]
fn strings_that_go_into_texts_are_lifted() {
    let [lab, _] = labs();
    let lab = with_keys(lab, &["t", "o"]);
    for (text, sql, values) in [
        (
            "update t set c = 'it''s', n = 3 where id = 8",
            "update t_0 set c = $1, n = $2 where id = $3",
            &[Value::Text("it's".into()), Value::Int(3), Value::Int(8)][..],
        ),
        (
            "insert into t (id, region, n, c) values (8, '', null, '$1 ü')",
            "insert into t_0 (id, region, n, c) values ($1, $2, null, $3)",
            &[Value::Int(8), Value::Text(String::new()), Value::Text("$1 ü".into())],
        ),
        (
            "INSERT INTO o (id, n, d) VALUES (1, -2, true)",
            "INSERT INTO o_7 (id, n, d) VALUES ($1, $2, true)",
            &[Value::Int(1), Value::Int(-2)],
        ),
    ] {
        for chance in [Chance::Second, Chance::Only] {
            let lifted = lab.lifted(text, chance).unwrap_or_else(|| panic!("stays: {text}"));
            let own: Vec<Value> = lifted.parameters.iter().map(|one| one.value.clone()).collect();
            assert_eq!((&*lifted.sql, &own[..]), (sql, values), "{text}");
        }
    }
    let text = "update t set c = 'x' where id = 8";
    let lifted = lab.lifted(text, Chance::Second).expect("it is lifted");
    let types: Vec<u32> = lifted.parameters.iter().map(|one| one.native.type_id).collect();
    assert_eq!(types, [25, 23]);
}

/// Queries that go everywhere, and how often their first text holds a parameter.
const WIDE_LIFTED: [(&str, usize); 6] = [
    ("SELECT id, n, c FROM t WHERE n >= 5 ORDER BY n, id LIMIT 10", 1),
    ("SELECT id, c FROM t WHERE n BETWEEN 5 AND 6 ORDER BY n DESC LIMIT 100", 2),
    ("SELECT c FROM t WHERE id BETWEEN 5 AND 105", 2),
    ("SELECT SUM(n), count(*), min(c) FROM t WHERE id BETWEEN 5 AND 105", 2),
    ("SELECT c FROM t WHERE id BETWEEN 5 AND 105 ORDER BY c", 2),
    ("SELECT DISTINCT c FROM t WHERE id BETWEEN 5 AND 105 AND n <> 3 ORDER BY c", 3),
];

#[test]
fn queries_that_ask_each_unit_once_are_lifted() {
    let [postgres, mysql] = labs();
    let (mut postgres, mysql) = (with_keys(postgres, &["t"]), with_keys(mysql, &["t"]));
    for (text, parameters) in WIDE_LIFTED {
        let lifted = postgres.lifted(text, Chance::Only);
        let lifted = lifted.unwrap_or_else(|| panic!("stays: {text}"));
        assert_eq!(lifted.parameters.len(), parameters, "{text}");
        assert_eq!(mysql.lifted(text, Chance::Second), None, "a text for each table: {text}");
    }
    for text in [
        "SELECT c FROM t WHERE id BETWEEN -5 AND 105",
        "SELECT c FROM t WHERE n BETWEEN 5 AND 105",
        "SELECT c FROM t WHERE id BETWEEN 5 AND 105 LIMIT 3",
        "SELECT c FROM t WHERE n >= 5 ORDER BY n LIMIT 1000",
    ] {
        assert_eq!(postgres.lifted(text, Chance::Second), None, "{text}");
    }
    postgres.session.connections_per_query = 2;
    for (text, _) in WIDE_LIFTED {
        assert_eq!(postgres.lifted(text, Chance::Second), None, "two texts for each unit: {text}");
    }
}

#[test]
fn what_tells_whatever_columns_there_are_is_lifted_only_where_it_can_be_asked_again() {
    let lab = lab_with_keys();
    for (text, ..) in LIFTED {
        let stars = text.to_lowercase().contains("select *") || text.contains(".*");
        assert_eq!(lab.lifted(text, Chance::Only).is_none(), stars, "{text}");
    }
    assert!(LIFTED.iter().any(|(text, ..)| text.contains('*')));
}

#[test]
fn numbers_that_stay_may_differ_a_few_times() {
    let lab = lab_with_keys();
    let text = |number: usize| format!("select c, {number} from s where id = 1");
    let template = lab.template(&text(0), None).expect("a template");
    let lifted = |number: usize| {
        let (text, ctx) = (text(number), lab.ctx(None));
        let shape = lab.shape(&text).unwrap();
        let plan = whole(template.plan(&ctx, &text, shape.slots())).expect("a plan");
        !template.lifted(&ctx, (&text, shape.slots()), &plan, Chance::Second).is_empty()
    };
    (0..5).for_each(|number| assert!(!lifted(number)));
    (0..4).for_each(|number| assert!(lifted(number), "{number}"));
    (4..9).for_each(|number| assert!(!lifted(number), "{number}"));
    (0..4).for_each(|number| assert!(lifted(number), "{number}"));
}
