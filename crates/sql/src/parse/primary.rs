//! Operands: literals, names, parameters, parentheses and prefix operators.

use super::Result;
use super::introducer::introduced;
use super::operator::level;
use super::parser::Parser;
use crate::ast::{Expr, Ident, Literal, Node, ObjectName, Query};
use crate::keyword::Keyword;
use crate::literal::{literal, on_different_lines, unicode_string};
use crate::span::Span;
use crate::syntax::Placeholder;
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// An operand with the operators in front of it.
    pub(super) fn prefix(&mut self) -> Result<Expr> {
        let token = self.token();
        match token.kind {
            TokenKind::Operator => self.prefix_operator(),
            TokenKind::Word if token.keyword == Keyword::NOT => {
                self.unary("NOT".to_owned(), level::NOT)
            }
            _ => self.operand(token),
        }
    }

    fn prefix_operator(&mut self) -> Result<Expr> {
        let symbol = self.text_of(self.token());
        let floor = match symbol {
            "-" | "+" => level::UNARY,
            "~" | "!" if !self.colons() => level::UNARY,
            "*" | "/" | "=" | "<" | ">" | "<=" | ">=" | "<>" | "!=" | "%" | "^" | "::" | ":=" => {
                return self.unexpected("an expression");
            }
            _ if self.colons() => level::OTHER + 1,
            _ => return self.unexpected("an expression"),
        };
        self.unary(symbol.to_owned(), floor)
    }

    pub(super) fn unary(&mut self, op: String, floor: u8) -> Result<Expr> {
        let start = self.start();
        self.advance();
        let operand = Box::new(self.expr_at(floor)?);
        Ok(Expr { span: self.since(start), node: Node::Unary { op, operand } })
    }

    fn operand(&mut self, token: Token) -> Result<Expr> {
        match token.kind {
            TokenKind::Number => {
                self.advance();
                let value = literal(self.text, &token, self.syntax).unwrap_or(Literal::Null);
                Ok(self.literal_expr(token.span.start, value))
            }
            TokenKind::String
            | TokenKind::EscapeString
            | TokenKind::UnicodeString
            | TokenKind::NationalString
            | TokenKind::BitString
            | TokenKind::HexString
            | TokenKind::DollarString => self.string_literal(),
            TokenKind::Parameter => {
                let index = self.parameter_index(token);
                self.advance();
                Ok(Expr { span: token.span, node: Node::Parameter(index) })
            }
            TokenKind::Variable => {
                self.advance();
                let name = self.text_of(token).to_owned();
                Ok(Expr { span: token.span, node: Node::Variable(name) })
            }
            TokenKind::Punctuation => match self.text_of(token) {
                "(" => self.parenthesised(),
                "{" => self.braces(),
                _ => self.unexpected("an expression"),
            },
            TokenKind::Word => self.word_operand(token),
            TokenKind::QuotedIdentifier | TokenKind::UnicodeIdentifier => self.named(),
            TokenKind::Operator | TokenKind::End => self.unexpected("an expression"),
        }
    }

    fn parameter_index(&self, token: Token) -> u32 {
        match self.syntax.placeholder {
            Placeholder::Question => self.parameters,
            Placeholder::Dollar => {
                let number = self.text_of(token).get(1..).and_then(|n| n.parse::<u32>().ok());
                number.unwrap_or(1).saturating_sub(1)
            }
        }
    }

    /// A string with those that follow it: neighbours are one literal.
    fn string_literal(&mut self) -> Result<Expr> {
        let first = self.advance();
        let mut value = literal(self.text, &first, self.syntax).unwrap_or(Literal::Null);
        let mut last = first;
        while self.continues(first, last) {
            last = self.advance();
            if let Literal::Text(text) = &mut value {
                text.push_str(&self.decoded(last));
            }
        }
        if first.kind == TokenKind::UnicodeString && self.eat(Keyword::UESCAPE) {
            let escape = self.string_text("an escape character")?.chars().next().unwrap_or('\\');
            value = Literal::Text(unicode_string(self.text_of(first), escape));
        }
        Ok(self.literal_expr(first.span.start, value))
    }

    /// Whether the next token belongs to the same string.
    fn continues(&self, first: Token, last: Token) -> bool {
        let next = self.token();
        if self.colons() {
            return next.kind.is_string() && on_different_lines(self.text, last.span, next.span);
        }
        // Behind a string of bits or bytes it is an alias: `x'41' 'a'`.
        matches!(first.kind, TokenKind::String | TokenKind::NationalString)
            && next.kind == TokenKind::String
    }

    /// `(…)`: a sub-query, a row or a nested expression.
    fn parenthesised(&mut self) -> Result<Expr> {
        let start = self.start();
        self.expect_symbol("(")?;
        if self.starts_query() {
            let query = Box::new(self.query()?);
            self.expect_symbol(")")?;
            return Ok(self.node(start, Node::Subquery(query)));
        }
        if self.eat_symbol(")") {
            return Ok(self.node(start, Node::Row(Vec::new())));
        }
        let first = self.expr()?;
        if self.continues_query() && matches!(first.node, Node::Subquery(_)) {
            let query = self.query_after_operand(first)?;
            self.expect_symbol(")")?;
            return Ok(self.node(start, Node::Subquery(query)));
        }
        if self.eat_symbol(")") {
            return Ok(self.node(start, Node::Nested(Box::new(first))));
        }
        let mut row = vec![first];
        while self.eat_symbol(",") {
            row.push(self.expr()?);
        }
        self.expect_symbol(")")?;
        Ok(self.node(start, Node::Row(row)))
    }

    /// `((SELECT …) UNION …`: what looked like an operand was the left side of a set operation.
    pub(super) fn query_after_operand(&mut self, operand: Expr) -> Result<Box<Query>> {
        let span = operand.span;
        match operand.node {
            Node::Subquery(query) => self.query_from_left(*query, span).map(Box::new),
            Node::Column(_)
            | Node::Literal(_)
            | Node::Parameter(_)
            | Node::Variable(_)
            | Node::Unary { .. }
            | Node::Binary { .. }
            | Node::Between { .. }
            | Node::InList { .. }
            | Node::InQuery { .. }
            | Node::Like { .. }
            | Node::IsNull { .. }
            | Node::Function(_)
            | Node::Case { .. }
            | Node::Cast { .. }
            | Node::Collate { .. }
            | Node::Exists(_)
            | Node::Row(_)
            | Node::Nested(_)
            | Node::Other(_)
            | Node::Default => self.unexpected("`)`"),
        }
    }

    /// `{ts '…'}`, `{d '…'}`, `{fn f()}`.
    fn braces(&mut self) -> Result<Expr> {
        let start = self.start();
        self.expect_symbol("{")?;
        self.any_name("an escape word")?;
        let inner = self.expr()?;
        self.expect_symbol("}")?;
        Ok(self.node(start, Node::Other(vec![inner])))
    }

    fn word_operand(&mut self, token: Token) -> Result<Expr> {
        use Keyword::*;
        let start = token.span.start;
        let opens = self.is_symbol_at(1, "(");
        match token.keyword {
            NULL => Ok(self.word_literal(Literal::Null)),
            TRUE => Ok(self.word_literal(Literal::Boolean(true))),
            FALSE => Ok(self.word_literal(Literal::Boolean(false))),
            DEFAULT if !opens => {
                self.advance();
                Ok(self.node(start, Node::Default))
            }
            EXISTS if opens => self.exists(),
            CASE => self.case(),
            CAST if opens => self.cast(),
            CONVERT if opens => self.convert(),
            INTERVAL => self.interval(),
            ARRAY if self.colons() && (opens || self.is_symbol_at(1, "[")) => self.array(),
            ROW if opens => self.row(),
            ANY | SOME | ALL if opens => self.quantified(),
            MATCH if self.commas() && (opens || self.is_identifier_at(1)) => self.match_against(),
            COLLATION if self.keyword_at(1) == FOR && self.is_symbol_at(2, "(") => {
                let name = self.identifier("a function")?;
                self.advance();
                self.call(ObjectName { span: name.span, parts: vec![name] })
            }
            UNIQUE if opens => self.exists(),
            GROUPING if self.keyword_at(1) == SETS => self.grouping_sets(),
            BINARY if self.commas() && self.starts_operand_at(1) => {
                self.unary("BINARY".to_owned(), level::UNARY)
            }
            _ if self.keyword_at(1) == VALUE && self.keyword_at(2) == FOR => self.next_value(),
            _ if self.is_typed_literal(token) => self.typed_literal(),
            _ if self.is_bare_function(token.keyword) && !opens => self.bare_function(),
            _ if self.text_of(token) == "\\N" => Ok(self.word_literal(Literal::Null)),
            _ if self.is_introducer(token) => {
                let charset = self.text_of(token);
                self.advance();
                let mut string = introduced(charset, self.string_literal()?);
                string.span = self.since(start);
                Ok(string)
            }
            _ => self.named(),
        }
    }

    fn word_literal(&mut self, value: Literal) -> Expr {
        let token = self.advance();
        self.literal_expr(token.span.start, value)
    }

    /// `_utf8'…'`, `_binary X'…'`.
    fn is_introducer(&self, token: Token) -> bool {
        self.commas() && self.text_of(token).starts_with('_') && self.peek(1).kind.is_string()
    }

    /// Whether the token there may start an operand of a prefix word.
    fn starts_operand_at(&self, ahead: usize) -> bool {
        let token = self.peek(ahead);
        match token.kind {
            TokenKind::Word => {
                use Keyword::*;
                let value = matches!(
                    token.keyword,
                    NULL | TRUE | FALSE | CASE | EXISTS | NOT | LEFT | RIGHT
                );
                value || !token.keyword.is_reserved()
            }
            TokenKind::Operator => matches!(self.text_of(token), "-" | "+" | "~" | "!"),
            TokenKind::Punctuation => self.text_of(token) == "(",
            TokenKind::End => false,
            TokenKind::QuotedIdentifier
            | TokenKind::UnicodeIdentifier
            | TokenKind::Number
            | TokenKind::String
            | TokenKind::EscapeString
            | TokenKind::UnicodeString
            | TokenKind::NationalString
            | TokenKind::BitString
            | TokenKind::HexString
            | TokenKind::DollarString
            | TokenKind::Parameter
            | TokenKind::Variable => true,
        }
    }

    /// Functions written without parentheses.
    fn is_bare_function(&self, keyword: Keyword) -> bool {
        use Keyword::*;
        match keyword {
            CURRENT_DATE | CURRENT_TIME | CURRENT_TIMESTAMP | CURRENT_USER | LOCALTIME
            | LOCALTIMESTAMP => true,
            CURRENT_ROLE | CURRENT_CATALOG | CURRENT_SCHEMA | SESSION_USER | SYSTEM_USER | USER => {
                self.colons() && !self.is_symbol_at(1, ".")
            }
            UTC_DATE | UTC_TIME | UTC_TIMESTAMP => self.commas(),
            _ => false,
        }
    }

    fn bare_function(&mut self) -> Result<Expr> {
        let token = self.advance();
        let name = ObjectName { span: token.span, parts: vec![self.ident_of(token)] };
        Ok(self.node(token.span.start, Node::Function(Box::new(super::function::empty(name)))))
    }

    /// A column, `t.*`, a call, or a literal with its type's name in front.
    fn named(&mut self) -> Result<Expr> {
        let token = self.token();
        let start = token.span.start;
        let name = if !self.may_name(token.keyword) {
            // LEFT(…), RIGHT(…), and other reserved words that are functions too.
            if !self.is_symbol_at(1, "(") || !is_reserved_function(token.keyword) {
                return self.unexpected("an expression");
            }
            self.advance();
            ObjectName { span: token.span, parts: vec![self.ident_of(token)] }
        } else {
            self.object_name("an expression")?
        };
        if self.is_symbol("(") {
            return self.call(name);
        }
        let names_a_type = name.parts.len() > 1 || name.parts.iter().all(|part| part.quoted);
        if self.colons() && self.token().kind.is_string() && names_a_type {
            let of = name.span.of(self.text).to_ascii_uppercase();
            let token = self.advance();
            let value = Literal::Typed(of, self.decoded(token));
            return Ok(self.literal_expr(start, value));
        }
        if self.is_symbol(".") && self.is_symbol_at(1, "*") {
            return Ok(self.whole_row(name));
        }
        Ok(Expr { span: name.span, node: Node::Column(name) })
    }

    /// `t.*` as an operand: a column called `*`, so that its owner is seen.
    fn whole_row(&mut self, mut name: ObjectName) -> Expr {
        self.advance();
        let star = self.advance();
        name.parts.push(Ident {
            span: star.span,
            value: "*".to_owned(),
            quoted: false,
            exact: self.syntax.exact_tables,
        });
        name.span = name.span.to(star.span);
        Expr { span: name.span, node: Node::Column(name) }
    }

    pub(super) fn node(&self, start: u32, node: Node) -> Expr {
        Expr { span: self.since(start), node }
    }

    /// From `start` to the end of the last token.
    pub(super) fn text_since(&self, start: u32) -> String {
        let span: Span = self.since(start);
        span.of(self.text).to_owned()
    }
}

fn is_reserved_function(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::LEFT | Keyword::RIGHT | Keyword::DEFAULT | Keyword::COLLATE)
}
