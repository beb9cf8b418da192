//! From a room's grammar to what the matcher walks.

use pando_kernel::grammar::{Field, Form, Named, Part, Presence, RuleGrammar};

use super::{DEEPEST, RULE, labelled, piece};
use crate::ebnf::{Lexeme, Node, one_or};
use crate::tables::FRAGMENTS;

/// A rule as it stands behind RULE.
pub(super) fn rule(grammar: &RuleGrammar) -> Node {
    let key = named(grammar.key.named);
    let node = match body(grammar.fields, 0) {
        None => key,
        Some(inner) if grammar.fields.iter().any(is_required) => {
            sequence([key, symbol("("), inner, symbol(")")])
        }
        Some(inner) => sequence([key, optional(sequence([symbol("("), inner, symbol(")")]))]),
    };
    Node::Labelled(RULE, Box::new(node))
}

/// The verb of a statement and what it is about: `CREATE MASK RULE`.
pub(super) fn head(
    verb: &'static str,
    grammar: &RuleGrammar,
    last: Option<&'static str>,
) -> Vec<Node> {
    let words = grammar.words.split(' ');
    [verb].into_iter().chain(words).chain(last).map(Node::Keyword).collect()
}

pub(super) fn sequence(nodes: impl IntoIterator<Item = Node>) -> Node {
    let flat = nodes.into_iter().flat_map(|node| match node {
        Node::Sequence(inner) => inner,
        Node::Keyword(_)
        | Node::Symbol(_)
        | Node::Lexeme(_)
        | Node::Fragment(_)
        | Node::Labelled(..)
        | Node::Choice(_)
        | Node::Optional(_)
        | Node::List(_) => vec![node],
    });
    one_or(flat.collect(), Node::Sequence)
}

pub(super) fn optional(node: Node) -> Node {
    Node::Optional(Box::new(node))
}

pub(super) fn list(node: Node) -> Node {
    Node::List(Box::new(node))
}

/// A piece of the table's grammar, which is there: a test walks all that are named here.
pub(super) fn fragment(name: &str) -> Node {
    let index = FRAGMENTS.iter().position(|piece| piece.name == name);
    index.map_or_else(|| Node::Choice(Vec::new()), Node::Fragment)
}

pub(super) fn named(named: Named) -> Node {
    fragment(piece(named))
}

fn symbol(text: &'static str) -> Node {
    Node::Symbol(text)
}

fn is_required(field: &Field) -> bool {
    field.presence == Presence::Required
}

/// Fields in their order with commas between those that are there; `None` where there are none.
fn body(fields: &'static [Field], depth: usize) -> Option<Node> {
    let nodes: Vec<(Node, Presence)> = labelled(fields)
        .map(|(label, field)| {
            (Node::Labelled(label, Box::new(self::field(field, depth))), field.presence)
        })
        .collect();
    if nodes.is_empty() {
        return None;
    }
    let behind = |rest: &[(Node, Presence)]| {
        let rest = rest.iter().map(|(node, presence)| {
            let node = sequence([symbol(","), node.clone()]);
            if *presence == Presence::Required { node } else { optional(node) }
        });
        rest.collect::<Vec<_>>()
    };
    let Some(first) = nodes.iter().position(|(_, presence)| *presence == Presence::Required) else {
        // Whichever is the first that is there has no comma before it.
        let from = (0..nodes.len())
            .map(|at| sequence([nodes[at].0.clone()].into_iter().chain(behind(&nodes[at + 1..]))));
        return Some(one_or(from.collect(), Node::Choice));
    };
    let before =
        nodes[..first].iter().map(|(node, _)| optional(sequence([node.clone(), symbol(",")])));
    let required = [nodes[first].0.clone()];
    Some(sequence(before.chain(required).chain(behind(&nodes[first + 1..]))))
}

fn field(field: &Field, depth: usize) -> Node {
    let given = |value: Node| sequence([Node::Keyword(field.word), symbol("="), value]);
    let within = |value: Node| match field.word {
        "" => value,
        word => sequence([Node::Keyword(word), symbol("("), value, symbol(")")]),
    };
    match field.form {
        Form::Name(named) => given(self::named(named)),
        Form::Text => given(fragment("value")),
        Form::Number { .. } => given(Node::Lexeme(Lexeme::Integer)),
        Form::Boolean => given(Node::Lexeme(Lexeme::Boolean)),
        Form::Names(named) => within(list(self::named(named))),
        Form::Algorithm(_) => within(fragment("algorithm")),
        Form::Algorithms(_) => within(list(fragment("algorithm"))),
        // Such a grammar has a mistake, and nothing fits it.
        Form::Parts(_) if depth == DEEPEST => Node::Choice(Vec::new()),
        Form::Parts(part) => within(list(self::part(part, depth + 1))),
    }
}

fn part(part: &Part, depth: usize) -> Node {
    let (key, inner) = (named(part.key.named), body(part.fields, depth));
    let node = match part.word {
        "" => sequence([key, symbol("(")].into_iter().chain(inner).chain([symbol(")")])),
        word => {
            let rest = inner.map(|inner| sequence([symbol(","), inner]));
            let front = [symbol("("), Node::Keyword(word), symbol("="), key];
            sequence(front.into_iter().chain(rest).chain([symbol(")")]))
        }
    };
    Node::Labelled(RULE, Box::new(node))
}
