//! Rules of rooms of Pando's own, as their grammar says.

use pando_config::Node;
use pando_distsql::Language;
use pando_distsql::command::{Definition, Given, Name, OwnRule, Rdl};
use pando_kernel::grammar::{Field, Form, Presence};

use super::algorithm::algorithm;
use super::create;
use crate::canonical::{list, names};
use crate::own::{self, Kept};

/// The statements about the sections of a tree.
pub(super) fn said(tree: &Node, language: &Language) -> Vec<Rdl> {
    let of = |own: pando_distsql::command::Own| {
        let section = tree.rule(own.tag)?;
        let rules = own::rules(Some(section), own.grammar);
        let rules: Vec<OwnRule> =
            rules.iter().filter_map(|kept| rule(section, kept, own.grammar.fields)).collect();
        (!rules.is_empty()).then(|| create(Definition::Own(own, rules)))
    };
    language.sorts().filter_map(of).collect()
}

/// Lists as statements write them: documents may have one text with commas in it.
pub(super) fn with_lists(tree: &mut Node, language: &Language) {
    for own in language.sorts().filter(|own| own.grammar.fields.is_empty()) {
        let keys = tree.rule(own.tag).and_then(|section| section.get(own.grammar.stored));
        if let Some(keys) = keys.map(names) {
            tree.change_rule(own.tag, |section| section.set(own.grammar.stored, list(&keys)));
        }
    }
}

/// A rule; `None` where it lacks what a statement must say, or has what none can.
fn rule(section: &Node, kept: &Kept<'_>, fields: &[Field]) -> Option<OwnRule> {
    let mut given = Vec::new();
    for field in fields {
        let found = own::value(kept.node, field);
        let read = found.map(|value| self::given(section, field, value));
        match (read, field.presence) {
            (Some(Some(value)), _) => given.push(Some(value)),
            (None, Presence::Optional) => given.push(None),
            (Some(None), _) | (None, Presence::Required) => return None,
        }
    }
    Some(OwnRule { key: Name::new(kept.key.as_str()), given })
}

fn given(section: &Node, field: &Field, value: &Node) -> Option<Given> {
    let text = || value.as_text();
    let listed = || Some(names(value)).filter(|names| !names.is_empty());
    Some(match field.form {
        Form::Name(_) => Given::Name(Name::new(text()?)),
        Form::Text => Given::Text(text()?.to_owned()),
        Form::Number { least, most } => {
            let number = text()?.parse().ok()?;
            (least..=most).contains(&number).then_some(Given::Number(number))?
        }
        Form::Boolean => Given::Boolean(text()?.parse().ok()?),
        Form::Names(_) => Given::Names(listed()?.into_iter().map(Name::new).collect()),
        Form::Algorithm(kept) | Form::Algorithms(kept) => {
            let defined = |name: &String| section.find(&[kept.stored, name]).map(algorithm);
            Given::Algorithms(listed()?.iter().map(defined).collect::<Option<_>>()?)
        }
        Form::Parts(part) => {
            let rules = own::parts(value);
            let rules = rules.iter().map(|kept| rule(section, kept, part.fields));
            Given::Parts(rules.collect::<Option<Vec<_>>>().filter(|all| !all.is_empty())?)
        }
    })
}
