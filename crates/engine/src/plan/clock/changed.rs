//! The tables whose rows servers may write by the clock.

use pando_kernel::feature::Context;
use pando_sql::ast::{Kind, ObjectName, Statement, TableFactor};

/// The tables whose rows a statement writes, as far as servers may write something of their own there.
pub(super) fn changed(ctx: &Context<'_>, stmt: &Statement) -> Vec<String> {
    let known = |name: &ObjectName| match &name.parts[..] {
        [_] => Some(name.key()),
        // Tables of other schemas may have the name of one whose columns are known.
        [schema, _] if ctx.dialect.default_schema() == Some(&schema.value) => Some(name.key()),
        _ => None,
    };
    #[expect(clippy::wildcard_enum_match_arm, reason = "others write no rows of a known table")]
    match &stmt.kind {
        Kind::Insert(insert) => known(&insert.table.name).into_iter().collect(),
        Kind::Load(load) => known(&load.table).into_iter().collect(),
        Kind::Update(update) => {
            let mut factors: Vec<&TableFactor> = update.tables.iter().collect();
            let mut tables = Vec::new();
            while let Some(factor) = factors.pop() {
                match factor {
                    TableFactor::Table(table) => tables.extend(known(&table.name)),
                    TableFactor::Join(join) => factors.extend([&join.left, &join.right]),
                    TableFactor::Derived { .. } | TableFactor::Function { .. } => {}
                }
            }
            tables
        }
        _ => Vec::new(),
    }
}
