//! Statements given as text that run prepared: when the text is sent after all, and how an error is told as the text would have met it.
//!
//! What fails before it is bound has done nothing and told nothing: outside a transaction the text is sent then, whose answer counts. So "cached plan must
//! not change result type", a name that a pooler between here and the server has given to another connection, or a type that an operator does not have
//! reach nobody. What fails later would have failed as text. Inside a transaction nothing can be asked again; only statements without a result
//! come here so, which the server analyses anew from their text whenever a table has changed.

use pando_kernel::ServerError;

use crate::codec::first_word;

/// Whether the text may fare better than its prepared form, which failed so before it was bound. Not when somebody ended it, or waiting did.
pub(super) fn may_fare_better(error: &ServerError) -> bool {
    // Conflicts, resources, locks, cancels and shutdowns.
    !["40", "53", "55", "57"].iter().any(|class| error.sqlstate.starts_with(class))
}

/// Whether what ended with this tag may have made a table, perhaps a temporary one that hides another of its name. CREATE TABLE AS and SELECT INTO say
/// `SELECT`, and return nothing.
pub(super) fn may_name(tag: &str, returns: bool) -> bool {
    match first_word(tag) {
        "SELECT" => !returns,
        "CREATE" | "ALTER" | "DROP" | "DISCARD" | "DO" | "CALL" => true,
        _ => false,
    }
}

/// Moves an error's position from the prepared form to the text.
pub(super) fn relocate(error: &mut ServerError, sql: &str, text: &str) {
    for (code, value) in &mut error.fields {
        if *code == b'P'
            && let Ok(position) = value.parse::<usize>()
        {
            *value = place(sql, text, position).to_string();
        }
    }
}

/// The character of the text, from 1, that stands for the character at `position` of the prepared form: they differ by parameters in the places of numbers.
fn place(sql: &str, text: &str, position: usize) -> usize {
    let (mut sql, mut text) = (sql.chars().peekable(), text.chars().peekable());
    let (mut here, mut there) = (1, 1);
    while here < position && sql.peek().is_some() {
        if sql.peek() == text.peek() {
            sql.next();
            text.next();
            (here, there) = (here + 1, there + 1);
            continue;
        }
        // `$1` here, digits there, perhaps with a minus in front.
        sql.next();
        here += 1;
        while sql.next_if(char::is_ascii_digit).is_some() {
            here += 1;
        }
        if here > position {
            break;
        }
        while text.next_if(|c| *c == '-' || c.is_whitespace()).is_some() {
            there += 1;
        }
        while text.next_if(char::is_ascii_digit).is_some() {
            there += 1;
        }
    }
    there
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_of_the_text() {
        let sql = "UPDATE \"ü$1\" SET n = n + $1 WHERE nö = $2 AND missing = $10 AND z";
        let text = "UPDATE \"ü$1\" SET n = n + 12345 WHERE nö = - 7 AND missing = 1 AND z";
        let at = |text: &str, word: &str| {
            let before = text.find(word).unwrap();
            text[..before].chars().count() + 1
        };
        for word in ["UPDATE", "ü", "SET", "+", "WHERE", "nö", "AND", "missing", "z"] {
            assert_eq!(place(sql, text, at(sql, word)), at(text, word), "{word}");
        }
        assert_eq!(place(sql, text, at(sql, "$1 ")), at(text, "12345"));
        assert_eq!(place(sql, text, at(sql, "$2")), at(text, "- 7"));
        assert_eq!(place(sql, text, 4000), text.chars().count() + 1);
    }

    #[test]
    fn what_was_cancelled_is_not_asked_again() {
        let error = |state: &str| ServerError { sqlstate: state.into(), ..ServerError::default() };
        for state in ["0A000", "26000", "42P05", "42883", "XX000", "22003"] {
            assert!(may_fare_better(&error(state)), "{state}");
        }
        for state in ["57014", "57P01", "55P03", "40P01", "53200"] {
            assert!(!may_fare_better(&error(state)), "{state}");
        }
    }
}
