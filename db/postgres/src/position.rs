//! Where in a client's statement an error is that a storage unit found in the rewritten one.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use pando_kernel::{Error, ErrorKind, ServerError};
use pando_sql::{Token, visit};

use crate::dialect::SYNTAX;

/// The field that holds a position: a number of characters, from 1.
/// <https://www.postgresql.org/docs/current/protocol-error-fields.html>
const POSITION: u8 = b'P';
/// Longer statements have no positions: both would be read whole for each error.
pub(crate) const MAX_BYTES: usize = 1 << 16;
/// How many words on either side tell one place from another.
const CONTEXT: usize = 12;

/// What a server's error was told of: the text that its position counts in. It goes along as the error's cause.
#[derive(Debug)]
pub(crate) struct Sent(Arc<str>);

impl Sent {
    /// The error, with the text it is about if it names a place there.
    pub(crate) fn with(error: Error, text: Option<&Arc<str>>) -> Error {
        let ErrorKind::Server(told) = error.kind() else { return error };
        match text.filter(|_| told.fields.iter().any(|(code, _)| *code == POSITION)) {
            Some(text) => error.caused_by(Self(Arc::clone(text))),
            None => error,
        }
    }

    pub(crate) fn of(error: &Error) -> Option<&str> {
        let mut cause = StdError::source(error);
        while let Some(one) = cause {
            if let Some(sent) = one.downcast_ref::<Self>() {
                return Some(&sent.0);
            }
            cause = one.source();
        }
        None
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`", self.0)
    }
}

impl StdError for Sent {}

/// The fields of a server's error for a client whose statement begins at byte `start` of `text`: a place in another text becomes that in this one, or is left out.
pub(crate) fn fields<'a>(
    error: &Error,
    told: &'a ServerError,
    place: Option<(&str, u32)>,
) -> Vec<(u8, Cow<'a, str>)> {
    let within = |value: &str| {
        let (text, start) = place?;
        let start = usize::try_from(start).ok()?;
        let rest = text.get(start..)?;
        // What stands behind it may be the same once more.
        let cut = pando_sql::split(rest, &SYNTAX).ok()?;
        let cut = cut.first()?;
        let found = of(cut.of(rest), Sent::of(error)?, value.parse().ok()?)?;
        let ahead = text.get(..start + usize::try_from(cut.start).ok()?)?;
        Some(ahead.chars().count() + found)
    };
    let field = |(code, value): &'a (u8, String)| match *code {
        POSITION => Some((POSITION, within(value)?.to_string().into())),
        code => Some((code, value.as_str().into())),
    };
    told.fields.iter().filter_map(field).collect()
}

/// The character, from 1, where the statement that begins at byte `start` of `text` names this table among those that it reads or writes.
pub(crate) fn of_table(name: &str, text: &str, start: u32) -> Option<usize> {
    let rest = text.get(usize::try_from(start).ok()?..)?;
    let cut = pando_sql::split(rest, &SYNTAX).ok()?;
    let cut = cut.first()?;
    let statement = pando_sql::parse(cut.of(rest), &SYNTAX).ok()?;
    let found = visit::tables(&statement.kind).into_iter().find(|found| {
        let last = found.name.parts.last();
        found.table.is_some() && last.is_some_and(|last| last.value.eq_ignore_ascii_case(name))
    })?;
    let own = u32::try_from(cut.of(rest).find(&*statement.text)?).ok()?;
    let byte = usize::try_from(start + cut.start + own + found.name.span.start).ok()?;
    Some(text.get(..byte)?.chars().count() + 1)
}

/// The character, from 1, of `client` that stands for the one at `position` of `sent`.
fn of(client: &str, sent: &str, position: usize) -> Option<usize> {
    if client.starts_with(sent) {
        return Some(position);
    }
    if client.len().max(sent.len()) > MAX_BYTES {
        return None;
    }
    let (client, sent) = (Words::of(client)?, Words::of(sent)?);
    let at = sent.at(position)?;
    // A name that was put in the place of another stands where its neighbours say.
    let found = alike(&client, &sent, at)
        .or_else(|| alike(&client, &sent, at + 1)?.checked_sub(1))
        .or_else(|| Some(alike(&client, &sent, at.checked_sub(1)?)? + 1))?;
    client.position(found)
}

/// A text as its tokens.
struct Words<'a> {
    text: &'a str,
    list: Vec<Token>,
}

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let list = pando_sql::tokenize(text, &SYNTAX).ok()?.list;
        Some(Self { text, list })
    }

    fn get(&self, index: usize) -> Option<&'a str> {
        self.list.get(index).map(|token| token.span.of(self.text))
    }

    /// The word that a character, counted from 1, belongs to; the number of words behind the last.
    fn at(&self, position: usize) -> Option<usize> {
        let mut bytes = self.text.char_indices().map(|(byte, _)| byte).chain([self.text.len()]);
        let byte = u32::try_from(bytes.nth(position.checked_sub(1)?)?).ok()?;
        Some(self.list.partition_point(|token| token.span.end <= byte))
    }

    fn position(&self, index: usize) -> Option<usize> {
        let start = match self.list.get(index) {
            Some(token) => usize::try_from(token.span.start).ok()?,
            None => self.text.trim_end().len(),
        };
        Some(self.text.get(..start)?.chars().count() + 1)
    }

    /// How much the surroundings of two words have in common: near ones count most, and one that differs is passed over, as names do.
    fn likeness(&self, index: usize, other: &Words<'_>, at: usize) -> usize {
        let same = |a: Option<usize>, b: Option<usize>| match (a, b) {
            (Some(a), Some(b)) => self.get(a) == other.get(b),
            _ => false,
        };
        (1..=CONTEXT)
            .map(|far| {
                let before = same(index.checked_sub(far), at.checked_sub(far));
                let behind = same(Some(index + far), Some(at + far));
                (usize::from(before) + usize::from(behind)) << (CONTEXT - far)
            })
            .sum()
    }
}

/// The word of `client` that is the one of `sent` at `at`; among several with the same surroundings the one that comes as late among them.
fn alike(client: &Words<'_>, sent: &Words<'_>, at: usize) -> Option<usize> {
    let word = sent.get(at)?;
    let candidates = |words: &Words<'_>| -> Vec<usize> {
        (0..words.list.len()).filter(|&index| words.get(index) == Some(word)).collect()
    };
    let scored: Vec<(usize, usize)> = candidates(client)
        .into_iter()
        .map(|index| (client.likeness(index, sent, at), index))
        .collect();
    let best = scored.iter().map(|(score, _)| *score).max()?;
    let best: Vec<usize> =
        scored.into_iter().filter(|(score, _)| *score == best).map(|(_, index)| index).collect();
    let same = sent.likeness(at, sent, at);
    let earlier = candidates(sent)
        .into_iter()
        .take_while(|index| *index < at)
        .filter(|index| sent.likeness(*index, sent, at) == same)
        .count();
    best.get(earlier % best.len()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `^` stands before the place in both texts.
    fn check(client: &str, sent: &str) {
        let cut = |text: &str| {
            let at = text.find('^').unwrap();
            (text.replacen('^', "", 1), text[..at].chars().count() + 1)
        };
        let ((client, expected), (sent, position)) = (cut(client), cut(sent));
        assert_eq!(of(&client, &sent, position), Some(expected), "{client}");
    }

    #[test]
    fn a_place_behind_a_longer_name_is_found() {
        check("SELECT id FROM t WHERE ^missing = 1", "SELECT id FROM t_0 WHERE ^missing = 1");
        check("SELECT 'ü' FROM t WHERE v ^= 1", "SELECT 'ü' FROM t_0 WHERE v ^= 1");
        check("SELECT ^t.missing FROM t", "SELECT ^t_0.missing FROM t_0");
        check("SELECT id FROM ^t", "SELECT id FROM ^t_0");
        check("SELECT id, ^missing FROM t", "SELECT id, ^missing FROM t_0");
        check("SELECT id FROM t WHERE^ ", "SELECT id FROM t_0 WHERE^");
    }

    #[test]
    fn a_place_in_a_copy_is_that_in_the_original() {
        let copy = |n: usize, at: &str| {
            format!("(SELECT id, {at}missing, missing FROM t_{n} ORDER BY missing LIMIT 3)")
        };
        let sent = format!("{} UNION ALL {}", copy(0, "^"), copy(1, ""));
        let client = "SELECT id, ^missing, missing FROM t ORDER BY missing LIMIT 3";
        check(client, &sent);
        check(client, &format!("{} UNION ALL {}", copy(0, ""), copy(1, "^")));
    }

    #[test]
    fn a_place_behind_what_is_not_sent_or_was_added_is_found() {
        check(
            "INSERT INTO t VALUES (1, 'a'), (2, 'x'), (3, 'b'), (4, ^'x')",
            "INSERT INTO t_0 VALUES (2, 'x'), (4, ^'x')",
        );
        check(
            "SELECT id FROM t ORDER BY ^nothere LIMIT 5",
            "SELECT id, nothere AS _order_0 FROM t_0 ORDER BY ^nothere LIMIT 5",
        );
        check("SELECT avg(^v), 1 FROM t", "SELECT count(v), sum(^v), 1 FROM t_0");
    }

    #[test]
    fn alike_places_keep_their_order() {
        let row = "(0, 'x', 0, 'x', 0, 'x', 0)";
        let client = [row; 9].join(", ");
        let sent = client.replace('(', "( ");
        let wanted = |text: &str, n: usize| text.match_indices("'x'").nth(n).unwrap().0 + 1;
        for n in 0..27 {
            assert_eq!(of(&client, &sent, wanted(&sent, n)), Some(wanted(&client, n)), "{n}");
        }
    }

    #[test]
    fn a_table_stands_where_it_is_read_or_written() {
        let check = |start: u32, text: &str| {
            let at = text.find('^').unwrap();
            let (plain, place) = (text.replacen('^', "", 1), text[..at].chars().count() + 1);
            assert_eq!(of_table("nosuch", &plain, start), Some(place), "{text}");
        };
        check(0, "SELECT nosuch FROM t JOIN ^public.nosuch USING (id)");
        check(0, " /* ü nosuch */ INSERT INTO ^nosuch SELECT 1");
        check(9, "SELECT 1; EXPLAIN DELETE FROM ^nosuch AS x; SELECT 2");
        assert_eq!(of_table("nosuch", "DROP TABLE nosuch", 0), None);
        assert_eq!(of_table("nosuch", "SELECT 1; SELECT * FROM nosuch", 0), None);
    }

    #[test]
    fn what_was_never_written_has_no_place() {
        assert_eq!(of("EXECUTE p", "SELECT missing FROM t_0", 8), None);
        assert_eq!(of("SELECT 1", "SELECT 2", 4_000), None);
        assert_eq!(of("SELECT 'open", "SELECT 2", 1), None);
        assert_eq!(of("", "SELECT 2", 0), None);
    }
}
