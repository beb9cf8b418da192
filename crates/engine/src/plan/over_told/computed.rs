//! Expressions over values that are told, in the places of those that no storage unit computes. A unit is asked for the
//! same expression over NULLs in their place, so that its server says what type it has; the value is put there later.

#![expect(clippy::wildcard_enum_match_arm, reason = "filters over syntax nodes")]

use pando_kernel::DeclaredType;
use pando_kernel::dialect::{Compare, Comparison};
use pando_kernel::merge::{Computed, Scalar};
use pando_kernel::table::TableColumn;
use pando_kernel::value::{Kind, Value};
use pando_sql::ast::{BinaryOp, Expr, Function, Literal, Node};
use pando_sql::{Edits, Fold};

use super::parts::{Builder, Known, Stop};
use super::told_column::{ToldColumn, refused};
use super::unsaid;
use crate::plan::merge_plan::resolve::{Info, unwrapped};

/// Characters that a part of a text may begin behind, or have.
const LONGEST_PART: i64 = 1 << 30;

/// Which columns NULLs stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nulls {
    Told,
    All,
}

/// A computed value, and what it is.
pub(super) struct Made {
    pub(super) value: Computed,
    pub(super) is: Is,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Is {
    /// NULL, of any type.
    Null,
    /// A text; how such are sorted, where that is known: a constant is sorted as what stands beside it.
    Text(Option<Compare>),
    /// A text that is written out.
    Written,
    /// A whole number of so many octets.
    Whole(u8),
    /// A decimal.
    Exact,
    /// Anything else.
    Other(Kind),
}

impl Is {
    /// How such values compare; `None` where that is not known.
    pub(super) fn compare(self) -> Option<Compare> {
        match self {
            Self::Text(order) => order,
            Self::Written => Some(Compare::Bytes),
            Self::Null | Self::Whole(_) | Self::Exact => Some(Compare::Number),
            Self::Other(Kind::Bool) => Some(Compare::Number),
            Self::Other(kind @ (Kind::Date | Kind::Time | Kind::Timestamp)) => {
                Some(Compare::Temporal(kind))
            }
            Self::Other(_) => None,
        }
    }

    /// How such values are equal; `None` where that is not known.
    pub(super) fn equality(self) -> Option<Compare> {
        if self.is_text() { Some(Compare::Bytes) } else { self.compare() }
    }

    fn is_text(self) -> bool {
        matches!(self, Self::Text(_) | Self::Written)
    }

    /// What both may be; `None` where a server would make one of the other.
    pub(super) fn with(self, other: Self, fold: Fold) -> Option<Self> {
        Some(match (self, other) {
            (Self::Null, own) | (own, Self::Null) => own,
            (Self::Written, own) | (own, Self::Written) if own.is_text() => own,
            (Self::Whole(a), Self::Whole(b)) => Self::Whole(a.max(b)),
            // PostgreSQL tells each with its own digits.
            (Self::Whole(_) | Self::Exact, Self::Whole(_) | Self::Exact) if fold == Fold::Lower => {
                Self::Exact
            }
            (own, other) if own == other && own != Self::Exact => own,
            _ => return None,
        })
    }
}

impl Builder<'_> {
    /// Whether an item's values are computed here: units cannot, and it is no column alone.
    pub(super) fn is_computed(&self, expr: &Expr) -> Known<bool> {
        Ok(self.told_expr(expr)?.is_none() && !self.is_answered_item(expr)?)
    }

    /// The text by which a unit says what type an expression has: NULLs stand for what is told.
    pub(super) fn typed_null(&self, expr: &Expr) -> Known<String> {
        self.with_nulls(expr, Nulls::Told)
    }

    /// The same, with NULLs for all columns: it hangs on no row.
    pub(super) fn all_typed_null(&self, expr: &Expr) -> Known<String> {
        self.with_nulls(expr, Nulls::All)
    }

