//! Statements given as text that run prepared: when the text is sent after all, and how an error is told as the text would have met it.
//!
//! What fails before it is bound has done nothing and told nothing: outside a transaction the text is sent then, whose answer counts. So "cached plan must
//! not change result type", a name that a pooler between here and the server has given to another connection, or a type that an operator does not have
//! reach nobody. What fails later would have failed as text. Inside a transaction nothing can be asked again. What has no result the server analyses anew from its text
//! whenever a table has changed; a query that names its columns fails where somebody whom Pando does not know has given one of them another type since the
//! query was prepared. Its client is told to repeat the transaction (40001), and no other connection to the unit goes on with what it had prepared until then.
//! What has failed so again, or for a type that only a text fits, is sent as text from then on, so that who repeats comes to an end.

use std::collections::HashMap;
use std::iter::Peekable;
use std::str::Chars;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pando_kernel::ServerError;
use pando_sql::TokenKind;

use crate::codec::first_word;
use crate::dialect::SYNTAX;

/// What connections to one unit have met together.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// How often a definition that had changed behind Pando's back.
    count: AtomicU64,
    /// Statements whose prepared form has failed where the text may not. Looked at only where a statement is prepared.
    failed: Mutex<HashMap<Arc<str>, Failures>>,
}

/// Of one statement.
#[derive(Debug, Clone, Copy)]
struct Failures {
    /// Of the definitions that it was made by.
    era: u64,
    count: u32,
}

/// So many times a client may be told to repeat its transaction for one statement: once for a change.
const PATIENCE: u32 = 2;
/// Statements of which failures are known; more of them begin anew.
const MOST_FAILED: usize = 1_000;

/// One connection's view of them.
#[derive(Debug)]
pub(super) struct Seen {
    changes: Arc<Changes>,
    count: u64,
}

impl Seen {
    pub(super) fn new(changes: &Arc<Changes>) -> Self {
        Self { changes: Arc::clone(changes), count: changes.count.load(Ordering::Relaxed) }
    }

