//! A trigger as CREATE TRIGGER says it.
//! <https://www.postgresql.org/docs/current/sql-createtrigger.html>

use pando_sql::{Span, Syntax, Token, TokenKind, tokenize};

use super::{Assigns, Fires, TriggerTexts, Triggers, Work};

/// What a text makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// When it runs.
    pub fires: Fires,
    /// It has all rows that a statement has changed as a table.
    pub sees_all_rows: bool,
    /// It names another table, as the one that a constraint refers to.
    pub refers: bool,
    /// The condition in its parentheses.
    pub condition: Option<String>,
    /// Its function, in lower case.
    pub function: String,
    /// What the function is given first, in lower case.
    pub argument: Option<String>,
}

impl Written {
    /// Of a trigger whose name stands here; `None` where the text is no trigger's that runs a function.
    pub fn of(text: &str, syntax: &Syntax, name: Span) -> Option<Self> {
        let tokens = tokenize(text, syntax).ok()?.list;
        let behind = tokens.iter().position(|token| token.span.start >= name.end)?;
        let words = Words { text, tokens: tokens.get(behind..)? };
        let run = words.find(&["execute"])?;
        // EXECUTE FUNCTION schema.name(…)
        let open = (run..words.tokens.len()).find(|at| words.is(*at, "("))?;
        let function = words.name(open.checked_sub(1)?);
        let argument = Some(open + 1).filter(|at| !words.is(*at, ")")).map(|at| words.name(at));
        let is_row = words.find(&["for", "each", "row"]).or_else(|| words.find(&["for", "row"]));
        let fires = match (is_row, words.is(0, "before")) {
            (None, _) => Fires::Statement,
            (Some(_), true) => Fires::BeforeRow,
            (Some(_), false) => Fires::AfterRow,
        };
        Some(Self {
            fires,
            sees_all_rows: words.find(&["referencing"]).is_some(),
            refers: words.find(&["from"]).is_some(),
            condition: words.find(&["when"]).map(|when| words.between(when + 1, run)),
            function,
            argument,
        })
    }

    /// What its function does, and what its condition calls; `None` where there is no such function.
    pub fn work(&self, texts: &dyn TriggerTexts, known: &Triggers) -> Option<Work> {
        let mut work = known.routines.get(&self.function)?.clone();
        if let Some(condition) = &self.condition {
            let asked = texts.condition(condition, known);
            work.add(&Work { assigns: Assigns::default(), ..asked });
        }
        Some(work)
    }
}

/// What stands behind the trigger's name.
struct Words<'a> {
    text: &'a str,
    tokens: &'a [Token],
}

impl Words<'_> {
    fn is(&self, at: usize, word: &str) -> bool {
        let own = self.tokens.get(at).filter(|token| token.kind != TokenKind::QuotedIdentifier);
        own.is_some_and(|token| token.span.of(self.text).eq_ignore_ascii_case(word))
    }

    /// Where these words follow each other outside of parentheses.
    fn find(&self, words: &[&str]) -> Option<usize> {
        let mut depth = 0_usize;
        (0..self.tokens.len()).find(|at| {
            let is_next = |(next, word): (usize, &&str)| self.is(at + next, word);
            if depth == 0 && words.iter().enumerate().all(is_next) {
                return true;
            }
            if self.is(*at, "(") {
                depth += 1;
            } else if self.is(*at, ")") {
                depth = depth.saturating_sub(1);
            }
            false
        })
    }

    /// A name or a string, without its quotes, in lower case.
    fn name(&self, at: usize) -> String {
        let text = self.tokens.get(at).map_or("", |token| token.span.of(self.text));
        text.trim_matches(['"', '\'']).to_lowercase()
    }

    fn between(&self, from: usize, to: usize) -> String {
        let span = |at: usize| self.tokens.get(at).map_or(Span::at(0), |token| token.span);
        Span::new(span(from).start, span(to).start).of(self.text).trim().to_owned()
    }
}
