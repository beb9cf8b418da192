//! Templates against planning.

use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::request::Parameter;
use pando_kernel::{Kind, Value};

use crate::lab::{Known, Lab, column, labs, whole};

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
