//! How tightly operators bind. One ladder serves both languages:
//! <https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-PRECEDENCE>,
//! <https://dev.mysql.com/doc/refman/8.4/en/operator-precedence.html>.

use super::parser::Parser;
use crate::ast::BinaryOp;
use crate::keyword::Keyword;
use crate::token::TokenKind;

/// Rungs of the ladder, loosest first.
pub(super) mod level {
    pub(crate) const ASSIGN: u8 = 1;
    pub(crate) const OR: u8 = 2;
    pub(crate) const XOR: u8 = 3;
    pub(crate) const AND: u8 = 4;
    pub(crate) const NOT: u8 = 5;
    pub(crate) const IS: u8 = 6;
    pub(crate) const COMPARISON: u8 = 7;
    pub(crate) const PREDICATE: u8 = 8;
    pub(crate) const OTHER: u8 = 9;
    pub(crate) const BIT_AND: u8 = 10;
    pub(crate) const SHIFT: u8 = 11;
    pub(crate) const SUM: u8 = 12;
    pub(crate) const PRODUCT: u8 = 13;
    pub(crate) const POWER: u8 = 14;
    pub(crate) const ZONE: u8 = 15;
    pub(crate) const COLLATE: u8 = 16;
    pub(crate) const UNARY: u8 = 17;
    pub(crate) const SUFFIX: u8 = 18;
}

/// What stands behind an operand.
pub(super) enum Infix {
    /// A binary operator this crate has a name for.
    Known(BinaryOp),
    /// Any other binary operator.
    Other,
    Between,
    In,
    /// LIKE and its kin.
    Like,
    Is,
    /// ISNULL, NOTNULL.
    NullTest,
    /// `::`.
    Cast,
    Collate,
    AtTimeZone,
    /// `[`.
    Subscript,
    /// `.` behind something that is no name.
    Field,
}

/// Whether a predicate has NOT in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    Plain,
    Negated,
}

impl Sense {
    pub(super) fn is_negated(self) -> bool {
        self == Self::Negated
    }
}

/// An operator with its rung and the words it takes.
pub(super) struct Found {
    pub(super) infix: Infix,
    pub(super) level: u8,
    pub(super) tokens: usize,
    pub(super) sense: Sense,
}

impl Found {
    fn new(infix: Infix, level: u8) -> Option<Self> {
        Some(Self { infix, level, tokens: 1, sense: Sense::Plain })
    }

    fn wide(infix: Infix, level: u8, tokens: usize) -> Option<Self> {
        Some(Self { infix, level, tokens, sense: Sense::Plain })
    }
}

impl Parser<'_> {
    /// The operator that comes next, if one does.
    pub(super) fn infix(&self) -> Option<Found> {
        let token = self.token();
        match token.kind {
            TokenKind::Operator => self.symbol_infix(self.text_of(token)),
            TokenKind::Word => self.word_infix(token.keyword),
            TokenKind::Punctuation => match self.text_of(token) {
                "[" if self.colons() => Found::new(Infix::Subscript, level::SUFFIX),
                "." => Found::new(Infix::Field, level::SUFFIX),
                _ => None,
            },
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
            | TokenKind::Variable
            | TokenKind::End => None,
        }
    }

    fn symbol_infix(&self, symbol: &str) -> Option<Found> {
        use BinaryOp as Op;
        let known = |op, level| Found::new(Infix::Known(op), level);
        let other = |level| Found::new(Infix::Other, level);
        match symbol {
            "=" => known(Op::Equal, level::COMPARISON),
            "<>" | "!=" => known(Op::NotEqual, level::COMPARISON),
            "<" => known(Op::Less, level::COMPARISON),
            "<=" => known(Op::LessOrEqual, level::COMPARISON),
            ">" => known(Op::Greater, level::COMPARISON),
            ">=" => known(Op::GreaterOrEqual, level::COMPARISON),
            "+" => known(Op::Plus, level::SUM),
            "-" => known(Op::Minus, level::SUM),
            "*" => known(Op::Multiply, level::PRODUCT),
            "/" => known(Op::Divide, level::PRODUCT),
            "%" => known(Op::Modulo, level::PRODUCT),
            "^" => other(level::POWER),
            ":=" => other(level::ASSIGN),
            "::" => Found::new(Infix::Cast, level::SUFFIX),
            _ if self.colons() => match symbol {
                "!" | "=>" => None,
                _ => other(level::OTHER),
            },
            "<=>" => known(Op::NullSafeEqual, level::COMPARISON),
            "&&" => known(Op::And, level::AND),
            "||" if self.syntax.pipes_concatenate => other(level::ZONE),
            "||" => known(Op::Or, level::OR),
            "|" => other(level::OTHER),
            "&" => other(level::BIT_AND),
            "<<" | ">>" => other(level::SHIFT),
            "->" | "->>" => other(level::SUFFIX),
            _ => None,
        }
    }

    fn word_infix(&self, keyword: Keyword) -> Option<Found> {
        use Keyword::*;
        let known = |op, level| Found::new(Infix::Known(op), level);
        match keyword {
            AND => known(BinaryOp::And, level::AND),
            OR => known(BinaryOp::Or, level::OR),
            IS => Found::new(Infix::Is, level::IS),
            COLLATE => Found::new(Infix::Collate, level::COLLATE),
            NOT => {
                let mut found = self.predicate(1)?;
                found.tokens += 1;
                found.sense = Sense::Negated;
                Some(found)
            }
            XOR if self.commas() => known(BinaryOp::Xor, level::XOR),
            DIV if self.commas() => known(BinaryOp::Divide, level::PRODUCT),
            MOD if self.commas() => known(BinaryOp::Modulo, level::PRODUCT),
            MEMBER if self.commas() && self.keyword_at(1) == OF => {
                Found::wide(Infix::Other, level::PREDICATE, 2)
            }
            SOUNDS if self.commas() && self.keyword_at(1) == LIKE => {
                Found::wide(Infix::Other, level::COMPARISON, 2)
            }
            ISNULL | NOTNULL if self.colons() => Some(Found {
                infix: Infix::NullTest,
                level: level::IS,
                tokens: 1,
                sense: if keyword == NOTNULL { Sense::Negated } else { Sense::Plain },
            }),
            AT if self.are(&[AT, TIME, ZONE]) => Found::wide(Infix::AtTimeZone, level::ZONE, 3),
            OVERLAPS if self.colons() => Found::new(Infix::Other, level::PREDICATE),
            OPERATOR if self.colons() && self.is_symbol_at(1, "(") => {
                Found::new(Infix::Other, level::OTHER)
            }
            _ => self.predicate(0),
        }
    }

    /// The predicates NOT may stand in front of.
    fn predicate(&self, ahead: usize) -> Option<Found> {
        use Keyword::*;
        match self.keyword_at(ahead) {
            BETWEEN => Found::new(Infix::Between, level::PREDICATE),
            IN => Found::new(Infix::In, level::PREDICATE),
            LIKE => Found::new(Infix::Like, level::PREDICATE),
            ILIKE if self.colons() => Found::new(Infix::Like, level::PREDICATE),
            SIMILAR if self.colons() && self.keyword_at(ahead + 1) == TO => {
                Found::wide(Infix::Like, level::PREDICATE, 2)
            }
            RLIKE | REGEXP if self.commas() => Found::new(Infix::Like, level::PREDICATE),
            _ => None,
        }
    }
}
