//! What must hold of every line of the table: its own examples, and sentences made up from its syntax.

use std::sync::LazyLock;

use proptest::prelude::*;

use crate::ebnf::{Lexeme, Node, grammar};
use crate::entry::{Age, Category, Entry};
use crate::error::ErrorKind;
use crate::language::Language;
use crate::own;
use crate::parse::parse;
use crate::source::unquoted;
use crate::tables::{FRAGMENTS, RESERVED, entries};

/// What is printed must parse to the same command, and be printed the same again.
fn check_printed(text: &str) {
    check_printed_in(Language::plain(), text);
}

fn check_printed_in(language: &Language, text: &str) {
    let statement = language.parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let printed = statement.command.to_string();
    let again =
        language.parse(&printed).unwrap_or_else(|error| panic!("{text}\n{printed}\n{error}"));
    assert_eq!(again.command, statement.command, "{text}\n{printed}");
    assert_eq!(again.command.to_string(), printed);
    // One thing has one answer, whatever its spelling.
    assert_eq!(again.entry.columns, statement.entry.columns, "{text}\n{printed}");
}

#[test]
fn every_example_is_read_by_its_own_entry_and_printed_back() {
    for entry in entries() {
        assert!(!entry.examples.is_empty() && !entry.wrong.is_empty(), "{}", entry.name);
        for example in entry.examples {
            let read = parse(example).unwrap_or_else(|error| panic!("{example}\n{error}"));
            assert_eq!(read.entry.name, entry.name, "{example}");
            check_printed(example);
            check_printed(&example.replace(", ", " ,\n ").replace('(', " ( "));
            check_printed(&format!("-- a comment\n{example} /* and one */ ; ;"));
        }
    }
}

#[test]
fn keywords_may_be_written_in_any_case() {
    let text = "create broadcast Table rule if NOT exists t_Dict";
    let upper = "CREATE BROADCAST TABLE RULE IF NOT EXISTS t_Dict";
    assert_eq!(parse(text).expect("lower case").command, parse(upper).expect("upper case").command);
}

