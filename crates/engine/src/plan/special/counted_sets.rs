//! Changes that give another number to rows of tables whose servers count a column.

use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::ast::{ColumnAssignment, Expr, Kind, Node, Statement};
use pando_sql::visit;

use super::catalogue::tables;
use super::counted_rows::{Want, want};

/// A counted column that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CountedSet {
    /// The table's key.
    pub(crate) table: String,
    /// What the value wants of the counter.
    pub(crate) value: Want,
}

/// Which counted columns of sharded tables a statement sets in rows that are there.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over statements")]
pub(crate) fn sets(
    ctx: &Context<'_>,
    stmt: &Statement,
) -> std::result::Result<Vec<CountedSet>, Need> {
    let (names, assignments): (Vec<String>, &[ColumnAssignment]) = match &stmt.kind {
        Kind::Insert(insert) => (vec![insert.table.name.key()], &insert.on_duplicate),
        Kind::Update(update) => {
            let names = visit::tables(&stmt.kind).iter().map(|one| one.name.key()).collect();
            (names, &update.assignments)
        }
        _ => return Ok(Vec::new()),
    };
    let key = |name: &str| ctx.dialect.syntax().table_key(name);
    let is_split = |name: &String| {
        tables(ctx.database).any(|known| known.nodes.len() > 1 && key(&known.name) == *name)
    };
    let mut found = Vec::new();
    for table in names.into_iter().filter(is_split) {
        if ctx.session.temporaries.as_deref().is_some_and(|own| own.names.contains(&table)) {
            continue;
        }
        let Some(known) = ctx.catalog.columns(&table) else { return Err(Need::Columns(table)) };
        let Some(column) = known.iter().find(|column| column.auto_increment) else { continue };
        let is_it = |name: Option<&pando_sql::ast::Ident>| {
            name.is_some_and(|name| name.value.eq_ignore_ascii_case(&column.name))
        };
        for one in assignments.iter().filter(|one| is_it(one.column.parts.last())) {
            let value = match stays(&one.value, &is_it) {
                true => Want::Nothing,
                false => want(ctx, &one.value),
            };
            if value != Want::Nothing {
                found.push(CountedSet { table: table.clone(), value });
            }
        }
    }
    Ok(found)
}

/// Whether a value is the one that is there, or the one that the row brings: `id`, `VALUES(id)`, `LAST_INSERT_ID(id)`.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn stays(value: &Expr, is_it: &dyn Fn(Option<&pando_sql::ast::Ident>) -> bool) -> bool {
    match &value.node {
        Node::Column(name) => is_it(name.parts.last()),
        Node::Nested(inner) => stays(inner, is_it),
        Node::Function(call) => match &call.arguments[..] {
            [of] => {
                let name = call.name.parts.last();
                let keeps = ["values", "value", "last_insert_id"];
                name.is_some_and(|own| keeps.iter().any(|one| own.value.eq_ignore_ascii_case(one)))
                    && stays(of, is_it)
            }
            _ => false,
        },
        _ => false,
    }
}
