//! The prepared statements of one connection: bounded, the least recently used goes first.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use pando_kernel::Column;
use pando_sql::{Token, TokenKind};

use crate::codec::{Numbered, numbered};
use crate::dialect::SYNTAX;

/// What a statement returns, once the server has told.
pub(super) type Returns = Option<Arc<[Column]>>;

/// The cache. A statement is named by its number and never takes a number again.
pub(super) struct Statements {
    by_text: HashMap<Arc<str>, Vec<Entry>, RandomState>,
    count: usize,
    bound: usize,
    next: u64,
    clock: u64,
    /// Statements the server still holds and we no longer use.
    closing: Vec<u64>,
}

struct Entry {
    id: u64,
    types: Vec<u32>,
    origin: Origin,
    /// The server has said that it is prepared.
    parsed: bool,
    returns: Option<Returns>,
    used: u64,
}

/// Words that stand for a moment in a constant of a date's or time's type.
const MOMENTS: &[&str] = &["now", "today", "tomorrow", "yesterday"];
/// Bytes of the longest text that is kept: longer ones carry their rows with them and do not come again.
const MAX_TEXT: usize = 64 << 10;

/// How a statement came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Prepared, in this era. The least recently used one gives way to it.
    Prepared(u64),
    /// As text, in this era. Another gives way only if it has not been used for so long that it hardly comes again: statements that may as well go as text
    /// do not drive each other out.
    Text(u64),
}

impl Origin {
    /// Whether both came so, in whatever era.
    fn is_like(self, other: Origin) -> bool {
        match self {
            Origin::Prepared(_) => matches!(other, Origin::Prepared(_)),
            Origin::Text(_) => matches!(other, Origin::Text(_)),
        }
    }
}

/// A statement is forgotten when so many times the cache's bound of others have been asked for since.
const FORGOTTEN: u64 = 4;

/// How a statement is to be run.
#[derive(Debug)]
pub(super) enum Found {
    /// Prepared; what it returns may be known.
    Ready(u64, Option<Returns>),
    /// Not prepared yet: prepare it under this number.
    New(u64),
    /// Not to be kept (the cache is off, or an earlier preparation has not been answered): use the
    /// unnamed statement.
    Unnamed,
}

impl Entry {
    fn is(&self, types: &[u32], origin: Origin) -> bool {
        self.types == types && self.origin == origin
    }

    /// The same, of another era.
    fn is_outdated(&self, types: &[u32], origin: Origin) -> bool {
        self.types == types && self.parsed && self.origin != origin && self.origin.is_like(origin)
    }
}

impl Statements {
    pub(super) fn new(bound: usize) -> Statements {
        Statements {
            by_text: HashMap::default(),
            count: 0,
            bound,
            next: 1,
            clock: 0,
            closing: Vec::new(),
        }
    }

    /// Looks a statement up, or makes room for it.
    pub(super) fn find(&mut self, text: &Arc<str>, types: &[u32], origin: Origin) -> Found {
        if text.len() > MAX_TEXT {
            return Found::Unnamed;
        }
        self.clock += 1;
        let clock = self.clock;
        if let Some(list) = self.by_text.get_mut(text) {
            if let Some(entry) = list.iter_mut().find(|entry| entry.is(types, origin)) {
                entry.used = clock;
                return if entry.parsed {
                    Found::Ready(entry.id, entry.returns.clone())
                } else {
                    Found::Unnamed
                };
            }
            let outdated = list.iter().find(|entry| entry.is_outdated(types, origin));
            if let Some(id) = outdated.map(|entry| entry.id) {
                self.discard(text, id);
            }
        }
        if freezes(text) || self.count >= self.bound && !self.evict(origin) {
            return Found::Unnamed;
        }
        let id = self.next;
        self.next += 1;
        self.count += 1;
        let entry =
            Entry { id, types: types.to_vec(), origin, parsed: false, returns: None, used: clock };
        self.by_text.entry(Arc::clone(text)).or_default().push(entry);
        Found::New(id)
    }

    /// The server has prepared it.
    pub(super) fn parsed(&mut self, text: &str, id: u64) {
        if let Some(entry) = self.entry(text, id) {
            entry.parsed = true;
        }
    }

    /// The server has told what it returns.
    pub(super) fn described(&mut self, text: &str, id: u64, returns: Returns) {
        if let Some(entry) = self.entry(text, id) {
            entry.returns = Some(returns);
        }
    }

