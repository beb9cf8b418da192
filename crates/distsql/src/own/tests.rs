//! What must hold of a room's grammar: here of three as large as those of ENCRYPT, MASK and SHADOW, and one of a key alone.

use pando_config::Rules;
use pando_kernel::grammar::{Algorithms, Field, Form, Key, Named, Part, Presence, RuleGrammar};
use pando_kernel::{Around, Offer, room::Built};
use pando_sql::Token;

use super::node::sequence;
use super::notation::written;
use crate::ebnf::{Node, read};
use crate::entry::Category;
use crate::error::ErrorKind;
use crate::help;
use crate::language::Language;
use crate::tables::entries;

const fn field(word: &'static str, form: Form, column: &'static str) -> Field {
    Field { word, form, presence: Presence::Required, stored: column, column }
}

const fn optional(word: &'static str, form: Form, column: &'static str) -> Field {
    Field { presence: Presence::Optional, ..field(word, form, column) }
}

const fn key(named: Named, column: &'static str) -> Key {
    Key { named, column }
}

const CIPHERS: Algorithms = Algorithms { stored: "encryptors", prefix: "" };
const MASKS: Algorithms = Algorithms { stored: "maskAlgorithms", prefix: "" };
const SHADOWS: Algorithms = Algorithms { stored: "shadowAlgorithms", prefix: "" };

static CIPHER_COLUMN: Part = Part {
    word: "NAME",
    key: key(Named::Column, "logic_column"),
    fields: &[
        field("CIPHER", Form::Name(Named::Column), "cipher_column"),
        optional("ASSISTED_QUERY", Form::Name(Named::Column), "assisted_query_column"),
        optional("LIKE_QUERY", Form::Name(Named::Column), "like_query_column"),
        field("ENCRYPT_ALGORITHM", Form::Algorithm(&CIPHERS), "encryptor"),
        optional("ASSISTED_QUERY_ALGORITHM", Form::Algorithm(&CIPHERS), "assisted_query"),
        optional("LIKE_QUERY_ALGORITHM", Form::Algorithm(&CIPHERS), "like_query"),
    ],
};
static MASK_COLUMN: Part = Part {
    word: "NAME",
    key: key(Named::Column, "column"),
    fields: &[field("", Form::Algorithm(&MASKS), "algorithm")],
};
static SHADOW_TABLE: Part = Part {
    word: "",
    key: key(Named::Table, "shadow_table"),
    fields: &[field("", Form::Algorithms(&SHADOWS), "algorithm")],
};

const GRAMMARS: &[RuleGrammar] = &[
    RuleGrammar {
        key: key(Named::Table, "table"),
        fields: &[field("COLUMNS", Form::Parts(&CIPHER_COLUMN), "columns")],
        columns: &["table", "logic_column", "cipher_column", "encryptor_type", "encryptor_props"],
        help: "Seals columns.",
        example: "t(COLUMNS((NAME=a, CIPHER=b, ENCRYPT_ALGORITHM(TYPE(NAME=AES)))))",
        ..RuleGrammar::tables("SEALED")
    },
    RuleGrammar {
        key: key(Named::Table, "table"),
        fields: &[field("COLUMNS", Form::Parts(&MASK_COLUMN), "columns")],
        columns: &["table", "column", "algorithm_type", "algorithm_props"],
        help: "Veils columns.",
        example: "t(COLUMNS((NAME=a, TYPE(NAME=MD5))))",
        ..RuleGrammar::tables("VEILED TABLE")
    },
    RuleGrammar {
        words: "SIDESTEP",
        key: key(Named::Rule, "rule_name"),
        fields: &[
            field("SOURCE", Form::Name(Named::Unit), "source_name"),
            field("SHADOW", Form::Name(Named::Unit), "shadow_name"),
            field("", Form::Parts(&SHADOW_TABLE), "tables"),
        ],
        stored: "rules",
        columns: &["shadow_table", "rule_name", "source_name", "shadow_name", "algorithm_type"],
        help: "Leads statements aside.",
        example: "r(SOURCE=a, SHADOW=b, t(TYPE(NAME=X), TYPE(NAME=Y)), u(TYPE(NAME=X)))",
    },
    RuleGrammar { help: "Lists.", example: "t, u", ..RuleGrammar::tables("LISTED") },
    RuleGrammar {
        fields: &[
            optional("NOTE", Form::Text, "note"),
            optional("MOST", Form::Number { least: 5, most: 10 }, "most"),
            optional("OPEN", Form::Boolean, "open"),
            optional("ALSO", Form::Names(Named::Unit), "also"),
        ],
        columns: &["table_name", "most", "note"],
        help: "Limits.",
        example: "t(MOST=7), u",
        ..RuleGrammar::tables("LIMITED")
    },
];

fn nothing(_: &Rules, _: &Around<'_>) -> Built {
    Ok(None)
}

