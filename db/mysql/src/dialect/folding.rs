//! Texts that a collation calls equal, as one text: case, accents and what else it does not tell apart are taken out.
//!
//! Only for collations whose every character was weighed by servers (`testing/folds/write.py` writes the tables, `tests/folding.rs` proves them
//! again): a text is written with the letters that stand for its weights, so two are the same exactly where their weights are.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use pando_kernel::folding::Folds;

/// The weights of a collation's characters.
#[derive(Debug)]
struct Weights {
    text: &'static str,
    read: OnceLock<Table>,
}

impl Weights {
    const fn new(text: &'static str) -> Self {
        Self { text, read: OnceLock::new() }
    }
}

static GENERAL: Weights = Weights::new(include_str!("tables/folds/general.txt"));
static UNICODE: Weights = Weights::new(include_str!("tables/folds/unicode.txt"));
static UNICODE_520: Weights = Weights::new(include_str!("tables/folds/unicode_520.txt"));
static V_0900: Weights = Weights::new(include_str!("tables/folds/0900_ai.txt"));
static UCA1400: Weights = Weights::new(include_str!("tables/folds/uca1400_ai.txt"));
static SWEDISH: Weights = Weights::new(include_str!("tables/folds/latin1_swedish.txt"));

/// How the texts of a collation in one character set fold.
#[derive(Debug)]
struct Fold {
    charsets: &'static [&'static str],
    /// What the collation's names have behind the character set, without what they say of padding, and `_ci`.
    stem: &'static str,
    weights: &'static Weights,
    /// The last character there is, or has been weighed.
    last: char,
}

impl Fold {
    const fn wide(stem: &'static str, weights: &'static Weights) -> Self {
        Self { charsets: &["utf8mb4"], stem, weights, last: '\u{2ffff}' }
    }

    const fn narrow(stem: &'static str, weights: &'static Weights) -> Self {
        Self { charsets: &["utf8mb3", "utf8"], stem, weights, last: '\u{ffff}' }
    }
}

static FOLDS: [Fold; 10] = [
    Fold::wide("general", &GENERAL),
    Fold::wide("unicode", &UNICODE),
    Fold::wide("unicode_520", &UNICODE_520),
    Fold::wide("0900_ai", &V_0900),
    Fold::wide("uca1400_ai", &UCA1400),
    Fold::narrow("general", &GENERAL),
    Fold::narrow("unicode", &UNICODE),
    Fold::narrow("unicode_520", &UNICODE_520),
    Fold::narrow("uca1400_ai", &UCA1400),
    Fold { charsets: &["latin1"], stem: "swedish", weights: &SWEDISH, last: char::MAX },
];

/// How a collation folds; `None` where that is not known.
pub(crate) fn of(collation: &str) -> Option<&'static dyn Folds> {
    let (charset, rest) = collation.split_once('_')?;
    let stem = rest.strip_suffix("_ci")?;
    // Padding or not, the weights are the same: `general_nopad`, `uca1400_nopad_ai`.
    let is_named = |fold: &&Fold| match stem.split_once("_nopad") {
        Some((front, back)) => fold.stem.strip_prefix(front) == Some(back),
        None => fold.stem == stem,
    };
    let found = FOLDS.iter().find(|fold| is_named(fold) && fold.charsets.contains(&charset))?;
    Some(found)
}

impl Folds for Fold {
    fn name(&self) -> &'static str {
        self.stem
    }

    fn folded(&self, text: &str) -> Option<String> {
        // In all of these collations characters of ASCII differ from each other, but for the case of letters.
        if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Some(text.to_ascii_lowercase());
        }
        self.weights.read.get_or_init(|| Table::read(self.weights.text)).folded(text, self.last)
    }

    fn respelt(&self, column: &str) -> String {
        format!("BINARY {column} <> BINARY LOWER({column})")
    }
}

/// A table that has been read.
#[derive(Debug, Default)]
struct Table {
    runs: Vec<Run>,
    /// Where the character set has not all characters, those that it has.
    only: Option<Vec<(u32, u32)>>,
    /// Characters that are weighed together where they stand together.
    pairs: HashMap<u32, Vec<(u32, u32)>>,
    seconds: HashSet<u32>,
    /// Syllables of Hangul are weighed as their letters.
    spells_hangul: bool,
}

/// Characters that follow each other and fold alike.
#[derive(Debug)]
struct Run {
    first: u32,
    last: u32,
    to: To,
}

#[derive(Debug)]
enum To {
    /// These letters for each; may be none.
    Letters(Box<str>),
    /// This letter for the first, the one behind it for the next.
    From(u32),
}

