//! Identifiers, dotted names and aliases.

use super::Result;
use super::parser::Parser;
use crate::ast::{Ident, ObjectName};
use crate::keyword::Keyword;
use crate::literal::{identifier_value, string_value};
use crate::syntax::Fold;
use crate::token::{Token, TokenKind};

/// The longest name where names are folded, in bytes: `NAMEDATALEN` of PostgreSQL less its end.
/// <https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS>
const LONGEST_FOLDED: usize = 63;

impl Parser<'_> {
    pub(super) fn is_identifier(&self) -> bool {
        self.is_identifier_at(0)
    }

    pub(super) fn is_identifier_at(&self, ahead: usize) -> bool {
        let token = self.peek(ahead);
        token.kind.is_quoted_name() || token.kind == TokenKind::Word && self.may_name(token.keyword)
    }

    /// Whether a word may be an identifier without quotes. `BY` may in PostgreSQL.
    pub(super) fn may_name(&self, keyword: Keyword) -> bool {
        !keyword.is_reserved() || keyword == Keyword::BY && self.syntax.casts_with_colons
    }

    pub(super) fn identifier(&mut self, expected: &str) -> Result<Ident> {
        if !self.is_identifier() {
            return self.unexpected(expected);
        }
        let token = self.advance();
        Ok(self.ident_of(token))
    }

    /// Any word, reserved or not: what stands behind a dot or `AS`.
    pub(super) fn any_name(&mut self, expected: &str) -> Result<Ident> {
        if self.token().kind != TokenKind::Word && !self.is_identifier() {
            return self.unexpected(expected);
        }
        let token = self.advance();
        Ok(self.ident_of(token))
    }

    pub(super) fn ident_of(&self, token: Token) -> Ident {
        let raw = self.text_of(token);
        let (value, quoted) = if token.kind == TokenKind::Word {
            let value = match self.syntax.fold {
                Fold::Lower => raw.to_ascii_lowercase(),
                Fold::Keep => raw.to_owned(),
            };
            (value, false)
        } else if token.kind.is_string() {
            (string_value(raw, token.kind, self.syntax).unwrap_or_default(), true)
        } else {
            (identifier_value(raw, token.kind), true)
        };
        let mut value = value;
        // What is too long is the name that its beginning is, in whole letters; a string is no name yet.
        if self.syntax.fold == Fold::Lower && !token.kind.is_string() {
            value.truncate(value.floor_char_boundary(LONGEST_FOLDED));
        }
        Ident { span: token.span, value, quoted, exact: self.syntax.exact_tables }
    }

    pub(super) fn object_name(&mut self, expected: &str) -> Result<ObjectName> {
        let first = self.identifier(expected)?;
        self.object_name_after(first)
    }

    /// The rest of a dotted name.
    pub(super) fn object_name_after(&mut self, first: Ident) -> Result<ObjectName> {
        let mut span = first.span;
        let mut parts = vec![first];
        while self.is_symbol(".") && !self.is_symbol_at(1, "*") {
            self.advance();
            let part = self.any_name("a name behind the dot")?;
            span = span.to(part.span);
            parts.push(part);
        }
        Ok(ObjectName { parts, span })
    }

    /// `(a, b, c)`.
    pub(super) fn identifiers_in_parentheses(&mut self) -> Result<Vec<Ident>> {
        self.expect_symbol("(")?;
        let mut names = Vec::new();
        if self.eat_symbol(")") {
            return Ok(names);
        }
        loop {
            names.push(self.any_name("a column name")?);
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(")")?;
        Ok(names)
    }

    /// A string literal's decoded text.
    pub(super) fn string_text(&mut self, expected: &str) -> Result<String> {
        if !self.token().kind.is_string() {
            return self.unexpected(expected);
        }
        let token = self.advance();
        Ok(self.decoded(token))
    }

    pub(super) fn decoded(&self, token: Token) -> String {
        let value = string_value(self.text_of(token), token.kind, self.syntax);
        value.unwrap_or_else(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// `AS name`, `AS 'name'`, a bare name that starts nothing else.
    pub(super) fn column_alias(&mut self) -> Result<Option<Ident>> {
        if self.eat(Keyword::AS) {
            if self.token().kind.is_string() {
                let token = self.advance();
                return Ok(Some(self.ident_of(token)));
            }
            return self.any_name("an alias").map(Some);
        }
        let token = self.token();
        let bare = match token.kind {
            TokenKind::Word => {
                let ends = ends_an_item(token.keyword) || self.set_operator().is_some();
                self.may_name(token.keyword) && !ends
            }
            TokenKind::QuotedIdentifier | TokenKind::UnicodeIdentifier => true,
            TokenKind::String => self.commas(),
            TokenKind::Number
            | TokenKind::EscapeString
            | TokenKind::UnicodeString
            | TokenKind::NationalString
            | TokenKind::BitString
            | TokenKind::HexString
            | TokenKind::DollarString
            | TokenKind::Parameter
            | TokenKind::Variable
            | TokenKind::Operator
            | TokenKind::Punctuation
            | TokenKind::End => false,
        };
        if !bare {
            return Ok(None);
        }
        let token = self.advance();
        Ok(Some(self.ident_of(token)))
    }

    /// The alias of a table.
    pub(super) fn table_alias(&mut self) -> Result<Option<Ident>> {
        if self.eat(Keyword::AS) {
            if self.commas() && self.token().kind == TokenKind::String {
                let token = self.advance();
                return Ok(Some(self.ident_of(token)));
            }
            return self.any_name("an alias").map(Some);
        }
        if !self.is_identifier() || self.follows_a_table() {
            return Ok(None);
        }
        let token = self.advance();
        Ok(Some(self.ident_of(token)))
    }

    /// The next word goes on behind a table rather than naming it.
    fn follows_a_table(&self) -> bool {
        use Keyword::*;
        let keyword = self.keyword();
        if ends_an_item(keyword) || self.set_operator().is_some() {
            return true;
        }
        match keyword {
            SET | USE | FORCE | IGNORE | STRAIGHT_JOIN | PARTITION | TABLESAMPLE | VALUES
            | VALUE => true,
            FULL => matches!(self.keyword_at(1), JOIN | OUTER),
            WHEN | LOCK | PROCEDURE => true,
            _ => false,
        }
    }
}

/// Words that are no reserved words everywhere but do not name an item either.
fn ends_an_item(keyword: Keyword) -> bool {
    use Keyword::*;
    matches!(keyword, OFFSET | RETURNING | LOCK | STRAIGHT_JOIN | PROCEDURE)
}