pub(crate) fn language() -> Language {
    Language::of(&[Offer { section: Some("ZOO"), grammar: GRAMMARS, ..Offer::new(nothing) }])
}

#[test]
fn grammars_without_mistakes_have_none() {
    assert_eq!(language().mistakes(), Vec::<String>::new());
}

#[test]
fn mistakes_of_a_grammar_are_told() {
    let mistakes = |grammar: &'static [RuleGrammar]| {
        let offer = Offer { section: Some("ZOO"), grammar, ..Offer::new(nothing) };
        Language::of(&[offer]).mistakes().join("\n")
    };
    const GOOD: RuleGrammar =
        RuleGrammar { help: "Lists.", example: "t", ..RuleGrammar::tables("LISTED") };
    assert_eq!(mistakes(&[GOOD]), "");
    let has = |text: String, part: &str| assert!(text.contains(part), "{part} is not in: {text}");
    has(mistakes(&[RuleGrammar { words: "TABLE", ..GOOD }]), "`TABLE` begins statements of SQL");
    has(mistakes(&[RuleGrammar { words: "listed", ..GOOD }]), "its words are capitals");
    has(mistakes(&[RuleGrammar { words: "MASK", ..GOOD }]), "two statements `CREATE MASK RULE`");
    has(mistakes(&[GOOD, GOOD]), "two statements `CREATE LISTED RULE`");
    has(mistakes(&[RuleGrammar { help: "", ..GOOD }]), "its help is no sentence");
    has(mistakes(&[RuleGrammar { example: "t(", ..GOOD }]), "CREATE LISTED RULE t(: unexpected");
    has(mistakes(&[RuleGrammar { columns: &["x"], ..GOOD }]), "no field gives `x`");
    const A: Field = field("A", Form::Text, "a");
    const WORDLESS: &[Field] = &[field("", Form::Text, "a")];
    has(mistakes(&[RuleGrammar { fields: &[A, A], ..GOOD }]), "two fields have the word `A`");
    has(mistakes(&[RuleGrammar { fields: &[A, A], ..GOOD }]), "two fields are stored at `a`");
    has(mistakes(&[RuleGrammar { fields: WORDLESS, ..GOOD }]), "`` is no word in capitals");
    const ALONE: Field = field("", Form::Parts(&SHADOW_TABLE), "b");
    has(
        mistakes(&[RuleGrammar { fields: &[ALONE, A], ..GOOD }]),
        "parts without a word are not the last field",
    );
    let nowhere = Offer { grammar: &[GOOD], ..Offer::new(nothing) };
    has(Language::of(&[nowhere]).mistakes().join("\n"), "its room has no section");
    static ENDLESS: Part = Part {
        word: "",
        key: key(Named::Rule, "k"),
        fields: &[field("P", Form::Parts(&ENDLESS), "p")],
    };
    static WITHOUT_END: &[RuleGrammar] =
        &[RuleGrammar { fields: &[field("P", Form::Parts(&ENDLESS), "p")], ..GOOD }];
    has(mistakes(WITHOUT_END), "parts stand deeper than 4 in parts");
}

/// The table's own statements about encrypt, mask and shadow rules, said of a room's.
#[test]
fn what_the_table_reads_of_three_rules_a_grammar_of_data_reads_as_well() {
    let language = language();
    let mut count = 0;
    for (theirs, ours) in
        [(" ENCRYPT ", " SEALED "), (" MASK ", " VEILED TABLE "), (" SHADOW ", " SIDESTEP ")]
    {
        let about = |name: &str| {
            let verb = ["CREATE", "ALTER", "DROP"].into_iter().find(|verb| name.starts_with(verb));
            verb.is_some_and(|verb| name == format!("{verb}{theirs}RULE"))
        };
        let examples = entries().filter(|entry| about(entry.name)).flat_map(|entry| entry.examples);
        // Of what ShardingSphere has dropped, of second spellings, and of what it has not, the grammars above have
        // nothing.
        let others = ["PLAIN=", "_COLUMN=", "QUERY_WITH", "MASK TABLE", "DATA_TYPE="];
        let kept = examples.filter(|text| others.iter().all(|other| !text.contains(other)));
        for text in kept {
            let own = text.replacen(theirs, ours, 1);
            let read = language.parse(&own).unwrap_or_else(|error| panic!("{own}\n{error}"));
            let said = crate::parse(text).unwrap().command.to_string();
            assert_eq!(read.command.to_string(), said.replacen(theirs, ours, 1));
            assert_eq!(language.parse(&read.command.to_string()).unwrap().command, read.command);
            count += 1;
        }
    }
    assert!(count >= 7, "{count} statements only");
}

