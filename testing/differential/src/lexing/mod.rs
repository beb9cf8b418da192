//! Whether Pando's lexer and a server cut texts alike. A random text goes to the server as it is, and once more written anew from Pando's tokens, with the values
//! that Pando reads in its literals and tabulators between all tokens: if a string, a name or a comment ends elsewhere for the server, the two answers differ.

mod canonical;
mod texts;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pando_sql::{Release, Settled, Syntax, settle};

use crate::chance::Chance;
use crate::schema::Server;
use crate::wire::{Call, Client, Fault, MySql, Place, Postgres, Reply};

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

/// Tries so many texts on one connection. The same seed tries the same ones.
///
/// # Errors
/// A connection that breaks.
pub(crate) fn run(
    server: Server,
    port: u16,
    (texts, seed): (usize, u64),
) -> Result<Outcome, Fault> {
    let place = Place { port, database: "test".to_owned() };
    let mut reader = match server {
        Server::Postgres => {
            Reader::new(Box::new(Postgres::connect(&place)?), &pando_postgres::dialect::SYNTAX)?
        }
        Server::MySql | Server::MariaDb => {
            Reader::new(Box::new(MySql::connect(&place)?), &pando_mysql::dialect::SYNTAX)?
        }
    };
    let mut outcome = Outcome::default();
    let mut chance = Chance::new(seed);
    for _ in 0..texts {
        let text = texts::text(&mut chance, server);
        reader.compare(&text, &mut outcome)?;
    }
    Ok(outcome)
}

struct Reader {
    client: Box<dyn Client>,
    syntax: &'static Syntax,
    releases: Vec<Release>,
}

impl Reader {
    fn new(mut client: Box<dyn Client>, syntax: &'static Syntax) -> Result<Self, Fault> {
        let answer = client.ask(&Call::text("SELECT version()"))?;
        let Reply::Rows { rows, .. } = answer else { return Err("no version".to_owned()) };
        let version =
            rows.first().and_then(|row| row.first().cloned().flatten()).unwrap_or_default();
        let releases = release(&String::from_utf8_lossy(&version)).into_iter().collect();
        Ok(Self { client, syntax, releases })
    }

    fn compare(&mut self, text: &str, outcome: &mut Outcome) -> Result<(), Fault> {
        outcome.texts += 1;
        let told = self.client.ask(&Call::text(text))?;
        let answered = !matches!(told, Reply::Failed(_));
        outcome.answered += u64::from(answered);
        let read = match settle(text, self.syntax, &self.releases) {
            Ok(Settled::AsIs) => canonical::written(text, self.syntax),
            Ok(Settled::Text(settled)) => canonical::written(&settled, self.syntax),
            Ok(Settled::Unsure) => Err("a version is not sure".to_owned()),
            Err(error) => Err(error.message),
        };
        match read {
            Err(_) if !answered => {}
            Err(why) => {
                let why = why.split('`').next().unwrap_or_default().to_owned();
                let known = outcome.refused.entry(why).or_insert_with(|| (0, text.to_owned()));
                known.0 += 1;
            }
            Ok(None) => {}
            Ok(Some(anew)) => {
                let told_anew = self.client.ask(&Call::text(anew.clone()))?;
                if !alike(&told, &told_anew) {
                    let why =
                        format!("{text:?}\n    as {anew:?}\n    {told:?}\n    {told_anew:?}\n");
                    outcome.disagreements.push(why);
                }
            }
        }
        Ok(())
    }
}

/// `8.0.31`, `10.11.19-MariaDB-…`.
fn release(version: &str) -> Option<Release> {
    let end = version.find(|c: char| !(c.is_ascii_digit() || c == '.'));
    let numbers: Vec<u32> =
        version.get(..end.unwrap_or(version.len()))?.split('.').flat_map(str::parse).collect();
    let [major, minor, patch] = numbers[..] else { return None };
    let version_id = major * 10_000 + minor * 100 + patch;
    Some(Release { version: version_id, is_fork: version.contains("MariaDB") })
}

/// Names of columns are texts of the statement, so they may differ. What fails both times tells nothing.
fn alike(one: &Reply, other: &Reply) -> bool {
    match (one, other) {
        (
            Reply::Rows { columns, rows, tag },
            Reply::Rows { columns: columns_too, rows: rows_too, tag: tag_too },
        ) => columns.len() == columns_too.len() && rows == rows_too && tag == tag_too,
        (Reply::Done(tag), Reply::Done(tag_too)) => tag == tag_too,
        (Reply::Failed(_), Reply::Failed(_)) => true,
        // What the server takes for no value: the text does nothing, however it is read.
        (Reply::Failed(failure), _) => {
            let none = ["invalid Unicode", "invalid byte sequence", "trailing junk"];
            none.iter().any(|none| failure.message.starts_with(none))
        }
        _ => false,
    }
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
