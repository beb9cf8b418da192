//! A room that has values stored as others: what its units are sent, as text and as bound parameters, by planning and by templates.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use pando_engine::plan::{Fit, Plan, Planned, Purpose, Template, plan};
use pando_fake::{Still, table_column};
use pando_kernel::changes::{Changes, Turn, ValueMap};
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Context, Database, Feature, Room, SessionView};
use pando_kernel::request::Parameter;
use pando_kernel::route::{Route, Target, UnitName};
use pando_kernel::shortcut::{Choose, Shortcut, Values};
use pando_kernel::{Effectful, Error, Kind, Result, Value};
use pando_sql::ast::{BinaryOp, Expr, InsertSource, Kind as Statements, Node, Statement};
use pando_sql::{Shape, visit};

/// The column whose values are stored as others.
const COLUMN: &str = "status";

/// What is stored is a thousand less the number.
#[derive(Debug)]
struct Less;

impl ValueMap for Less {
    fn turned(&self, value: &Value) -> Result<Value> {
        if let Value::Int(number) = value {
            return Ok(Value::Int(1_000 - number));
        }
        Err(Error::unsupported(30001, format!("{value:?} cannot be stored"), ""))
    }
}

/// What is stored beside it is ten times the number.
#[derive(Debug)]
struct Times;

impl ValueMap for Times {
    fn turned(&self, value: &Value) -> Result<Value> {
        if let Value::Int(number) = value { Ok(Value::Int(10 * number)) } else { Ok(Value::Null) }
    }
}

/// A room that stores the column's values so, and with `beside` a second time in a further column.
#[derive(Debug)]
struct Stores {
    less: Turn,
    beside: Option<Turn>,
}

impl Stores {
    fn one() -> Self {
        Self { less: Turn(Arc::new(Less)), beside: None }
    }

    fn two() -> Self {
        Self { beside: Some(Turn(Arc::new(Times))), ..Self::one() }
    }

    fn value(&self, expr: &Expr, changes: &mut Changes) -> Result<()> {
        changes.value(expr, &self.less)?;
        self.beside.as_ref().map_or(Ok(()), |times| changes.further(expr, times))
    }
}

impl Room for Stores {
    fn name(&self) -> &'static str {
        "stores"
    }
}

impl Feature for Stores {
    fn rewrite(
        &self,
        ctx: &Context<'_>,
        stmt: &Statement,
        _: &Target,
        changes: &mut Changes,
    ) -> Result<()> {
        if let Statements::Insert(insert) = &stmt.kind
            && let (Some(columns), InsertSource::Values { rows, .. }) =
                (&insert.columns, &insert.source)
            && let Some(at) = columns.iter().position(|column| column.value == COLUMN)
        {
            if self.beside.is_some() {
                changes.text().replace(pando_sql::Span::at(columns[at].span.end), ", status_times");
            }
            for row in rows {
                let syntax = ctx.dialect.syntax();
                let value = row.value(at, &stmt.text, syntax).expect("a row has its value");
                self.value(&value, changes)?;
            }
        }
        let mut found = Vec::new();
        visit::exprs(&stmt.kind, &mut |expr| {
            if let Node::Binary { op: BinaryOp::Equal, left, right } = &expr.node
                && matches!(&left.node, Node::Column(name) if name.parts.last().is_some_and(|last| last.value == COLUMN))
            {
                found.push((**right).clone());
            }
        });
        found.iter().try_for_each(|expr| changes.value(expr, &self.less))
    }

    fn shortcut(&self, _: &Context<'_>, _: &Statement) -> Shortcut {
        Shortcut::Idle
    }
}

#[derive(Debug)]
struct Known;

impl Catalog for Known {
    fn columns(&self, _: &str) -> Option<Arc<Vec<TableColumn>>> {
        let names = ["order_id", "user_id", COLUMN];
        Some(Arc::new(names.iter().map(|name| table_column(name, Kind::Int)).collect()))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::default())
    }

    fn effectful(&self, _: &str) -> Option<Arc<Effectful>> {
        Some(Arc::default())
    }
}

fn database(rooms: Vec<Stores>) -> Database {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases/layout");
    let configuration = pando_config::load(&folder).expect("the configuration loads");
    let database = configuration.databases.first().expect("a database");
    let mut built = pando_rooms::build(database, &folder).expect("the database builds").database;
    built.features.extend(rooms.into_iter().map(|room| Arc::new(room) as Arc<dyn Feature>));
    built
}

fn context<'a>(
    database: &'a Database,
    session: &'a SessionView,
    parameters: Option<&'a [Parameter]>,
) -> Context<'a> {
    let dialect = database.dialect.as_ref();
    Context { database, catalog: &Known, dialect, parameters, session, source: &Still }
}

fn parsed(database: &Database, text: &str) -> Arc<Statement> {
    Arc::new(pando_sql::parse(text, database.dialect.syntax()).expect("the statement is read"))
}

