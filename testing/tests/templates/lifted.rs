//! What is lifted out of texts, and what is not.

use std::sync::Arc;

use pando_engine::plan::{Chance, Lifted};
use pando_kernel::dialect::TableColumn;
use pando_kernel::{Kind, Value};

use crate::lab::{Lab, column, labs, whole};

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
const NOT_LIFTED: [&str; 70] = [
    "select sum(c) from t where id = 8",
    "select max(n), avg(c) from t where id = 8",
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