    /// The statement failed: one that was never prepared is forgotten.
    pub(super) fn failed(&mut self, text: &str, id: u64) {
        if self.entry(text, id).is_some_and(|entry| !entry.parsed) {
            self.remove(text, id);
        }
    }

    /// The statement is of no more use, and the server still holds it.
    pub(super) fn discard(&mut self, text: &str, id: u64) {
        if self.remove(text, id) {
            self.closing.push(id);
        }
    }

    /// A name may mean another table by now, of which the server does not think by itself: what came as text is prepared anew.
    /// <https://www.postgresql.org/docs/current/sql-prepare.html#SQL-PREPARE-NOTES>
    pub(super) fn names_changed(&mut self) {
        let lifted = |entry: &Entry| matches!(entry.origin, Origin::Text(_)) && entry.parsed;
        let gone: Vec<(Arc<str>, u64)> = self
            .by_text
            .iter()
            .flat_map(|(text, list)| {
                list.iter().filter(|entry| lifted(entry)).map(|entry| (Arc::clone(text), entry.id))
            })
            .collect();
        gone.iter().for_each(|(text, id)| self.discard(text, *id));
    }

    /// The server has forgotten all statements.
    pub(super) fn clear(&mut self) {
        self.by_text.clear();
        self.closing.clear();
        self.count = 0;
    }

    /// Statements to close before the next one is prepared.
    pub(super) fn take_closing(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.closing)
    }

    fn entry(&mut self, text: &str, id: u64) -> Option<&mut Entry> {
        self.by_text.get_mut(text)?.iter_mut().find(|entry| entry.id == id)
    }

    fn remove(&mut self, text: &str, id: u64) -> bool {
        let Some(list) = self.by_text.get_mut(text) else { return false };
        let before = list.len();
        list.retain(|entry| entry.id != id);
        let removed = before - list.len();
        if list.is_empty() {
            self.by_text.remove(text);
        }
        self.count -= removed;
        removed > 0
    }

    /// Makes room by closing the least recently used statement; false when there is none to close.
    fn evict(&mut self, origin: Origin) -> bool {
        let entries = self.by_text.iter().flat_map(|(text, list)| {
            list.iter().filter(|entry| entry.parsed).map(move |entry| (entry.used, text, entry.id))
        });
        let Some((used, text, id)) = entries.min_by_key(|(used, _, _)| *used) else { return false };
        let patience = FORGOTTEN.saturating_mul(self.bound as u64);
        if matches!(origin, Origin::Text(_)) && self.clock - used < patience {
            return false;
        }
        let text = Arc::clone(text);
        self.discard(&text, id);
        true
    }
}

/// The name of a statement at the server.
pub(super) fn name(id: u64) -> Numbered {
    numbered("pando_", id)
}