    fn with_nulls(&self, expr: &Expr, nulls: Nulls) -> Known<String> {
        let mut edits = Edits::default();
        let mut left = vec![expr];
        while let Some(one) = left.pop() {
            if matches!(
                one.node,
                Node::Subquery(_) | Node::Exists(_) | Node::InQuery { .. } | Node::Parameter(_)
            ) {
                return Err(self.uncomputed(expr));
            }
            match &one.node {
                // What it says of a row is asked for elsewhere, and no type hangs on it.
                Node::Case { operand: None, branches, otherwise } => {
                    for (when, then) in branches {
                        edits.replace(when.span, "NULL");
                        left.push(then);
                    }
                    left.extend(otherwise.as_deref());
                    continue;
                }
                Node::Literal(literal) => {
                    if unsaid::is_value(literal) {
                        let other = unsaid::in_place_of(literal);
                        edits.replace(one.span, other.ok_or_else(|| self.uncomputed(expr))?);
                    }
                    continue;
                }
                _ => {}
            }
            if let Node::Column(_) = one.node {
                let told = self.told_expr(one)?.map(|own| own.column);
                let column = match nulls {
                    Nulls::Told => told,
                    Nulls::All => Some(match told {
                        Some(column) => column,
                        None => self.stored(one)?,
                    }),
                };
                if let Some(column) = column {
                    edits.replace(one.span, self.null_of(&column));
                    continue;
                }
            }
            unsaid::parts(one, &mut left);
        }
        // Everything behind it stays as long as it is.
        let whole = edits.apply(&self.stmt.text);
        let behind = self.stmt.text.len() - expr.span.end as usize;
        let text = whole.len().checked_sub(behind);
        let text = text.and_then(|end| whole.get(expr.span.start as usize..end));
        text.map(str::to_owned).ok_or_else(|| self.uncomputed(expr))
    }

    fn stored(&self, expr: &Expr) -> Known<TableColumn> {
        let info = self.scope.info(expr);
        if let Info::Needs(need) = info {
            return Err(Stop::Needs(need));
        }
        info.column().cloned().ok_or_else(|| self.uncomputed(expr))
    }

    fn null_of(&self, column: &TableColumn) -> String {
        if self.ctx.dialect.syntax().fold == Fold::Lower {
            return format!("CAST(NULL AS {})", column.type_name);
        }
        match column.kind {
            // A cast NULL has no digits, by which these servers choose between INT and BIGINT.
            Kind::Int => format!("NULLIF({0}, {0})", i64::MAX),
            Kind::Text => "CAST(NULL AS CHAR(255) CHARACTER SET utf8mb4)".to_owned(),
            _ => format!("CAST(NULL AS {})", column.type_name),
        }
    }

    /// An expression over told values.
    pub(super) fn computed(&mut self, expr: &Expr) -> Known<Made> {
        let expr = unwrapped(expr);
        if let Some(own) = self.told_expr(expr)? {
            return self.told_value(&own, expr);
        }
        match &expr.node {
            Node::Literal(literal) => constant(literal).ok_or_else(|| self.uncomputed(expr)),
            Node::Column(_) => self.stored_value(expr),
            Node::Unary { op, operand } if op == "-" => {
                let made = self.computed(operand)?;
                self.keeps_type(made.is, expr)?;
                match made.is {
                    Is::Whole(_) | Is::Exact => self.number(Scalar::Negative, vec![made], expr),
                    _ => Err(self.uncomputed(expr)),
                }
            }
            Node::Binary { op, left, right } => {
                let scalar = match op {
                    BinaryOp::Plus => Scalar::Plus,
                    BinaryOp::Minus => Scalar::Minus,
                    BinaryOp::Multiply => Scalar::Times,
                    BinaryOp::Modulo => return self.modulo(left, right, expr),
                    _ => return Err(self.uncomputed(expr)),
                };
                let operands = vec![self.computed(left)?, self.computed(right)?];
                self.number(scalar, operands, expr)
            }
            Node::Function(call) => self.call(call, expr),
            Node::Case { operand: None, branches, otherwise } => {
                self.case(branches, otherwise.as_deref(), expr)
            }
            _ => Err(self.uncomputed(expr)),
        }
    }

    fn told_value(&mut self, own: &ToldColumn, expr: &Expr) -> Known<Made> {
        let is = match own.column.kind {
            Kind::Text if own.equality(self.ctx)? == Compare::Bytes => {
                Is::Text(own.order(self.ctx).ok())
            }
            Kind::Text => return Err(self.uncomputed(expr)),
            _ => self.is_of(&own.column, expr)?,
        };
        let position = self.derive(&own.text, "COMPUTED");
        self.looks_into(&position, &own.text);
        Ok(Made { value: Computed::Column(position), is })
    }

    /// A column that is as it is stored.
    fn stored_value(&mut self, expr: &Expr) -> Known<Made> {
        let column = self.stored(expr)?;
        let text = self.scope.text(expr).to_owned();
        let is = match column.kind {
            Kind::Text => {
                let is_any = ["text", "character varying"];
                let compare = self.ctx.dialect.comparison(&text, Some(&column));
                let is_text = is_any.iter().any(|name| column.type_name.starts_with(name));
                match compare {
                    Comparison::Value(Compare::Bytes) if is_text => Is::Text(Some(Compare::Bytes)),
                    _ => return Err(self.uncomputed(expr)),
                }
            }
            _ => self.is_of(&column, expr)?,
        };
        Ok(Made { value: Computed::Column(self.derive(&text, "COMPUTED")), is })
    }

