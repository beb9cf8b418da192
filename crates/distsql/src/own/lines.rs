//! The statements about one sort of rules: their lines beside those of the table.

use pando_kernel::RuleGrammar;
use pando_kernel::grammar::Named;

use super::node::{fragment, head, list, named, optional, rule, sequence};
use super::{build, notation};
use crate::command::{Command, Own};
use crate::ebnf::Node;
use crate::entry::{Age, Category, Entry};
use crate::error::Result;
use crate::tree::Part;

/// A statement about rules of a room.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) own: Own,
    pub(crate) node: Node,
    pub(crate) entry: &'static Entry,
}

/// CREATE, ALTER (where rules say more than their key), DROP, SHOW and COUNT.
pub(crate) fn lines(own: Own) -> Vec<Line> {
    let grammar = own.grammar;
    let about = grammar.words.strip_suffix(" TABLE").unwrap_or(grammar.words).to_lowercase();
    let of = match grammar.key.named {
        Named::Rule => format!("{about} rules"),
        Named::Table | Named::Column | Named::Unit => {
            format!("the {about} rules of {}", grammar.key.named.plural())
        }
    };
    let key = first_key(grammar.example);
    let words = grammar.words;
    let rules = || list(rule(grammar));
    let keys = || list(named(grammar.key.named));
    let from = || optional(sequence([Node::Keyword("FROM"), fragment("database")]));
    let like = optional(sequence([Node::Keyword("LIKE"), fragment("pattern")]));
    let with = |front: Vec<Node>, rest: Vec<Node>| sequence(front.into_iter().chain(rest));
    let ruled = |verb| head(verb, grammar, Some("RULE"));
    let one_or_all = Node::Choice(vec![
        Node::Keyword("RULES"),
        sequence([Node::Keyword("RULE"), named(grammar.key.named)]),
    ]);
    let mut lines = vec![
        Made {
            verb: "CREATE",
            node: with(ruled("CREATE"), vec![optional(fragment("ifNotExists")), rules()]),
            help: grammar.help.to_owned(),
            examples: vec![
                format!("CREATE {words} RULE {}", grammar.example),
                format!("CREATE {words} RULE IF NOT EXISTS {}", grammar.example),
            ],
            build: build::definition,
        },
        Made {
            verb: "DROP",
            node: with(ruled("DROP"), vec![optional(fragment("ifExists")), keys()]),
            help: format!("Forgets {of}."),
            examples: vec![format!("DROP {words} RULE IF EXISTS {key}")],
            build: build::removal,
        },
        Made {
            verb: "SHOW",
            node: with(head("SHOW", grammar, None), vec![one_or_all, from(), like]),
            help: format!("The {about} rules."),
            examples: vec![format!("SHOW {words} RULES"), format!("SHOW {words} RULE {key}")],
            build: build::shown,
        },
        Made {
            verb: "COUNT",
            node: with(ruled("COUNT"), vec![from()]),
            help: format!("How many {about} rules there are."),
            examples: vec![format!("COUNT {words} RULE")],
            build: build::counted,
        },
    ];
    if !grammar.fields.is_empty() {
        let alter = Made {
            verb: "ALTER",
            node: with(ruled("ALTER"), vec![rules()]),
            help: format!("Replaces {of}."),
            examples: vec![format!("ALTER {words} RULE {}", grammar.example)],
            build: build::definition,
        };
        lines.insert(1, alter);
    }
    lines.into_iter().map(|made| made.line(own)).collect()
}

struct Made {
    verb: &'static str,
    node: Node,
    help: String,
    examples: Vec<String>,
    build: fn(Part<'_>) -> Result<Command>,
}

impl Made {
    fn line(self, own: Own) -> Line {
        let Self { verb, node, help, examples, build } = self;
        let RuleGrammar { words, columns, .. } = own.grammar;
        let (category, last, columns): (_, _, &'static [&'static str]) = match verb {
            "SHOW" => (Category::Rql, "RULES", columns),
            "COUNT" => (Category::Rql, "RULE", &["rule_name", "database", "count"]),
            _ => (Category::Rdl, "RULE", &[]),
        };
        let examples: Vec<&'static str> = examples.into_iter().map(kept).collect();
        let entry = Entry {
            name: kept(format!("{verb} {words} {last}")),
            category,
            age: Age::Current,
            syntax: kept(notation::written(&node)),
            columns,
            help: kept(help),
            examples: Box::leak(examples.into_boxed_slice()),
            wrong: &[],
            build,
        };
        Line { own, node, entry: Box::leak(Box::new(entry)) }
    }
}

/// The same text, kept to the end of the process, as the table's own lines are: a process makes one language of one list
/// of rooms.
fn kept(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// The name that a rule begins with.
fn first_key(example: &str) -> &str {
    let end = example.find(['(', ',']).unwrap_or(example.len());
    example.get(..end).unwrap_or(example).trim()
}
