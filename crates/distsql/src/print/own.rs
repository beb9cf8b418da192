//! Rules of rooms of Pando's own.

use std::fmt::{self, Display, Formatter};

use pando_kernel::RuleGrammar;
use pando_kernel::grammar::{Field, Form};

use super::{List, Text, Truth};
use crate::command::{Given, Name, OwnRule};

/// Rules of one sort with commas between them.
pub(super) struct Rules<'a> {
    pub(super) grammar: &'a RuleGrammar,
    pub(super) rules: &'a [OwnRule],
}

impl Display for Rules<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut words = Words(Vec::new());
        words.gather(self.grammar.fields);
        let rule = |rule: &OwnRule| match words.said(rule, self.grammar.fields) {
            inner if inner.is_empty() => words.name(&rule.key),
            inner => format!("{}({inner})", words.name(&rule.key)),
        };
        List(&self.rules.iter().map(rule).collect::<Vec<_>>()).fmt(f)
    }
}

/// The words of a grammar's fields. A name that is one of them is no bare word.
struct Words(Vec<&'static str>);

impl Words {
    fn gather(&mut self, fields: &[Field]) {
        for field in fields {
            self.0.push(field.word);
            if let Form::Parts(part) = field.form {
                self.0.push(part.word);
                self.gather(part.fields);
            }
        }
    }

    fn name(&self, name: &Name) -> String {
        let bare = name.to_string();
        let is_word = self.0.iter().any(|word| word.eq_ignore_ascii_case(&bare));
        if is_word { format!("`{bare}`") } else { bare }
    }

    fn names(&self, names: &[Name]) -> Vec<String> {
        names.iter().map(|name| self.name(name)).collect()
    }

    /// What stands in a rule's parentheses.
    fn said(&self, rule: &OwnRule, fields: &[Field]) -> String {
        let given = fields.iter().zip(&rule.given);
        let given = given.filter_map(|(field, given)| Some(self.field(field, given.as_ref()?)));
        given.collect::<Vec<_>>().join(", ")
    }

    fn field(&self, field: &Field, given: &Given) -> String {
        let word = field.word;
        match given {
            Given::Name(name) => format!("{word}={}", self.name(name)),
            Given::Text(text) => format!("{word}={}", Text(text)),
            Given::Number(number) => format!("{word}={number}"),
            Given::Boolean(truth) => format!("{word}={}", Truth(*truth)),
            Given::Names(names) => within(word, &List(&self.names(names))),
            Given::Algorithms(all) => within(word, &List(all)),
            Given::Parts(parts) => within(word, &List(&self.parts(field, parts))),
        }
    }

    fn parts(&self, field: &Field, parts: &[OwnRule]) -> Vec<String> {
        let Form::Parts(part) = field.form else { return Vec::new() };
        let one = |rule: &OwnRule| {
            let (key, inner) = (self.name(&rule.key), self.said(rule, part.fields));
            match part.word {
                "" => format!("{key}({inner})"),
                word if inner.is_empty() => format!("({word}={key})"),
                word => format!("({word}={key}, {inner})"),
            }
        };
        parts.iter().map(one).collect()
    }
}

fn within(word: &str, inner: &dyn Display) -> String {
    if word.is_empty() { inner.to_string() } else { format!("{word}({inner})") }
}
