//! What is wrong with a room's grammar. A test of the list of rooms holds this empty.

use std::collections::HashSet;

use pando_kernel::grammar::{Field, Form, Part, Presence, RuleGrammar};

use super::{DEEPEST, LABELS};

/// Words that CREATE, ALTER, DROP or SHOW go on with in MySQL, MariaDB or PostgreSQL, and those that DistSQL's own table
/// has there.
const TAKEN: &[&str] = &[
    "ACCESS",
    "AGGREGATE",
    "ALL",
    "AUTHORS",
    "BINARY",
    "BINLOG",
    "CAST",
    "CHARACTER",
    "CHARSET",
    "COLLATION",
    "COLUMNS",
    "CONTRIBUTORS",
    "CONVERSION",
    "COUNT",
    "CREATE",
    "DATABASE",
    "DATABASES",
    "DEFAULT",
    "DEFINER",
    "DOMAIN",
    "ENGINE",
    "ENGINES",
    "ERRORS",
    "EVENT",
    "EVENTS",
    "EXPLAIN",
    "EXTENDED",
    "EXTENSION",
    "FIELDS",
    "FOREIGN",
    "FULL",
    "FUNCTION",
    "GLOBAL",
    "GRANTS",
    "GROUP",
    "INDEX",
    "INDEXES",
    "INSTANCE",
    "KEYS",
    "LANGUAGE",
    "LARGE",
    "LOCAL",
    "LOGFILE",
    "MASTER",
    "MATERIALIZED",
    "OPEN",
    "OPERATOR",
    "OR",
    "OWNED",
    "PACKAGE",
    "PLUGINS",
    "POLICY",
    "PREPARE",
    "PRIVILEGES",
    "PROCEDURAL",
    "PROCEDURE",
    "PROCESSLIST",
    "PROFILE",
    "PROFILES",
    "PUBLICATION",
    "RELAYLOG",
    "REPLICA",
    "RESOURCE",
    "ROLE",
    "ROUTINE",
    "RULE",
    "SCHEMA",
    "SCHEMAS",
    "SEQUENCE",
    "SERVER",
    "SESSION",
    "SLAVE",
    "SPATIAL",
    "STATISTICS",
    "STATUS",
    "STORAGE",
    "SUBSCRIPTION",
    "SYSTEM",
    "TABLE",
    "TABLES",
    "TABLESPACE",
    "TEMP",
    "TEMPORARY",
    "TEXT",
    "TIME",
    "TRANSACTION",
    "TRANSFORM",
    "TRIGGER",
    "TRIGGERS",
    "TRUSTED",
    "TYPE",
    "UNDO",
    "UNIQUE",
    "UNLOGGED",
    "USER",
    "VARIABLES",
    "VIEW",
    "WARNINGS",
];

/// Every mistake of a room's grammar by itself.
pub(crate) fn mistakes(grammar: &RuleGrammar) -> Vec<String> {
    let mut found = Mistakes { words: grammar.words, all: Vec::new() };
    let first = grammar.words.split(' ').next().unwrap_or_default();
    found.unless(is_capital(grammar.words), "its words are capitals with single spaces between");
    found.unless(!TAKEN.contains(&first), format!("`{first}` begins statements of SQL"));
    found.unless(grammar.help.ends_with('.'), "its help is no sentence");
    found.unless(!grammar.stored.is_empty(), "the section's field for the rules has no name");
    found.level(grammar.fields, "", 0);
    let mut given = vec![grammar.key.column.to_owned()];
    columns(grammar.fields, 0, &mut given);
    for column in grammar.columns {
        found.unless(given.iter().any(|own| own == column), format!("no field gives `{column}`"));
    }
    found.once(given.iter().map(String::as_str), "two fields give the column");
    found.once(grammar.columns.iter().copied(), "SHOW has twice the column");
    found.unless(!grammar.columns.is_empty(), "SHOW has no column");
    found.all
}

struct Mistakes {
    words: &'static str,
    all: Vec<String>,
}

impl Mistakes {
    fn unless(&mut self, is_right: bool, what: impl std::fmt::Display) {
        if !is_right {
            self.all.push(format!("{}: {what}", self.words));
        }
    }

    fn once<'n>(&mut self, names: impl Iterator<Item = &'n str>, what: &str) {
        let mut seen = HashSet::new();
        for name in names {
            self.unless(seen.insert(name), format!("{what} `{name}`"));
        }
    }

    /// Looks at the fields behind a key, which a word may stand before.
    fn level(&mut self, fields: &'static [Field], word: &'static str, depth: usize) {
        if depth > DEEPEST {
            return self.unless(false, format!("parts stand deeper than {DEEPEST} in parts"));
        }
        self.unless(fields.len() <= LABELS.len(), format!("more than {} fields", LABELS.len()));
        let words = fields.iter().map(|field| field.word).chain([word]);
        self.once(words.filter(|word| !word.is_empty()), "two fields have the word");
        let count = |fits: fn(&&Field) -> bool| fields.iter().filter(fits).count();
        self.unless(count(|field| field.word.is_empty()) <= 1, "two fields have no word");
        let alone = |field: &Field| field.word.is_empty() && matches!(field.form, Form::Parts(_));
        let before = fields.split_last().map_or(fields, |(_, before)| before);
        self.unless(!before.iter().any(alone), "parts without a word are not the last field");
        let rows = count(|field| matches!(field.form, Form::Algorithms(_) | Form::Parts(_)));
        self.unless(rows <= 1, "two fields of one level have rows of their own in SHOW");
        for field in fields {
            self.field(field, fields);
            if let Form::Parts(part) = field.form {
                self.part(part, depth);
            }
        }
    }

    fn part(&mut self, part: &'static Part, depth: usize) {
        self.unless(!part.fields.is_empty(), "a part has no fields");
        let is_empty = part.fields.iter().all(|field| field.presence == Presence::Optional);
        self.unless(!part.word.is_empty() || !is_empty, "a part may have nothing in parentheses");
        self.level(part.fields, part.word, depth + 1);
    }

    fn field(&mut self, field: &Field, others: &[Field]) {
        let may_be_alone =
            matches!(field.form, Form::Algorithm(_) | Form::Algorithms(_) | Form::Parts(_));
        let is_word = is_capital(field.word) && !field.word.contains(' ');
        self.unless(
            is_word || field.word.is_empty() && may_be_alone,
            format!("`{}` is no word in capitals before a field", field.word),
        );
        let inside = |path: &str| {
            let rest = path.strip_prefix(field.stored);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let alike = others.iter().filter(|other| inside(other.stored)).count();
        self.unless(alike == 1, format!("two fields are stored at `{}`", field.stored));
        let is_path = !field.stored.is_empty() && !field.stored.split('.').any(str::is_empty);
        self.unless(is_path, format!("`{}` is no path of keys", field.stored));
        if let Form::Number { least, most } = field.form {
            self.unless(least <= most, format!("no number is from {least} to {most}"));
        }
    }
}

fn is_capital(words: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
    };
    words.split(' ').all(is_word)
}

fn columns(fields: &[Field], depth: usize, given: &mut Vec<String>) {
    if depth > DEEPEST {
        return;
    }
    for field in fields {
        given.extend(field.columns());
        if let Form::Parts(part) = field.form {
            given.push(part.key.column.to_owned());
            columns(part.fields, depth + 1, given);
        }
    }
}
