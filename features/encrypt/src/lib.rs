//! Columns that are stored encrypted: clients see values, storage units have cipher text. What would show plain values
//! to a unit, or cipher text to a client, is refused.

mod canonical;
mod cast;
mod collation;
mod column;
mod declaration;
mod define;
mod encryptor;
mod in_step;
mod places;
mod refill;
mod refusal;
mod rule;
mod shows;
mod storage;
mod turns;
mod write;

use std::sync::Arc;

use pando_columns::{Use, Uses};
use pando_config::Rules;
use pando_kernel::changes::Changes;
use pando_kernel::error::Result;
use pando_kernel::feature::{Context, Feature, Room};
use pando_kernel::room::Built;
use pando_kernel::route::{Need, Route, Target};
use pando_kernel::{Around, CellMap, Offer, Shortcut, ShowsColumns};
use pando_sql::ast::Statement;

use refusal::{of_change, otherwise, refused};

/// The room for `!ENCRYPT`.
pub const ROOM: Offer =
    Offer { section: Some("ENCRYPT"), algorithms: encryptor::algorithms, ..Offer::new(room) };

fn room(rules: &Rules, around: &Around<'_>) -> Built {
    let Some(section) = &rules.encrypt else { return Ok(None) };
    let rule = rule::Rule::new(section, around)?;
    Ok(Some(Arc::new(Encrypt { rule })))
}

#[derive(Debug)]
struct Encrypt {
    rule: rule::Rule,
}

impl Encrypt {
    /// The uses of encrypted columns; what must be known first.
    fn uses(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<std::result::Result<Uses, Need>> {
        let uses = pando_columns::uses_or_need(ctx, stmt, &self.rule.interest, refused)?;
        Ok(uses.and_then(|uses| match in_step::need(&self.rule, ctx, stmt, &uses) {
            None => Ok(uses),
            Some(need) => Err(need),
        }))
    }

    /// The same, where routing has seen to it that all is known.
    fn known(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<Uses> {
        pando_columns::known_uses(ctx, stmt, &self.rule.interest, refused)
    }

    /// Refuses what cannot be answered over what is stored; `told` are those of the uses that the client has written.
    fn check<'a>(
        &self,
        ctx: &Context<'_>,
        stmt: &Statement,
        uses: &Uses,
        told: impl Iterator<Item = &'a Use> + Clone,
    ) -> Result<()> {
        places::check(&self.rule, told.clone(), &uses.stars)?;
        collation::check(&self.rule, ctx, told.clone(), &uses.stars)?;
        for one in told {
            cast::check(one, places::found(&self.rule, &one.of)?, &stmt.text, self.rule.fold)?;
        }
        in_step::check(&self.rule, ctx, stmt, uses)?;
        define::check(&self.rule, ctx, stmt, uses)
    }
}

impl Room for Encrypt {
    fn name(&self) -> &'static str {
        "encrypt"
    }

    fn columns(&self) -> Option<&dyn ShowsColumns> {
        Some(self)
    }
}

impl Feature for Encrypt {
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        match self.uses(ctx, stmt)? {
            Ok(uses) => {
                let checked = self.check(ctx, stmt, &uses, uses.columns.iter());
                checked.map_err(|error| of_change(stmt, error))
            }
            Err(need) => {
                *route = Route::Needs(need);
                Ok(())
            }
        }
    }

    fn rewrite(
        &self,
        ctx: &Context<'_>,
        stmt: &Statement,
        _: &Target,
        changes: &mut Changes,
    ) -> Result<()> {
        let uses = self.known(ctx, stmt)?;
        let told = uses.columns.iter().filter(|one| !changes.is_added(one.span));
        // The last gate: a statement over rows that were read comes here without a route of its own.
        self.check(ctx, stmt, &uses, told)?;
        write::write(&self.rule, ctx, stmt, &uses, changes)
    }

    fn shown(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<Vec<CellMap>> {
        shows::cells(&self.rule, &self.known(ctx, stmt)?)
    }

    /// Values go as maps, so that other values make no other statement.
    fn shortcut(&self, ctx: &Context<'_>, stmt: &Statement) -> Shortcut {
        match self.uses(ctx, stmt) {
            Ok(Ok(_)) => Shortcut::Idle,
            Ok(Err(_)) | Err(_) => Shortcut::None,
        }
    }
}
