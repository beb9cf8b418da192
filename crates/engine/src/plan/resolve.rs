//! Finding what a sort or group item refers to: a place in the select list, and the table's column behind it.

use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::ast::{
    Expr, Literal, Node, ObjectName, Select, SelectItem, Statement, Table, TableFactor,
};

/// The tables of one SELECT, and its items.
pub(super) struct Scope<'a> {
    ctx: &'a Context<'a>,
    stmt: &'a Statement,
    select: &'a Select,
    tables: Vec<&'a Table>,
}

/// What is known of an item's column.
pub(super) enum Info {
    /// It is this column.
    Column(Arc<Vec<TableColumn>>, usize),
    /// It is a computed value, or a column of something that is no table.
    Unknown,
    /// The table's columns must be read first.
    Needs(Need),
}

impl Info {
    pub(super) fn column(&self) -> Option<&TableColumn> {
        match self {
            Self::Column(columns, at) => columns.get(*at),
            Self::Unknown | Self::Needs(_) => None,
        }
    }
}

impl<'a> Scope<'a> {
    pub(super) fn new(ctx: &'a Context<'a>, stmt: &'a Statement, select: &'a Select) -> Self {
        let mut tables = Vec::new();
        for factor in &select.from {
            collect(factor, &mut tables);
        }
        Self { ctx, stmt, select, tables }
    }

    /// The text of an expression.
    pub(super) fn text(&self, expr: &Expr) -> &'a str {
        expr.span.of(&self.stmt.text)
    }

    /// The place of the select item an ORDER BY or GROUP BY expression means: an ordinal, an alias, the same column or the same text.
    /// `None` when there is none, or a `*` in front hides its number.
    pub(super) fn item(&self, expr: &Expr) -> Option<usize> {
        let found = self.item_anywhere(expr)?;
        let star =
            self.select.items[..found].iter().any(|item| !matches!(item, SelectItem::Expr { .. }));
        (!star).then_some(found)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    fn item_anywhere(&self, expr: &Expr) -> Option<usize> {
        let expr = unwrapped(expr);
        if let Node::Literal(Literal::Integer(n)) = &expr.node {
            let index = usize::try_from(*n).ok()?.checked_sub(1)?;
            return (index < self.select.items.len()).then_some(index);
        }
        let items = || {
            self.select.items.iter().enumerate().filter_map(|(i, item)| match item {
                SelectItem::Expr { expr, alias, .. } => Some((i, expr, alias)),
                SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
            })
        };
        if let Node::Column(name) = &expr.node {
            if let [single] = &name.parts[..]
                && let Some((i, ..)) = items()
                    .find(|(_, _, a)| a.as_ref().is_some_and(|a| same(&a.value, &single.value)))
            {
                return Some(i);
            }
            return items()
                .find(|(_, item, _)| match &unwrapped(item).node {
                    Node::Column(other) => same_column(name, other),
                    _ => false,
                })
                .map(|(i, ..)| i);
        }
        let wanted = squeezed(self.text(expr));
        items().find(|(_, item, _)| squeezed(self.text(item)) == wanted).map(|(i, ..)| i)
    }

    /// The expression behind an item: the select item's own, when the item is an ordinal or an alias.
    pub(super) fn meaning<'b>(&'b self, expr: &'b Expr) -> &'b Expr {
        match self.item_anywhere(expr).and_then(|i| self.select.items.get(i)) {
            Some(SelectItem::Expr { expr, .. }) => expr,
            Some(SelectItem::Star(_) | SelectItem::QualifiedStar(..)) | None => expr,
        }
    }

    /// The table's column an expression is.
    pub(super) fn info(&self, expr: &Expr) -> Info {
        let Node::Column(name) = &unwrapped(expr).node else { return Info::Unknown };
        let Some(column) = name.parts.last() else { return Info::Unknown };
        let owner = name.parts.len().checked_sub(2).and_then(|i| name.parts.get(i));
        for table in &self.tables {
            let Some(base) = table.name.parts.last() else { continue };
            let label = table.alias.as_ref().unwrap_or(base);
            if owner.is_some_and(|owner| !same(&owner.value, &label.value)) {
                continue;
            }
            let logic = base.value.to_lowercase();
            let Some(columns) = self.ctx.catalog.columns(&logic) else {
                return Info::Needs(Need::Columns(logic));
            };
            if let Some(at) = columns.iter().position(|c| same(&c.name, &column.value)) {
                return Info::Column(columns, at);
            }
        }
        Info::Unknown
    }

    /// Whether the select list has a `*`.
    pub(super) fn has_star(&self) -> bool {
        self.select.items.iter().any(|item| !matches!(item, SelectItem::Expr { .. }))
    }
}

fn collect<'a>(factor: &'a TableFactor, out: &mut Vec<&'a Table>) {
    let mut stack = vec![factor];
    while let Some(factor) = stack.pop() {
        match factor {
            TableFactor::Table(table) => out.push(table),
            TableFactor::Join(join) => {
                stack.push(&join.right);
                stack.push(&join.left);
            }
            TableFactor::Derived { .. } | TableFactor::Function { .. } => {}
        }
    }
}

/// The expression inside parentheses.
pub(super) fn unwrapped(expr: &Expr) -> &Expr {
    let mut expr = expr;
    while let Node::Nested(inner) = &expr.node {
        expr = inner;
    }
    expr
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

/// Whether two column names mean the same column: equal last parts, and equal qualifiers where both have one.
fn same_column(a: &ObjectName, b: &ObjectName) -> bool {
    let mut a = a.parts.iter().rev();
    let mut b = b.parts.iter().rev();
    loop {
        match (a.next(), b.next()) {
            (Some(x), Some(y)) if same(&x.value, &y.value) => {}
            (Some(_), Some(_)) => return false,
            _ => return true,
        }
    }
}

/// Text in lower case outside quotes, with white space kept only (as one blank) where it parts two words: for comparing expressions written
/// twice.
fn squeezed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quote = None;
    let mut gap = false;
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '\'' | '"' | '`' | '@');
    for c in text.chars() {
        if let Some(open) = quote {
            out.push(c);
            if c == open {
                quote = None;
            }
            continue;
        }
        if c.is_whitespace() {
            gap = true;
            continue;
        }
        if std::mem::take(&mut gap) && word(c) && out.chars().next_back().is_some_and(word) {
            out.push(' ');
        }
        if matches!(c, '\'' | '"' | '`') {
            quote = Some(c);
            out.push(c);
        } else {
            out.extend(c.to_lowercase());
        }
    }
    out
}
