//! Rules that people write themselves: which statements are refused, or run with a warning, by conditions over what they are.

mod changes;
mod properties;
mod rule;
mod stars;

use std::sync::Arc;

use pando_config::Rules;
use pando_kernel::error::Result;
use pando_kernel::feature::{Admission, Context, Entry, Feature, Footprint, Permits, Room};
use pando_kernel::grammar::{Field, Form, Key, Named, Presence};
use pando_kernel::room::Built;
use pando_kernel::{Around, Offer, RuleGrammar, Shortcut};
use pando_sql::ast::Statement;

use crate::properties::Properties;
use crate::rule::Rule;

/// The room for `!AUDIT`.
pub const ROOM: Offer = Offer { section: Some("AUDIT"), grammar: &[GRAMMAR], ..Offer::new(room) };

/// `CREATE AUDIT RULE no_delete_of_all(CONDITION="kind == 'DELETE' && !has_where")`.
const GRAMMAR: RuleGrammar = RuleGrammar {
    words: "AUDIT",
    key: Key { named: Named::Rule, column: "name" },
    fields: &[
        Field {
            word: "CONDITION",
            form: Form::Text,
            presence: Presence::Required,
            stored: "condition",
            column: "condition",
        },
        Field {
            word: "ACTION",
            form: Form::Text,
            presence: Presence::Optional,
            stored: "action",
            column: "action",
        },
        Field {
            word: "MESSAGE",
            form: Form::Text,
            presence: Presence::Optional,
            stored: "message",
            column: "message",
        },
        Field {
            word: "ALLOW_HINT_DISABLE",
            form: Form::Boolean,
            presence: Presence::Optional,
            stored: "allowHintDisable",
            column: "allow_hint_disable",
        },
    ],
    stored: "rules",
    columns: &["name", "condition", "action", "message", "allow_hint_disable"],
    help: "Refuses statements of which a condition holds, or warns of them.",
    example: r#"no_delete_of_all(CONDITION="kind == 'DELETE' && !has_where", ACTION=ERROR, MESSAGE="say which rows")"#,
};

fn room(rules: &Rules, _: &Around<'_>) -> Built {
    let rules = rule::read(rules)?;
    if rules.is_empty() {
        return Ok(None);
    }
    let is_refusing = |rule: &Rule| rule.action == rule::Action::Error;
    let (refusing, warning) = rules.into_iter().partition(is_refusing);
    Ok(Some(Arc::new(Audit { refusing, warning })))
}

#[derive(Debug)]
struct Audit {
    refusing: Vec<Rule>,
    warning: Vec<Rule>,
}

impl Room for Audit {
    fn name(&self) -> &'static str {
        "audit"
    }
}

impl Feature for Audit {
    /// A statement of the same shape is the same to the rules, but for the number behind its LIMIT.
    fn shortcut(&self, _: &Context<'_>, stmt: &Statement) -> Shortcut {
        let asks =
            self.refusing.iter().chain(&self.warning).any(|rule| rule.uses(properties::LIMIT));
        match asks && properties::has_any_limit(&stmt.kind) {
            true => Shortcut::None,
            false => Shortcut::Idle,
        }
    }

    fn admission(&self) -> Option<&dyn Admission> {
        Some(self)
    }
}

impl Admission for Audit {
    fn admit(
        &self,
        ctx: &Context<'_>,
        footprint: &Footprint<'_>,
        _: &mut Permits,
    ) -> Result<Entry> {
        if self.refusing.is_empty() {
            return Ok(Entry::Now);
        }
        let mut all = Properties::all(ctx, footprint);
        for rule in &self.refusing {
            if rule.is_broken(footprint.stmt, &mut all)? {
                return Err(rule.refusal());
            }
        }
        Ok(Entry::Now)
    }

    fn warnings(&self, ctx: &Context<'_>, footprint: &Footprint<'_>) -> Vec<String> {
        if self.warning.is_empty() {
            return Vec::new();
        }
        let mut all = Properties::all(ctx, footprint);
        let warning = self.warning.iter();
        let broken = warning.filter_map(|rule| match rule.is_broken(footprint.stmt, &mut all) {
            Ok(true) => Some(rule.warning()),
            Ok(false) => None,
            Err(error) => Some(error.to_string()),
        });
        broken.collect()
    }
}