fn planned(rooms: Vec<Stores>, text: &str, parameters: &[i64]) -> Result<Plan> {
    let database = database(rooms);
    let bound: Vec<Parameter> =
        parameters.iter().map(|n| Parameter::made(Value::Int(*n))).collect();
    let session = SessionView::default();
    let bound = (!bound.is_empty()).then_some(&bound[..]);
    let ctx = context(&database, &session, bound);
    match plan(&ctx, &parsed(&database, text), Purpose::Run)? {
        Planned::Run(plan) => Ok(*plan),
        other => panic!("{other:?}"),
    }
}

/// Each unit's text, its parameters, and which of them go as what.
fn shown(plan: &Plan, parameters: &[i64]) -> Vec<String> {
    let one = |unit: &pando_engine::plan::Unit| {
        let mut values: Vec<Value> =
            unit.parameters.iter().map(|at| Value::Int(parameters[*at as usize])).collect();
        for (at, turn) in &unit.turns {
            values[*at] = turn.of(&values[*at]).expect("a value that can be stored");
        }
        let values: Vec<String> = values
            .iter()
            .map(|value| match value {
                Value::Int(number) => number.to_string(),
                other => format!("{other:?}"),
            })
            .collect();
        format!("{} [{}]", unit.sql, values.join(", "))
    };
    plan.units.iter().map(one).collect()
}

fn check(room: Stores, text: &str, parameters: &[i64], expected: &[&str]) {
    let plan = planned(vec![room], text, parameters).expect("it is planned");
    assert_eq!(shown(&plan, parameters), expected, "{text}");
}

#[test]
fn literals_and_parameters_go_as_what_is_stored() {
    check(
        Stores::one(),
        "INSERT INTO t_order (order_id, user_id, status) VALUES (1, 1, 7)",
        &[],
        &["INSERT INTO t_order_1 (order_id, user_id, status) VALUES (1, 1, 993) []"],
    );
    check(
        Stores::one(),
        "UPDATE t_order SET user_id = 5 WHERE order_id = 1 AND user_id = 1 AND status = 7",
        &[],
        &[
            "UPDATE t_order_1 SET user_id = 5 WHERE order_id = 1 AND user_id = 1 AND status = 993 []",
        ],
    );
}

#[test]
fn bound_values_go_as_what_is_stored() {
    check(
        Stores::one(),
        "UPDATE t_order SET note = ? WHERE order_id = ? AND user_id = ? AND status = ?",
        &[5, 2, 1, 7],
        &[
            "UPDATE t_order_0 SET note = ? WHERE order_id = ? AND user_id = ? AND status = ? [5, 2, 1, 993]",
        ],
    );
}

#[test]
fn one_column_becomes_two() {
    check(
        Stores::two(),
        "INSERT INTO t_order (order_id, status, user_id) VALUES (1, 7, 1)",
        &[],
        &[
            "INSERT INTO t_order_1 (order_id, status, status_times, user_id) VALUES (1, 993, 70, 1) []",
        ],
    );
    check(
        Stores::two(),
        "INSERT INTO t_order (order_id, status, user_id) VALUES (?, ?, ?)",
        &[1, 7, 1],
        &[
            "INSERT INTO t_order_1 (order_id, status, status_times, user_id) VALUES (?, ?, ?, ?) [1, 993, 70, 1]",
        ],
    );
}

#[test]
fn rows_of_other_shards_take_their_values_along() {
    check(
        Stores::two(),
        "INSERT INTO t_order (order_id, user_id, status) VALUES (1, 1, ?), (2, 1, 8), (3, 1, ?)",
        &[7, 9],
        &[
            "INSERT INTO t_order_0 (order_id, user_id, status, status_times) VALUES (2, 1, 992, 80) []",
            "INSERT INTO t_order_1 (order_id, user_id, status, status_times) VALUES (1, 1, ?, ?), (3, 1, ?, ?) [993, 70, 991, 90]",
        ],
    );
}

#[test]
fn what_cannot_be_stored_is_refused_before_anything_is_sent() {
    for (text, expected) in [
        ("INSERT INTO t_order (order_id, user_id, status) VALUES (1, 1, 'x')", "cannot be stored"),
        (
            "INSERT INTO t_order (order_id, user_id, status) VALUES (1, 1, 1 + 1)",
            "a literal or a parameter",
        ),
    ] {
        let refused = planned(vec![Stores::one()], text, &[]).expect_err("it is refused");
        assert!(refused.to_string().contains(expected), "{refused}");
    }
}

#[test]
fn two_rooms_may_not_have_the_same_value() {
    let text = "SELECT user_id FROM t_order WHERE order_id = 1 AND user_id = 1 AND status = 7";
    let refused =
        planned(vec![Stores::one(), Stores::one()], text, &[]).expect_err("it is refused");
    assert!(refused.to_string().contains("the same part of the statement"), "{refused}");
}

