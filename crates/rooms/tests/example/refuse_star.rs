//! Tables whose columns must be listed: `*` over them is refused, as it changes with the table.

use std::collections::HashSet;
use std::sync::Arc;

use pando_config::Rules;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, Feature, Room};
use pando_kernel::room::Built;
use pando_kernel::{Around, Offer, Route, RuleGrammar, Shortcut};
use pando_sql::ast::{SelectItem, Statement};
use pando_sql::visit;

/// The room for `!REFUSE_STAR`.
pub const ROOM: Offer =
    Offer { section: Some("REFUSE_STAR"), grammar: &[GRAMMAR], ..Offer::new(room) };

/// `CREATE REFUSE_STAR RULE t_user`.
const GRAMMAR: RuleGrammar = RuleGrammar {
    help: "Refuses `*` over tables.",
    example: "t_user, t_order",
    ..RuleGrammar::tables("REFUSE_STAR")
};

fn room(rules: &Rules, _: &Around<'_>) -> Built {
    let tables = rules.read_section("REFUSE_STAR", |fields| fields.names("tables"))?;
    let Some(tables) = tables else { return Ok(None) };
    // A key is in lower case unless the client's language tells tables apart by case.
    let keys = tables.into_iter().flat_map(|name| [name.value.to_lowercase(), name.value]);
    Ok(Some(Arc::new(RefuseStar { keys: keys.collect() })))
}

#[derive(Debug)]
struct RefuseStar {
    keys: HashSet<String>,
}

impl Room for RefuseStar {
    fn name(&self) -> &'static str {
        "refuse_star"
    }
}

impl Feature for RefuseStar {
    fn route(&self, _: &Context<'_>, stmt: &Statement, _: &mut Route) -> Result<()> {
        let mut has_star = false;
        visit::items(&stmt.kind, &mut |item| {
            has_star |= matches!(item, SelectItem::Star(_) | SelectItem::QualifiedStar(..));
        });
        let tables = visit::tables(&stmt.kind);
        match tables.iter().find(|table| self.keys.contains(&table.name.key())) {
            Some(table) if has_star => {
                let reason = format!("`*` over table `{}` is refused", table.name.key());
                Err(Error::forbidden(30001, reason, "list its columns"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Other values do not make another statement of it.
    fn shortcut(&self, _: &Context<'_>, _: &Statement) -> Shortcut {
        Shortcut::Idle
    }
}
