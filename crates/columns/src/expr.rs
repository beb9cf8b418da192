//! Expressions: each column of interest gets the place of the smallest thing around it.

use pando_sql::ast::{Expr, Function, Literal, Node, OrderItem, Query};
use pando_sql::{Fold, Span};

use crate::analysis::{Analysis, Result};
use crate::lookup::Mention;
use crate::outlet::Outlet;
use crate::scope::{Carries, Outputs};
use crate::stop::Stop;
use crate::uses::{Given, Place, Reference, Value};

/// Functions of MariaDB's sequences. <https://mariadb.com/kb/en/sequence-functions/>
const SEQUENCES: &[&str] = &["nextval", "lastval", "setval"];

/// What an expression gives. A mention of it has no place yet.
pub(crate) struct Valued {
    pub(crate) mention: Option<Mention>,
    pub(crate) given: Given,
}

impl Valued {
    fn plain(given: Given) -> Self {
        Self { mention: None, given }
    }

    /// The constant it is.
    pub(crate) fn constant(&self) -> Option<Value> {
        match &self.given {
            Given::Value(value) => Some(*value),
            Given::Default(_) | Given::Column(_) | Given::Expression(_) => None,
        }
    }
}

impl<'a> Analysis<'a> {
    /// An expression in a place that has no name of its own: `around` is what stands around it.
    pub(crate) fn expr(&mut self, expr: &'a Expr, around: Span) -> Result<()> {
        let valued = self.value(expr)?;
        if let Some(mention) = valued.mention {
            self.put(mention, Place::Inside { around });
        }
        Ok(())
    }

    pub(crate) fn exprs(&mut self, list: &'a [Expr], around: Span) -> Result<()> {
        list.iter().try_for_each(|expr| self.expr(expr, around))
    }

    /// A condition, or another clause of one expression.
    pub(crate) fn clause(&mut self, expr: Option<&'a Expr>) -> Result<()> {
        expr.map_or(Ok(()), |expr| self.expr(expr, expr.span))
    }

    /// What an expression gives; the uses inside it are found.
    pub(crate) fn value(&mut self, expr: &'a Expr) -> Result<Valued> {
        match &expr.node {
            Node::Column(name) => {
                let mention = self.column(name)?;
                Ok(of_mention(mention, expr.span))
            }
            Node::Nested(inner) => self.value(inner),
            Node::Subquery(query) => {
                let mention = self.subquery(query, expr.span)?;
                Ok(of_mention(mention, expr.span))
            }
            Node::Literal(literal) => {
                if matches!(literal, Literal::Typed(..)) {
                    // The type's name.
                    self.other(expr.span);
                }
                Ok(Valued::plain(Given::Value(Value::Literal(expr.span))))
            }
            Node::Unary { .. } if pando_kernel::Value::of_constant(expr).is_some() => {
                Ok(Valued::plain(Given::Value(Value::Literal(expr.span))))
            }
            Node::Parameter(index) => {
                let value = Value::Parameter { index: *index, span: expr.span };
                Ok(Valued::plain(Given::Value(value)))
            }
            Node::Cast { operand, to } if is_constant(operand) => {
                self.other(*to);
                let value = Value::Cast { whole: expr.span, to: *to };
                Ok(Valued::plain(Given::Value(value)))
            }
            Node::Default => Ok(Valued::plain(Given::Default(expr.span))),
            Node::Function(function) => {
                let mention = self.call(function, expr.span)?;
                Ok(of_mention(mention, expr.span))
            }
            Node::Variable(_)
            | Node::Unary { .. }
            | Node::Binary { .. }
            | Node::Between { .. }
            | Node::InList { .. }
            | Node::InQuery { .. }
            | Node::Like { .. }
            | Node::IsNull { .. }
            | Node::Case { .. }
            | Node::Cast { .. }
            | Node::Collate { .. }
            | Node::Exists(_)
            | Node::Row(_)
            | Node::Other(_) => {
                self.inside(expr)?;
                Ok(Valued::plain(Given::Expression(expr.span)))
            }
        }
    }

    fn inside(&mut self, expr: &'a Expr) -> Result<()> {
        let around = expr.span;
        match &expr.node {
            Node::Cast { operand, to } => {
                self.other(*to);
                self.expr(operand, around)
            }
            Node::Collate { operand, collation } => {
                self.other(collation.span);
                self.expr(operand, around)
            }
            Node::Unary { operand, .. } | Node::Nested(operand) => self.expr(operand, around),
            Node::Binary { .. }
            | Node::Between { .. }
            | Node::InList { .. }
            | Node::InQuery { .. }
            | Node::Like { .. }
            | Node::IsNull { .. } => self.predicate(expr),
            Node::Case { operand, branches, otherwise } => {
                operand.iter().try_for_each(|one| self.expr(one, around))?;
                for (when, then) in branches {
                    self.expr(when, around)?;
                    self.expr(then, around)?;
                }
                otherwise.iter().try_for_each(|one| self.expr(one, around))
            }
            Node::Exists(query) => self.query(query, &Outlet::Inner).map(|_| ()),
            Node::Row(list) | Node::Other(list) => self.exprs(list, around),
            Node::Column(_)
            | Node::Literal(_)
            | Node::Parameter(_)
            | Node::Variable(_)
            | Node::Function(_)
            | Node::Subquery(_)
            | Node::Default => Ok(()),
        }
    }