/// The statement by the template of another one.
fn by_template(first: &str, text: &str, parameters: &[i64]) -> Option<Vec<String>> {
    let database = database(vec![Stores::one()]);
    let bound: Vec<Parameter> =
        parameters.iter().map(|n| Parameter::made(Value::Int(*n))).collect();
    let session = SessionView::default();
    let bound = (!bound.is_empty()).then_some(&bound[..]);
    let ctx = context(&database, &session, bound);
    let stmt = parsed(&database, first);
    let Planned::Run(plan) = plan(&ctx, &stmt, Purpose::Run).expect("it is planned") else {
        return None;
    };
    let syntax = database.dialect.syntax();
    let mut shape = Shape::default();
    assert!(shape.read(first, syntax));
    let template = Template::of(&ctx, &stmt, &shape, &plan)?;
    assert!(shape.read(text, syntax));
    let fit: Fit = template.plan(&ctx, text, shape.slots())?;
    Some(shown(&fit.whole(), parameters))
}

#[test]
fn templates_carry_what_becomes_of_values() {
    let text = |status: &str| {
        format!(
            "SELECT user_id FROM t_order WHERE order_id = 1 AND user_id = 1 AND status = {status}"
        )
    };
    let expected =
        "SELECT user_id FROM t_order_1 WHERE order_id = 1 AND user_id = 1 AND status = 992 []";
    assert_eq!(by_template(&text("7"), &text("8"), &[]), Some(vec![expected.to_owned()]));
    let prepared = "SELECT user_id FROM t_order WHERE order_id = ? AND user_id = ? AND status = ?";
    let expected = "SELECT user_id FROM t_order_1 WHERE order_id = ? AND user_id = ? AND status = ? [1, 1, 991]";
    assert_eq!(by_template(prepared, prepared, &[1, 1, 9]), Some(vec![expected.to_owned()]));
    // What cannot be stored has no plan by the template: planning in full tells why.
    assert_eq!(by_template(&text("7"), &text("1.5"), &[]), None);
}

/// A room that sends statements of one value to another unit, as a shadow rule does.
#[derive(Debug)]
struct Shadows;

/// Where the column's value stands that a statement asks for.
fn asked(stmt: &Statement) -> Option<Expr> {
    let mut found = None;
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Node::Binary { op: BinaryOp::Equal, left, right } = &expr.node
            && matches!(&left.node, Node::Column(name) if name.parts.last().is_some_and(|last| last.value == COLUMN))
        {
            found = Some((**right).clone());
        }
    });
    found
}

/// Whether it is the value whose statements go elsewhere.
fn is_shadow(value: Option<&Value>) -> bool {
    value == Some(&Value::Int(13))
}

impl Room for Shadows {
    fn name(&self) -> &'static str {
        "shadows"
    }
}

fn elsewhere(target: Target) -> Target {
    Target { unit: "ds_0".into(), ..target }
}

impl Feature for Shadows {
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        let Some(expr) = asked(stmt) else { return Ok(()) };
        let value = match &expr.node {
            Node::Literal(literal) => Value::of_literal(literal),
            Node::Parameter(index) => ctx.parameter(*index).cloned(),
            other => panic!("{other:?}"),
        };
        if is_shadow(value.as_ref())
            && let Route::Units(units) = route
        {
            units.targets = std::mem::take(&mut units.targets).into_iter().map(elsewhere).collect();
        }
        Ok(())
    }

    fn shortcut(&self, _: &Context<'_>, stmt: &Statement) -> Shortcut {
        let Some(expr) = asked(stmt) else { return Shortcut::Idle };
        Shortcut::Choose(Arc::new(ByValue(expr)))
    }
}

#[derive(Debug)]
struct ByValue(Expr);

impl Choose for ByValue {
    fn choose(&self, _: &Context<'_>, values: &dyn Values, target: Target) -> Option<Target> {
        let value = match &self.0.node {
            Node::Literal(_) => Value::of_literal(&values.literal(self.0.span)?)?,
            Node::Parameter(index) => values.parameter(*index)?.clone(),
            other => panic!("{other:?}"),
        };
        Some(if is_shadow(Some(&value)) { elsewhere(target) } else { target })
    }
}

#[test]
fn a_room_that_redirects_by_a_value_is_asked_with_the_value_at_hand() {
    let database = {
        let mut database = database(Vec::new());
        database.features.push(Arc::new(Shadows));
        database
    };
    let session = SessionView::default();
    let ctx = context(&database, &session, None);
    let text = |status: i64| {
        format!(
            "SELECT user_id FROM t_order WHERE order_id = 1 AND user_id = 1 AND status = {status}"
        )
    };
    let first = text(7);
    let Planned::Run(made) = plan(&ctx, &parsed(&database, &first), Purpose::Run).expect("a plan")
    else {
        panic!("no plan");
    };
    let mut shape = Shape::default();
    assert!(shape.read(&first, database.dialect.syntax()));
    let template =
        Template::of(&ctx, &parsed(&database, &first), &shape, &made).expect("a template");
    for (status, unit) in [(7, "ds_1"), (13, "ds_0"), (14, "ds_1")] {
        let text = text(status);
        assert!(shape.read(&text, database.dialect.syntax()));
        let fit =
            template.plan(&ctx, &text, shape.slots()).expect("a plan by the template").whole();
        assert_eq!(
            (&*fit.units[0].target.unit, &*fit.units[0].sql),
            (unit, &*text.replace("t_order", "t_order_1"))
        );
    }
}
