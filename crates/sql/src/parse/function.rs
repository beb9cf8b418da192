//! Calls: arguments with every separator the languages have, and what may follow them.

use super::Result;
use super::operator::level;
use super::parser::Parser;
use crate::ast::{Expr, Function, Node, ObjectName};
use crate::keyword::Keyword;
use crate::token::TokenKind;

/// A call without arguments.
pub(super) fn empty(name: ObjectName) -> Function {
    Function {
        name,
        arguments: Vec::new(),
        star: false,
        distinct: None,
        order_by: Vec::new(),
        separator: None,
        filter: None,
        within_group: None,
        over: None,
        inner: Vec::new(),
    }
}

impl Parser<'_> {
    /// The arguments and what follows; the opening parenthesis is next.
    pub(super) fn call(&mut self, name: ObjectName) -> Result<Expr> {
        // A call takes about as much stack as two nested expressions.
        self.deeper(1, |parser| parser.call_here(name))
    }

    fn call_here(&mut self, name: ObjectName) -> Result<Expr> {
        let start = name.span.start;
        let mut function = empty(name);
        self.expect_symbol("(")?;
        if self.is_symbol("*") && self.is_symbol_at(1, ")") {
            self.advance();
            function.star = true;
        } else if !self.is_symbol(")") {
            self.arguments(&mut function)?;
        }
        self.expect_symbol(")")?;
        self.behind_call(&mut function)?;
        Ok(self.node(start, Node::Function(Box::new(function))))
    }

    fn arguments(&mut self, function: &mut Function) -> Result<()> {
        if self.is_any(&[Keyword::DISTINCT, Keyword::DISTINCTROW]) {
            function.distinct = Some(self.advance().span);
        } else if self.is(Keyword::ALL) && !self.is_symbol_at(1, "(") {
            self.advance();
        }
        if self.starts_query() {
            // `array_agg(SELECT …)` is no SQL, but `f(VALUES …)` and MariaDB-like shorthands must not hide a query.
            let start = self.start();
            let query = Box::new(self.query()?);
            function.arguments.push(self.node(start, Node::Subquery(query)));
            return Ok(());
        }
        self.leading_words(function)?;
        while !self.is_symbol(")") {
            self.argument(function)?;
            if !self.eat_symbol(",") && !self.connector(function)? {
                break;
            }
        }
        Ok(())
    }

    /// `EXTRACT(YEAR FROM …`, `TRIM(BOTH FROM …`, `TIMESTAMPADD(DAY, …`, `XMLELEMENT(NAME x, …`: words that are no values.
    fn leading_words(&mut self, function: &Function) -> Result<()> {
        use Keyword::*;
        let called = function.name.parts.last().map(|part| Keyword::of(&part.value));
        match called.unwrap_or(NO_KEYWORD) {
            EXTRACT if self.keyword_at(1) == FROM => self.skip(2),
            TRIM => {
                self.eat_any(&[LEADING, TRAILING, BOTH]);
                self.eat(FROM);
            }
            TIMESTAMPADD | TIMESTAMPDIFF if self.is_symbol_at(1, ",") => self.skip(2),
            XMLELEMENT | XMLPI if self.is_word("name") => {
                self.skip(2);
                self.eat_symbol(",");
            }
            XMLPARSE | XMLSERIALIZE => {
                let _ = self.eat_word("document") || self.eat_word("content");
            }
            _ => {}
        }
        Ok(())
    }

    fn argument(&mut self, function: &mut Function) -> Result<()> {
        self.eat(Keyword::VARIADIC);
        let is_named = self.is_symbol_at(1, "=>") || (self.colons() && self.is_symbol_at(1, ":="));
        if is_named && self.token().kind != TokenKind::Punctuation {
            self.skip(2);
        }
        // In `POSITION(a IN b)` IN is a separator, not a predicate.
        let is_position = function.arguments.is_empty()
            && function
                .name
                .parts
                .last()
                .is_some_and(|part| part.value.eq_ignore_ascii_case("position"));
        let floor = if is_position { level::OTHER } else { 0 };
        let argument = self.expr_at(floor)?;
        function.arguments.push(argument);
        Ok(())
    }

    /// What may stand between or behind arguments instead of a comma. `true` when another argument follows.
    fn connector(&mut self, function: &mut Function) -> Result<bool> {
        use Keyword::*;
        match self.keyword() {
            FROM | FOR | PLACING | IN | SIMILAR | ESCAPE | VALUE => {
                self.advance();
                Ok(true)
            }
            ORDER => {
                self.advance();
                self.expect(BY)?;
                function.order_by = self.order_items()?;
                self.connector(function)
            }
            SEPARATOR => {
                self.advance();
                function.separator = Some(self.string_text("a separator")?);
                self.connector(function)
            }
            LIMIT => {
                self.advance();
                Ok(true)
            }
            _ if self.is_symbol(":") => {
                self.advance();
                Ok(true)
            }
            _ if self.is_symbol(")") || self.is_end() => Ok(false),
            // `USING utf8mb4`, `AS CHAR(3)`, `RETURNING text`, `NULL ON NULL`, `COLUMNS (…)`: types and options, no values.
            _ => {
                self.skip_item()?;
                Ok(self.eat_symbol(","))
            }
        }
    }

    /// WITHIN GROUP, FILTER, RESPECT NULLS, OVER.
    fn behind_call(&mut self, function: &mut Function) -> Result<()> {
        use Keyword::*;
        if self.are(&[WITHIN, GROUP]) {
            let start = self.start();
            self.skip(2);
            self.expect_symbol("(")?;
            if self.eat_all(&[ORDER, BY]) {
                function.inner.extend(self.order_items()?.into_iter().map(|item| item.expr));
            }
            self.expect_symbol(")")?;
            function.within_group = Some(self.since(start));
        }
        if self.is(FILTER) && self.is_symbol_at(1, "(") {
            self.skip(2);
            self.expect(WHERE)?;
            function.filter = Some(Box::new(self.expr()?));
            self.expect_symbol(")")?;
        }
        let counts_from = self.is(FROM) && matches!(self.keyword_at(1), FIRST | LAST);
        if counts_from && matches!(self.keyword_at(2), OVER | RESPECT | IGNORE) {
            self.skip(2);
        }
        if self.is_any(&[RESPECT, IGNORE]) && self.keyword_at(1) == NULLS {
            self.skip(2);
        }
        if self.is(OVER) && (self.is_symbol_at(1, "(") || self.is_identifier_at(1)) {
            let start = self.start();
            self.advance();
            if self.is_symbol("(") {
                self.window(&mut function.inner)?;
            } else {
                self.advance();
            }
            function.over = Some(self.since(start));
        }
        Ok(())
    }

    /// `([name] [PARTITION BY …] [ORDER BY …] [frame])`.
    pub(super) fn window(&mut self, inner: &mut Vec<Expr>) -> Result<()> {
        use Keyword::*;
        self.expect_symbol("(")?;
        if self.is_identifier() && !self.is_any(&[PARTITION, ROWS, RANGE, GROUPS]) {
            self.advance();
        }
        if self.eat_all(&[PARTITION, BY]) {
            inner.extend(self.exprs()?);
        }
        if self.eat_all(&[ORDER, BY]) {
            inner.extend(self.order_items()?.into_iter().map(|item| item.expr));
        }
        if self.is_any(&[ROWS, RANGE, GROUPS]) {
            self.skip_item()?;
        }
        self.expect_symbol(")")
    }
}
