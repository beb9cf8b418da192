//! Operands with a grammar of their own: CASE, CAST, INTERVAL, ARRAY, typed literals and the like.

use super::Result;
use super::operator::level;
use super::parser::Parser;
use crate::ast::{Expr, Function, Ident, Literal, Node, ObjectName};
use crate::keyword::Keyword;
use crate::span::Span;
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    pub(super) fn exists(&mut self) -> Result<Expr> {
        let start = self.start();
        self.advance();
        self.expect_symbol("(")?;
        let query = if self.starts_query() {
            Box::new(self.query()?)
        } else {
            let operand = self.expr()?;
            self.query_after_operand(operand)?
        };
        self.expect_symbol(")")?;
        Ok(self.node(start, Node::Exists(query)))
    }

    /// `ANY (…)`, `SOME (…)`, `ALL (…)` behind a comparison.
    pub(super) fn quantified(&mut self) -> Result<Expr> {
        let start = self.start();
        self.advance();
        let inner = self.prefix()?;
        Ok(self.node(start, Node::Other(vec![inner])))
    }

    pub(super) fn case(&mut self) -> Result<Expr> {
        let start = self.start();
        self.expect(Keyword::CASE)?;
        let operand = if self.is(Keyword::WHEN) { None } else { Some(Box::new(self.expr()?)) };
        let mut branches = Vec::new();
        while self.eat(Keyword::WHEN) {
            let when = self.expr()?;
            self.expect(Keyword::THEN)?;
            branches.push((when, self.expr()?));
        }
        if branches.is_empty() {
            return self.unexpected("`WHEN`");
        }
        let otherwise = if self.eat(Keyword::ELSE) { Some(Box::new(self.expr()?)) } else { None };
        self.expect(Keyword::END)?;
        Ok(self.node(start, Node::Case { operand, branches, otherwise }))
    }

    /// `CAST(x AS type)`.
    pub(super) fn cast(&mut self) -> Result<Expr> {
        let start = self.start();
        self.advance();
        self.expect_symbol("(")?;
        let operand = Box::new(self.expr()?);
        if self.are(&[Keyword::AT, Keyword::TIME]) {
            self.skip(3);
            self.string_text("a time zone")?;
        }
        self.expect(Keyword::AS)?;
        let to = self.type_to_the_bracket()?;
        self.expect_symbol(")")?;
        Ok(self.node(start, Node::Cast { operand, to }))
    }

    /// `CONVERT(x, type)`, `CONVERT(x USING charset)`.
    pub(super) fn convert(&mut self) -> Result<Expr> {
        let start = self.start();
        let before = self.mark();
        self.advance();
        self.expect_symbol("(")?;
        let operand = self.expr()?;
        if self.eat(Keyword::USING) {
            self.any_name("a character set")?;
            self.expect_symbol(")")?;
            return Ok(self.node(start, Node::Other(vec![operand])));
        }
        if self.colons() {
            self.rewind(before);
            let name = self.object_name("a function")?;
            return self.call(name);
        }
        self.expect_symbol(",")?;
        let to = self.type_to_the_bracket()?;
        self.expect_symbol(")")?;
        Ok(self.node(start, Node::Cast { operand: Box::new(operand), to }))
    }

    fn type_to_the_bracket(&mut self) -> Result<Span> {
        let start = self.start();
        if self.is_symbol(")") || self.is_end() {
            return self.unexpected("a type");
        }
        while !self.is_symbol(")") {
            match self.is_symbol("(") {
                true => {
                    self.skip_group()?;
                }
                false if self.is_end() => return self.unexpected("`)`"),
                false => {
                    self.advance();
                }
            }
        }
        Ok(self.since(start))
    }

    /// `INTERVAL 1 DAY`, `INTERVAL '1 day'`, `INTERVAL(a, b)`, `INTERVAL '1' YEAR TO MONTH`.
    pub(super) fn interval(&mut self) -> Result<Expr> {
        let start = self.start();
        if self.colons() {
            return match self.is_typed_literal(self.token()) {
                true => self.typed_literal(),
                false => self.column_named_like_a_keyword(),
            };
        }
        let ends = self.keyword_at(1).is_reserved() && !self.operand_opens_at(1);
        if ends || self.peek(1).kind == TokenKind::End {
            return self.column_named_like_a_keyword();
        }
        self.advance();
        let amount = self.expr_at(level::OTHER)?;
        if self.keyword().is_time_unit() {
            self.advance();
            return Ok(self.node(start, Node::Other(vec![amount])));
        }
        match amount.node {
            Node::Row(list) => Ok(self.node(start, Node::Other(list))),
            _ => self.unexpected("a unit of time"),
        }
    }

    /// Whether a word that can be no name begins an operand there, and could not stand behind one.
    fn operand_opens_at(&self, at: usize) -> bool {
        use Keyword::*;
        match self.keyword_at(at) {
            CASE | EXISTS | FALSE | NULL | TRUE => true,
            LEFT | RIGHT => self.is_symbol_at(at + 1, "("),
            _ => false,
        }
    }

    fn column_named_like_a_keyword(&mut self) -> Result<Expr> {
        let name = self.object_name("an expression")?;
        Ok(Expr { span: name.span, node: Node::Column(name) })
    }

    /// `ARRAY[…]`, `ARRAY(SELECT …)`.
    pub(super) fn array(&mut self) -> Result<Expr> {
        let start = self.start();
        self.advance();
        if self.is_symbol("(") {
            let query = self.prefix()?;
            return Ok(self.node(start, Node::Other(vec![query])));
        }
        let parts = self.deeper(1, Self::array_elements)?;
        Ok(self.node(start, Node::Other(parts)))
    }

    /// `[a, b]`, `[[a], [b]]`.
    fn array_elements(&mut self) -> Result<Vec<Expr>> {
        self.expect_symbol("[")?;
        let mut parts = Vec::new();
        if self.eat_symbol("]") {
            return Ok(parts);
        }
        loop {
            if self.is_symbol("[") {
                parts.extend(self.deeper(1, Self::array_elements)?);
            } else {
                parts.push(self.expr()?);
            }
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol("]")?;
        Ok(parts)
    }

    /// `ROW(a, b)`.
    pub(super) fn row(&mut self) -> Result<Expr> {
        let start = self.start();
        self.advance();
        self.expect_symbol("(")?;
        let list = if self.is_symbol(")") { Vec::new() } else { self.exprs()? };
        self.expect_symbol(")")?;
        Ok(self.node(start, Node::Row(list)))
    }

    /// `MATCH (a, b) AGAINST ('x' IN BOOLEAN MODE)`.
    pub(super) fn match_against(&mut self) -> Result<Expr> {
        let start = self.start();
        self.advance();
        let bracket = self.eat_symbol("(");
        let mut parts = self.exprs()?;
        if bracket {
            self.expect_symbol(")")?;
        }
        if self.eat(Keyword::AGAINST) {
            self.expect_symbol("(")?;
            parts.push(self.expr_at(level::OTHER)?);
            self.skip_item()?;
            self.expect_symbol(")")?;
        }
        Ok(self.node(start, Node::Other(parts)))
    }

    /// `GROUPING SETS ((a, b), (a), ())`.
    pub(super) fn grouping_sets(&mut self) -> Result<Expr> {
        let start = self.start();
        self.skip(2);
        self.expect_symbol("(")?;
        let list = self.exprs()?;
        self.expect_symbol(")")?;
        Ok(self.node(start, Node::Other(list)))
    }

    /// `NEXT VALUE FOR s`, `PREVIOUS VALUE FOR s`.
    ///
    /// They are read as the calls that MariaDB has for the same, `nextval(s)` and `lastval(s)`: of a sequence, which is no column.
    pub(super) fn next_value(&mut self) -> Result<Expr> {
        let token = self.token();
        let start = token.span.start;
        let called = match token.keyword {
            Keyword::NEXT if self.commas() => "nextval",
            Keyword::PREVIOUS if self.commas() => "lastval",
            _ => "",
        };
        let name = Ident { value: called.to_owned(), ..self.ident_of(token) };
        self.skip(3);
        let from = self.start();
        self.object_name("a sequence")?;
        let sequence = self.node(from, Node::Other(Vec::new()));
        if called.is_empty() {
            return Ok(self.node(start, Node::Other(Vec::new())));
        }
        let name = ObjectName { span: token.span, parts: vec![name] };
        let function = Function { arguments: vec![sequence], ..super::function::empty(name) };
        Ok(self.node(start, Node::Function(Box::new(function))))
    }

    /// A type's name right in front of a string.
    pub(super) fn is_typed_literal(&self, token: Token) -> bool {
        use Keyword::*;
        let Some(words) = self.words_of_a_literal_type(token.keyword) else { return false };
        let string = self.peek(words);
        if !self.colons() {
            return string.kind == TokenKind::String
                && matches!(token.keyword, DATE | TIME | TIMESTAMP);
        }
        string.kind.is_string() && !token.keyword.is_reserved()
    }

    /// How many tokens the type's name takes.
    fn words_of_a_literal_type(&self, keyword: Keyword) -> Option<usize> {
        use Keyword::*;
        let mut words = match (keyword, self.keyword_at(1)) {
            (DOUBLE, PRECISION) | (CHARACTER | CHAR | BIT, VARYING) => 2,
            _ => 1,
        };
        if self.is_symbol_at(words, "(") {
            // `numeric(10, 2) '1.5'`; a call has no string behind it.
            let mut ahead = words + 1;
            while self.peek(ahead).kind == TokenKind::Number || self.is_symbol_at(ahead, ",") {
                ahead += 1;
            }
            if !self.is_symbol_at(ahead, ")") || ahead == words + 1 {
                return None;
            }
            words = ahead + 1;
        }
        if matches!(keyword, TIME | TIMESTAMP)
            && matches!(self.keyword_at(words), WITH | WITHOUT)
            && self.keyword_at(words + 1) == TIME
            && self.keyword_at(words + 2) == ZONE
        {
            words += 3;
        }
        Some(words)
    }

    pub(super) fn typed_literal(&mut self) -> Result<Expr> {
        let token = self.token();
        let start = token.span.start;
        let words = self.words_of_a_literal_type(token.keyword).unwrap_or(1);
        self.skip(words);
        let of = self.text_since(start).to_ascii_uppercase();
        let string = self.advance();
        if token.keyword == Keyword::INTERVAL {
            self.interval_fields()?;
        }
        let value = Literal::Typed(of, self.decoded(string));
        Ok(self.literal_expr(start, value))
    }

    /// `YEAR TO MONTH`, `SECOND(3)`.
    pub(super) fn interval_fields(&mut self) -> Result<()> {
        while self.keyword().is_time_unit() {
            self.advance();
            if self.is_symbol("(") {
                self.skip_group()?;
            }
            if !self.eat(Keyword::TO) {
                break;
            }
        }
        Ok(())
    }
}
