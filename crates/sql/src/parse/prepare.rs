//! Statements and cursors by name: PREPARE, EXECUTE, DEALLOCATE, DECLARE, FETCH, MOVE, CLOSE.

use super::Result;
use super::parser::Parser;
use crate::ast::{Cursor, Direction, Immediate, Kind, PrepareBody, Scroll, Transaction};
use crate::keyword::Keyword;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn prepare(&mut self) -> Result<Kind> {
        use Keyword::*;
        self.advance();
        if self.colons() && self.is(TRANSACTION) && self.peek(1).kind.is_string() {
            self.skip_rest();
            return Ok(Kind::Transaction(Transaction::TwoPhase));
        }
        let name = self.any_name("a name for the statement")?;
        let types = if self.is_symbol("(") { self.type_names()? } else { Vec::new() };
        if self.eat(AS) {
            if self.is_end() {
                return self.unexpected("a statement");
            }
            let body = PrepareBody::Span(self.since_to_end());
            self.skip_rest();
            return Ok(Kind::Prepare { name, types, body });
        }
        self.expect(FROM)?;
        let token = self.token();
        let body = if token.kind == TokenKind::Variable {
            self.advance();
            PrepareBody::Variable(self.text_of(token).to_owned())
        } else {
            PrepareBody::Text(self.string_text("a string or a variable")?)
        };
        Ok(Kind::Prepare { name, types, body })
    }

    /// `(type, …)`: the text of each.
    fn type_names(&mut self) -> Result<Vec<String>> {
        let mut types = Vec::new();
        self.expect_symbol("(")?;
        loop {
            let (start, mut end) = (self.start(), self.start());
            while !self.is_symbol(",") && !self.is_symbol(")") && !self.is_end() {
                if self.is_symbol("(") {
                    self.skip_group()?;
                } else {
                    self.advance();
                }
                end = self.end();
            }
            types.push(self.text.get(start as usize..end as usize).unwrap_or("").trim().to_owned());
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(")")?;
        Ok(types)
    }

    pub(super) fn execute(&mut self) -> Result<Kind> {
        use Keyword::*;
        self.advance();
        if self.commas() && self.is(IMMEDIATE) {
            return self.immediate();
        }
        let name = self.any_name("a statement's name")?;
        let mut arguments = Vec::new();
        if self.eat_symbol("(") {
            if !self.is_symbol(")") {
                arguments = self.exprs()?;
            }
            self.expect_symbol(")")?;
        } else if self.eat(USING) {
            arguments = self.exprs()?;
        }
        Ok(Kind::Execute { name, arguments })
    }

    /// `EXECUTE IMMEDIATE text [USING a, b]`.
    fn immediate(&mut self) -> Result<Kind> {
        self.advance();
        let text = self.expr()?;
        let arguments = if self.eat(Keyword::USING) { self.exprs()? } else { Vec::new() };
        Ok(Kind::Immediate(Box::new(Immediate { text, arguments })))
    }

    /// `DEALLOCATE [PREPARE] name | ALL`, `DROP PREPARE name`.
    pub(super) fn deallocate(&mut self) -> Result<Kind> {
        use Keyword::*;
        self.advance();
        self.eat(PREPARE);
        if self.colons() && self.eat(ALL) {
            return Ok(Kind::Deallocate(None));
        }
        Ok(Kind::Deallocate(Some(self.any_name("a statement's name")?)))
    }

    /// `DECLARE name [BINARY] [[NO] SCROLL] CURSOR [WITH HOLD] FOR query`.
    pub(super) fn declare(&mut self) -> Result<Kind> {
        use Keyword::*;
        self.advance();
        let name = self.identifier("a cursor")?;
        let (mut binary, mut scroll, mut negated) = (false, Scroll::Unsaid, false);
        while self.token().kind == TokenKind::Word && !self.is(CURSOR) {
            binary |= self.is(BINARY);
            if self.is_word("SCROLL") {
                scroll = if negated { Scroll::Refused } else { Scroll::Wanted };
            }
            negated = self.advance().keyword == NO;
        }
        self.expect(CURSOR)?;
        let hold = self.eat(WITH);
        if hold || self.eat(WITHOUT) {
            self.expect(HOLD)?;
        }
        self.expect(FOR)?;
        let body = self.since_to_end();
        let query = Box::new(self.query()?);
        Ok(Kind::Cursor(Box::new(Cursor::Declare { name, hold, scroll, binary, body, query })))
    }

    /// `FETCH [direction] [FROM | IN] name`, and MOVE.
    pub(super) fn fetch(&mut self) -> Result<Kind> {
        use Keyword::*;
        let moves = self.advance().keyword == MOVE;
        let start = self.start();
        let mut end = start;
        while self.peek(1).kind != TokenKind::End && !self.is_any(&[FROM, IN]) {
            self.advance();
            end = self.end();
        }
        self.eat_any(&[FROM, IN]);
        let name = self.any_name("a cursor")?;
        let written = self.text.get(start as usize..end as usize).unwrap_or("");
        let Some(direction) = direction(&written.to_ascii_uppercase()) else {
            return self.unexpected("a direction of FETCH");
        };
        Ok(Kind::Cursor(Box::new(Cursor::Fetch { name, direction, moves })))
    }

    pub(super) fn close(&mut self) -> Result<Kind> {
        self.advance();
        let name = if self.eat(Keyword::ALL) { None } else { Some(self.any_name("a cursor")?) };
        Ok(Kind::Cursor(Box::new(Cursor::Close(name))))
    }
}

/// What stands between FETCH and its cursor, in upper case.
fn direction(written: &str) -> Option<Direction> {
    let words: Vec<&str> = written.split_whitespace().collect();
    let (word, count) = match words.split_first() {
        None => return Some(Direction::Forward(Some(1))),
        Some((first, rest)) if first.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            (*first, rest.concat())
        }
        Some(_) => ("", words.concat()),
    };
    let number = || count.parse::<i32>().ok().map(i64::from);
    let several = match count.as_str() {
        "" => Some(Some(1)),
        "ALL" => Some(None),
        _ => number().map(Some),
    };
    let alone = count.is_empty();
    match word {
        "NEXT" if alone => Some(Direction::Forward(Some(1))),
        "ALL" if alone => Some(Direction::Forward(None)),
        "PRIOR" if alone => Some(Direction::Backward(Some(1))),
        "FIRST" if alone => Some(Direction::Absolute(1)),
        "LAST" if alone => Some(Direction::Absolute(-1)),
        "ABSOLUTE" => number().map(Direction::Absolute),
        "RELATIVE" => number().map(Direction::Relative),
        "FORWARD" => several.map(Direction::Forward),
        "BACKWARD" => several.map(Direction::Backward),
        "" => number().map(|count| Direction::Forward(Some(count))),
        _ => None,
    }
}
