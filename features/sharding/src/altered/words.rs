//! The words of a definition, each token one, quotes and all.

/// Some of them, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Words<'a>(pub(super) &'a [&'a str]);

impl<'a> Words<'a> {
    pub(super) fn word(self, at: usize) -> Option<&'a str> {
        self.0.get(at).copied()
    }

    pub(super) fn is(self, at: usize, word: &str) -> bool {
        self.word(at).is_some_and(|own| own.eq_ignore_ascii_case(word))
    }

    pub(super) fn from(self, at: usize) -> Self {
        Self(self.0.get(at..).unwrap_or_default())
    }

    pub(super) fn until(self, at: usize) -> Self {
        Self(self.0.get(..at).unwrap_or(self.0))
    }

    /// The first word as a name.
    pub(super) fn name(self) -> Option<&'a str> {
        self.word(0).map(unquoted)
    }

    /// What stands behind `COLUMN`, `IF EXISTS` and `IF NOT EXISTS`.
    pub(super) fn column(self) -> Self {
        let rest = if self.is(0, "column") { self.from(1) } else { self };
        match (rest.is(0, "if"), rest.is(1, "not"), rest.is(2, "exists")) {
            (true, true, true) => rest.from(3),
            (true, false, _) if rest.is(1, "exists") => rest.from(2),
            _ => rest,
        }
    }

    /// Where these words follow each other, outside of parentheses but for the last of them.
    pub(super) fn find(self, words: &[&str]) -> Option<usize> {
        let mut depth = 0usize;
        for (at, word) in self.0.iter().enumerate() {
            let found = || words.iter().enumerate().all(|(next, word)| self.is(at + next, word));
            if depth == 0 && found() {
                return Some(at);
            }
            match *word {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        None
    }

    pub(super) fn has(self, words: &[&str]) -> bool {
        self.find(words).is_some()
    }

    /// What stands in the parentheses that the first word opens.
    pub(super) fn in_parentheses(self) -> Option<Self> {
        if !self.is(0, "(") {
            return None;
        }
        let inner = self.from(1);
        let end = inner.find(&[")"]).unwrap_or(inner.0.len());
        Some(inner.until(end))
    }

    /// The parts between commas.
    pub(super) fn elements(self) -> impl Iterator<Item = Self> {
        let mut rest = Some(self);
        std::iter::from_fn(move || {
            let own = rest?;
            match own.find(&[","]) {
                Some(at) => {
                    rest = Some(own.from(at + 1));
                    Some(own.until(at))
                }
                None => rest.take(),
            }
        })
    }
}

/// A name without its quotes.
pub(super) fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '`'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_hold_what_is_in_them_together() {
        let all: Vec<&str> = "( a dec ( 1 , 2 ) , b ) x".split(' ').collect();
        let inner = Words(&all).in_parentheses().expect("they are there");
        let elements: Vec<String> = inner.elements().map(|one| one.0.join(" ")).collect();
        assert_eq!(elements, ["a dec ( 1 , 2 )", "b"]);
        assert_eq!(inner.find(&["b"]), Some(8));
        assert_eq!(inner.find(&["1"]), None);
    }
}
