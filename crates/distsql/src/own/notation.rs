//! What is made of a room's grammar, in the notation of the table's own syntax texts: read by their reader it is the same
//! again.

use crate::ebnf::{LEXEMES, Node};
use crate::tables::FRAGMENTS;

/// The syntax text of a node.
pub(super) fn written(node: &Node) -> String {
    match node {
        Node::Keyword(word) => (*word).to_owned(),
        Node::Symbol(symbol) => format!("'{symbol}'"),
        Node::Lexeme(lexeme) => {
            let known = LEXEMES.iter().find(|(_, known, _)| known == lexeme);
            known.map_or("", |(name, ..)| *name).to_owned()
        }
        Node::Fragment(index) => FRAGMENTS.get(*index).map_or("", |piece| piece.name).to_owned(),
        Node::Labelled(_, inner) => written(inner),
        Node::Sequence(nodes) => {
            let parts: Vec<String> =
                nodes.iter().map(|node| grouped(node, Around::Sequence)).collect();
            parts.join(" ")
        }
        Node::Choice(nodes) => nodes.iter().map(written).collect::<Vec<_>>().join(" | "),
        Node::Optional(inner) => format!("[{}]", written(inner)),
        Node::List(inner) => format!("{} ...", grouped(inner, Around::List)),
    }
}

/// What stands around a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Sequence,
    List,
}

/// In parentheses, where it would be taken apart without them.
fn grouped(node: &Node, around: Around) -> String {
    let is_taken_apart = match node {
        Node::Labelled(_, inner) => return grouped(inner, around),
        Node::Choice(_) => true,
        Node::Sequence(_) | Node::List(_) => around == Around::List,
        Node::Keyword(_)
        | Node::Symbol(_)
        | Node::Lexeme(_)
        | Node::Fragment(_)
        | Node::Optional(_) => false,
    };
    if is_taken_apart { format!("({})", written(node)) } else { written(node) }
}
