//! Whether Pando's lexer and a server cut texts alike. A random text goes to the server as it is, and once more written anew from Pando's tokens, with the values
//! that Pando reads in its literals and tabulators between all tokens: if a string, a name or a comment ends elsewhere for the server, the two answers differ.

mod canonical;
mod reader;
mod texts;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::chance::Chance;
use crate::schema::Server;
use crate::wire::{Fault, MySql, Place, Postgres};
use reader::Reader;

/// What came of all texts.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    texts: u64,
    /// Answered by the server.
    answered: u64,
    /// Answered by the server, but refused by Pando, by Pando's reason.
    refused: BTreeMap<String, (u64, String)>,
    pub(crate) disagreements: Vec<String>,
}

/// So many are shown.
const SHOWN: usize = 20;

/// What is tried.
#[derive(Debug)]
pub(crate) struct Tries<'a> {
    pub(crate) texts: usize,
    pub(crate) seed: u64,
    /// MySQL's modes of the session that reads the texts, joined by commas: they go to the other one as Pando restates
    /// them. Empty for none.
    pub(crate) modes: &'a str,
}

/// Tries so many texts. The same seed tries the same ones.
///
/// # Errors
/// A connection that breaks.
pub(crate) fn run(server: Server, port: u16, tries: &Tries<'_>) -> Result<Outcome, Fault> {
    let place = Place { port, database: "test".to_owned() };
    let mut reader = match server {
        Server::Postgres => {
            Reader::new(Box::new(Postgres::connect(&place)?), &pando_postgres::dialect::SYNTAX)?
        }
        Server::MySql | Server::MariaDb => {
            let mut reader =
                Reader::new(Box::new(MySql::connect(&place)?), &pando_mysql::dialect::SYNTAX)?;
            if !tries.modes.is_empty() {
                reader.has_modes(Box::new(MySql::connect(&place)?), tries.modes)?;
            }
            reader
        }
    };
    let mut outcome = Outcome::default();
    let mut chance = Chance::new(tries.seed);
    for _ in 0..tries.texts {
        let text = texts::text(&mut chance, server);
        reader.compare(&text, &mut outcome)?;
    }
    Ok(outcome)
}

impl Outcome {
    /// Too few answers would prove nothing, and too many needless refusals are no reading either.
    pub(crate) fn is_telling(&self) -> bool {
        let refused: u64 = self.refused.values().map(|(count, _)| count).sum();
        self.answered * 5 > self.texts && refused * 50 < self.answered.max(1)
    }

    pub(crate) fn text(&self, server: &str) -> String {
        let mut out = String::new();
        for wrong in self.disagreements.iter().take(SHOWN) {
            let _ = writeln!(out, "WRONG {wrong}");
        }
        for (why, (count, example)) in &self.refused {
            let _ = writeln!(out, "  refused {count}: {why}: {example:?}");
        }
        let _ = writeln!(
            out,
            "{server}: {} texts, {} answered by the server, {} of these refused, {} disagreements",
            self.texts,
            self.answered,
            self.refused.values().map(|(count, _)| count).sum::<u64>(),
            self.disagreements.len()
        );
        out
    }
}
