//! The table for people: HELP DISTSQL and a page of documentation.

use std::borrow::Cow;
use std::fmt::Write;

use crate::entry::{Category, Entry};
use crate::like::Pattern;
use crate::tables::{FRAGMENTS, entries};

/// How syntax texts are to be read.
pub const NOTATION: &str = "`WORDS` in capitals stand for themselves in any case, and so do characters in single quotes. \
`[ x ]` may be left out, `( x | y )` is one of them, `x ...` is one or more with commas between. Everything else is a piece that is \
explained below, or `identifier` (a word, or a name in backticks or double quotes), `string` (a text in single or double quotes), `quoted` (the same, not empty), \
`bare` (anything without a space or one of `( ) [ ] , ; =` in it), `integer`, `boolean` (`TRUE` or `FALSE`), or `sql` (the rest of the text). A doubled quote inside quotes stands for itself, and a backslash is an ordinary character. Semicolons at the end do not \
matter.";

/// The statements whose name fits a LIKE pattern, or all, in the order of the table.
pub fn find(like: Option<&str>) -> impl Iterator<Item = &'static Entry> {
    let like = like.map(Pattern::new);
    entries().filter(move |entry| like.as_ref().is_none_or(|pattern| pattern.fits(entry.name)))
}

/// What HELP DISTSQL answers, one row per statement: name, category, spelling, syntax, help. `served` are the tags of
/// the rules that there are rooms for.
pub fn rows(like: Option<&str>, served: &[&str]) -> impl Iterator<Item = [Cow<'static, str>; 5]> {
    find(like).map(|entry| {
        let words = [entry.name, entry.category.name(), entry.age.name(), entry.syntax];
        let [name, category, age, syntax] = words.map(Cow::Borrowed);
        [name, category, age, syntax, help(entry, served)]
    })
}

/// The whole table as one page of Markdown: the notation, every statement by category, and the pieces of grammar they share.
/// `served` as for [`rows`].
pub fn markdown(served: &[&str]) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write_page(&mut page, served);
    page
}

fn help(entry: &Entry, served: &[&str]) -> Cow<'static, str> {
    match entry.rules() {
        Some(tag) if !served.contains(&tag) => {
            Cow::Owned(format!("{} Refused by this version of Pando.", entry.help))
        }
        Some(_) | None => Cow::Borrowed(entry.help),
    }
}

fn write_page(page: &mut String, served: &[&str]) -> std::fmt::Result {
    writeln!(page, "# DistSQL\n\n{NOTATION}\n")?;
    writeln!(
        page,
        "*Spelling* says which releases of ShardingSphere write a statement so: `current` (5.2 and later), `5.0` or `both`."
    )?;
    for category in Category::ALL {
        writeln!(page, "\n## {}: {}", category.name(), category.title())?;
        for entry in entries().filter(|entry| entry.category == category) {
            write_entry(page, entry, served)?;
        }
    }
    writeln!(page, "\n## Pieces of grammar\n\n```text")?;
    let width = FRAGMENTS.iter().map(|piece| piece.name.len()).max().unwrap_or(0);
    for piece in FRAGMENTS {
        writeln!(page, "{:width$} := {}", piece.name, piece.syntax)?;
    }
    writeln!(page, "```")
}

fn write_entry(page: &mut String, entry: &Entry, served: &[&str]) -> std::fmt::Result {
    writeln!(page, "\n### {}\n\n{}", entry.name, help(entry, served))?;
    writeln!(page, "\n```text\n{}\n```", entry.syntax)?;
    writeln!(page, "\nSpelling: {}.", entry.age.name())?;
    if !entry.columns.is_empty() {
        writeln!(page, "Columns: `{}`.", entry.columns.join("`, `"))?;
    }
    writeln!(page, "\n```sql")?;
    for example in entry.examples {
        writeln!(page, "{};", example.trim_end_matches(';'))?;
    }
    writeln!(page, "```")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_room_serves_is_said() {
        let is_refused = |name: &str, served: &[&str]| {
            rows(Some(name), served).all(|row| row[4].contains("Refused by"))
        };
        assert!(is_refused("CREATE MASK RULE", &["SHADOW"]));
        assert!(!is_refused("CREATE MASK RULE", &["MASK"]));
        assert!(!is_refused("DROP MASK RULE", &[]), "what is there can be taken away");
    }

    #[test]
    fn every_statement_and_every_piece_is_on_the_page() {
        let page = markdown(&[]);
        for entry in entries() {
            assert!(page.contains(&format!("\n### {}\n", entry.name)), "{}", entry.name);
            assert!(page.contains(entry.syntax), "{}", entry.name);
        }
        for piece in FRAGMENTS {
            assert!(page.contains(piece.syntax), "{}", piece.name);
        }
    }

    #[test]
    fn help_finds_by_pattern_in_any_case() {
        let names: Vec<&str> = find(Some("%storage unit")).map(|entry| entry.name).collect();
        assert!(names.contains(&"REGISTER STORAGE UNIT"), "{names:?}");
        assert!(!names.contains(&"ADD RESOURCE"), "{names:?}");
        assert_eq!(find(None).count(), entries().count());
        assert_eq!(rows(Some("PARSE"), &[]).count(), 1);
    }
}