#[test]
fn every_wrong_example_gives_its_error() {
    let mut wrong = String::new();
    for entry in entries() {
        for (text, message) in entry.wrong {
            let found = match parse(text) {
                Ok(statement) => format!("accepted: {}", statement.command),
                Err(error) => error.to_string(),
            };
            if found != *message {
                wrong.push_str(&format!("{text}\n\t{found}\n"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A truncated statement is an error, or another statement, and never more.
#[test]
fn every_beginning_of_an_example_is_read_without_panic() {
    for example in entries().flat_map(|entry| entry.examples) {
        for (end, _) in example.char_indices() {
            let _ = parse(&example[..end]);
        }
    }
}

#[test]
fn entries_have_names_of_their_own_and_old_ones_a_current_spelling() {
    let mut names: Vec<&str> = entries().map(|entry| entry.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    for entry in entries().filter(|entry| entry.category == Category::Rql) {
        assert!(!entry.columns.is_empty(), "{} answers rows", entry.name);
    }
    let has_current = |entry: &Entry| {
        entry.examples.iter().any(|example| {
            let printed = parse(example).expect("an example").command.to_string();
            parse(&printed).expect("what is printed").entry.age != Age::Old
        })
    };
    let without: Vec<&str> =
        entries().filter(|entry| !has_current(entry)).map(|entry| entry.name).collect();
    assert_eq!(without, ONLY_OLD);
}

/// Things of 5.0 that the current language cannot say.
const ONLY_OLD: &[&str] = &[
    "CREATE SHARDING BINDING TABLE RULES",
    "ALTER SHARDING BINDING TABLE RULES",
    "DROP SHARDING BINDING TABLE RULES",
    "ALTER SHARDING BROADCAST TABLE RULES",
    "DROP SHARDING BROADCAST TABLE RULES",
    "CREATE SHARDING ALGORITHM",
    "ALTER SHARDING ALGORITHM",
    "CREATE SHARDING AUDITOR",
    "ALTER SHARDING AUDITOR",
    "CREATE DB_DISCOVERY RULE",
    "ALTER DB_DISCOVERY RULE",
    "DROP DB_DISCOVERY RULE",
    "CREATE DB_DISCOVERY TYPE",
    "ALTER DB_DISCOVERY TYPE",
    "DROP DB_DISCOVERY TYPE",
    "CREATE DB_DISCOVERY HEARTBEAT",
    "ALTER DB_DISCOVERY HEARTBEAT",
    "DROP DB_DISCOVERY HEARTBEAT",
    "COUNT DATABASE RULES",
    "SHOW DB_DISCOVERY RULES",
    "SHOW DB_DISCOVERY TYPES",
    "SHOW DB_DISCOVERY HEARTBEATS",
    "ENABLE READWRITE_SPLITTING",
    "FORMAT",
];

/// Makes a sentence of a node; every choice is the next byte.
struct Speaker<'b> {
    bytes: std::slice::Iter<'b, u8>,
    sentence: String,
}

impl Speaker<'_> {
    fn next(&mut self, below: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0)) % below.max(1)
    }

    fn say(&mut self, node: &Node) {
        match node {
            Node::Keyword(keyword) => {
                let lower = self.next(4) == 0;
                let word = if lower { keyword.to_lowercase() } else { (*keyword).to_owned() };
                self.word(&word);
            }
            // Level names must touch no space, the rest does not mind.
            Node::Symbol(symbol) => self.word(symbol),
            Node::Lexeme(lexeme) => self.lexeme(*lexeme),
            Node::Fragment(index) => self.say(&grammar().fragments[*index]),
            Node::Labelled(_, inner) => self.say(inner),
            Node::Sequence(nodes) => nodes.iter().for_each(|node| self.say(node)),
            Node::Choice(nodes) => {
                let chosen = self.next(nodes.len());
                self.say(&nodes[chosen]);
            }
            Node::Optional(inner) => {
                if self.next(2) == 1 {
                    self.say(inner);
                }
            }
            Node::List(inner) => {
                let more = self.next(3);
                self.say(inner);
                for _ in 0..more {
                    self.word(",");
                    self.say(inner);
                }
            }
        }
    }

    fn lexeme(&mut self, lexeme: Lexeme) {
        const NAMES: [&str; 8] = [
            "t_order",
            "ds_0",
            "X1",
            "`from`",
            "`a``b`",
            "\"two words\"",
            "`ünï`",
            "\"say \"\"x\"\"\"",
        ];
        const TEXTS: [&str; 8] = [
            "'x'",
            "\"y z\"",
            "'it''s'",
            "\"\"",
            "'a\\'",
            "'ds_${0..1}.t_${0..3}'",
            "'\"'",
            "\"\"\"\"",
        ];
        const BARE: [&str; 8] =
            ["127.0.0.1", "sharding-count", "true", "-5", "12", "1.5", "ds_0.t_order_1", "`q`-x"];
        let pick = self.next(8);
        match lexeme {
            Lexeme::Identifier => self.word(NAMES[pick]),
            Lexeme::Text => self.word(TEXTS[pick]),
            Lexeme::Quoted => self.word(TEXTS[pick % 3]),
            Lexeme::Bare => self.word(BARE[pick]),
            Lexeme::Integer => self.word(["1", "3306", "65535", "7"][pick % 4]),
            Lexeme::Boolean => self.word(["TRUE", "false"][pick % 2]),
            Lexeme::Rest => self.word("SELECT 'it\\'s' -- $1"),
            Lexeme::End => {}
        }
    }

    fn word(&mut self, word: &str) {
        self.sentence.push_str(word);
        let space = ["", " ", "\n", " /* x */ "][self.next(4)];
        // Words that touched would be one word.
        self.sentence.push_str(if space.is_empty() { " " } else { space });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_sentence_of_the_grammar_is_read_and_printed_back(
        at in 0..1000usize,
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let statements = &grammar().statements;
        let mut speaker = Speaker { bytes: bytes.iter(), sentence: String::new() };
        speaker.say(&statements[at % statements.len()]);
        match parse(&speaker.sentence) {
            Ok(_) => check_printed(&speaker.sentence),
            // Values that cannot be, such as a strategy without a column, are no matter of the grammar.
            Err(error) => prop_assert_eq!(error.kind, ErrorKind::Value, "{}\n{}", speaker.sentence, error),
        }
    }

    #[test]
    fn every_sentence_of_a_rooms_grammar_is_read_and_printed_back(
        at in 0..1000usize,
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        static LANGUAGE: LazyLock<Language> = LazyLock::new(own::language);
        let lines = LANGUAGE.lines();
        let mut speaker = Speaker { bytes: bytes.iter(), sentence: String::new() };
        speaker.say(&lines[at % lines.len()].node);
        match LANGUAGE.parse(&speaker.sentence) {
            Ok(_) => check_printed_in(&LANGUAGE, &speaker.sentence),
            Err(error) => prop_assert_eq!(error.kind, ErrorKind::Value, "{}\n{}", speaker.sentence, error),
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "(CREATE|SHOW|[a-zA-Z_]{1,8}|[ (),='\"`.*;-]|\\PC){0,40}") {
        let _ = parse(&text).map_err(|error| error.to_string());
    }
}

#[test]
fn reserved_words_and_pieces_with_titles_are_what_errors_name() {
    let error = parse("SHOW MASK RULE FROM shop").expect_err("a table is missing");
    assert_eq!(error.expected, ["a table"]);
    assert!(RESERVED.contains(&"FROM"));
    assert!(FRAGMENTS.iter().any(|piece| piece.title == "a table"));
    assert_eq!(unquoted("`from`"), "from");
}

#[test]
fn an_error_has_byte_line_and_column() {
    let error = parse("SHOW SHARDING TABLE NODES 'ü'\n FROM 1").expect_err("no table's name");
    assert_eq!((error.at, error.line, error.column), (26, 1, 27));
    let error = parse("SHOW MASK\n  RULES\n  FROM 'ü'").expect_err("no database's name");
    assert_eq!((error.at, error.line, error.column), (25, 3, 8));
    assert!(!error.message.contains('ü'), "what stands in quotes may be secret: {error}");
}

#[test]
fn the_suggestion_is_the_keyword_that_was_meant() {
    let text =
        "CREATE SHARDING TABLE RULE t(STORAGE_UNIT(ds_0), SHARDING_COLUMN=a, TYPE(NAME=mod))";
    let error = parse(text).expect_err("a slip");
    assert_eq!(error.suggestion, Some("STORAGE_UNITS"));
    assert_eq!(error.at, 29);
}

#[test]
fn a_text_beyond_the_bounds_is_refused() {
    let long = format!("DROP MASK RULE `{}`", "x".repeat(crate::MOST_BYTES));
    assert_eq!(parse(&long).expect_err("too long").kind, ErrorKind::Limit);
    let many = format!("DROP MASK RULE t{}", ", t".repeat(crate::MOST_TOKENS));
    assert_eq!(parse(&many).expect_err("too many words").kind, ErrorKind::Limit);
}

#[test]
fn passwords_are_not_in_what_is_redacted() {
    let text = "REGISTER STORAGE UNIT a(URL='jdbc:mysql://u:hunter2@h/d?password=hunter2&x=1', USER=u, PASSWORD='hunter2', PROPERTIES(\"trustStorePassword\"=\"hunter2\"))";
    let command = parse(text).expect("a statement").command;
    assert!(command.to_string().contains("hunter2"));
    assert!(!command.redacted().to_string().contains("hunter2"), "{}", command.redacted());
    assert!(!format!("{:?}", command.redacted()).contains("hunter2"));
}
