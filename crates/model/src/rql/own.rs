//! Rules of rooms of Pando's own, in the columns of their grammar.

use std::collections::HashMap;

use pando_config::Node;
use pando_distsql::command::{Name, Own};
use pando_kernel::grammar::{Algorithms, Field, Form, Key};

use super::Asked;
use crate::canonical::names;
use crate::own::{self, Kept};
use crate::refusal::Result;
use crate::rows::{Rows, json};
use crate::scrub::{HIDDEN, is_secret};

/// Cells by column.
type Row = HashMap<String, String>;

impl Asked<'_> {
    pub(super) fn own_rules(&self, own: Own, wanted: Option<&Name>) -> Result<Rows> {
        let grammar = own.grammar;
        let mut rows = Rows::under(grammar.columns);
        let section = self.own_section(own);
        let named = grammar.key.named;
        let name = wanted;
        let wanted = wanted.map(|wanted| named.folded(&wanted.text));
        let is_wanted =
            |key: &str| wanted.as_ref().is_none_or(|wanted| *wanted == named.folded(key));
        for rule in own::rules(section, grammar).iter().filter(|rule| is_wanted(&rule.key)) {
            let cells = Cells { section, key: &grammar.key, fields: grammar.fields };
            for mut row in cells.of(rule, &Row::new()) {
                let cell = |column: &&str| Some(row.remove(*column).unwrap_or_default());
                rows.rows.push(grammar.columns.iter().map(cell).collect());
            }
        }
        self.found(rows, &grammar.what(), name)
    }

    pub(super) fn own_count(&self, own: Own) -> usize {
        own::rules(self.own_section(own), own.grammar).len()
    }

    fn own_section(&self, own: Own) -> Option<&Node> {
        let sections = &self.database.rules.own;
        sections.iter().find(|section| section.tag.as_deref() == Some(own.tag))
    }
}

/// How one level of rules is told.
#[derive(Clone, Copy)]
struct Cells<'a> {
    /// Where the algorithms are.
    section: Option<&'a Node>,
    key: &'a Key,
    fields: &'a [Field],
}

impl Cells<'_> {
    /// The rows of a rule, or of a part, with what `around` has: one for each thing of its list, and one where it has
    /// none.
    fn of(self, kept: &Kept<'_>, around: &Row) -> Vec<Row> {
        let mut row = around.clone();
        row.insert(self.key.column.to_owned(), kept.key.clone());
        let mut rows = Vec::new();
        for field in self.fields {
            let value = own::value(kept.node, field);
            let text = || value.and_then(Node::as_text).unwrap_or_default().to_owned();
            let is_hidden = value.is_some() && is_secret(field.stored);
            let column = field.column.to_owned();
            match field.form {
                Form::Name(_) | Form::Text | Form::Number { .. } | Form::Boolean => {
                    let told = if is_hidden { HIDDEN.to_owned() } else { text() };
                    row.insert(column, told);
                }
                Form::Names(_) => {
                    row.insert(column, value.map(names).unwrap_or_default().join(","));
                }
                Form::Algorithm(all) => row.extend(self.algorithm(all, field, &text())),
                Form::Algorithms(_) | Form::Parts(_) => {}
            }
        }
        for field in self.fields {
            let Some(value) = own::value(kept.node, field) else { continue };
            match field.form {
                Form::Algorithms(all) => rows.extend(names(value).iter().map(|name| {
                    let mut row = row.clone();
                    row.extend(self.algorithm(all, field, name));
                    row
                })),
                Form::Parts(part) => {
                    let cells = Cells { key: &part.key, fields: part.fields, ..self };
                    rows.extend(own::parts(value).iter().flat_map(|kept| cells.of(kept, &row)));
                }
                Form::Name(_)
                | Form::Names(_)
                | Form::Text
                | Form::Number { .. }
                | Form::Boolean
                | Form::Algorithm(_) => {}
            }
        }
        if rows.is_empty() { vec![row] } else { rows }
    }

    /// Type and properties; nothing where there is no such algorithm.
    fn algorithm(self, all: &Algorithms, field: &Field, name: &str) -> Vec<(String, String)> {
        let found = self.section.and_then(|section| section.find(&[all.stored, name]));
        let Some(found) = found else { return Vec::new() };
        let text = |node: &Node| node.as_text().unwrap_or_default().to_owned();
        let props = found.get("props").map(Node::pairs).unwrap_or_default();
        let props: Vec<(&str, String)> =
            props.iter().map(|entry| (entry.key.as_str(), text(&entry.value))).collect();
        let props = json(props.iter().map(|(key, value)| (*key, value.as_str())));
        let kind = found.get("type").map(text).unwrap_or_default();
        field.columns().into_iter().zip([kind, props]).collect()
    }
}