    fn is_of(&self, column: &TableColumn, expr: &Expr) -> Known<Is> {
        let fold = self.ctx.dialect.syntax().fold;
        Ok(match (column.kind, DeclaredType::read(&column.type_name, fold)) {
            (Kind::Int, Some(DeclaredType::Int { octets, .. })) => Is::Whole(octets),
            (Kind::Int, Some(DeclaredType::TinyInt1)) => Is::Whole(1),
            (Kind::Decimal, _) => Is::Exact,
            (kind @ (Kind::Date | Kind::Time | Kind::Timestamp | Kind::Bool), _) => Is::Other(kind),
            _ => return Err(self.uncomputed(expr)),
        })
    }

    /// What MySQL makes of whole numbers that are no BIGINT is of types of its own, unless it adds or multiplies them.
    pub(super) fn keeps_type(&self, is: Is, expr: &Expr) -> Known<()> {
        match is {
            Is::Whole(octets) if octets < 8 && self.ctx.dialect.syntax().fold == Fold::Keep => {
                Err(self.uncomputed(expr))
            }
            _ => Ok(()),
        }
    }

    /// A number of numbers.
    fn number(&self, scalar: fn(u8) -> Scalar, operands: Vec<Made>, expr: &Expr) -> Known<Made> {
        let is_mysql = self.ctx.dialect.syntax().fold == Fold::Keep;
        let mut octets = if is_mysql { 8 } else { 0 };
        let mut is_whole = true;
        for one in &operands {
            match one.is {
                // Their sum is an INT there.
                Is::Whole(own) if is_mysql && own < 4 => return Err(self.uncomputed(expr)),
                Is::Whole(own) => octets = octets.max(own),
                Is::Exact => is_whole = false,
                _ => return Err(self.uncomputed(expr)),
            }
        }
        let values = operands.into_iter().map(|made| made.value).collect();
        let is = if is_whole { Is::Whole(octets) } else { Is::Exact };
        Ok(Made { value: Computed::Of(scalar(octets), values), is })
    }

    /// The rest of a whole number by a constant that is not 0.
    fn modulo(&mut self, left: &Expr, right: &Expr, expr: &Expr) -> Known<Made> {
        let is_by =
            matches!(&unwrapped(right).node, Node::Literal(Literal::Integer(by)) if *by != 0);
        let operands = vec![self.computed(left)?, self.computed(right)?];
        if let Some(first) = operands.first() {
            self.keeps_type(first.is, expr)?;
        }
        let are_whole = operands.iter().all(|made| matches!(made.is, Is::Whole(_)));
        match is_by && are_whole {
            true => self.number(Scalar::Modulo, operands, expr),
            false => Err(self.uncomputed(expr)),
        }
    }

    fn call(&mut self, call: &Function, expr: &Expr) -> Known<Made> {
        let is_plain = call.over.is_none()
            && call.distinct.is_none()
            && call.filter.is_none()
            && call.order_by.is_empty()
            && call.within_group.is_none()
            && call.name.parts.len() == 1
            && !call.is_aggregate();
        if !is_plain {
            return Err(self.uncomputed(expr));
        }
        let is_postgres = self.ctx.dialect.syntax().fold == Fold::Lower;
        let arguments = &call.arguments[..];
        match (call.plain_name().as_str(), arguments) {
            ("upper", [text]) => self.of_text(Scalar::Upper, text, expr),
            ("lower", [text]) => self.of_text(Scalar::Lower, text, expr),
            ("char_length" | "character_length", [text]) => self.length(text, expr),
            ("length", [text]) if is_postgres => self.length(text, expr),
            ("abs", [number]) => {
                let made = self.computed(number)?;
                self.keeps_type(made.is, expr)?;
                self.number(Scalar::Absolute, vec![made], expr)
            }
            ("mod", [left, right]) => self.modulo(left, right, expr),
            ("concat", [_, ..]) => self.concat(arguments, expr),
            ("coalesce", [_, _, ..]) => {
                let made = self.alike(arguments.iter(), expr)?;
                let values = made.0.into_iter().map(|one| one.value).collect();
                Ok(Made { value: Computed::Of(Scalar::Coalesce, values), is: made.1 })
            }
            ("nullif", [value, other]) => {
                let (made, is) = self.alike([value, other].into_iter(), expr)?;
                let compare = is.compare().ok_or_else(|| self.uncomputed(expr))?;
                let own = made.first().map_or(is, |one| one.is);
                let values = made.into_iter().map(|one| one.value).collect();
                Ok(Made { value: Computed::Of(Scalar::NullIf(compare), values), is: own })
            }
            ("substring" | "substr", [text, from, most]) => {
                let count = |expr: &Expr| match &unwrapped(expr).node {
                    Node::Literal(Literal::Integer(count)) => Some(*count),
                    _ => None,
                };
                let range = count(from).zip(count(most));
                let range = range.filter(|(from, most)| {
                    (1..LONGEST_PART).contains(from) && (0..LONGEST_PART).contains(most)
                });
                let (from, most) = range.ok_or_else(|| self.uncomputed(expr))?;
                let from = usize::try_from(from - 1).unwrap_or_default();
                let most = usize::try_from(most).unwrap_or_default();
                self.of_text(Scalar::Part { from, most }, text, expr)
            }
            ("replace", [text, old, new]) => {
                let all = vec![self.computed(text)?, self.computed(old)?, self.computed(new)?];
                let are_right = matches!(all[0].is, Is::Text(_))
                    && all[1].is == Is::Written
                    && all[2].is == Is::Written;
                if !are_right {
                    return Err(self.uncomputed(expr));
                }
                let is = all[0].is;
                let values = all.into_iter().map(|one| one.value).collect();
                Ok(Made { value: Computed::Of(Scalar::Replaced, values), is })
            }
            _ => Err(self.uncomputed(expr)),
        }
    }

