//! The statements of a PL/pgSQL block, as far as it is made of few forms.
//! <https://www.postgresql.org/docs/current/plpgsql-structure.html>

use pando_sql::{Span, Syntax, Token, TokenKind, tokenize};

/// How deep blocks and IFs may stand in each other.
const MAX_DEPTH: usize = 16;

/// What a block does, in the order written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    /// A statement of SQL.
    Sql(&'a str),
    /// What an IF asks.
    If(&'a str),
}

/// Reads `BEGIN … [EXCEPTION WHEN … THEN …] END` with IF, NULL, RAISE and statements of SQL inside.
pub(super) struct Reader<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    steps: Vec<Step<'a>>,
}

impl<'a> Reader<'a> {
    /// The steps of a whole block; `None` when it has a form that is not read here.
    pub(super) fn steps(text: &'a str, syntax: &Syntax) -> Option<Vec<Step<'a>>> {
        let tokens = tokenize(text, syntax).ok()?.list;
        let mut reader = Reader { text, tokens, at: 0, steps: Vec::new() };
        reader.block(0)?;
        reader.eat(";");
        (reader.at == reader.tokens.len()).then_some(reader.steps)
    }

    fn block(&mut self, depth: usize) -> Option<()> {
        self.expect("begin")?;
        self.statements(depth)?;
        if self.eat("exception") {
            self.expect("when")?;
            loop {
                self.until("then")?;
                self.statements(depth)?;
                if !self.eat("when") {
                    break;
                }
            }
        }
        self.expect("end")
    }

    /// Up to a word that ends them.
    fn statements(&mut self, depth: usize) -> Option<()> {
        if depth >= MAX_DEPTH {
            return None;
        }
        let ends = ["end", "exception", "when", "else", "elsif", "elseif"];
        while !ends.iter().any(|end| self.is(end)) {
            self.statement(depth + 1)?;
        }
        Some(())
    }

    fn statement(&mut self, depth: usize) -> Option<()> {
        if self.is("begin") {
            self.block(depth)?;
            return self.expect(";");
        }
        if self.eat("if") {
            return self.conditional(depth);
        }
        if self.eat("null") {
            return self.expect(";");
        }
        let (start, is_raise) = (self.at, self.is("raise"));
        let span = self.until(";")?;
        if is_raise {
            // What stands in brackets may be a call or a query.
            return (!(start..self.at).any(|at| self.is_at(at, "("))).then_some(());
        }
        self.steps.push(Step::Sql(span.of(self.text)));
        Some(())
    }

    /// Behind IF.
    fn conditional(&mut self, depth: usize) -> Option<()> {
        loop {
            let asked = self.until("then")?;
            self.steps.push(Step::If(asked.of(self.text)));
            self.statements(depth)?;
            if !self.eat("elsif") && !self.eat("elseif") {
                break;
            }
        }
        if self.eat("else") {
            self.statements(depth)?;
        }
        self.expect("end")?;
        self.expect("if")?;
        self.expect(";")
    }

    /// Goes behind the next such token. Result: what stands before it, never nothing.
    fn until(&mut self, end: &str) -> Option<Span> {
        let start = self.tokens.get(self.at)?.span;
        let length = (self.at..self.tokens.len()).position(|at| self.is_at(at, end))?;
        let last = self.tokens.get(self.at + length.checked_sub(1)?)?.span;
        self.at += length + 1;
        Some(start.to(last))
    }

    fn expect(&mut self, expected: &str) -> Option<()> {
        self.eat(expected).then_some(())
    }

    fn eat(&mut self, expected: &str) -> bool {
        let is = self.is(expected);
        self.at += usize::from(is);
        is
    }

    fn is(&self, expected: &str) -> bool {
        self.is_at(self.at, expected)
    }

    fn is_at(&self, at: usize, expected: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| {
            matches!(token.kind, TokenKind::Word | TokenKind::Punctuation)
                && token.span.of(self.text).eq_ignore_ascii_case(expected)
        })
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

    fn check(text: &str, expected: Option<&[Step<'_>]>) {
        assert_eq!(Reader::steps(text, &SYNTAX).as_deref(), expected, "{text}");
    }

    #[test]
    fn statements_conditions_and_handlers_are_read() {
        check("begin end", Some(&[]));
        check(
            "BEGIN a 'x;y'; null; EXCEPTION WHEN p OR q THEN NULL; WHEN r THEN b; END;",
            Some(&[Step::Sql("a 'x;y'"), Step::Sql("b")]),
        );
        check(
            "begin if c then a; elsif d then begin b; end; else raise notice '(%', e; end if; end",
            Some(&[Step::If("c"), Step::Sql("a"), Step::If("d"), Step::Sql("b")]),
        );
    }

    #[test]
    fn other_forms_are_not() {
        check("declare i int; begin end", None);
        check("begin a; end; b", None);
        check("begin a end", None);
        check("begin ; end", None);
        check("begin null; a", None);
        check("begin raise notice '%', f(1); end", None);
        check("begin if c then a; end; end", None);
        check("begin exception when then a; end", None);
        check("<<l>> begin end", None);
    }

    #[test]
    fn blocks_do_not_stand_in_each_other_without_end() {
        let nested = |depth| format!("{}{}", "begin ".repeat(depth), "end; ".repeat(depth));
        assert!(Reader::steps(&nested(MAX_DEPTH), &SYNTAX).is_some());
        check(&nested(MAX_DEPTH + 1), None);
    }
}
