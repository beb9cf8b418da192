//! The conditions of a statement that can be asked of one table alone, so that fewer rows travel. They only let rows fall away that the
//! statement, which is still asked whole, would drop too.

use pando_kernel::feature::Context;
use pando_kernel::value::Value;
use pando_sql::ast::{BinaryOp, Expr, Ident, Node, Statement};
use pando_sql::{Edits, Fold, Span};

use super::columns::Columns;
use super::walk::Leaf;
use crate::plan::merge_plan::resolve::has_parameter;

/// Functions of plain values that always give the same for the same.
const PLAIN: &[&str] = &[
    "abs",
    "char_length",
    "coalesce",
    "day",
    "dayofmonth",
    "extract",
    "left",
    "length",
    "lower",
    "month",
    "quarter",
    "right",
    "substr",
    "substring",
    "upper",
    "year",
];

/// What a place's conditions ask of its table alone.
pub(super) struct Asked {
    /// As text over the bare table.
    pub(super) text: String,
    /// The conditions that need not be asked again of rows that met them.
    pub(super) met: Vec<Span>,
}

/// The conditions of one place; `None` when there are none.
pub(super) fn of(
    ctx: &Context<'_>,
    stmt: &Statement,
    leaf: &Leaf<'_>,
    columns: &Columns,
) -> Option<Asked> {
    let view = View { ctx, stmt, leaf, columns };
    let mut texts = Vec::new();
    let mut met = Vec::new();
    for condition in &leaf.conditions {
        let Some(text) = view.text(condition) else { continue };
        texts.push(text);
        if !has_parameter(condition) {
            met.push(condition.span);
        }
    }
    (!texts.is_empty()).then(|| Asked { text: texts.join(" AND "), met })
}

struct View<'a> {
    ctx: &'a Context<'a>,
    stmt: &'a Statement,
    leaf: &'a Leaf<'a>,
    columns: &'a Columns,
}

impl View<'_> {
    /// A condition over the bare table; `None` when it says something about others, or something that may change from call to call.
    fn text(&self, expr: &Expr) -> Option<String> {
        let mut edits = Edits::default();
        let mut columns = 0;
        if !self.plain(expr, &mut edits, &mut columns) || columns == 0 {
            return None;
        }
        let end = expr.span.end as usize;
        let whole = edits.apply(self.stmt.text.get(..end)?);
        // What stands before the condition has not been edited.
        Some(format!("({})", whole.get(expr.span.start as usize..)?))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    fn plain(&self, expr: &Expr, edits: &mut Edits, columns: &mut usize) -> bool {
        let mut all = |list: &[&Expr]| list.iter().all(|one| self.plain(one, edits, columns));
        match &expr.node {
            Node::Column(name) => {
                let Some((column, owner)) = name.parts.split_last() else { return false };
                // The rows are asked for by what is stored, and only the whole statement goes through the rooms.
                let is_turned = self.columns.turns(&self.leaf.logic, &column.value);
                if is_turned || !self.is_own(column, owner) {
                    return false;
                }
                *columns += 1;
                if !owner.is_empty() {
                    edits.replace(name.span, column.span.of(&self.stmt.text));
                }
                true
            }
            Node::Literal(_) => true,
            Node::Parameter(index) => match self.ctx.parameter(*index) {
                Some(Value::Bytes(_)) | None => false,
                Some(value) => {
                    edits.replace(expr.span, self.ctx.dialect.literal(value));
                    true
                }
            },
            Node::Unary { op, operand } => {
                matches!(op.as_str(), "NOT" | "-" | "+") && all(&[operand])
            }
            Node::Binary { op, left, right } => is_plain(op) && all(&[left, right]),
            Node::Between { operand, low, high, .. } => all(&[operand, low, high]),
            Node::InList { operand, list, .. } => {
                let mut parts: Vec<&Expr> = vec![operand];
                parts.extend(list.trees());
                all(&parts)
            }
            Node::Like { operand, pattern, .. } => all(&[operand, pattern]),
            Node::IsNull { operand, .. } => all(&[operand]),
            Node::Nested(inner) => all(&[inner]),
            Node::Function(call) => {
                let name = call.name.parts.last().map(|part| part.value.to_lowercase());
                let known = name.is_some_and(|name| PLAIN.binary_search(&name.as_str()).is_ok());
                let bare = call.over.is_none() && call.filter.is_none() && call.distinct.is_none();
                known && bare && all(&call.arguments.iter().collect::<Vec<_>>())
            }
            // INTERVAL '3' MONTH and its like.
            Node::Other(parts) => {
                let text = expr.span.of(&self.stmt.text);
                let interval =
                    text.get(..8).is_some_and(|word| word.eq_ignore_ascii_case("interval"));
                interval && parts.iter().all(|part| matches!(part.node, Node::Literal(_)))
            }
            _ => false,
        }
    }

    fn is_own(&self, column: &Ident, owner: &[Ident]) -> bool {
        is_of(self.ctx, self.leaf, self.columns, (column, owner))
    }
}

/// Whether a column, with the parts in front of it, can only be one of this place's table.
pub(super) fn is_of(
    ctx: &Context<'_>,
    leaf: &Leaf<'_>,
    columns: &Columns,
    (column, owner): (&Ident, &[Ident]),
) -> bool {
    match owner {
        [] => columns.is_only_of(leaf, &column.value),
        [owner] => {
            let label = leaf.table.alias.as_ref().or(leaf.table.name.parts.last());
            let same = label.is_some_and(|label| match ctx.dialect.syntax().fold {
                Fold::Lower => label.value == owner.value,
                Fold::Keep => label.value.eq_ignore_ascii_case(&owner.value),
            });
            same && columns.has(&leaf.logic, &column.value)
        }
        _ => false,
    }
}

/// Operators whose result hangs on their operands alone.
fn is_plain(op: &BinaryOp) -> bool {
    match op {
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Equal
        | BinaryOp::NullSafeEqual
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessOrEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterOrEqual
        | BinaryOp::Plus
        | BinaryOp::Minus
        | BinaryOp::Multiply => true,
        BinaryOp::Xor | BinaryOp::Divide | BinaryOp::Modulo | BinaryOp::Other(_) => false,
    }
}
