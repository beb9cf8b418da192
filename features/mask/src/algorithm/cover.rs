//! Masks that put one character in the place of others.

use pando_config::{Algorithm, Problem};

use super::{Covers, props};

/// What a mask does with the part that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Kept,
    Covered,
}

fn covered(plain: &str, cover: char, is_covered: impl Fn(usize) -> bool) -> String {
    let turned = plain.chars().enumerate();
    turned.map(|(at, own)| if is_covered(at) { cover } else { own }).collect()
}

/// `KEEP_FIRST_N_LAST_M`, `MASK_FIRST_N_LAST_M`: both ends.
#[derive(Debug)]
pub(super) struct Ends {
    first: usize,
    last: usize,
    cover: char,
    part: Part,
}

impl Ends {
    pub(super) fn keep(algorithm: &Algorithm) -> Result<Self, Problem> {
        Self::new(algorithm, Part::Kept)
    }

    pub(super) fn cover(algorithm: &Algorithm) -> Result<Self, Problem> {
        Self::new(algorithm, Part::Covered)
    }

    fn new(algorithm: &Algorithm, part: Part) -> Result<Self, Problem> {
        props::check(algorithm, &["first-n", "last-m", "replace-char"])?;
        let (first, last) =
            (props::count(algorithm, "first-n")?, props::count(algorithm, "last-m")?);
        Ok(Self { first, last, cover: props::cover(algorithm)?, part })
    }
}

impl Covers for Ends {
    /// A value that has no more than its ends is told as it is where they are kept.
    fn covered(&self, plain: &str) -> String {
        let length = plain.chars().count();
        let is_end = |at: usize| at < self.first || at + self.last >= length;
        match self.part {
            Part::Kept if length < self.first + self.last => plain.to_owned(),
            Part::Kept => covered(plain, self.cover, |at| !is_end(at)),
            Part::Covered => covered(plain, self.cover, is_end),
        }
    }
}

/// `KEEP_FROM_X_TO_Y`, `MASK_FROM_X_TO_Y`: from one place to another, both counted from 0, both of it.
#[derive(Debug)]
pub(super) struct Range {
    from: usize,
    to: usize,
    cover: char,
    part: Part,
}

impl Range {
    pub(super) fn keep(algorithm: &Algorithm) -> Result<Self, Problem> {
        Self::new(algorithm, Part::Kept)
    }

    pub(super) fn cover(algorithm: &Algorithm) -> Result<Self, Problem> {
        Self::new(algorithm, Part::Covered)
    }

    fn new(algorithm: &Algorithm, part: Part) -> Result<Self, Problem> {
        props::check(algorithm, &["from-x", "to-y", "replace-char"])?;
        let (from, to) = (props::count(algorithm, "from-x")?, props::count(algorithm, "to-y")?);
        if from > to {
            let at = algorithm.props.get("from-x").map_or(&algorithm.kind.at, |value| &value.at);
            return Err(at.problem("`from-x` is not above `to-y`"));
        }
        Ok(Self { from, to, cover: props::cover(algorithm)?, part })
    }
}

impl Covers for Range {
    fn covered(&self, plain: &str) -> String {
        let is_inside = |at: usize| (self.from..=self.to).contains(&at);
        match self.part {
            Part::Kept => covered(plain, self.cover, |at| !is_inside(at)),
            Part::Covered => covered(plain, self.cover, is_inside),
        }
    }
}

/// `MASK_BEFORE_SPECIAL_CHARS`, `MASK_AFTER_SPECIAL_CHARS`: to or from the first place of a text. A value without it is
/// told as it is.
#[derive(Debug)]
pub(super) struct Special {
    special: String,
    cover: char,
    side: Side,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl Special {
    pub(super) fn before(algorithm: &Algorithm) -> Result<Self, Problem> {
        Self::new(algorithm, Side::Before)
    }

    pub(super) fn after(algorithm: &Algorithm) -> Result<Self, Problem> {
        Self::new(algorithm, Side::After)
    }

    fn new(algorithm: &Algorithm, side: Side) -> Result<Self, Problem> {
        props::check(algorithm, &["special-chars", "replace-char"])?;
        let special = props::required(algorithm, "special-chars")?.value.clone();
        Ok(Self { special, cover: props::cover(algorithm)?, side })
    }
}

impl Covers for Special {
    fn covered(&self, plain: &str) -> String {
        let Some((before, after)) = plain.split_once(&self.special) else {
            return plain.to_owned();
        };
        let hidden = |part: &str| covered(part, self.cover, |_| true);
        match self.side {
            Side::Before => format!("{}{}{after}", hidden(before), self.special),
            Side::After => format!("{before}{}{}", self.special, hidden(after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{made, problem};

    #[test]
    fn a_character_beyond_the_basic_plane_is_one() {
        let ends = [("first-n", "1"), ("last-m", "1"), ("replace-char", "*")];
        assert_eq!(made("KEEP_FIRST_N_LAST_M", &ends).masked("😀b😀").unwrap(), "😀*😀");
    }

    #[test]
    fn wrong_properties_are_told() {
        let ends = |first, cover| [("first-n", first), ("last-m", "1"), ("replace-char", cover)];
        assert!(problem("KEEP_FIRST_N_LAST_M", &ends("0", "*")).contains("above 0"));
        assert!(problem("KEEP_FIRST_N_LAST_M", &ends("1", "**")).contains("one character"));
        assert!(problem("MASK_AFTER_SPECIAL_CHARS", &[]).contains("`special-chars`"));
        let range = [("from-x", "3"), ("to-y", "2"), ("replace-char", "*")];
        assert!(problem("KEEP_FROM_X_TO_Y", &range).contains("not above"));
        assert!(problem("MD5", &[("pepper", "x")]).contains("no property `pepper`"));
    }
}