impl Table {
    /// Reads a table; a line of another form, which the tests would find, folds nothing.
    fn read(table: &str) -> Self {
        let mut folds = Self::default();
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["hangul"] => folds.spells_hangul = true,
                ["only", list] => folds.only = Some(ranges(list)),
                ["pair", first, seconds] => {
                    let seconds = ranges(seconds);
                    folds.seconds.extend(seconds.iter().flat_map(|(low, high)| *low..=*high));
                    folds.pairs.insert(number(first), seconds);
                }
                [first, count, to] => folds.runs.push(run(first, count, to)),
                _ => {}
            }
        }
        folds
    }

    fn folded(&self, text: &str, last: char) -> Option<String> {
        let mut folded = String::with_capacity(text.len());
        // What a mark may be weighed together with: the character in front of it, and the one in front of what weighs nothing.
        let (mut before, mut weighed) = (0, 0);
        for letter in text.chars() {
            let point = u32::from(letter);
            let is_there = |list: &Vec<(u32, u32)>| within(list, point);
            if letter > last || !self.only.as_ref().is_none_or(is_there) {
                return None;
            }
            let is_pair = |first: u32| self.pairs.get(&first).is_some_and(is_there);
            if self.seconds.contains(&point) && (is_pair(before) || is_pair(weighed)) {
                return None;
            }
            let length = folded.len();
            self.fold(letter, &mut folded);
            before = point;
            if folded.len() > length {
                weighed = point;
            }
        }
        Some(folded)
    }

    fn fold(&self, letter: char, folded: &mut String) {
        let point = u32::from(letter);
        if self.spells_hangul && (SYLLABLES.0..=SYLLABLES.1).contains(&point) {
            for part in spelt(point - SYLLABLES.0).into_iter().filter_map(char::from_u32) {
                self.fold(part, folded);
            }
            return;
        }
        let at = self.runs.partition_point(|run| run.last < point);
        match self.runs.get(at).filter(|run| run.first <= point) {
            None => folded.push(letter),
            Some(Run { to: To::Letters(letters), .. }) => folded.push_str(letters),
            Some(Run { first, to: To::From(start), .. }) => {
                folded.push(char::from_u32(start + (point - first)).unwrap_or(letter));
            }
        }
    }
}

/// The first and the last syllable of Hangul.
const SYLLABLES: (u32, u32) = (0xac00, 0xd7a3);

/// The letters of a syllable, by its number; the last one may be none, which is 0.
fn spelt(syllable: u32) -> impl IntoIterator<Item = u32> {
    let last = syllable % 28;
    let letters = [0x1100 + syllable / 588, 0x1161 + syllable % 588 / 28, 0x11a7 + last];
    letters.into_iter().take(if last == 0 { 2 } else { 3 })
}

fn number(text: &str) -> u32 {
    u32::from_str_radix(text, 16).unwrap_or_default()
}

fn ranges(text: &str) -> Vec<(u32, u32)> {
    let pairs = text.split(',').filter_map(|range| range.split_once('-'));
    pairs.map(|(low, high)| (number(low), number(high))).collect()
}

fn within(list: &[(u32, u32)], point: u32) -> bool {
    list.iter().any(|(low, high)| (*low..=*high).contains(&point))
}

fn run(first: &str, count: &str, to: &str) -> Run {
    let (first, count) = (number(first), number(count));
    let to = match to.strip_prefix('+') {
        Some(start) => To::From(number(start)),
        None => {
            let letters = to.trim_start_matches('=').split(',').filter(|letter| !letter.is_empty());
            To::Letters(letters.filter_map(|letter| char::from_u32(number(letter))).collect())
        }
    };
    Run { first, last: first + count.saturating_sub(1), to }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(collation: &str, text: &str) -> Option<String> {
        of(collation).and_then(|fold| fold.folded(text))
    }

    #[test]
    fn equal_texts_fold_alike() {
        for (collation, text, expected) in [
            ("utf8mb4_general_ci", "Straße", "strase"),
            ("utf8mb4_unicode_ci", "Straße", "strasse"),
            ("utf8mb4_0900_ai_ci", "Ægir", "aegir"),
            ("utf8mb4_0900_ai_ci", "e\u{301}", "e"),
            ("utf8mb4_uca1400_nopad_ai_ci", "ÉTÉ", "ete"),
            ("latin1_swedish_ci", "Ål", "[l"),
            ("utf8mb3_general_nopad_ci", "A1", "a1"),
            ("utf8mb4_0900_ai_ci", "가", "\u{1100}\u{1161}"),
        ] {
            assert_eq!(folded(collation, text).as_deref(), Some(expected), "{collation} {text}");
        }
    }

    #[test]
    fn what_is_passed_over_for_ascii_is_what_the_tables_say() {
        for fold in &FOLDS {
            let table = Table::read(fold.weights.text);
            for letter in (b' '..=b'~').map(|byte| char::from(byte).to_string()) {
                let own = fold.folded(&letter);
                assert_eq!(table.folded(&letter, fold.last), own, "{} {letter}", fold.stem);
            }
        }
    }

    #[test]
    fn what_is_not_known_is_not_folded() {
        for (collation, text) in [
            ("latin1_swedish_ci", "漢"),
            ("utf8mb3_general_ci", "😀"),
            ("utf8mb4_general_ci", "\u{f0000}"),
            ("utf8mb4_uca1400_ai_ci", "и\u{306}"),
            ("utf8mb4_uca1400_ai_ci", "и\u{323}\u{306}"),
            ("utf8mb4_turkish_ci", "I"),
            ("utf8mb4_0900_as_ci", "a"),
            ("utf8mb4_uca1400_nopad_as_ci", "a"),
            ("utf8mb4_swedish_ci", "a"),
            ("cp1251_general_ci", "a"),
            ("utf8mb4_bin", "a"),
        ] {
            assert_eq!(folded(collation, text), None, "{collation} {text}");
        }
    }
}
