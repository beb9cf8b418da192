//! Rules of rooms of Pando's own.

use std::fmt::{self, Display, Formatter};

use pando_kernel::RuleGrammar;
use pando_kernel::grammar::{Field, Form};

use super::{List, Text, Truth};
use crate::command::{Given, OwnRule};

/// Rules of one sort with commas between them.
pub(super) struct Rules<'a> {
    pub(super) grammar: &'a RuleGrammar,
    pub(super) rules: &'a [OwnRule],
}

impl Display for Rules<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let fields = self.grammar.fields;
        let rule = |rule: &OwnRule| match said(rule, fields) {
            inner if inner.is_empty() => rule.key.to_string(),
            inner => format!("{}({inner})", rule.key),
        };
        List(&self.rules.iter().map(rule).collect::<Vec<_>>()).fmt(f)
    }
}

/// What stands in a rule's parentheses.
fn said(rule: &OwnRule, fields: &[Field]) -> String {
    let given = fields.iter().zip(&rule.given);
    let given = given.filter_map(|(field, given)| Some(self::field(field, given.as_ref()?)));
    given.collect::<Vec<_>>().join(", ")
}

fn field(field: &Field, given: &Given) -> String {
    let word = field.word;
    match given {
        Given::Name(name) => format!("{word}={name}"),
        Given::Text(text) => format!("{word}={}", Text(text)),
        Given::Number(number) => format!("{word}={number}"),
        Given::Boolean(truth) => format!("{word}={}", Truth(*truth)),
        Given::Names(names) => within(word, &List(names)),
        Given::Algorithms(all) => within(word, &List(all)),
        Given::Parts(parts) => within(word, &List(&parts_of(field, parts))),
    }
}

fn within(word: &str, inner: &dyn Display) -> String {
    if word.is_empty() { inner.to_string() } else { format!("{word}({inner})") }
}

fn parts_of(field: &Field, parts: &[OwnRule]) -> Vec<String> {
    let Form::Parts(part) = field.form else { return Vec::new() };
    let one = |rule: &OwnRule| match (part.word, said(rule, part.fields)) {
        ("", inner) => format!("{}({inner})", rule.key),
        (word, inner) if inner.is_empty() => format!("({word}={})", rule.key),
        (word, inner) => format!("({word}={}, {inner})", rule.key),
    };
    parts.iter().map(one).collect()
}
