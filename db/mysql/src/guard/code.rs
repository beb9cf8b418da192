//! Code that stands in a text: what routines prepare and run.

use pando_kernel::error::Result;
use pando_kernel::guard::{Known, Reach, denied, is_ledger};
use pando_sql::{Item, reading};

use super::Judge;
use crate::dialect::SYNTAX;

/// Texts that may stand in each other.
const MAX_DEPTH: u8 = 8;

impl Judge {
    /// PREPARE and EXECUTE IMMEDIATE inside routines, blocks and what a hint sends as it is; XA and databases there.
    pub(super) fn code(&self, items: &[Item<'_>]) -> Result<()> {
        for (at, item) in items.iter().enumerate() {
            let next =
                |ahead: usize, word| items.get(at + ahead).is_some_and(|item| item.is_word(word));
            if item.is_word("prepare") && next(2, "from") {
                self.run(items, at + 3)?;
            }
            if item.is_word("execute") && next(1, "immediate") {
                self.run(items, at + 2)?;
            }
            let ends = ["begin", "commit", "end", "prepare", "recover", "rollback", "start"];
            let inside = at > 0 && self.begins(items, at);
            if inside && item.is_word("xa") && ends.iter().any(|verb| next(1, verb)) {
                return Err(denied("prepared transactions are Pando's to end"));
            }
            let database = next(1, "database") || next(1, "schema");
            if inside && (item.is_word("drop") || item.is_word("alter")) && database {
                return Err(denied("a physical database is not changed through a logical one"));
            }
        }
        Ok(())
    }

    /// What is run as SQL stands at `at`.
    fn run(&self, items: &[Item<'_>], at: usize) -> Result<()> {
        let mut rest = items.get(at..).unwrap_or(&[]).iter();
        let mut texts = Vec::new();
        let behind = loop {
            match rest.next() {
                // Texts beside each other are one.
                Some(Item::Text(text, _)) => texts.push(text.as_ref()),
                other => break other,
            }
        };
        let ends = match behind {
            None | Some(Item::Mark(";")) => true,
            Some(item) => item.is_word("using"),
        };
        if !texts.is_empty() && ends {
            return self.text(&texts.concat());
        }
        if self.reach != Reach::Administrator {
            return Err(denied("SQL that is put together while it runs cannot be judged"));
        }
        self.pieces(items)
    }

    /// A text that is run as SQL.
    fn text(&self, text: &str) -> Result<()> {
        if self.depth >= MAX_DEPTH {
            return Err(denied("code in so many texts cannot be judged"));
        }
        let items = reading(text, &SYNTAX, None)
            .map_err(|_| denied("a text that is run as SQL cannot be read"))?;
        let inner = Self {
            reach: self.reach,
            known: Known::default(),
            depth: self.depth + 1,
            is_hinted: self.is_hinted,
            is_about_rows: false,
        };
        inner.items(&items)
    }

    /// Of code that puts SQL together, what its constant texts say.
    fn pieces(&self, items: &[Item<'_>]) -> Result<()> {
        for item in items {
            if let Item::Text(text, _) = item
                && let Some(name) =
                    super::LEDGER.iter().find(|own| text.to_lowercase().contains(*own))
            {
                return Err(is_ledger(name));
            }
        }
        Ok(())
    }
}
