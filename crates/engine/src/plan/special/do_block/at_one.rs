//! Blocks that run on one storage unit: all the tables that they name are single ones of it, and what they ask the
//! catalogue is about these.

use pando_kernel::UnitName;
use pando_kernel::effects::Effects;
use pando_kernel::feature::Context;
use pando_sql::ast::Literal;
use pando_sql::{TokenKind, literal, tokenize};

use super::tables::{Stands, Tables};
use crate::plan::about::any_unit;
use crate::plan::special::routines;

/// Words of a body that do what cannot be read off it, or what other units would have to do, too, or that a unit
/// answers for itself.
const UNREAD: [&str; 15] = [
    "call",
    "commit",
    "current_catalog",
    "current_database",
    "current_role",
    "current_user",
    "do",
    "execute",
    "grant",
    "listen",
    "notify",
    "revoke",
    "rollback",
    "session_user",
    "user",
];

/// Words of statements that change something: where no table is named that is there, another unit may be meant.
const CHANGING: [&str; 9] =
    ["alter", "comment", "create", "delete", "drop", "insert", "merge", "truncate", "update"];

/// What may be made and changed on one unit alone.
const OF_TABLES: [&str; 6] = ["table", "index", "unique", "sequence", "view", "trigger"];

/// Columns of the catalogue that name a table.
const NAMING: [&str; 6] =
    ["relname", "tablename", "table_name", "indexname", "viewname", "sequencename"];

/// Relations of the catalogue that every unit has alike: not those of types and routines, of which tables bring some.
const ALIKE: [&str; 6] = [
    "pg_am",
    "pg_available_extensions",
    "pg_collation",
    "pg_extension",
    "pg_language",
    "pg_namespace",
];

/// The unit that a block runs on; `None` where it is not known to do there what it would do on one server.
pub(super) fn unit(ctx: &Context<'_>, body: &str, tables: &Tables) -> Option<UnitName> {
    let effects = ctx.dialect.effects()?;
    if !ctx.database.features.iter().all(|feature| feature.groups().places.is_empty()) {
        return None;
    }
    let words = words(ctx, body)?;
    if !are_read(&words) || !asks_by_name(&words) || calls_others(ctx, body, effects) {
        return None;
    }
    let mut found: Option<UnitName> = None;
    for name in words.iter().flat_map(Word::names) {
        match tables.stands(&name) {
            Stands::Nowhere => {}
            Stands::Spread => return None,
            Stands::In(unit) if found.as_ref().is_none_or(|known| *known == unit) => {
                found = Some(unit);
            }
            Stands::In(_) => return None,
        }
    }
    let changes = words.iter().any(|word| word.is_one_of(&CHANGING));
    found.or_else(|| any_unit(ctx).filter(|_| !changes))
}

/// A word, name, text or mark of a body.
#[derive(Debug)]
enum Word {
    Name(String),
    Text(String),
    Mark(String),
}

impl Word {
    fn is(&self, expected: &str) -> bool {
        match self {
            Self::Name(own) | Self::Mark(own) => own.eq_ignore_ascii_case(expected),
            Self::Text(_) => false,
        }
    }

    fn is_one_of(&self, expected: &[&str]) -> bool {
        expected.iter().any(|one| self.is(one))
    }

    /// What may be a table's name: a text may be read as one, or a part of it.
    fn names(&self) -> Vec<String> {
        match self {
            Self::Name(own) => vec![own.clone()],
            Self::Text(text) => {
                let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                let parts = text.split(|c: char| !is_part(c)).filter(|part| !part.is_empty());
                parts.map(str::to_owned).chain([text.clone()]).collect()
            }
            Self::Mark(_) => Vec::new(),
        }
    }
}

fn words(ctx: &Context<'_>, body: &str) -> Option<Vec<Word>> {
    let syntax = ctx.dialect.syntax();
    let one = |token: &pando_sql::Token| match token.kind {
        TokenKind::Word | TokenKind::QuotedIdentifier => {
            token.name(body).map(|name| Word::Name(name.into_owned()))
        }
        TokenKind::String | TokenKind::EscapeString | TokenKind::DollarString => {
            let text = literal(body, token, syntax)?;
            if let Literal::Text(text) = text { Some(Word::Text(text)) } else { None }
        }
        // A name may be hidden in what is not read here.
        TokenKind::UnicodeIdentifier
        | TokenKind::UnicodeString
        | TokenKind::NationalString
        | TokenKind::BitString
        | TokenKind::HexString => None,
        TokenKind::Number
        | TokenKind::Parameter
        | TokenKind::Variable
        | TokenKind::Operator
        | TokenKind::Punctuation
        | TokenKind::End => Some(Word::Mark(token.span.of(body).to_owned())),
    };
    tokenize(body, syntax).ok()?.list.iter().map(one).collect()
}

/// Whether nothing of it is hidden, and all that it makes is of tables.
fn are_read(words: &[Word]) -> bool {
    words.iter().enumerate().all(|(at, word)| {
        if word.is_one_of(&UNREAD) {
            // So is CREATE TRIGGER with its `EXECUTE FUNCTION`, which would call a routine that is not read here.
            return false;
        }
        if word.is_one_of(&["create", "alter", "drop"]) {
            let next = words.get(at + 1..).unwrap_or_default();
            let next = next.iter().find(|next| {
                !next.is_one_of(&["if", "not", "exists", "or", "replace", "only", "unlogged"])
            });
            let of_column = words[..at].iter().rev().any(|before| before.is("alter"));
            return next.is_some_and(|next| {
                next.is_one_of(&OF_TABLES)
                    || of_column && next.is_one_of(&["column", "constraint", "default", "not"])
            });
        }
        true
    })
}

/// Whether all that it asks of the catalogue is about a table that it names, so that other units' tables are no part of
/// the answer.
fn asks_by_name(words: &[Word]) -> bool {
    let asked = words.iter().filter(|word| {
        let Word::Name(name) = word else { return false };
        let name = name.to_ascii_lowercase();
        name == "information_schema" || name.starts_with("pg_") && !ALIKE.contains(&&*name)
    });
    // A schema stands in front of the relation: `pg_catalog.pg_class` asks once.
    let asked = asked.filter(|word| !word.is("pg_catalog")).count();
    let named = words.windows(3).filter(|three| {
        three[0].is_one_of(&NAMING) && three[1].is("=") && matches!(three[2], Word::Text(_))
            || matches!(three[0], Word::Text(_)) && three[1].is("::") && three[2].is("regclass")
    });
    let widens = words.iter().any(|word| word.is_one_of(&["or", "union", "except", "<>", "!="]));
    asked == 0 || asked <= named.count() && !widens
}

/// Whether it calls what users have made: nobody reads that here.
fn calls_others(ctx: &Context<'_>, body: &str, effects: &dyn Effects) -> bool {
    routines::calls(ctx, body, effects).iter().any(|name| !is_form(name))
}

/// Words of the language that stand before brackets, and functions that look a table up by its name.
fn is_form(name: &str) -> bool {
    ["if", "values", "to_regclass", "key", "check", "unique", "exists", "in", "return"]
        .contains(&name)
}