    /// A sub-query as a value: the column of interest it gives. Several columns, some of them of interest, are no one
    /// value.
    pub(crate) fn subquery(&mut self, query: &'a Query, span: Span) -> Result<Option<Mention>> {
        let outputs = self.query(query, &Outlet::Inner)?;
        self.of_outputs(&outputs, span)
    }

    fn of_outputs(&mut self, outputs: &Outputs, span: Span) -> Result<Option<Mention>> {
        let Some(list) = outputs else { return Ok(None) };
        match &list[..] {
            [only] => match &only.carries {
                Carries::Nothing => Ok(None),
                Carries::Several => Err(self.mixed(span)),
                Carries::Column(of) => Ok(Some(Mention {
                    of: of.clone(),
                    span,
                    qualifier: None,
                    by: Reference::Query,
                })),
            },
            _ => {
                for one in list.iter().filter(|one| one.carries != Carries::Nothing) {
                    let Carries::Column(of) = one.carries.clone() else {
                        return Err(self.mixed(span));
                    };
                    let by = Reference::Query;
                    let mention = Mention { of, span, qualifier: None, by };
                    self.put(mention, Place::Inside { around: span });
                }
                Ok(None)
            }
        }
    }

    /// A call. `VALUES(c)` is the proposed value of a column; all else is a place for its arguments.
    fn call(&mut self, function: &'a Function, span: Span) -> Result<Option<Mention>> {
        self.other(function.name.span);
        let called = function.plain_name();
        if function.star && called != "count" && self.is_concerned() {
            return Err(Stop::unclear(format!("`{called}(*)` may read every column")));
        }
        let arguments = match &function.arguments[..] {
            [sequence, rest @ ..] if self.is_sequence(&called, sequence)? => {
                self.other(sequence.span);
                rest
            }
            all => all,
        };
        if let [argument] = arguments
            && let Some(mention) = self.only_argument(function, argument, span)?
        {
            return Ok(Some(mention));
        } else if arguments.len() != 1 {
            self.exprs(arguments, span)?;
        }
        self.sorted(&function.order_by, span)?;
        self.clause(function.filter.as_deref())?;
        self.exprs(&function.inner, span)?;
        Ok(None)
    }

    /// Whether a function's first argument names a sequence, which MariaDB's functions name as others do columns.
    /// MySQL has no sequences, but routines may be called so: a name that is a column is taken for one.
    fn is_sequence(&self, called: &str, argument: &Expr) -> Result<bool> {
        let is_function = self.fold() == Fold::Keep && SEQUENCES.contains(&called);
        let Node::Column(name) = &argument.node else { return Ok(false) };
        Ok(is_function && self.is_no_column(name)?)
    }

    /// The argument of a call that has one.
    fn only_argument(
        &mut self,
        function: &'a Function,
        argument: &'a Expr,
        span: Span,
    ) -> Result<Option<Mention>> {
        let called = function.plain_name();
        let valued = self.value(argument)?;
        let Some(mention) = valued.mention else { return Ok(None) };
        let proposes = self.scopes.last().is_some_and(|scope| scope.proposes);
        if proposes && matches!(called.as_str(), "values" | "value") {
            return Ok(Some(Mention { by: Reference::Proposed, ..mention }));
        }
        let is_plain = function.over.is_none()
            && function.order_by.is_empty()
            && function.within_group.is_none();
        let place = if is_plain && function.is_aggregate() {
            Place::Aggregate { function: called, distinct: function.distinct.is_some() }
        } else {
            Place::Inside { around: span }
        };
        self.put(mention, place);
        Ok(None)
    }

    fn sorted(&mut self, items: &'a [OrderItem], around: Span) -> Result<()> {
        items.iter().try_for_each(|item| self.expr(&item.expr, around))
    }
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr.node, Node::Parameter(_)) || pando_kernel::Value::of_constant(expr).is_some()
}

fn of_mention(mention: Option<Mention>, span: Span) -> Valued {
    let given = mention
        .as_ref()
        .map_or(Given::Expression(span), |mention| Given::Column(mention.of.clone()));
    Valued { mention, given }
}
