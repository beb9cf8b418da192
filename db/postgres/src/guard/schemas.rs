//! Schemas: the ledgers', and those of other logical databases in the same physical one.

use pando_kernel::error::{Error, Result};
use pando_kernel::guard::{column_places, denied, is_ledger, labels};
use pando_sql::{Dotted, Item, alike, reading};

use super::Judge;
use super::words::LEDGER;
use crate::dialect::SYNTAX;

/// Schemas that every database has, and whose tables are the session's or the vendor's.
const COMMON: [&str; 5] = ["information_schema", "pg_catalog", "pg_temp", "pg_toast", "$user"];

/// Names that routines have for rows that are theirs.
const ROWS: [&str; 4] = ["excluded", "new", "old", "tg_argv"];

impl Judge<'_> {
    /// What is said of schemas, by whatever words.
    pub(super) fn schemas(&self, items: &[Item<'_>]) -> Result<()> {
        let is_path = |item: &Item<'_>| matches!(item, Item::Name(name) if name.parts.len() == 1 && alike(name.last(), "search_path"));
        let paths = items.iter().any(is_path);
        let speaks = paths || items.iter().any(|item| item.is_word("schema"));
        if speaks && !self.is_about_rows {
            self.no_ledger(items)?;
        }
        let Some(own) = self.own_schemas() else { return Ok(()) };
        if paths && !self.is_about_rows {
            own_paths_only(&own, items)?;
        }
        self.own_only(&own, items)
    }

    /// The schema of the ledgers by itself, where a statement speaks of schemas.
    fn no_ledger(&self, items: &[Item<'_>]) -> Result<()> {
        let names = |item: &Item<'_>| match item {
            Item::Name(name) => name.parts.len() == 1 && alike(name.last(), LEDGER),
            Item::Text(text, _) => listed(text).iter().any(|schema| alike(schema, LEDGER)),
            Item::Variable(_)
            | Item::Number
            | Item::Parameter
            | Item::Mark(_)
            | Item::Unreadable => false,
        };
        match items.iter().any(names) {
            true => Err(is_ledger(LEDGER)),
            false => Ok(()),
        }
    }

    /// No name may be of another schema; what cannot be told is refused.
    fn own_only(&self, own: &[String], items: &[Item<'_>]) -> Result<()> {
        let (places, labels) = (column_places(items), labels(items));
        for (at, item) in items.iter().enumerate() {
            let Item::Name(name) = item else { continue };
            let is_table = self.known.is_table(name.span);
            if name.parts.len() == 1 && !name.star || self.known.is_column(name.span) {
                continue;
            }
            // `t.c%TYPE`, `t%ROWTYPE`: what a variable is like.
            let behind = items.get(at + 1..).unwrap_or(&[]);
            if let [Item::Mark("%"), like, ..] = behind
                && (like.is_word("type") || like.is_word("rowtype"))
            {
                continue;
            }
            let before = at.checked_sub(1).and_then(|at| items.get(at));
            let is_column = before.is_some_and(|item| item.is_word("column") || item.is_word("by"));
            if is_table && is_column && name.parts.len() == 2 {
                // `COMMENT ON COLUMN t.c`, `OWNED BY t.c`.
                continue;
            }
            let schema = match is_table && !is_column {
                true => schema_of_table(name),
                false => name.parts.first().map_or("", |part| part),
            };
            let called = items.get(at + 1) == Some(&Item::Mark("("));
            let row = ROWS.iter().any(|row| alike(&name.parts[0], row));
            let is_labelled = labels.contains(&name.parts[0].to_lowercase());
            let column = places[at] && !called && !is_table && is_labelled;
            if !is_own(own, schema) && !row && !column {
                return Err(foreign(schema));
            }
        }
        match self.is_about_rows {
            true => Ok(()),
            false => own_schemas_only(own, items),
        }
    }

    pub(super) fn setting(&self, name: &str, value: &str) -> Result<()> {
        use pando_kernel::guard::Guard as _;
        crate::dialect::Postgres.judge_setting(name, value, &self.standing)
    }
}

/// No schema behind the word SCHEMA, or in a list there, may be another's.
fn own_schemas_only(own: &[String], items: &[Item<'_>]) -> Result<()> {
    let (mut expects, mut listing) = (false, false);
    for item in items {
        let name = item.name().filter(|name| name.parts.len() == 1);
        let schema = name.map(|name| name.last()).or_else(|| item.text());
        let skipped = ["if", "not", "exists", "authorization"];
        if item.is_word("schema") {
            (expects, listing) = (true, false);
        } else if expects && skipped.iter().any(|word| item.is_word(word)) {
            continue;
        } else if let (true, Some(schema)) = (expects, schema) {
            if !is_own(own, schema) {
                return Err(foreign(schema));
            }
            (expects, listing) = (false, true);
        } else {
            expects = listing && *item == Item::Mark(",");
            listing = false;
        }
    }
    Ok(())
}

/// No search path that is set, wherever that stands, may list another's schema.
fn own_paths_only(own: &[String], items: &[Item<'_>]) -> Result<()> {
    let is_path = |item: &Item<'_>| matches!(item, Item::Name(name) if name.parts.len() == 1 && alike(name.last(), "search_path"));
    for (at, _) in items.iter().enumerate().filter(|(_, item)| is_path(item)) {
        let rest = items.get(at + 1..).unwrap_or(&[]);
        if let Some(way) = rest.first()
            && (*way == Item::Mark("=") || way.is_word("to"))
        {
            listed_own(own, &rest[1..])?;
        }
    }
    Ok(())
}

/// The list that follows, up to what is no part of one.
fn listed_own(own: &[String], items: &[Item<'_>]) -> Result<()> {
    for pair in items.chunks(2) {
        let schemas = match pair.first() {
            Some(Item::Name(name)) if name.is_word("default") || name.is_word("current") => {
                Vec::new()
            }
            Some(Item::Name(name)) => vec![name.parts.join(".")],
            Some(Item::Text(text, _)) => listed(text),
            Some(
                Item::Variable(_)
                | Item::Number
                | Item::Parameter
                | Item::Mark(_)
                | Item::Unreadable,
            )
            | None => return Ok(()),
        };
        if let Some(other) = schemas.iter().find(|schema| !is_own(own, schema)) {
            return Err(foreign(other));
        }
        if pair.get(1) != Some(&Item::Mark(",")) {
            return Ok(());
        }
    }
    Ok(())
}

/// The part that would be the schema: there may be a database in front of it.
fn schema_of_table<'n>(name: &'n Dotted<'_>) -> &'n str {
    name.parts.get(name.parts.len().saturating_sub(2)).map_or("", |part| part)
}

/// Whether a schema's tables may be reached by those who may reach only their own database.
pub(super) fn is_own(own: &[String], schema: &str) -> bool {
    let temporary = schema.to_lowercase().starts_with("pg_temp");
    temporary
        || COMMON.iter().any(|known| alike(known, schema))
        || own.iter().any(|own| own == schema || alike(own, schema))
}

pub(super) fn foreign(schema: &str) -> Error {
    denied(format!("schema `{schema}` is not one of this database's"))
}

/// The schemas that a search path lists.
pub(super) fn listed(value: &str) -> Vec<String> {
    let items = reading(value, &SYNTAX, None);
    let mut list: Vec<String> = Vec::new();
    for item in items.iter().flatten() {
        match item {
            Item::Name(name) => list.extend(name.parts.iter().map(|part| part.to_string())),
            // The whole of a path may stand in one text.
            Item::Text(text, _) if text != value => list.extend(listed(text)),
            Item::Text(..)
            | Item::Variable(_)
            | Item::Number
            | Item::Parameter
            | Item::Mark(_)
            | Item::Unreadable => {}
        }
    }
    if items.is_err() {
        list.extend(value.split(',').map(|part| part.trim_matches([' ', '"', '\'']).to_owned()));
    }
    list
}

/// The schema in a relation's name that is given as a text.
pub(super) fn of_name(text: &str) -> Option<String> {
    let items = reading(text, &SYNTAX, None).ok()?;
    match &items[..] {
        [Item::Name(name)] if name.parts.len() > 1 => {
            name.parts.get(name.parts.len() - 2).map(|part| part.to_string())
        }
        _ => None,
    }
}
