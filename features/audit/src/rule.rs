//! `!AUDIT`, validated.

use std::collections::HashSet;

use pando_config::{Fields, Problem, Rules};
use pando_inline::Condition;
use pando_kernel::error::{Error, Result};
use pando_sql::ast::Statement;

use crate::properties::{Properties, VARIABLES};

/// One rule.
#[derive(Debug)]
pub(crate) struct Rule {
    name: String,
    condition: Condition,
    pub(crate) action: Action,
    message: Option<String>,
    may_be_switched_off: bool,
}

/// What becomes of a statement of which the condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// It is refused.
    Error,
    /// It runs, and the client is warned.
    Warning,
}

/// How many rules there may be: each statement is held against all of them.
const MOST: usize = 256;

/// The rules in file order; every problem of theirs is found, not only the first.
pub(crate) fn read(rules: &Rules) -> std::result::Result<Vec<Rule>, Vec<Problem>> {
    let mut names = HashSet::new();
    let found = rules.read_section("AUDIT", |fields| {
        let at = fields.at();
        let found = fields.map("rules", |entry, report| {
            let mut fields = Fields::of(&entry.value, report)?;
            let condition = fields.name("condition");
            let action = fields.optional_name("action");
            let message = fields.optional_name("message");
            let may_be_switched_off = fields.optional_boolean("allowHintDisable").unwrap_or(true);
            let name = entry.key.clone();
            if !names.insert(name.clone()) {
                let problem = entry.value.at.problem(format!("rule `{name}` is given twice"));
                fields.report().error(problem);
            }
            let action = match action.as_ref().map(|own| own.to_uppercase()).as_deref() {
                None | Some("ERROR") => Some(Action::Error),
                Some("WARNING") => Some(Action::Warning),
                Some(_) => {
                    if let Some(action) = action {
                        let problem = action.at.problem("`action` is `ERROR` or `WARNING`");
                        fields.report().error(problem);
                    }
                    None
                }
            };
            let condition = condition?;
            let compiled = match Condition::compile(&condition, &VARIABLES) {
                Ok(compiled) => Some(compiled),
                Err(error) => {
                    fields.report().error(condition.at.problem(error.to_string()));
                    None
                }
            };
            fields.finish();
            let message = message.map(|message| message.value);
            Some(Rule { name, condition: compiled?, action: action?, message, may_be_switched_off })
        });
        if found.len() > MOST {
            let problem = at.problem(format!("there are {} rules, of at most {MOST}", found.len()));
            fields.report().error(problem);
        }
        found
    })?;
    Ok(found.unwrap_or_default())
}

impl Rule {
    /// Whether its condition asks for one of the properties.
    pub(crate) fn uses(&self, property: usize) -> bool {
        self.condition.used().contains(&property)
    }

    /// Whether its condition holds of the statement, or of a change inside of it.
    ///
    /// # Errors
    /// `Refused` where that cannot be computed.
    pub(crate) fn is_broken(&self, stmt: &Statement, all: &mut [Properties<'_>]) -> Result<bool> {
        if self.may_be_switched_off && is_switched_off(&self.name, stmt) {
            return Ok(false);
        }
        for one in all {
            let holds = self.condition.holds(one.values(self.condition.used()));
            if holds.map_err(|error| self.uncomputed(&error))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn uncomputed(&self, error: &pando_inline::Error) -> Error {
        Error::forbidden(
            20090,
            format!("the audit rule `{}` cannot be computed: {error}", self.name),
            "change its condition with ALTER AUDIT RULE",
        )
    }

    /// Why a statement is refused.
    pub(crate) fn refusal(&self) -> Error {
        let name = &self.name;
        let instead = match self.may_be_switched_off {
            true => format!(
                "where it is meant so, begin it with `/* SHARDINGSPHERE_HINT: DISABLE_AUDIT_NAMES={name} */`"
            ),
            false => "write it otherwise".to_owned(),
        };
        Error::forbidden(20090, self.said("refuses this statement"), instead)
    }

    /// What the client is warned of.
    pub(crate) fn warning(&self) -> String {
        self.said("warns of this statement")
    }

    fn said(&self, what: &str) -> String {
        let name = &self.name;
        match &self.message {
            Some(message) => format!("the audit rule `{name}` {what}: {message}"),
            None => format!("the audit rule `{name}` {what}"),
        }
    }
}

/// Whether a hint names the rule.
fn is_switched_off(name: &str, stmt: &Statement) -> bool {
    let lists = stmt.hints.iter().filter(|(key, _)| key == "DISABLE_AUDIT_NAMES");
    lists.flat_map(|(_, names)| names.split_whitespace()).any(|own| own == name)
}
