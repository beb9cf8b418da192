//! What cases of rooms say: each of a room's methods has its words.

#![allow(clippy::unwrap_used, reason = "test support functions")]

use std::sync::Arc;

use pando_fake::room::{Known, Scene, play};
use pando_kernel::cells::{CellMap, CellTurn};
use pando_kernel::changes::{Changes, Turn, ValueMap};
use pando_kernel::feature::{Admission, Context, Entry, Feature, Footprint, Permits, Room};
use pando_kernel::merge::Position;
use pando_kernel::route::{Route, Target};
use pando_kernel::{Error, Result, Value};
use pando_sql::ast::{Kind, Node, Statement};
use pando_sql::visit;

/// Stores texts with a mark, tells `name` and the second column without it, and lets nobody delete from several units.
#[derive(Debug)]
struct Marked;

impl Room for Marked {
    fn name(&self) -> &'static str {
        "marked"
    }
}

impl Feature for Marked {
    fn route(&self, _: &Context<'_>, stmt: &Statement, _: &mut Route) -> Result<()> {
        if matches!(stmt.kind, Kind::Insert(_)) {
            return Err(Error::unsupported(30001, "`INSERT` is refused", "wait"));
        }
        Ok(())
    }

    fn rewrite(
        &self,
        _: &Context<'_>,
        stmt: &Statement,
        to: &Target,
        changes: &mut Changes,
    ) -> Result<()> {
        let turn = Turn(Arc::new(Marked));
        let mut values = Vec::new();
        visit::exprs(&stmt.kind, &mut |expr| values.push(expr));
        for expr in values {
            if matches!(expr.node, Node::Literal(_)) {
                changes.value(expr, &turn)?;
            } else if matches!(expr.node, Node::Parameter(_)) {
                changes.further(expr, &turn)?;
            }
        }
        for place in visit::tables(&stmt.kind).iter().filter(|_| *to.unit == *"ds_1") {
            changes.text().replace(place.name.span, "t_one");
        }
        Ok(())
    }

    fn shown(&self, _: &Context<'_>, stmt: &Statement) -> Result<Vec<CellMap>> {
        let is_read = matches!(stmt.kind, Kind::Select(_));
        let places = [Position::Name("name".to_owned()), Position::Index(1)];
        let map = |at| CellMap { at, turn: Arc::new(Marked) };
        Ok(if is_read { places.into_iter().map(map).collect() } else { Vec::new() })
    }

    fn admission(&self) -> Option<&dyn Admission> {
        Some(self)
    }
}

impl Admission for Marked {
    fn admit(&self, _: &Context<'_>, footprint: &Footprint<'_>, _: &mut Permits) -> Result<Entry> {
        match footprint.writes && footprint.units.len() > 1 {
            true => Err(Error::forbidden(30001, "too many units", "delete in one")),
            false => Ok(Entry::Now),
        }
    }
}

impl ValueMap for Marked {
    fn turned(&self, value: &Value) -> Result<Value> {
        let Value::Text(text) = value else { return Ok(value.clone()) };
        Ok(Value::Text(format!("~{text}")))
    }
}

impl CellTurn for Marked {
    fn value(&self, value: Value) -> Result<Value> {
        Ok(value)
    }
}

const CASES: &str = "
# every method by its word
SELECT name FROM t WHERE name = 'a' AND id = ?
=> unclaimed
=> rewritten SELECT name FROM t WHERE name = '~a' AND id = ?, ?
=> shown name, 2
=> admitted

@ claimed ds_0 ds_1
DELETE FROM t WHERE name = 'a'
=> ds_0 ds_1
=> rewritten ds_0: DELETE FROM t WHERE name = '~a' / ds_1: DELETE FROM t_one WHERE name = '~a'
=> shown as stored
=> admitted error too many units

INSERT INTO t VALUES ('a')
=> error `INSERT` is refused
=> rewritten error `INSERT` is refused

# a hint goes past `route`, and nothing else
@ hinted ds_1
INSERT INTO t VALUES ('a')
=> ds_1
=> rewritten INSERT INTO t_one VALUES ('~a')
=> admitted
";

fn wrong(cases: &str) -> Vec<String> {
    play(cases, |_| Scene { room: Arc::new(Marked), known: Known::default() }).unwrap()
}

#[test]
fn cases_say_what_each_method_gives() {
    assert_eq!(wrong(CASES), Vec::<String>::new());
}

#[test]
fn what_comes_out_otherwise_is_told() {
    for (line, other, actual) in [
        ("=> shown name, 2", "=> shown name", "but: name, 2"),
        ("=> shown as stored", "=> shown 1", "but: as stored"),
        ("=> admitted error too many units", "=> admitted", "but: error too many units"),
        ("=> unclaimed", "=> ds_0", "but: unclaimed"),
        ("'~a' AND", "'a' AND", "name = '~a' AND id = ?, ?"),
    ] {
        let all = wrong(&CASES.replace(line, other));
        assert!(all.len() == 1 && all[0].contains(actual), "{line}: {all:?}");
    }
    assert!(
        play("SELECT 1", |_| Scene { room: Arc::new(Marked), known: Known::default() }).is_err()
    );
}
