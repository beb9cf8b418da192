//! The table for people: HELP DISTSQL and a page of documentation.

use std::borrow::Cow;
use std::fmt::Write;

use pando_config::Rules;

use crate::entry::{Category, Entry};
use crate::language::Language;
use crate::like::Pattern;
use crate::tables::FRAGMENTS;

/// How syntax texts are to be read.
pub const NOTATION: &str = "`WORDS` in capitals stand for themselves in any case, and so do characters in single quotes. \
`[ x ]` may be left out, `( x | y )` is one of them, `x ...` is one or more with commas between. Everything else is a piece that is \
explained below, or `identifier` (a word, or a name in backticks or double quotes), `string` (a text in single or double quotes), `quoted` (the same, not empty), \
`bare` (anything without a space or one of `( ) [ ] , ; =` in it), `integer`, `boolean` (`TRUE` or `FALSE`), or `sql` (the rest of the text). A doubled quote inside quotes stands for itself, and a backslash is an ordinary character. Semicolons at the end do not \
matter.";

/// The statements whose name fits a LIKE pattern, or all, in the order of the table.
pub fn find(like: Option<&str>, language: &Language) -> impl Iterator<Item = &'static Entry> {
    let like = like.map(Pattern::new);
    language
        .entries()
        .filter(move |entry| like.as_ref().is_none_or(|pattern| pattern.fits(entry.name)))
}

/// What HELP DISTSQL answers, one row per statement: name, category, spelling, syntax, help.
pub fn rows(
    like: Option<&str>,
    language: &Language,
) -> impl Iterator<Item = [Cow<'static, str>; 5]> {
    find(like, language).map(|entry| {
        let words = [entry.name, entry.category.name(), entry.age.name(), entry.syntax];
        let [name, category, age, syntax] = words.map(Cow::Borrowed);
        [name, category, age, syntax, help(entry, language)]
    })
}

/// The whole table as one page of Markdown: the notation, every statement by category, and the pieces of grammar they share.
pub fn markdown(language: &Language) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write_page(&mut page, language);
    page
}

fn help(entry: &Entry, language: &Language) -> Cow<'static, str> {
    match rules(entry) {
        Some(tag) if !language.serves(tag) => {
            Cow::Owned(format!("{} Refused by this version of Pando.", entry.help))
        }
        Some(_) | None => Cow::Borrowed(entry.help),
    }
}

/// The tag of the rules of ShardingSphere's that a statement makes, as `SHARDING`; `None` where it makes none.
fn rules(entry: &Entry) -> Option<&'static str> {
    let mut words = entry.name.split(' ');
    let makes = matches!(words.next(), Some("CREATE" | "ALTER"));
    words.find(|word| Rules::TAGS.contains(word)).filter(|_| makes)
}

fn write_page(page: &mut String, language: &Language) -> std::fmt::Result {
    writeln!(page, "# DistSQL\n\n{NOTATION}\n")?;
    writeln!(
        page,
        "*Spelling* says which releases of ShardingSphere write a statement so: `current` (5.2 and later), `5.0` or `both`."
    )?;
    for category in Category::ALL {
        writeln!(page, "\n## {}: {}", category.name(), category.title())?;
        for entry in language.entries().filter(|entry| entry.category == category) {
            write_entry(page, entry, language)?;
        }
    }
    writeln!(page, "\n## Pieces of grammar\n\n```text")?;
    let width = FRAGMENTS.iter().map(|piece| piece.name.len()).max().unwrap_or(0);
    for piece in FRAGMENTS {
        writeln!(page, "{:width$} := {}", piece.name, piece.syntax)?;
    }
    writeln!(page, "```")
}

fn write_entry(page: &mut String, entry: &Entry, language: &Language) -> std::fmt::Result {
    writeln!(page, "\n### {}\n\n{}", entry.name, help(entry, language))?;
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
    use pando_kernel::{Offer, room::Built};

    use super::*;
    use crate::tables::entries;

    fn serving(tag: &'static str) -> Language {
        let nothing = |_: &Rules, _: &pando_kernel::Around<'_>| -> Built { Ok(None) };
        Language::of(&[Offer { section: Some(tag), ..Offer::new(nothing) }])
    }

    #[test]
    fn what_no_room_serves_is_said() {
        let is_refused = |name: &str, language: &Language| {
            rows(Some(name), language).all(|row| row[4].contains("Refused by"))
        };
        assert!(is_refused("CREATE MASK RULE", &serving("SHADOW")));
        assert!(!is_refused("CREATE MASK RULE", &serving("MASK")));
        let plain = Language::plain();
        assert!(!is_refused("DROP MASK RULE", plain), "what is there can be taken away");
    }

    #[test]
    fn every_statement_and_every_piece_is_on_the_page() {
        let page = markdown(Language::plain());
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
        let plain = Language::plain();
        let names: Vec<&str> = find(Some("%storage unit"), plain).map(|entry| entry.name).collect();
        assert!(names.contains(&"REGISTER STORAGE UNIT"), "{names:?}");
        assert!(!names.contains(&"ADD RESOURCE"), "{names:?}");
        assert_eq!(find(None, plain).count(), entries().count());
        assert_eq!(rows(Some("PARSE"), plain).count(), 1);
    }
}
