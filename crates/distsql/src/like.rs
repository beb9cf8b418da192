//! LIKE, as SHOW statements use it.

/// Longest pattern in bytes: names are much shorter.
pub const MOST_PATTERN: usize = 1024;

/// A pattern of `%` (any characters), `_` (any one) and `\` (takes the next as it is), whatever the case.
///
/// The time for one name is at most the square of the name's length, whatever the pattern: what is between two `%` is looked for once, from left to
/// right, and a pattern that takes more characters than the name has is not looked for at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// What stands between the `%`, without empty ones in the middle.
    parts: Vec<Vec<Sign>>,
    /// It begins with a `%`.
    is_open_before: bool,
    /// It ends with a `%`.
    is_open_behind: bool,
    /// Characters that a name must have.
    least: usize,
}

/// One character of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Any,
    Is(char),
}

impl Pattern {
    /// Reads a pattern.
    pub fn new(text: &str) -> Self {
        let mut letters = text.chars().flat_map(char::to_lowercase).peekable();
        let mut parts = vec![Vec::new()];
        let (mut is_first, mut is_open_before, mut is_open_behind) = (true, false, false);
        while let Some(letter) = letters.next() {
            is_open_behind = letter == '%';
            is_open_before |= is_open_behind && is_first;
            is_first = false;
            let sign = match letter {
                '%' => {
                    if parts.last().is_some_and(|part| !part.is_empty()) {
                        parts.push(Vec::new());
                    }
                    continue;
                }
                '_' => Sign::Any,
                // At the end it stands for itself.
                '\\' => Sign::Is(letters.next().unwrap_or('\\')),
                letter => Sign::Is(letter),
            };
            if let Some(part) = parts.last_mut() {
                part.push(sign);
            }
        }
        parts.retain(|part| !part.is_empty());
        let least = parts.iter().map(Vec::len).sum();
        Self { parts, is_open_before, is_open_behind, least }
    }

    /// Whether a name fits.
    pub fn fits(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
        if name.len() < self.least {
            return false;
        }
        let mut rest = &name[..];
        let mut parts = &self.parts[..];
        if !self.is_open_before {
            match parts.split_first() {
                Some((first, others)) if begins(rest, first) => {
                    // A pattern without any `%` is the whole name.
                    if others.is_empty() && !self.is_open_behind {
                        return rest.len() == first.len();
                    }
                    (rest, parts) = (rest.get(first.len()..).unwrap_or_default(), others);
                }
                Some(_) => return false,
                None => return name.is_empty(),
            }
        }
        if !self.is_open_behind
            && let Some((last, others)) = parts.split_last()
        {
            let Some(from) = rest.len().checked_sub(last.len()) else { return false };
            if !rest.get(from..).is_some_and(|end| begins(end, last)) {
                return false;
            }
            (rest, parts) = (rest.get(..from).unwrap_or_default(), others);
        }
        for part in parts {
            let at = (0..=rest.len().saturating_sub(part.len()))
                .find(|at| rest.get(*at..).is_some_and(|rest| begins(rest, part)));
            let Some(at) = at else { return false };
            rest = rest.get(at + part.len()..).unwrap_or_default();
        }
        true
    }
}

fn begins(name: &[char], part: &[Sign]) -> bool {
    let is = |(sign, letter): (&Sign, &char)| match sign {
        Sign::Any => true,
        Sign::Is(own) => own == letter,
    };
    name.len() >= part.len() && part.iter().zip(name).all(is)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fits(pattern: &str, name: &str) -> bool {
        Pattern::new(pattern).fits(name)
    }

    #[test]
    fn patterns_fit_as_in_sql() {
        for (pattern, name, expected) in [
            ("ds_%", "DS_0", true),
            ("ds_%", "ds", false),
            ("%", "", true),
            ("", "", true),
            ("", "a", false),
            ("%a%b", "xxaxxab", true),
            ("%a%b", "xxaxxa", false),
            ("a\\_b", "a_b", true),
            ("a\\_b", "axb", false),
            ("a_b", "axb", true),
            ("_", "", false),
            ("a\\", "a\\", true),
            ("a%a", "a", false),
            ("a%%a", "aa", true),
            ("a", "ab", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{name} LIKE {pattern}");
        }
    }

    #[test]
    fn many_percent_signs_take_no_time() {
        let pattern = "%a".repeat(200);
        assert!(!fits(&pattern, &"a".repeat(199)));
        assert!(fits(&pattern, &"a".repeat(2000)));
        let pattern = Pattern::new(&("%".repeat(MOST_PATTERN / 2) + "b"));
        assert!((0..10_000).all(|_| !pattern.fits(&"a".repeat(200))));
    }

    /// As the definition says, by trying everything.
    fn naive(pattern: &[char], name: &[char]) -> bool {
        match pattern {
            [] => name.is_empty(),
            ['%', rest @ ..] => (0..=name.len()).any(|at| naive(rest, &name[at..])),
            ['\\', letter, rest @ ..] => name.first() == Some(letter) && naive(rest, &name[1..]),
            ['_', rest @ ..] => !name.is_empty() && naive(rest, &name[1..]),
            [letter, rest @ ..] => name.first() == Some(letter) && naive(rest, &name[1..]),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn patterns_fit_as_their_definition_says(pattern in "[ab%_\\\\]{0,8}", name in "[ab%_\\\\]{0,10}") {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(fits(&pattern, &name), naive(&letters(&pattern), &letters(&name)));
        }
    }
}