/// Whether a statement that is kept may mean something else to who comes next: PostgreSQL reads dates and times in string constants when it prepares, in
/// the time zone and the styles of that moment, and `now` once and for all. Of what type a constant is cannot be told here: those with a digit may be one.
fn freezes(text: &str) -> bool {
    if !text.contains(['\'', '$']) {
        return false;
    }
    let Ok(tokens) = pando_sql::tokenize(text, &SYNTAX) else { return true };
    let is_one = |token: &&Token| {
        matches!(
            token.kind,
            TokenKind::String
                | TokenKind::EscapeString
                | TokenKind::UnicodeString
                | TokenKind::NationalString
                | TokenKind::DollarString
        )
    };
    tokens.list.iter().filter(is_one).any(|token| {
        let constant = token.span.of(text);
        let mut words = constant.split(|c: char| !c.is_alphanumeric());
        constant.bytes().any(|byte| byte.is_ascii_digit())
            || words.any(|word| MOMENTS.contains(&word.to_ascii_lowercase().as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(cache: &mut Statements, text: &str) -> u64 {
        let text: Arc<str> = text.into();
        match cache.find(&text, &[], Origin::Prepared(1)) {
            Found::New(id) => {
                cache.parsed(&text, id);
                id
            }
            Found::Ready(id, _) => id,
            Found::Unnamed => panic!("no room"),
        }
    }

    #[test]
    fn a_statement_is_prepared_once() {
        let mut cache = Statements::new(2);
        let first = ready(&mut cache, "a");
        assert_eq!(ready(&mut cache, "a"), first);
        assert!(cache.take_closing().is_empty());
    }

    #[test]
    fn what_hangs_on_the_moment_it_is_read_is_not_kept() {
        for (text, is_kept) in [
            ("SELECT $1", true),
            ("SELECT 1 FROM t WHERE a = 'open' AND b = '' AND \"c1\" = $1 -- '1'", true),
            ("SELECT at >= '2024-01-01 00:00'", false),
            ("INSERT INTO log VALUES ($1, 'now')", false),
            ("SELECT E' Today '", false),
            ("SELECT $a$tomorrow$a$", false),
            ("SELECT e'\\x6eow'", false),
            ("SELECT 'unterminated", false),
        ] {
            let found = Statements::new(2).find(&text.into(), &[], Origin::Prepared(1));
            assert_eq!(matches!(found, Found::New(_)), is_kept, "{text}");
        }
    }

    #[test]
    fn types_are_part_of_the_key() {
        let mut cache = Statements::new(2);
        let text: Arc<str> = "a".into();
        assert!(matches!(cache.find(&text, &[23], Origin::Prepared(1)), Found::New(1)));
        assert!(matches!(cache.find(&text, &[25], Origin::Prepared(1)), Found::New(2)));
    }

    #[test]
    fn the_least_recently_used_is_closed_first() {
        let mut cache = Statements::new(2);
        let (a, b) = (ready(&mut cache, "a"), ready(&mut cache, "b"));
        ready(&mut cache, "a");
        ready(&mut cache, "c");
        assert_eq!(cache.take_closing(), [b]);
        assert_eq!(ready(&mut cache, "a"), a);
        assert_eq!(cache.count, 2);
    }

    #[test]
    fn what_waits_for_its_answer_is_neither_used_nor_closed() {
        let mut cache = Statements::new(1);
        let text: Arc<str> = "a".into();
        assert!(matches!(cache.find(&text, &[], Origin::Prepared(1)), Found::New(1)));
        assert!(matches!(cache.find(&text, &[], Origin::Prepared(1)), Found::Unnamed));
        assert!(matches!(cache.find(&"b".into(), &[], Origin::Prepared(1)), Found::Unnamed));
        cache.failed("a", 1);
        assert!(matches!(cache.find(&text, &[], Origin::Prepared(1)), Found::New(2)));
    }

    #[test]
    fn a_cache_without_room_keeps_nothing() {
        let mut cache = Statements::new(0);
        assert!(matches!(cache.find(&"a".into(), &[], Origin::Prepared(1)), Found::Unnamed));
        assert!(cache.by_text.is_empty());
    }

    #[test]
    fn what_could_go_as_text_drives_out_only_what_is_forgotten() {
        let mut cache = Statements::new(2);
        let (a, b) = (ready(&mut cache, "a"), ready(&mut cache, "b"));
        let text: Arc<str> = "c".into();
        for _ in 0..3 {
            assert!(matches!(cache.find(&text, &[], Origin::Text(1)), Found::Unnamed));
            ready(&mut cache, "b");
        }
        assert!(matches!(cache.find(&text, &[], Origin::Text(1)), Found::New(3)));
        assert_eq!(cache.take_closing(), [a]);
        assert_eq!(ready(&mut cache, "b"), b);
    }

    #[test]
    fn what_came_as_text_is_prepared_anew_when_names_may_have_changed() {
        let mut cache = Statements::new(9);
        let text: Arc<str> = "a".into();
        let prepared = ready(&mut cache, "a");
        assert!(matches!(cache.find(&text, &[], Origin::Text(1)), Found::New(2)));
        cache.parsed(&text, 2);
        assert!(matches!(cache.find(&text, &[], Origin::Text(1)), Found::Ready(2, _)));
        assert!(matches!(cache.find(&text, &[], Origin::Text(2)), Found::New(3)), "another era");
        assert_eq!(cache.take_closing(), [2]);
        cache.parsed(&text, 3);
        cache.names_changed();
        assert_eq!(cache.take_closing(), [3]);
        assert_eq!(ready(&mut cache, "a"), prepared);
        assert!(matches!(cache.find(&text, &[], Origin::Prepared(2)), Found::New(4)));
        assert_eq!(cache.take_closing(), [prepared]);
    }
}
