//! Transaction modes out of the words of BEGIN and SET TRANSACTION.

/// Transaction modes out of their words: `ISOLATION`, `LEVEL`, `READ`, `COMMITTED`, `READ`, `ONLY` are two.
pub(super) fn modes(words: &[String]) -> Vec<String> {
    const STARTS: [&str; 5] = ["ISOLATION", "READ", "WITH", "NOT", "DEFERRABLE"];
    let mut modes: Vec<String> = Vec::new();
    for word in words {
        let begins = STARTS.contains(&word.as_str());
        match modes.last_mut() {
            Some(mode) if !begins || continues(mode, word) => {
                mode.push(' ');
                mode.push_str(word);
            }
            _ => modes.push(word.clone()),
        }
    }
    modes
}

/// Whether a word that could begin a mode goes on with this one.
fn continues(mode: &str, word: &str) -> bool {
    matches!(
        (mode, word),
        ("ISOLATION LEVEL" | "ISOLATION LEVEL REPEATABLE", "READ") | ("NOT", "DEFERRABLE")
    )
}

#[cfg(test)]
mod tests {
    use super::modes;

    fn check(words: &str, expected: &[&str]) {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert_eq!(modes(&words), expected);
    }

    #[test]
    fn words_fall_into_modes() {
        check(
            "ISOLATION LEVEL REPEATABLE READ READ ONLY",
            &["ISOLATION LEVEL REPEATABLE READ", "READ ONLY"],
        );
        check(
            "ISOLATION LEVEL READ COMMITTED READ WRITE",
            &["ISOLATION LEVEL READ COMMITTED", "READ WRITE"],
        );
        check("READ ONLY NOT DEFERRABLE", &["READ ONLY", "NOT DEFERRABLE"]);
        check("WITH CONSISTENT SNAPSHOT READ ONLY", &["WITH CONSISTENT SNAPSHOT", "READ ONLY"]);
        check(
            "ISOLATION LEVEL SERIALIZABLE DEFERRABLE",
            &["ISOLATION LEVEL SERIALIZABLE", "DEFERRABLE"],
        );
    }
}
