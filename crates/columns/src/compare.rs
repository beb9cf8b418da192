//! Predicates: what a column of interest is compared with.

use pando_sql::Span;
use pando_sql::ast::{BinaryOp, Expr, List, Node, Query};

use crate::analysis::{Analysis, Result};
use crate::expr::Valued;
use crate::lookup::Mention;
use crate::uses::{Given, Origin, Place, Value};

/// Equal or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Equal,
    Unequal,
}

impl Sense {
    fn to(self, value: Value) -> Place {
        match self {
            Self::Equal => Place::EqualTo(value),
            Self::Unequal => Place::NotEqualTo(value),
        }
    }

    fn to_column(self, of: Origin) -> Place {
        match self {
            Self::Equal => Place::EqualToColumn(of),
            Self::Unequal => Place::NotEqualToColumn(of),
        }
    }
}

impl<'a> Analysis<'a> {
    /// An operator or a predicate with operands.
    pub(crate) fn predicate(&mut self, expr: &'a Expr) -> Result<()> {
        let around = expr.span;
        match &expr.node {
            Node::Binary { op, left, right } => self.binary(op, left, right, around),
            Node::Between { operand, low, high, .. } => self.between(operand, low, high, around),
            Node::InList { operand, list, negated } => {
                let values = self.list(list, around)?;
                let operand = self.value(operand)?;
                let place = values.map_or(Place::Inside { around }, |values| Place::InList {
                    values,
                    negated: *negated,
                });
                self.put_if(operand.mention, place);
                Ok(())
            }
            Node::InQuery { operand, query, negated } => {
                let sense = if *negated { Sense::Unequal } else { Sense::Equal };
                self.in_query(operand, query, sense, around)
            }
            Node::Like { operand, pattern, .. } => self.like(operand, pattern, around),
            Node::IsNull { operand, .. } => {
                let operand = self.value(operand)?;
                self.put_if(operand.mention, Place::NullTest);
                Ok(())
            }
            Node::Column(_)
            | Node::Literal(_)
            | Node::Parameter(_)
            | Node::Variable(_)
            | Node::Unary { .. }
            | Node::Function(_)
            | Node::Case { .. }
            | Node::Cast { .. }
            | Node::Collate { .. }
            | Node::Subquery(_)
            | Node::Exists(_)
            | Node::Row(_)
            | Node::Nested(_)
            | Node::Other(_)
            | Node::Default => self.expr(expr, around),
        }
    }

    fn put_if(&mut self, mention: Option<Mention>, place: Place) {
        if let Some(mention) = mention {
            self.put(mention, place);
        }
    }

    fn binary(
        &mut self,
        op: &BinaryOp,
        left: &'a Expr,
        right: &'a Expr,
        around: Span,
    ) -> Result<()> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        match op {
            BinaryOp::Equal | BinaryOp::NullSafeEqual => {
                self.equality(left, right, Sense::Equal, around);
            }
            BinaryOp::NotEqual => self.equality(left, right, Sense::Unequal, around),
            BinaryOp::Other(text) if text == "IS DISTINCT FROM" => {
                self.equality(left, right, Sense::Unequal, around);
            }
            BinaryOp::Less
            | BinaryOp::LessOrEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterOrEqual => {
                let ordered = |op: BinaryOp, other: &Valued| {
                    other
                        .constant()
                        .map_or(Place::Inside { around }, |value| Place::Ordered { op, value })
                };
                let (of_left, of_right) =
                    (ordered(op.clone(), &right), ordered(mirrored(op), &left));
                self.put_if(left.mention, of_left);
                self.put_if(right.mention, of_right);
            }
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Plus
            | BinaryOp::Minus
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Modulo
            | BinaryOp::Other(_) => {
                self.put_if(left.mention, Place::Inside { around });
                self.put_if(right.mention, Place::Inside { around });
            }
        }
        Ok(())
    }

    fn equality(&mut self, left: Valued, right: Valued, sense: Sense, around: Span) {
        let of_left = equal_to(&right.given, sense, around);
        let of_right = equal_to(&left.given, sense, around);
        self.put_if(left.mention, of_left);
        self.put_if(right.mention, of_right);
    }

    fn between(
        &mut self,
        operand: &'a Expr,
        low: &'a Expr,
        high: &'a Expr,
        around: Span,
    ) -> Result<()> {
        let operand = self.value(operand)?;
        let (low, high) = (self.value(low)?, self.value(high)?);
        let place = match (low.constant(), high.constant()) {
            (Some(low), Some(high)) => Place::Between { low, high },
            (None, _) | (_, None) => Place::Inside { around },
        };
        self.put_if(operand.mention, place);
        self.put_if(low.mention, Place::Inside { around });
        self.put_if(high.mention, Place::Inside { around });
        Ok(())
    }

    /// The constants of a list; `None` where it holds anything else.
    fn list(&mut self, list: &'a List, around: Span) -> Result<Option<Vec<Value>>> {
        let trees = list.trees();
        if trees.is_empty() {
            let all = list.values(self.text.text, self.text.syntax);
            return Ok(Some(all.map(|literal| Value::Literal(literal.span)).collect()));
        }
        let mut values = Vec::with_capacity(trees.len());
        let mut only_constants = true;
        for expr in trees {
            let valued = self.value(expr)?;
            match valued.constant() {
                Some(value) => values.push(value),
                None => only_constants = false,
            }
            self.put_if(valued.mention, Place::Inside { around });
        }
        Ok(only_constants.then_some(values))
    }

    fn in_query(
        &mut self,
        operand: &'a Expr,
        query: &'a Query,
        sense: Sense,
        around: Span,
    ) -> Result<()> {
        let left = self.value(operand)?;
        let mention = self.subquery(query, query.span)?;
        let given = mention
            .as_ref()
            .map_or(Given::Expression(query.span), |mention| Given::Column(mention.of.clone()));
        self.equality(left, Valued { mention, given }, sense, around);
        Ok(())
    }

    fn like(&mut self, operand: &'a Expr, pattern: &'a Expr, around: Span) -> Result<()> {
        let between = Span::new(operand.span.end, pattern.span.start);
        let operand = self.value(operand)?;
        let pattern = self.value(pattern)?;
        let place = match pattern.constant() {
            Some(pattern) => Place::Like { operator: self.text.words(between), pattern },
            None => Place::Inside { around },
        };
        self.put_if(operand.mention, place);
        self.put_if(pattern.mention, Place::Inside { around });
        Ok(())
    }
}

fn equal_to(other: &Given, sense: Sense, around: Span) -> Place {
    match other {
        Given::Value(value) => sense.to(*value),
        Given::Column(of) => sense.to_column(of.clone()),
        Given::Default(_) | Given::Expression(_) => Place::Inside { around },
    }
}

fn mirrored(op: &BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessOrEqual => BinaryOp::GreaterOrEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterOrEqual => BinaryOp::LessOrEqual,
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Equal
        | BinaryOp::NullSafeEqual
        | BinaryOp::NotEqual
        | BinaryOp::Plus
        | BinaryOp::Minus
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Modulo
        | BinaryOp::Other(_) => op.clone(),
    }
}
