//! Conditions over values that are told, in the places of those that no storage unit answers.

#![expect(clippy::wildcard_enum_match_arm, reason = "filters over syntax nodes")]

use pando_kernel::DeclaredType;
use pando_kernel::dialect::Compare;
use pando_kernel::merge::{Computed, Condition, Position, Relation};
use pando_kernel::value::{Kind, Value};
use pando_sql::ast::{BinaryOp, Expr, Node};
use pando_sql::{Edits, Placeholder, Span};

use super::computed::Is;
use super::constant::constant;
use super::parts::{Builder, Known};
use super::told_column::{ToldColumn, refused};
use crate::plan::merge_plan::aggregate;
use crate::plan::merge_plan::resolve::{has_parameter, unwrapped};

/// Characters of a pattern that values are compared with.
const LONGEST_PATTERN: usize = 1_000;
/// Values of an IN list: each row is compared with all of them.
const MOST_VALUES: usize = 1_000;

impl Builder<'_> {
    /// A condition, of which what units answer is asked of them as an item of its own.
    pub(super) fn condition(&mut self, expr: &Expr) -> Known<Condition> {
        let expr = unwrapped(expr);
        match &expr.node {
            Node::Binary { op: BinaryOp::And, left, right } => {
                Ok(Condition::All(vec![self.condition(left)?, self.condition(right)?]))
            }
            Node::Binary { op: BinaryOp::Or, left, right } => {
                Ok(Condition::Any(vec![self.condition(left)?, self.condition(right)?]))
            }
            Node::Unary { op, operand } if op == "NOT" => Ok(not(self.condition(operand)?)),
            _ if self.is_answered(expr)? => self.said(expr),
            _ => self.looked_at(expr),
        }
    }

    /// What a unit says of it; twice not, so that it says no other number than 0 and 1.
    fn said(&mut self, expr: &Expr) -> Known<Condition> {
        let text = format!("NOT (NOT ({}))", self.filled(expr)?);
        Ok(Condition::Said(self.derive(&text, "CONDITION")))
    }

    /// The text of what units are asked for as an item of its own. Parameters without numbers stand in the order of the
    /// text: their values are written out, and what is encrypted of them the rooms encrypt there.
    pub(super) fn filled(&mut self, expr: &Expr) -> Known<String> {
        let own = self.scope.text(expr).to_owned();
        if self.ctx.dialect.syntax().placeholder == Placeholder::Dollar || !has_parameter(expr) {
            return Ok(own);
        }
        let mut edits = Edits::default();
        let mut left = vec![expr];
        while let Some(one) = left.pop() {
            match &one.node {
                Node::Subquery(_) | Node::Exists(_) | Node::InQuery { .. } => {
                    return Err(super::with_parameter().into());
                }
                Node::Parameter(at) => {
                    let value = self.ctx.parameter(*at).cloned().unwrap_or(Value::Null);
                    if matches!(value, Value::Float(_) | Value::Bytes(_)) {
                        return Err(super::with_parameter().into());
                    }
                    let (start, end) =
                        (one.span.start - expr.span.start, one.span.end - expr.span.start);
                    edits.replace(Span::new(start, end), self.ctx.dialect.literal(&value));
                }
                _ => aggregate::push_children(one, &mut left),
            }
        }
        Ok(edits.apply(&own))
    }

    fn looked_at(&mut self, expr: &Expr) -> Known<Condition> {
        match &expr.node {
            Node::Binary { op, left, right } => self.binary(op, left, right, expr),
            Node::Between { operand, low, high, negated, symmetric: false } => {
                let bounds = vec![
                    self.compared(operand, Relation::GreaterOrEqual, low)?,
                    self.compared(operand, Relation::LessOrEqual, high)?,
                ];
                let within = Condition::All(bounds);
                Ok(if *negated { not(within) } else { within })
            }
            Node::InList { operand, list, negated }
                if !list.trees().is_empty() && list.len() <= MOST_VALUES =>
            {
                let values = list.trees().iter();
                let any = values.map(|value| self.compared(operand, Relation::Equal, value));
                let among = Condition::Any(any.collect::<Known<_>>()?);
                Ok(if *negated { not(among) } else { among })
            }
            Node::Like { operand, pattern, negated } => {
                let like = self.like(operand, pattern, expr)?;
                Ok(if *negated { not(like) } else { like })
            }
            Node::Other(list) if list.len() == 1 => self.is(&list[0], expr),
            Node::Column(_) => {
                let made = self.computed(expr)?;
                if made.is != Is::Other(Kind::Bool) {
                    return Err(self.unanswered(expr));
                }
                let (is, right) = (Relation::Equal, Computed::Constant(Value::Bool(true)));
                Ok(Condition::Compared { left: made.value, compare: Compare::Number, is, right })
            }
            _ => Err(self.unanswered(expr)),
        }
    }

    /// `… IS NOT TRUE`.
    fn is(&mut self, inner: &Expr, whole: &Expr) -> Known<Condition> {
        let words = Span::new(inner.span.end, whole.span.end).of(&self.stmt.text);
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ").to_uppercase();
        let (is_not, word) = match words.strip_prefix("IS NOT ") {
            Some(word) => (true, word),
            None => (false, words.strip_prefix("IS ").unwrap_or_default()),
        };
        let value = match word {
            "TRUE" => Some(true),
            "FALSE" => Some(false),
            "UNKNOWN" => None,
            _ => return Err(self.unanswered(whole)),
        };
        let is = Condition::Is(Box::new(self.condition(inner)?), value);
        Ok(if is_not { not(is) } else { is })
    }

    fn binary(
        &mut self,
        op: &BinaryOp,
        left: &Expr,
        right: &Expr,
        whole: &Expr,
    ) -> Known<Condition> {
        let is = match op {
            BinaryOp::Equal | BinaryOp::NotEqual => Relation::Equal,
            BinaryOp::NullSafeEqual => Relation::Same,
            BinaryOp::Less => Relation::Less,
            BinaryOp::LessOrEqual => Relation::LessOrEqual,
            BinaryOp::Greater => Relation::Greater,
            BinaryOp::GreaterOrEqual => Relation::GreaterOrEqual,
            BinaryOp::Other(words) if words == "IS DISTINCT FROM" => Relation::Same,
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Plus
            | BinaryOp::Minus
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Modulo
            | BinaryOp::Other(_) => return Err(self.unanswered(whole)),
        };
        let is_opposite = matches!(op, BinaryOp::NotEqual | BinaryOp::Other(_));
        let compared = match self.told_expr(left)? {
            Some(_) => self.compared(left, is, right)?,
            None => self.compared(right, turned_round(is), left)?,
        };
        Ok(if is_opposite { not(compared) } else { compared })
    }

    /// A column whose values are told beside a constant of its type, or any two values that are computed here.
    fn compared(&mut self, left: &Expr, is: Relation, right: &Expr) -> Known<Condition> {
        if let Some(own) = self.told_expr(left)?
            && is_constant(right)
        {
            let compare = self.compare(&own, is)?;
            let value = constant(self.ctx, &own.column, right);
            let value = value.ok_or_else(|| self.unread(&own, right))?;
            self.reads_here(right, &own);
            let left = Computed::Column(self.value(&own));
            return Ok(Condition::Compared { left, compare, is, right: Computed::Constant(value) });
        }
        let (one, other) = (self.computed(left)?, self.computed(right)?);
        let both = one.is.with(other.is, self.ctx.dialect.syntax().fold);
        let compare = both.and_then(|both| match is {
            Relation::Same | Relation::Equal => both.equality(),
            Relation::Less
            | Relation::LessOrEqual
            | Relation::Greater
            | Relation::GreaterOrEqual => both.compare(),
        });
        let compare = compare.ok_or_else(|| self.uncomputed(left))?;
        Ok(Condition::Compared { left: one.value, compare, is, right: other.value })
    }

    fn like(&mut self, operand: &Expr, pattern: &Expr, whole: &Expr) -> Known<Condition> {
        let words = Span::new(operand.span.end, pattern.span.start).of(&self.stmt.text);
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ").to_uppercase();
        let words = words.trim_start_matches([')', ' ']);
        let is_like = matches!(words, "LIKE" | "NOT LIKE");
        let own = self.told_expr(operand)?.filter(|own| is_like && own.column.kind == Kind::Text);
        let Some(own) = own else { return Err(self.unanswered(whole)) };
        // Which blanks at its end a value has hangs on the type.
        if self.compare(&own, Relation::Equal)? != Compare::Bytes {
            return Err(self.unanswered(whole));
        }
        let pattern = match constant(self.ctx, &own.column, pattern) {
            Some(Value::Null) => None,
            Some(Value::Text(text))
                if !text.contains('\\') && text.chars().count() <= LONGEST_PATTERN =>
            {
                self.reads_here(pattern, &own);
                Some(text.into())
            }
            Some(_) | None => return Err(self.unread(&own, pattern)),
        };
        let text = Computed::Column(self.value(&own));
        Ok(Condition::Like { text, pattern })
    }

    /// Where a column's values stand.
    fn value(&mut self, own: &ToldColumn) -> Position {
        let position = self.derive(&own.text, "CONDITION");
        self.looks_into(&position, &own.text);
        position
    }

    fn compare(&self, own: &ToldColumn, is: Relation) -> Known<Compare> {
        let compare = match is {
            Relation::Same | Relation::Equal => own.equality(self.ctx)?,
            Relation::Less
            | Relation::LessOrEqual
            | Relation::Greater
            | Relation::GreaterOrEqual => own.order(self.ctx)?,
        };
        // A constant may have fewer digits than a column's values.
        Ok(match own.column.kind {
            kind @ (Kind::Date | Kind::Time | Kind::Timestamp) => Compare::Temporal(kind),
            Kind::Bool
            | Kind::Int
            | Kind::UInt
            | Kind::Decimal
            | Kind::Float
            | Kind::Text
            | Kind::Bytes
            | Kind::TimestampTz
            | Kind::Other => compare,
        })
    }

    /// Notes a parameter that no unit may be told of.
    fn reads_here(&mut self, expr: &Expr, own: &ToldColumn) {
        if let Node::Parameter(at) = unwrapped(expr).node {
            let fold = self.ctx.dialect.syntax().fold;
            let declared = DeclaredType::read(&own.column.type_name, fold);
            self.read_here.push((at, declared.unwrap_or(DeclaredType::Text { most: None })));
        }
    }

    fn unanswered(&self, expr: &Expr) -> super::parts::Stop {
        refused(&format!("`{}`", pando_sql::redacted(self.scope.text(expr)))).into()
    }

    fn unread(&self, own: &ToldColumn, value: &Expr) -> super::parts::Stop {
        let (name, type_name) = (&own.text, &own.column.type_name);
        pando_kernel::Error::unsupported(
            30001,
            format!(
                "`{name}`, which is stored otherwise than it is seen, is compared with `{}` in a way that only servers know",
                pando_sql::redacted(self.scope.text(value))
            ),
            format!("compare it with a constant of its type ({type_name}), in the form of ISO 8601 where that is a moment"),
        )
        .into()
    }
}

/// Whether an expression has the same value in all rows.
fn is_constant(expr: &Expr) -> bool {
    match &unwrapped(expr).node {
        Node::Literal(_) | Node::Parameter(_) => true,
        Node::Unary { operand, .. } => is_constant(operand),
        _ => false,
    }
}

fn turned_round(is: Relation) -> Relation {
    match is {
        Relation::Same | Relation::Equal => is,
        Relation::Less => Relation::Greater,
        Relation::LessOrEqual => Relation::GreaterOrEqual,
        Relation::Greater => Relation::Less,
        Relation::GreaterOrEqual => Relation::LessOrEqual,
    }
}

fn not(condition: Condition) -> Condition {
    Condition::Not(Box::new(condition))
}
