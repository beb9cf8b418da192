//! One server and Pando's lexer, side by side.

use pando_sql::{Likes, Misread, Modes, Release, Settled, Syntax, restate, settle_under};

use super::{Outcome, canonical};
use crate::wire::{Call, Client, Fault, Reply};

pub(super) struct Reader {
    client: Box<dyn Client>,
    /// Whoever reads the texts in modes of its own, and these.
    other: Option<(Box<dyn Client>, Modes)>,
    syntax: &'static Syntax,
    releases: Vec<Release>,
}

impl Reader {
    pub(super) fn new(mut client: Box<dyn Client>, syntax: &'static Syntax) -> Result<Self, Fault> {
        let answer = client.ask(&Call::text("SELECT version()"))?;
        let Reply::Rows { rows, .. } = answer else { return Err("no version".to_owned()) };
        let version =
            rows.first().and_then(|row| row.first().cloned().flatten()).unwrap_or_default();
        let releases = release(&String::from_utf8_lossy(&version)).into_iter().collect();
        Ok(Self { client, other: None, syntax, releases })
    }

    /// Texts are read in these modes by another client.
    pub(super) fn has_modes(
        &mut self,
        mut other: Box<dyn Client>,
        modes: &str,
    ) -> Result<(), Fault> {
        let set = format!("SET sql_mode = CONCAT(@@sql_mode, ',{modes}')");
        if let Reply::Failed(failure) = other.ask(&Call::text(set))? {
            return Err(failure.message);
        }
        let has = |mode: &str| modes.split(',').any(|one| one.eq_ignore_ascii_case(mode));
        let modes = Modes {
            ansi_quotes: has("ANSI_QUOTES"),
            plain_backslashes: has("NO_BACKSLASH_ESCAPES"),
            ignore_space: has("IGNORE_SPACE"),
            pipes_concatenate: false,
        };
        self.other = Some((other, modes));
        Ok(())
    }

    /// The text as it is read without modes.
    fn restated(&self, text: &str, modes: Modes) -> Result<String, String> {
        match restate(text, self.syntax, modes, Likes::Escape) {
            Ok(restated) => Ok(restated.unwrap_or_else(|| text.to_owned())),
            Err(Misread::Syntax(error)) => Err(error.message),
            Err(Misread::Differs(what, _)) => Err(what.to_owned()),
        }
    }

    pub(super) fn compare(&mut self, text: &str, outcome: &mut Outcome) -> Result<(), Fault> {
        outcome.texts += 1;
        let (reads, modes) = match &mut self.other {
            Some((other, modes)) => (other, *modes),
            None => (&mut self.client, Modes::default()),
        };
        let told = reads.ask(&Call::text(text))?;
        let answered = !matches!(told, Reply::Failed(_));
        outcome.answered += u64::from(answered);
        let restated = match settle_under(text, self.syntax, modes, &self.releases) {
            Ok(Settled::AsIs) => self.restated(text, modes),
            Ok(Settled::Text(settled)) => self.restated(&settled, modes),
            Ok(Settled::Unsure) => Err("a version is not sure".to_owned()),
            Err(error) => Err(error.message),
        };
        let read = restated.and_then(|restated| {
            let anew = canonical::written(&restated, self.syntax)?;
            Ok(anew.map(|anew| (anew, restated)))
        });
        match read {
            Err(_) if !answered => {}
            Err(why) => {
                let why = why.split('`').next().unwrap_or_default().to_owned();
                let known = outcome.refused.entry(why).or_insert_with(|| (0, text.to_owned()));
                known.0 += 1;
            }
            Ok(None) => {}
            Ok(Some((anew, restated))) => {
                let texts = match self.other {
                    Some(_) => vec![anew, restated],
                    None => vec![anew],
                };
                for anew in texts {
                    let told_anew = self.client.ask(&Call::text(anew.clone()))?;
                    if !alike(&told, &told_anew) {
                        let why =
                            format!("{text:?}\n    as {anew:?}\n    {told:?}\n    {told_anew:?}\n");
                        outcome.disagreements.push(why);
                    }
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
