//! One server and Pando's lexer, side by side.

use pando_sql::{Release, Settled, Syntax, settle};

use super::{Outcome, canonical};
use crate::wire::{Call, Client, Fault, Reply};

pub(super) struct Reader {
    client: Box<dyn Client>,
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
        Ok(Self { client, syntax, releases })
    }

    pub(super) fn compare(&mut self, text: &str, outcome: &mut Outcome) -> Result<(), Fault> {
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
