//! LIKE, as SHOW statements use it.

/// A name fits a pattern of `%` (any characters), `_` (any one) and `\` (takes the next as it is), whatever the case.
pub fn fits(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().flat_map(char::to_lowercase).collect();
    let name: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    let (mut at, mut in_name) = (0, 0);
    // Where to go on when what follows the last `%` does not fit: behind it, and one character further in the name.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(at) {
            Some('%') => {
                at += 1;
                retry = Some((at, in_name));
                continue;
            }
            Some('_') if in_name < name.len() => Some(1),
            Some('\\') if at + 1 < pattern.len() => {
                (pattern.get(at + 1) == name.get(in_name)).then_some(2)
            }
            Some(c) => (name.get(in_name) == Some(c)).then_some(1),
            None if in_name == name.len() => return true,
            None => None,
        };
        match (step, &mut retry) {
            (Some(length), _) => {
                at += length;
                in_name += 1;
            }
            (None, Some((behind, from))) if *from < name.len() => {
                *from += 1;
                (at, in_name) = (*behind, *from);
            }
            (None, _) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

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
        ] {
            assert_eq!(fits(pattern, name), expected, "{name} LIKE {pattern}");
        }
    }

    #[test]
    fn many_percent_signs_take_no_time() {
        let pattern = "%a".repeat(200);
        assert!(!fits(&pattern, &"a".repeat(199)));
        assert!(fits(&pattern, &"a".repeat(2000)));
    }
}
