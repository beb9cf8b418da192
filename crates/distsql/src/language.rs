//! DistSQL with the statements about rules that a list of rooms brings.

use std::sync::LazyLock;

use pando_config::Rules;
use pando_kernel::{Offer, room};
use pando_sql::Token;

use crate::belongs;
use crate::command::Own;
use crate::entry::Entry;
use crate::error::Result;
use crate::own::{self, Line};
use crate::parse::{self, Statement};
use crate::tables;

/// The grammar table, and behind it what rooms of Pando's own bring. Made once of a process's list of rooms: what it is
/// made of stays in memory to the end.
#[derive(Debug)]
pub struct Language {
    lines: Vec<Line>,
    served: Vec<&'static str>,
}

impl Language {
    /// The language of a list of rooms.
    pub fn of(offers: &[Offer]) -> Self {
        let own = offers.iter().flat_map(|offer| {
            let tag = offer.section.unwrap_or_default();
            offer.grammar.iter().map(move |grammar| Own { tag, grammar })
        });
        Self { lines: own.flat_map(own::lines).collect(), served: room::sections(offers) }
    }

    /// The table alone, without a room.
    pub(crate) fn plain() -> &'static Self {
        static PLAIN: LazyLock<Language> = LazyLock::new(|| Language::of(&[]));
        &PLAIN
    }

    /// Reads one statement; semicolons at its end are allowed.
    ///
    /// # Errors
    /// As [`crate::parse`].
    pub fn parse(&self, text: &str) -> Result<Statement> {
        let help = belongs::quoted_help(text);
        let text = help.as_deref().unwrap_or(text);
        parse::read(self, text).map_err(|error| error.placed_in(text))
    }

    /// A statement is DistSQL, right or wrong, and not SQL of a vendor. The tokens are those of the front door's own
    /// language; at most four of them are looked at. CREATE and DROP DATABASE and USE are SQL.
    pub fn takes(&self, text: &str, tokens: &[Token]) -> bool {
        belongs::is_distsql(text, tokens)
            || self.sorts().any(|own| belongs::is_about(own.grammar.words, text, tokens))
    }

    /// Every statement, in the order in which the parser tries them and the documentation lists them.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry> {
        tables::entries().chain(self.lines.iter().map(|line| line.entry))
    }

    /// The sorts of rules that rooms bring, in the rooms' order.
    pub fn sorts(&self) -> impl Iterator<Item = Own> {
        let mut last: Option<Own> = None;
        let is_other = move |own: &Own| {
            let before = last.replace(*own);
            before.is_none_or(|before| !std::ptr::eq(before.grammar, own.grammar))
        };
        self.lines.iter().map(|line| line.own).filter(is_other)
    }

    /// What is wrong with the grammars that rooms bring: what contradicts itself, another one or the table, and examples
    /// that are not read. A test of a list of rooms holds this empty.
    pub fn mistakes(&self) -> Vec<String> {
        let mut all: Vec<String> =
            self.sorts().flat_map(|own| own::mistakes(own.grammar)).collect();
        let nowhere = self.sorts().filter(|own| own.tag.is_empty());
        all.extend(nowhere.map(|own| format!("{}: its room has no section", own.grammar.words)));
        let known = |tag: &str| Rules::TAGS.contains(&tag);
        let taken = self.sorts().filter(|own| known(own.tag));
        all.extend(taken.map(|own| format!("the table has the statements about `!{}`", own.tag)));
        for (at, line) in self.lines.iter().enumerate() {
            let before = tables::entries().chain(self.lines[..at].iter().map(|line| line.entry));
            if before.into_iter().any(|other| other.name == line.entry.name) {
                all.push(format!("there are two statements `{}`", line.entry.name));
            }
            for example in line.entry.examples {
                match self.parse(example) {
                    Err(error) => all.push(format!("{example}: {error}")),
                    Ok(read) if read.entry.name != line.entry.name => {
                        all.push(format!("{example}: read as {}", read.entry.name));
                    }
                    Ok(_) => {}
                }
            }
        }
        all
    }

    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Whether rules with this tag have a room.
    pub(crate) fn serves(&self, tag: &str) -> bool {
        self.served.contains(&tag)
    }
}
