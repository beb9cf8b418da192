//! Statements about sections that people have written by hand, by a grammar that a room brings.

use std::sync::LazyLock;

use pando_config::Rules;
use pando_distsql::{Command, Language};
use pando_kernel::grammar::{Algorithms, Field, Form, Key, Named, Part, Presence};
use pando_kernel::room::Built;
use pando_kernel::{Offer, RuleGrammar};
use pando_model::{Around, Conversion, Facts, Kind, Model, Refusal};

use crate::common::around;

const ALGORITHMS: Algorithms = Algorithms { stored: "locks", prefix: "" };

static COLUMN: Part = Part {
    word: "NAME",
    key: Key { named: Named::Column, column: "column" },
    fields: &[field("", Form::Algorithm(&ALGORITHMS), "lock")],
};

const GRAMMAR: &[RuleGrammar] = &[
    RuleGrammar { help: "Lists.", example: "t", ..RuleGrammar::tables("LISTED") },
    RuleGrammar {
        fields: &[
            field("COLUMNS", Form::Parts(&COLUMN), "columns"),
            Field {
                presence: Presence::Optional,
                ..field("PASSWORD", Form::Text, "access.password")
            },
        ],
        stored: "locked",
        columns: &["table_name", "column", "lock_type", "lock_props", "access.password"],
        help: "Locks.",
        example: "t(COLUMNS((NAME=a, TYPE(NAME=X))))",
        ..RuleGrammar::tables("LOCKED")
    },
];

const fn field(word: &'static str, form: Form, stored: &'static str) -> Field {
    Field { word, form, presence: Presence::Required, stored, column: stored }
}

fn nothing(_: &Rules, _: &pando_kernel::Around<'_>) -> Built {
    Ok(None)
}

fn language() -> &'static Language {
    static LANGUAGE: LazyLock<Language> = LazyLock::new(|| {
        Language::of(&[Offer { section: Some("ZOO"), grammar: GRAMMAR, ..Offer::new(nothing) }])
    });
    &LANGUAGE
}

fn without_rooms() -> Around<'static> {
    Around { language: language(), rooms: &|_| Ok(Vec::new()), ..around() }
}

fn written(section: &str) -> Model {
    let text = format!("databaseName: shop\nrules:\n- !ZOO {section}\n");
    Model::default().import(&text, &without_rooms()).unwrap().model
}

fn changed(model: &Model, text: &str) -> Result<Model, Refusal> {
    let Command::Rdl(change) = language().parse(text).unwrap().command else {
        panic!("{text} changes nothing")
    };
    model.apply("shop", &change, &without_rooms()).map(|change| change.model)
}

fn rules(model: &Model) -> String {
    let text = model.yaml("shop").unwrap();
    text.split_once("rules:\n").map_or_else(String::new, |(_, rules)| rules.to_owned())
}

#[test]
fn the_grammar_has_no_mistakes() {
    assert_eq!(language().mistakes(), Vec::<String>::new());
}

#[test]
fn a_list_in_one_text_becomes_a_list_and_other_fields_stay() {
    let model = written("{extra: 1, tables: 't_a, t_b'}");
    let model = changed(&model, "CREATE LISTED RULE t_c").unwrap();
    assert_eq!(model, written("{extra: 1, tables: [t_a, t_b, t_c]}"));
    let model = changed(&model, "DROP LISTED RULE t_a, T_B, t_c").unwrap();
    assert_eq!(model, written("{extra: 1}"), "a section that says something else stays");
}

#[test]
fn rules_in_another_form_than_the_grammar_has_are_not_lost() {
    for (section, statement, form) in [
        ("{tables: {t_a: {}}}", "CREATE LISTED RULE t_b", "a list"),
        ("{tables: {t_a: {}}}", "DROP LISTED RULE IF EXISTS t_b", "a list"),
        ("{locked: [t_a]}", "CREATE LOCKED RULE t(COLUMNS((NAME=a, TYPE(NAME=X))))", "a mapping"),
        ("{locked: t_a}", "CREATE LOCKED RULE t(COLUMNS((NAME=a, TYPE(NAME=X))))", "a mapping"),
    ] {
        let refusal = changed(&written(section), statement).unwrap_err();
        assert_eq!(refusal.kind, Kind::InvalidRule);
        assert!(refusal.message.contains(form), "{refusal:?}");
    }
}

#[test]
fn algorithms_that_were_named_by_hand_or_are_used_stay() {
    let model = written(
        "{locked: {a: {columns: {x: {lock: mine}}}, b: {columns: {y: {lock: b_y_k}, z: {lock: b_y_k}}}}, \
         locks: {mine: {type: K}, b_y_k: {type: K}}}",
    );
    let model = changed(&model, "DROP LOCKED RULE a").unwrap();
    let kept = "{locked: {b: {columns: {y: {lock: b_y_k}, z: {lock: b_y_k}}}}, \
                locks: {b_y_k: {type: K}, mine: {type: K}}}";
    assert_eq!(model, written(kept));
    let alter = "ALTER LOCKED RULE b(COLUMNS((NAME=z, TYPE(NAME=K, PROPERTIES(p=1)))))";
    let model = changed(&model, alter).unwrap();
    let kept = "{locked: {b: {columns: {z: {lock: b_z_k}}}}, \
                locks: {b_z_k: {type: K, props: {p: '1'}}, mine: {type: K}}}";
    assert_eq!(model, written(kept));
    let model = changed(&model, "DROP LOCKED RULE b").unwrap();
    assert_eq!(model, written("{locks: {mine: {type: K}}}"));
}

/// An algorithm of the name that a statement would give, and of another definition, is another one's.
#[test]
fn a_name_that_is_taken_gets_a_number() {
    let model = written("{locks: {t_a_k: {type: OTHER}}}");
    let model = changed(&model, "CREATE LOCKED RULE t(COLUMNS((NAME=a, TYPE(NAME=K))))").unwrap();
    assert!(rules(&model).contains("lock: t_a_k_1\n"), "{}", rules(&model));
    let model = changed(&model, "DROP LOCKED RULE T").unwrap();
    assert_eq!(model, written("{locks: {t_a_k: {type: OTHER}}}"));
}

#[test]
fn secrets_are_kept_and_not_shown() {
    let create = "CREATE LOCKED RULE t(COLUMNS((NAME=a, TYPE(NAME=K, PROPERTIES('my-secret'='hush')))), PASSWORD='hush')";
    let model = changed(&written("{extra: 1}"), create).unwrap();
    assert!(rules(&model).contains("password: hush"));
    let Command::Rql(question) = language().parse("SHOW LOCKED RULES").unwrap().command else {
        panic!("no question")
    };
    let facts = Facts::none(without_rooms());
    let rows = format!("{:?}", model.answer("shop", &question, &facts).unwrap());
    assert!(!rows.contains("hush") && rows.matches("******").count() == 2, "{rows}");
}

#[test]
fn what_no_statement_says_is_told_when_a_document_is_converted() {
    let text = "databaseName: shop\nrules:\n- !ZOO\n  extra: 1\n  tables: a,b\n  locked:\n    t: {columns: {}}\n    u: {columns: {x: {lock: k}}, note: n}\n  locks: {k: {type: K}}\n";
    let conversion = Conversion::of(text, &without_rooms()).unwrap();
    assert_eq!(
        conversion.statements[2..],
        ["CREATE LISTED RULE a, b", "CREATE LOCKED RULE u(COLUMNS((NAME=x, TYPE(NAME=\"K\"))))",]
    );
    assert_eq!(conversion.unsaid, ["rules.!ZOO.extra", "rules.!ZOO.locked.u.note"]);
}
