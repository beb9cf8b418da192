//! Expressions: operators climb the ladder of [`super::operator::level`].

use super::Result;
use super::operator::{Found, Infix, Sense, level};
use super::parser::Parser;
use crate::ast::{BinaryOp, Expr, List, Literal, Node};
use crate::keyword::Keyword;
use crate::span::Span;

/// Operands of a chain that are joined left-deep; the rest is joined as a balanced tree, so that `a OR b OR …` with a hundred
/// thousand operands is neither refused nor a danger to the stack.
const STRAIGHT: usize = 16;
/// Operands a chain of one operator may have that servers walk by recursion: PostgreSQL refuses 8,000 `+` or `||`, MySQL 4,000 and MariaDB 1,000 as they come, for want of
/// stack. Chains of AND and OR they keep as lists.
const LONGEST: usize = 1 << 14;

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Result<Expr> {
        self.expr_at(0)
    }

    /// An expression of operators that bind at least as tightly as `floor`.
    pub(super) fn expr_at(&mut self, floor: u8) -> Result<Expr> {
        self.counts_operand()?;
        self.deeper(1, |parser| parser.climb(floor))
    }

    /// Comma separated; at least one.
    pub(super) fn exprs(&mut self) -> Result<Vec<Expr>> {
        let mut list = vec![self.expr()?];
        while self.eat_symbol(",") {
            list.push(self.expr()?);
        }
        Ok(list)
    }

    fn climb(&mut self, floor: u8) -> Result<Expr> {
        let mut left = self.prefix()?;
        while let Some(found) = self.infix() {
            if found.level < floor {
                break;
            }
            left = self.joined(left, found)?;
        }
        Ok(left)
    }

    fn joined(&mut self, left: Expr, found: Found) -> Result<Expr> {
        let Found { infix, level, tokens, sense } = found;
        let from = self.start();
        self.skip(tokens);
        self.taller()?;
        match infix {
            Infix::Known(op) => self.chain(left, op, level),
            Infix::Other => {
                let op = self.operator_text(from)?;
                if op == "||" {
                    return self.chain(left, BinaryOp::Other(op), level);
                }
                // Assignment is the only one that joins to the right.
                let floor = if level == level::ASSIGN { level } else { level + 1 };
                let right = self.expr_at(floor)?;
                Ok(binary(BinaryOp::Other(op), left, right))
            }
            Infix::Between => self.between(left, sense),
            Infix::In => self.in_list(left, sense),
            Infix::Like => self.like(left, sense),
            Infix::Is => self.is_test(left),
            Infix::NullTest => {
                let negated = sense.is_negated();
                Ok(self.over(left, |operand| Node::IsNull { operand, negated }))
            }
            Infix::Cast => {
                let to = self.type_name()?;
                Ok(self.over(left, |operand| Node::Cast { operand, to }))
            }
            Infix::Collate => {
                let collation = if self.token().kind.is_string() || self.is(Keyword::BINARY) {
                    let token = self.advance();
                    let ident = self.ident_of(token);
                    self.object_name_after(ident)?
                } else {
                    self.object_name("a collation")?
                };
                Ok(self.over(left, |operand| Node::Collate { operand, collation }))
            }
            Infix::AtTimeZone => {
                let zone = self.expr_at(level + 1)?;
                Ok(self.other(left.span, vec![left, zone]))
            }
            Infix::Subscript => self.subscript(left),
            Infix::Field => {
                if !self.eat_symbol("*") {
                    self.any_name("a field name")?;
                }
                Ok(self.other(left.span, vec![left]))
            }
        }
    }

    /// `left op right op right …` of one operator.
    fn chain(&mut self, mut left: Expr, op: BinaryOp, rung: u8) -> Result<Expr> {
        let mut rest = Vec::new();
        let mut joined = 0;
        loop {
            let right = self.expr_at(rung + 1)?;
            if joined < STRAIGHT {
                left = binary(op.clone(), left, right);
            } else {
                rest.push(right);
            }
            joined += 1;
            if joined >= LONGEST && !self.is_listed(&op) {
                return Err(self.too_deep(&format!("{LONGEST} operands in a chain")));
            }
            if !joins_freely(&op) || !self.comes_again(&op, rung) {
                break;
            }
            self.advance();
            if joined < STRAIGHT {
                self.taller()?;
            }
        }
        if rest.is_empty() {
            return Ok(left);
        }
        rest.insert(0, left);
        self.balanced(rest, &op)
    }

    /// Whether servers keep a chain of this operator as a list. `||` is OR or CONCAT in one of the languages.
    fn is_listed(&self, op: &BinaryOp) -> bool {
        matches!(op, BinaryOp::And | BinaryOp::Or)
            || self.commas() && matches!(op, BinaryOp::Other(text) if text == "||")
    }

    fn comes_again(&self, op: &BinaryOp, rung: u8) -> bool {
        match self.infix() {
            Some(Found { infix: Infix::Known(next), level, .. }) => next == *op && level == rung,
            Some(Found { infix: Infix::Other, level, .. }) => {
                level == rung && matches!(op, BinaryOp::Other(text) if self.is_symbol(text))
            }
            Some(_) | None => false,
        }
    }

    fn balanced(&mut self, mut row: Vec<Expr>, op: &BinaryOp) -> Result<Expr> {
        while row.len() > 1 {
            self.taller()?;
            let mut next = Vec::with_capacity(row.len().div_ceil(2));
            let mut operands = row.into_iter();
            while let Some(left) = operands.next() {
                next.push(match operands.next() {
                    Some(right) => binary(op.clone(), left, right),
                    None => left,
                });
            }
            row = next;
        }
        match row.pop() {
            Some(expr) => Ok(expr),
            None => self.unexpected("an operand"),
        }
    }

    /// The text of the operator taken since `from`, `OPERATOR(schema.op)` whole.
    fn operator_text(&mut self, from: u32) -> Result<String> {
        if self.since(from).of(self.text).eq_ignore_ascii_case("operator") {
            self.skip_group()?;
        }
        Ok(self.since(from).of(self.text).to_ascii_uppercase())
    }

    fn between(&mut self, left: Expr, sense: Sense) -> Result<Expr> {
        let negated = sense.is_negated();
        let symmetric = self.eat(Keyword::SYMMETRIC);
        if !symmetric {
            self.eat(Keyword::ASYMMETRIC);
        }
        let low = Box::new(self.expr_at(level::OTHER)?);
        self.expect(Keyword::AND)?;
        // The upper bound of one language is a whole predicate.
        let floor = if self.commas() { level::PREDICATE } else { level::OTHER };
        let high = Box::new(self.expr_at(floor)?);
        Ok(self.over(left, |operand| Node::Between { operand, low, high, negated, symmetric }))
    }

    fn in_list(&mut self, left: Expr, sense: Sense) -> Result<Expr> {
        self.expect_symbol("(")?;
        if self.starts_query() {
            let query = Box::new(self.query()?);
            self.expect_symbol(")")?;
            let negated = sense.is_negated();
            return Ok(self.over(left, |operand| Node::InQuery { operand, query, negated }));
        }
        if self.eat_symbol(")") {
            return Ok(self.listed(left, List::of_trees(Vec::new()), sense));
        }
        if let Some(list) = self.literals()? {
            self.expect_symbol(")")?;
            return Ok(self.listed(left, list, sense));
        }
        let mut list = vec![self.expr()?];
        if self.continues_query()
            && matches!(list.first(), Some(Expr { node: Node::Subquery(_), .. }))
        {
            let query = self.query_after_operand(list.remove(0))?;
            self.expect_symbol(")")?;
            let negated = sense.is_negated();
            return Ok(self.over(left, |operand| Node::InQuery { operand, query, negated }));
        }
        while self.eat_symbol(",") {
            list.push(self.expr()?);
        }
        self.expect_symbol(")")?;
        Ok(self.listed(left, List::of_trees(list), sense))
    }

    fn listed(&self, left: Expr, list: List, sense: Sense) -> Expr {
        let negated = sense.is_negated();
        self.over(left, |operand| Node::InList { operand, list, negated })
    }

    /// A list of literals that the lexer has made a few tokens of.
    fn literals(&mut self) -> Result<Option<List>> {
        let Some(piece) = self.eat_literals() else { return Ok(None) };
        let mut pieces = vec![piece];
        while self.eat_symbol(",") {
            let Some(piece) = self.eat_literals() else { return self.unexpected("literals") };
            pieces.push(piece);
        }
        Ok(Some(List::of_literals(pieces)))
    }

    fn like(&mut self, left: Expr, sense: Sense) -> Result<Expr> {
        let pattern = self.expr_at(level::OTHER)?;
        if self.eat(Keyword::ESCAPE) {
            let escape = self.expr_at(level::OTHER)?;
            return Ok(self.other(left.span, vec![left, pattern, escape]));
        }
        let pattern = Box::new(pattern);
        let negated = sense.is_negated();
        Ok(self.over(left, |operand| Node::Like { operand, pattern, negated }))
    }

    /// Behind IS.
    fn is_test(&mut self, left: Expr) -> Result<Expr> {
        let negated = self.eat(Keyword::NOT);
        if self.eat(Keyword::NULL) {
            return Ok(self.over(left, |operand| Node::IsNull { operand, negated }));
        }
        if self.eat_all(&[Keyword::DISTINCT, Keyword::FROM]) {
            let right = self.expr_at(level::COMPARISON)?;
            let op = match negated {
                true => BinaryOp::NullSafeEqual,
                false => BinaryOp::Other("IS DISTINCT FROM".to_owned()),
            };
            return Ok(binary(op, left, right));
        }
        if self.eat_any(&[Keyword::TRUE, Keyword::FALSE, Keyword::UNKNOWN]) {
            return Ok(self.other(left.span, vec![left]));
        }
        self.is_of_a_kind()?;
        Ok(self.other(left.span, vec![left]))
    }

    /// `JSON [VALUE | ARRAY | OBJECT | SCALAR] [WITH UNIQUE KEYS]`, `DOCUMENT`, `[NFC] NORMALIZED`, `OF (type)`.
    fn is_of_a_kind(&mut self) -> Result<()> {
        if self.eat(Keyword::JSON) {
            self.eat_any(&[Keyword::VALUE, Keyword::ARRAY, Keyword::JSON_SCALAR]);
            let _ = self.eat_word("OBJECT") || self.eat_word("SCALAR");
            if self.eat_any(&[Keyword::WITH, Keyword::WITHOUT]) {
                self.expect(Keyword::UNIQUE)?;
                self.eat(Keyword::KEYS);
            }
            return Ok(());
        }
        if self.eat(Keyword::OF) {
            return self.skip_group().map(|_| ());
        }
        let forms = ["NFC", "NFD", "NFKC", "NFKD"];
        let _ = forms.iter().any(|form| self.eat_word(form));
        if self.eat_word("NORMALIZED") || self.eat_word("DOCUMENT") {
            return Ok(());
        }
        self.unexpected("`NULL`, `TRUE`, `FALSE`, `UNKNOWN` or `DISTINCT FROM`")
    }

    /// Behind `[`: `1]`, `1:2]`, `:2]`, `1:]`.
    fn subscript(&mut self, left: Expr) -> Result<Expr> {
        let span = left.span;
        let mut parts = vec![left];
        if !self.is_symbol(":") {
            parts.push(self.expr()?);
        }
        if self.eat_symbol(":") && !self.is_symbol("]") {
            parts.push(self.expr()?);
        }
        self.expect_symbol("]")?;
        Ok(self.other(span, parts))
    }

    /// A node over `left` that ends where the parser stands.
    fn over(&self, left: Expr, node: impl FnOnce(Box<Expr>) -> Node) -> Expr {
        let span = self.since(left.span.start);
        Expr { span, node: node(Box::new(left)) }
    }

    /// An opaque node from the start of `from` to where the parser stands.
    pub(super) fn other(&self, from: Span, parts: Vec<Expr>) -> Expr {
        Expr { span: self.since(from.start), node: Node::Other(parts) }
    }

    pub(super) fn literal_expr(&self, start: u32, literal: Literal) -> Expr {
        Expr { span: self.since(start), node: Node::Literal(literal) }
    }
}

/// Operators whose operands may be grouped in any way without changing what the tree means for planning.
fn joins_freely(op: &BinaryOp) -> bool {
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Plus | BinaryOp::Multiply => true,
        BinaryOp::Other(text) => text == "||",
        BinaryOp::Equal
        | BinaryOp::NullSafeEqual
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessOrEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterOrEqual
        | BinaryOp::Minus
        | BinaryOp::Divide
        | BinaryOp::Modulo => false,
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    Expr { span, node: Node::Binary { op, left: Box::new(left), right: Box::new(right) } }
}
