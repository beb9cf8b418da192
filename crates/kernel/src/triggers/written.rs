//! A trigger as CREATE TRIGGER says it.
//! <https://www.postgresql.org/docs/current/sql-createtrigger.html>

use pando_sql::ast::Literal;
use pando_sql::{Span, Syntax, Token, TokenKind, literal, tokenize};

use super::{Assigns, Beyond, Fires, TriggerTexts, Triggers, Work};

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
    /// Its function, in lower case; empty where its name cannot be read.
    pub function: String,
    /// What the function is given first, in lower case; `None` also where that cannot be read.
    pub argument: Option<String>,
}

impl Written {
    /// Of a trigger whose name stands here; `None` where the text is no trigger's that runs a function.
    pub fn of(text: &str, syntax: &Syntax, name: Span) -> Option<Self> {
        let tokens = tokenize(text, syntax).ok()?.list;
        let behind = tokens.iter().position(|token| token.span.start >= name.end)?;
        let words = Words { text, syntax, tokens: tokens.get(behind..)? };
        let run = words.find(&["execute"])?;
        // EXECUTE FUNCTION schema.name(…)
        let open = (run..words.tokens.len()).find(|at| words.is(*at, "("))?;
        let function = words.name(open.checked_sub(1)?);
        let argument = words.argument(open + 1);
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
        if self.function.is_empty() {
            let beyond = Some(Beyond::Unread);
            return Some(Work { beyond, assigns: Assigns::Any, ..Work::default() });
        }
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
    syntax: &'a Syntax,
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

    /// A name without its quotes, in lower case.
    fn name(&self, at: usize) -> String {
        let name = self.tokens.get(at).and_then(|token| token.name(self.text));
        name.unwrap_or_default().to_lowercase()
    }

    /// An argument: a string, or a name that stands for one.
    fn argument(&self, at: usize) -> Option<String> {
        let token = self.tokens.get(at)?;
        if !self.is(at + 1, ",") && !self.is(at + 1, ")") {
            return None;
        }
        let text = match literal(self.text, token, self.syntax) {
            Some(Literal::Text(text)) => text,
            Some(_) => return None,
            None => token.name(self.text)?.into_owned(),
        };
        Some(text.to_lowercase())
    }

    fn between(&self, from: usize, to: usize) -> String {
        let span = |at: usize| self.tokens.get(at).map_or(Span::at(0), |token| token.span);
        Span::new(span(from).start, span(to).start).of(self.text).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use pando_sql::{Fold, Placeholder};

    use super::*;

    const SYNTAX: Syntax = Syntax {
        fold: Fold::Lower,
        exact_tables: true,
        placeholder: Placeholder::Dollar,
        backtick_identifiers: false,
        double_quoted_strings: false,
        backslash_escapes: false,
        dollar_strings: true,
        hash_comments: false,
        dash_comment_needs_space: false,
        nested_comments: true,
        executable_comments: false,
        casts_with_colons: true,
        limit_with_comma: false,
        pipes_concatenate: true,
    };

    #[test]
    fn the_first_argument_is_what_the_function_is_told() {
        for (arguments, expected) in [
            ("", None),
            ("'Created_At'", Some("created_at")),
            ("created_at, 'x'", Some("created_at")),
            ("\"Created\"\"At\"", Some("created\"at")),
            ("$$created_at$$", Some("created_at")),
            ("$a$created_at$a$", Some("created_at")),
            (r"E'created\x5fat'", Some("created_at")),
            (r"U&'created\005fat'", Some("created_at")),
            ("'it''s'", Some("it's")),
            ("'created'\n'_at'", Some("created_at")),
            ("7", None),
            ("B'1'", None),
            (r#"U&"created\005fat""#, None),
        ] {
            let text = format!(
                "CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW EXECUTE FUNCTION S.\"F\"({arguments})"
            );
            let written = Written::of(&text, &SYNTAX, Span::new(15, 16)).unwrap();
            assert_eq!(written.argument.as_deref(), expected, "{arguments}");
            assert_eq!(written.function, "f");
        }
    }

    #[test]
    fn a_function_whose_name_cannot_be_read_may_do_anything() {
        let text =
            r#"CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW EXECUTE FUNCTION U&"\0066"()"#;
        let written = Written::of(text, &SYNTAX, Span::new(15, 16)).unwrap();
        let work = written.work(&Nothing, &Triggers::default()).unwrap();
        assert_eq!((work.beyond, work.assigns), (Some(Beyond::Unread), Assigns::Any));
    }

    #[derive(Debug)]
    struct Nothing;

    impl TriggerTexts for Nothing {
        fn triggers_query(&self) -> &'static str {
            ""
        }

        fn read_triggers(&self, _rows: &[Vec<crate::Value>]) -> Triggers {
            Triggers::default()
        }

        fn defined(&self, _text: &str, _known: &Triggers) -> Work {
            Work::default()
        }

        fn condition(&self, _text: &str, _known: &Triggers) -> Work {
            Work::default()
        }
    }
}