#[test]
fn fields_that_may_be_missing_are_read_in_their_order_alone() {
    let language = language();
    for (text, printed) in [
        ("t", "t"),
        ("t(OPEN=true)", "t(OPEN=TRUE)"),
        ("t(NOTE=x, MOST=5, ALSO(a, b)), u", "t(NOTE=\"x\", MOST=5, ALSO(a, b)), u"),
    ] {
        let read = language.parse(&format!("CREATE LIMITED RULE {text}")).unwrap();
        assert_eq!(read.command.to_string(), format!("CREATE LIMITED RULE {printed}"));
    }
    for (text, error) in [
        ("t()", "unexpected `)`, expected `ALSO`, `MOST`, `NOTE` or `OPEN`"),
        ("t(OPEN=true, MOST=5)", "unexpected `MOST`, expected `ALSO`"),
        ("t(MOST=4)", "`4` is too small, expected at least 5"),
        ("t(MOST=11)", "`11` is too large, expected at most 10"),
        ("t(MOST=7, OPN=TRUE)", "did you mean `OPEN`?"),
    ] {
        let found = language.parse(&format!("ALTER LIMITED RULE {text}")).unwrap_err();
        assert!(found.message.contains(error), "{found}");
    }
}

/// A table may be called as a word of the grammar is; printed bare it would be taken for that.
#[test]
fn names_that_are_words_of_the_grammar_are_printed_in_quotes() {
    let language = language();
    for text in [
        "LIMITED RULE `most`(ALSO(`open`))",
        "SIDESTEP RULE r(SOURCE=a, SHADOW=`Shadow`, `SOURCE`(TYPE(NAME=\"x\")))",
    ] {
        let read = language.parse(&format!("CREATE {text}")).unwrap();
        assert_eq!(read.command.to_string(), format!("CREATE {text}"));
    }
}

#[test]
fn a_rule_without_fields_is_not_altered() {
    let names: Vec<&str> =
        help::find(Some("% LISTED %"), &language()).map(|entry| entry.name).collect();
    let wanted =
        ["CREATE LISTED RULE", "DROP LISTED RULE", "SHOW LISTED RULES", "COUNT LISTED RULE"];
    assert_eq!(names, wanted);
}

#[test]
fn the_syntax_in_help_is_what_the_parser_walks() {
    fn bare(node: &Node) -> Node {
        let inner = |nodes: &[Node]| nodes.iter().map(bare).collect::<Vec<_>>();
        match node {
            Node::Labelled(_, node) => bare(node),
            Node::Sequence(nodes) => sequence(inner(nodes)),
            Node::Choice(nodes) => Node::Choice(inner(nodes)),
            Node::Optional(node) => Node::Optional(Box::new(bare(node))),
            Node::List(node) => Node::List(Box::new(bare(node))),
            Node::Keyword(_) | Node::Symbol(_) | Node::Lexeme(_) | Node::Fragment(_) => {
                node.clone()
            }
        }
    }
    let language = language();
    for line in language.lines() {
        let (read, mistakes) = read(line.entry.syntax);
        assert_eq!(mistakes, Vec::<String>::new(), "{}", line.entry.syntax);
        assert_eq!(bare(&read), bare(&line.node), "{}", line.entry.syntax);
        assert_eq!(written(&line.node), line.entry.syntax);
    }
}

#[test]
fn rooms_statements_are_on_the_page_and_in_help() {
    let language = language();
    let page = help::markdown(&language);
    for line in language.lines() {
        assert!(page.contains(&format!("\n### {}\n", line.entry.name)), "{}", line.entry.name);
        assert!(!page.contains(&format!("{} Refused", line.entry.help)));
    }
    let row = help::rows(Some("CREATE VEILED%"), &language).next().unwrap();
    assert_eq!(
        row[3],
        "CREATE VEILED TABLE RULE [ifNotExists] (table '(' COLUMNS '(' ('(' NAME '=' column ',' algorithm ')') ... ')' ')') ..."
    );
    assert_eq!(row[4], "Veils columns.");
    assert!(help::rows(Some("% SEALED %"), Language::plain()).next().is_none());
}

#[test]
fn first_words_tell_them_from_sql() {
    let language = language();
    let takes = |text: &str| {
        let tokens = pando_sql::tokenize(text, &crate::source::LANGUAGE).unwrap();
        let list: &[Token] = &tokens.list;
        language.takes(text, list)
    };
    for line in language.lines() {
        for example in line.entry.examples {
            assert!(takes(example), "{example}");
            let tokens = pando_sql::tokenize(example, &crate::source::LANGUAGE).unwrap();
            let is_count = line.entry.category == Category::Rql && example.starts_with("COUNT");
            assert_eq!(Language::plain().takes(example, &tokens.list), is_count, "{example}");
        }
    }
    assert!(takes("create Sealed rul x"), "a slip behind the first words");
    for text in [
        "SHOW sealed",
        "SHOW sealed;",
        "SELECT sealed",
        "CREATE TABLE sealed (a INT)",
        "DROP TABLE sealed",
    ] {
        assert!(!takes(text), "{text}");
    }
    let error = language.parse("SHOW SEALED RULS").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Syntax);
    assert_eq!(error.suggestion, Some("RULE"));
}
