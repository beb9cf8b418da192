//! Code that stands in a text: bodies of routines, DO, and what functions run.

use pando_kernel::error::Result;
use pando_kernel::guard::{Known, denied, is_ledger};
use pando_sql::{Item, alike, reading};

use super::Judge;
use super::words::{LEDGER, READABLE};
use crate::dialect::SYNTAX;

/// Texts that may stand in each other.
const MAX_DEPTH: u8 = 8;

impl Judge<'_> {
    /// The bodies in a definition.
    pub(super) fn code(&self, items: &[Item<'_>]) -> Result<()> {
        let block = items.first().is_some_and(|item| item.is_word("do"));
        let makes = items.first().is_some_and(|item| item.is_word("create"));
        let object =
            |item: &Item<'_>| ["function", "procedure"].iter().any(|word| item.is_word(word));
        if !(block || makes && items.iter().take(4).any(object)) {
            return Ok(());
        }
        // A block without one is in the language of blocks.
        let language = language(items).or_else(|| block.then(|| "plpgsql".to_owned()));
        let readable = language.as_deref().is_none_or(|name| READABLE.contains(&name));
        let mut before: Option<&Item<'_>> = None;
        for item in items {
            let is_body = match before {
                Some(before) if block => !before.is_word("language"),
                Some(before) => before.is_word("as") || *before == Item::Mark(","),
                None => false,
            };
            if let (Item::Text(text, _), true) = (item, is_body) {
                match readable {
                    true => self.text(text)?,
                    false => self.foreign_code(text)?,
                }
            }
            before = Some(item);
        }
        Ok(())
    }

    /// Code in a language that is not read here.
    fn foreign_code(&self, text: &str) -> Result<()> {
        self.unjudged("code in this language")?;
        match text.to_lowercase().contains(LEDGER) {
            true => Err(is_ledger(LEDGER)),
            false => Ok(()),
        }
    }

    /// A text that is run as SQL.
    pub(super) fn text(&self, text: &str) -> Result<()> {
        if self.depth >= MAX_DEPTH {
            return Err(denied("code in so many texts cannot be judged"));
        }
        let Ok(items) = reading(text, &SYNTAX, None) else {
            return self.foreign_code(text);
        };
        let inner = Judge {
            standing: self.standing,
            known: Known::default(),
            depth: self.depth + 1,
            is_hinted: self.is_hinted,
            is_about_rows: false,
        };
        inner.items(&items)?;
        inner.verbs(&items)?;
        inner.dynamic(&items)
    }

    /// EXECUTE of PL/pgSQL: a constant text is judged, and one that is put together while it runs is an administrator's.
    fn dynamic(&self, items: &[Item<'_>]) -> Result<()> {
        for (at, item) in items.iter().enumerate() {
            if !item.is_word("execute") {
                continue;
            }
            let next = items.get(at + 1);
            let is = |words: &[&str]| {
                next.is_some_and(|item| words.iter().any(|word| item.is_word(word)))
            };
            // GRANT EXECUTE ON FUNCTION, a trigger's EXECUTE FUNCTION.
            if is(&["on", "function", "procedure"]) {
                continue;
            }
            match (next, items.get(at + 2)) {
                (Some(Item::Text(text, _)), None | Some(Item::Mark(";") | Item::Name(_))) => {
                    self.text(text)?;
                }
                _ => {
                    self.unjudged("SQL that is put together while it runs")?;
                    self.pieces(items)?;
                }
            }
        }
        Ok(())
    }

    /// Of code that puts SQL together, what its constant texts say.
    fn pieces(&self, items: &[Item<'_>]) -> Result<()> {
        for item in items {
            if let Item::Text(text, _) = item
                && text.to_lowercase().contains(LEDGER)
            {
                match reading(text, &SYNTAX, None) {
                    // A part of a name by itself, for `format`.
                    Ok(items) if !items.iter().any(is_ledgers) => self.text(text)?,
                    Ok(_) | Err(_) => return Err(is_ledger(LEDGER)),
                }
            }
        }
        Ok(())
    }
}

fn is_ledgers(item: &Item<'_>) -> bool {
    item.name().is_some_and(|name| name.parts.iter().any(|part| alike(part, LEDGER)))
}

/// The language that a routine or block names, in lower case; a routine whose body stands in the statement itself names none.
fn language(items: &[Item<'_>]) -> Option<String> {
    let at = items.iter().position(|item| item.is_word("language"));
    at.and_then(|at| items.get(at + 1)).and_then(|item| match item {
        Item::Name(name) => Some(name.last().to_lowercase()),
        Item::Text(text, _) => Some(text.to_lowercase()),
        Item::Variable(_) | Item::Number | Item::Parameter | Item::Mark(_) | Item::Unreadable => {
            None
        }
    })
}