    fn of_text(&mut self, scalar: Scalar, text: &Expr, expr: &Expr) -> Known<Made> {
        let Made { value, is } = self.computed(text)?;
        match is {
            Is::Text(_) => Ok(Made { value: Computed::Of(scalar, vec![value]), is }),
            _ => Err(self.uncomputed(expr)),
        }
    }

    fn length(&mut self, text: &Expr, expr: &Expr) -> Known<Made> {
        let Made { value, .. } = self.of_text(Scalar::Characters, text, expr)?;
        let octets = if self.ctx.dialect.syntax().fold == Fold::Lower { 4 } else { 8 };
        Ok(Made { value, is: Is::Whole(octets) })
    }

    fn concat(&mut self, arguments: &[Expr], expr: &Expr) -> Known<Made> {
        let (made, is) = self.alike(arguments.iter(), expr)?;
        let scalar = match self.ctx.dialect.syntax().fold {
            Fold::Lower => Scalar::Joined,
            Fold::Keep => Scalar::JoinedAll,
        };
        match is {
            Is::Text(_) => {
                let values = made.into_iter().map(|one| one.value).collect();
                Ok(Made { value: Computed::Of(scalar, values), is })
            }
            _ => Err(self.uncomputed(expr)),
        }
    }

    /// Values of which the server makes nothing else so that they are of one type.
    fn alike<'e>(
        &mut self,
        exprs: impl Iterator<Item = &'e Expr>,
        whole: &Expr,
    ) -> Known<(Vec<Made>, Is)> {
        let fold = self.ctx.dialect.syntax().fold;
        let mut all = Vec::new();
        let mut is = Is::Null;
        for expr in exprs {
            let made = self.computed(expr)?;
            is = is.with(made.is, fold).ok_or_else(|| self.uncomputed(whole))?;
            all.push(made);
        }
        self.keeps_type(is, whole)?;
        Ok((all, is))
    }

    fn case(
        &mut self,
        branches: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
        expr: &Expr,
    ) -> Known<Made> {
        let thens = branches.iter().map(|(_, then)| then);
        let (made, is) = self.alike(thens.chain(otherwise), expr)?;
        let mut values = made.into_iter().map(|one| one.value);
        let mut whens = Vec::new();
        for (when, _) in branches {
            let when = self.condition(when)?;
            whens.push((when, values.next().ok_or_else(|| self.uncomputed(expr))?));
        }
        let otherwise = values.next().unwrap_or(Computed::Constant(Value::Null));
        Ok(Made { value: Computed::Case(whens, Box::new(otherwise)), is })
    }

    pub(super) fn uncomputed(&self, expr: &Expr) -> Stop {
        refused(&format!("`{}`", pando_sql::redacted(self.scope.text(expr)))).into()
    }
}

fn constant(literal: &Literal) -> Option<Made> {
    let is = match literal {
        Literal::Integer(number) if i32::try_from(*number).is_ok() => Is::Whole(4),
        Literal::Integer(_) => Is::Whole(8),
        Literal::Text(_) => Is::Written,
        Literal::Null => Is::Null,
        Literal::Number(_) | Literal::Bytes(_) | Literal::Boolean(_) | Literal::Typed(..) => {
            return None;
        }
    };
    Some(Made { value: Computed::Constant(Value::of_literal(literal)?), is })
}
