//! Definitions: what a table is, it is in both environments.

use pando_kernel::error::Result;
use pando_kernel::feature::{Context, Found};
use pando_kernel::route::{Environment, Need};
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, Statement};
use pando_sql::visit;

use crate::algorithm::Operation;
use crate::decision::{Hint, decided};
use crate::evidence::evidence;
use crate::refused;
use crate::rule::Rule;

/// Which environment a definition is for alone, by its hint; else those of tables with shadows are for both, and what a table of
/// a query's rows is filled with is production's.
///
/// # Errors
/// `Refused` where rows, or what shows them, would come to stand where they do not belong.
pub(crate) fn environment(
    rule: &Rule,
    ctx: &Context<'_>,
    stmt: &Statement,
    hint: Hint,
) -> Result<Found> {
    let Kind::Define(define) = &stmt.kind else { return Ok(Ok(None)) };
    if hint == Hint::Shadow {
        return Ok(Ok(Some(Environment::Shadow)));
    }
    let is_listed = |key: &str| rule.takes_all || rule.table(key).is_some();
    let own = define.names.first().map(|name| name.key()).unwrap_or_default();
    let reads = || {
        let tables = visit::tables(&stmt.kind).into_iter();
        tables.map(|table| table.name.key()).find(|key| *key != own && rule.table(key).is_some())
    };
    if define.query.is_some()
        && define.object == ObjectKind::View
        && !is_listed(&own)
        && let Some(table) = reads()
    {
        return Err(refused(
            format!("the view `{own}` over `{table}` would have no shadow"),
            "list the view under `tables` of `!SHADOW`, with the algorithms of its tables",
        ));
    }
    if define.query.is_some() && define.object != ObjectKind::View {
        let evidence = evidence(rule, ctx, stmt);
        let decided = decided(&evidence, hint, &|constant| constant.here(ctx));
        if !matches!(decided, Ok(None | Some(Environment::Production))) {
            return Err(refused(
                format!("`{own}` is made in production, and its rows would be shadows"),
                "make the table, listed under `tables` of `!SHADOW`, and insert rows into it by the hint `SHADOW=true`",
            ));
        }
    }
    let is_filled = define.query.is_some() && define.object == ObjectKind::Table;
    let marks = rule.table(&own).is_some_and(|table| table.decides(Operation::Insert));
    if is_filled && marks && hint != Hint::Production {
        return Err(refused(
            format!("whether its rows for `{own}` are shadows shows only when it runs"),
            "say that none of them is by the hint `SHADOW=false`",
        ));
    }
    match concerned(rule, ctx, define) {
        Ok(keys) if keys.is_empty() && !rule.takes_all => Ok(Ok(None)),
        Ok(_) => Ok(Ok(Some(Environment::Production))),
        Err(need) => Ok(Err(need)),
    }
}

/// The keys of the tables that are defined, of those with shadows.
///
/// # Errors
/// What must be known first.
pub(crate) fn concerned(
    rule: &Rule,
    ctx: &Context<'_>,
    define: &Define,
) -> std::result::Result<Vec<String>, Need> {
    let keys: Vec<String> = match (define.object, &define.on) {
        (ObjectKind::Table | ObjectKind::View, _) => {
            let renamed =
                define.renamed_to.iter().filter(|_| define.action == DefineAction::Rename);
            define.names.iter().chain(renamed).map(|name| name.key()).collect()
        }
        (_, Some(table)) => vec![table.key()],
        (ObjectKind::Index, None) => of_indexes(ctx, define)?,
        (_, None) => define.names.iter().map(|name| name.key()).collect(),
    };
    Ok(keys.into_iter().filter(|key| rule.takes_all || rule.table(key).is_some()).collect())
}

/// Whether an index is what one of this name is called in an actual table, all in lower case: the table's name stands behind
/// it, and where that would be too long it is cut, and a number of eight digits stands in between.
fn is_of_part(own: &str, name: &str, table: &str) -> bool {
    let Some(start) = own.strip_suffix(table).and_then(|start| start.strip_suffix('_')) else {
        return false;
    };
    let is_number =
        |text: &str| text.len() == 8 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let is_cut = || {
        let cut = start.rsplit_once('_').filter(|(_, number)| is_number(number));
        cut.is_some_and(|(kept, _)| name.len() > kept.len() && name.starts_with(kept))
    };
    start == name || is_cut()
}

/// The logic tables to which indexes belong that a definition names alone.
fn of_indexes(ctx: &Context<'_>, define: &Define) -> std::result::Result<Vec<String>, Need> {
    let Some(indexes) = ctx.catalog.indexes() else { return Err(Need::Indexes) };
    let tables: Vec<_> = ctx.database.features.iter().flat_map(|room| room.tables()).collect();
    let logic = |actual: &String| {
        let has = |node: &pando_kernel::feature::DataNode| node.table.eq_ignore_ascii_case(actual);
        let found = tables.iter().find(|table| table.nodes.iter().any(has));
        found.map_or_else(|| actual.clone(), |table| table.name.to_lowercase())
    };
    let owner = |name: &pando_sql::ast::ObjectName| {
        let name = name.parts.last()?.value.to_lowercase();
        // Whichever part it is, the same each time.
        let of_part = || {
            let parts = indexes.iter().filter(|(own, table)| is_of_part(own, &name, table));
            parts.map(|(_, table)| table).min()
        };
        indexes.get(&name).or_else(of_part).map(logic)
    };
    Ok(define.names.iter().filter_map(owner).collect())
}

#[cfg(test)]
mod tests {
    use super::is_of_part;

    #[test]
    fn an_index_belongs_to_the_part_whose_name_stands_behind_it() {
        assert!(is_of_part("by_v_t_0", "by_v", "t_0"));
        // Another index, whose name only begins like it.
        assert!(!is_of_part("by_v_2_u_0", "by_v", "u_0"));
        assert!(!is_of_part("by_v_u_0", "by_v", "t_0"));
        assert!(!is_of_part("by_v", "by_v", "t_0"));
        let long = "an_index_whose_name_would_be_too_long_with_that_of_its_table";
        assert!(is_of_part(
            "an_index_whose_name_would_be_too_long_with_0badcafe_t_order_0",
            long,
            "t_order_0"
        ));
        assert!(!is_of_part(
            "an_index_whose_name_would_be_too_long_with_t_order_0",
            long,
            "t_order_0"
        ));
    }
}