    /// Notes one for all connections.
    pub(super) fn one_more(&self) {
        self.changes.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes for all connections that the prepared form of a statement has failed.
    pub(super) fn failed(&self, sql: &Arc<str>, era: u64) {
        self.note(sql, era, |known| known.saturating_add(1));
    }

    /// Notes for all connections that the prepared form of a statement never fits: it is given up.
    pub(super) fn never_fits(&self, sql: &Arc<str>, era: u64) {
        self.note(sql, era, |_| PATIENCE);
    }

    fn note(&self, sql: &Arc<str>, era: u64, count: impl FnOnce(u32) -> u32) {
        let mut failed = self.changes.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.len() >= MOST_FAILED && !failed.contains_key(sql) {
            failed.clear();
        }
        let known = failed.get(sql).filter(|known| known.era == era).map_or(0, |known| known.count);
        failed.insert(Arc::clone(sql), Failures { era, count: count(known) });
    }

    /// Whether a statement is to be sent as text.
    pub(super) fn gave_up(&self, sql: &str, era: u64) -> bool {
        let failed = self.changes.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.get(sql).is_some_and(|known| known.era == era && known.count >= PATIENCE)
    }

    /// Whether there are more than at the last look.
    pub(super) fn are_more(&mut self) -> bool {
        let count = self.changes.count.load(Ordering::Relaxed);
        std::mem::replace(&mut self.count, count) != count
    }
}

/// Whether an error tells that a column has a type which a parameter does not fit: a literal in its place may.
pub(super) fn tells_types(error: &ServerError) -> bool {
    ["42804", "42883"].contains(&error.sqlstate.as_str())
}

/// What a client is told whose transaction cannot go on for such an error.
pub(super) fn to_be_repeated(error: &ServerError) -> ServerError {
    ServerError {
        number: 0,
        sqlstate: "40001".into(),
        severity: "ERROR".into(),
        message: "could not serialize access due to a change of a table's definition".into(),
        fields: vec![
            (b'D', format!("The storage unit says: {}.", error.message)),
            (b'H', "The transaction might succeed if retried.".into()),
        ],
    }
}

/// Whether the text may fare better than its prepared form, which failed so before it was bound. Not when somebody ended it, or waiting did.
pub(super) fn may_fare_better(error: &ServerError) -> bool {
    // Conflicts, resources, locks, cancels and shutdowns.
    !["40", "53", "55", "57"].iter().any(|class| error.sqlstate.starts_with(class))
}

/// Whether what ended with this tag may have made a table, perhaps a temporary one that hides another of its name. So may what [`is_select`] and returns nothing.
pub(super) fn may_name(tag: &str) -> bool {
    matches!(first_word(tag), "CREATE" | "ALTER" | "DROP" | "DISCARD" | "DO" | "CALL")
}

/// Whether a tag is that of a query, which CREATE TABLE AS and SELECT INTO say, too.
pub(super) fn is_select(tag: &str) -> bool {
    first_word(tag) == "SELECT"
}

/// Takes off what an error tells of parameters, of which the text has none (`log_parameter_max_length_on_error`): the end of its context.
pub(super) fn forget_parameters(error: &mut ServerError) {
    const LINE: &str = "unnamed portal with parameters: ";
    for (code, value) in &mut error.fields {
        let at = value.find(LINE).filter(|at| *at == 0 || value[..*at].ends_with('\n'));
        if let Some(at) = at.filter(|_| *code == b'W') {
            value.truncate(at.saturating_sub(1));
        }
    }
    error.fields.retain(|(code, value)| *code != b'W' || !value.is_empty());
}

/// Lets a text's error say what a simple query is told of a parameter, which a text has none of.
pub(super) fn name_parameter(error: &mut ServerError, text: &str) {
    let is_of_one = match error.sqlstate.as_str() {
        "08P01" => error.message.starts_with("bind message supplies"),
        "42P18" => error.message.contains("data type of parameter"),
        _ => false,
    };
    if !is_of_one {
        return;
    }
    let Ok(tokens) = pando_sql::tokenize(text, &SYNTAX) else { return };
    let first = tokens.list.iter().find(|token| token.kind == TokenKind::Parameter);
    if let Some(span) = first.map(|token| token.span) {
        let before = text.get(..span.start as usize).unwrap_or("");
        error.sqlstate = "42P02".into();
        error.message = format!("there is no parameter {}", span.of(text));
        error.fields = vec![(b'P', (before.chars().count() + 1).to_string())];
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

/// The character of the text, from 1, that stands for the character at `position` of the prepared form: they differ by parameters in the places of numbers and
/// strings.
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
        // `$1` here, there a string, or digits, perhaps with a minus in front.
        sql.next();
        here += 1;
        while sql.next_if(char::is_ascii_digit).is_some() {
            here += 1;
        }
        if here > position {
            break;
        }
        if text.peek() == Some(&'\'') {
            there += string(&mut text);
            continue;
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

/// Passes over a string; the result is how many characters it has.
fn string(text: &mut Peekable<Chars<'_>>) -> usize {
    let (mut length, mut quotes) = (0, 0);
    while let Some(c) = text.next_if(|c| *c == '\'' || quotes % 2 == 1) {
        quotes += usize::from(c == '\'');
        length += 1;
    }
    length
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
    fn positions_behind_strings_are_those_of_the_text() {
        let sql = "INSERT INTO t (a, b, c) VALUES ($1, $2, $3), missing";
        let text = "INSERT INTO t (a, b, c) VALUES ('it''s', '', 'ü$2'), missing";
        let at = |text: &str, word: &str| text[..text.find(word).unwrap()].chars().count() + 1;
        for word in ["VALUES", "), m", "missing"] {
            assert_eq!(place(sql, text, at(sql, word)), at(text, word), "{word}");
        }
        assert_eq!(place(sql, text, at(sql, "$3")), at(text, "'ü$2'"));
    }

    #[test]
    fn what_fails_again_is_given_up_until_definitions_change() {
        let changes = Arc::default();
        let (one, other) = (Seen::new(&changes), Seen::new(&changes));
        let [a, b]: [Arc<str>; 2] = ["a".into(), "b".into()];
        one.failed(&a, 1);
        assert!(!other.gave_up(&a, 1));
        other.failed(&a, 1);
        assert!(one.gave_up(&a, 1) && !one.gave_up(&a, 2) && !one.gave_up(&b, 1));
        one.never_fits(&b, 1);
        assert!(other.gave_up(&b, 1));
        one.failed(&a, 2);
        assert!(!one.gave_up(&a, 2), "counted anew");
        (0..MOST_FAILED).for_each(|n| one.failed(&n.to_string().into(), 1));
        assert!(changes.failed.lock().unwrap().len() <= MOST_FAILED);
    }

    #[test]
    fn no_context_tells_of_parameters() {
        let told = |context: &str| {
            let fields = vec![(b'W', context.to_owned()), (b'R', "int2".to_owned())];
            let mut error = ServerError { fields, ..ServerError::default() };
            forget_parameters(&mut error);
            error.fields.into_iter().find(|(code, _)| *code == b'W').map(|(_, value)| value)
        };
        assert_eq!(told("unnamed portal with parameters: $1 = '1\n2'"), None);
        let function = "PL/pgSQL function f() line 1 at RAISE";
        let both = format!("{function}\nunnamed portal with parameters: $1 = '1'");
        assert_eq!(told(&both).as_deref(), Some(function));
        assert_eq!(told(function).as_deref(), Some(function));
    }

    #[test]
    fn a_change_is_seen_once_by_every_connection() {
        let changes = Arc::default();
        let (mut one, mut other) = (Seen::new(&changes), Seen::new(&changes));
        assert!(!one.are_more());
        other.one_more();
        assert!(one.are_more() && other.are_more());
        assert!(!one.are_more() && !other.are_more() && !Seen::new(&changes).are_more());
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
