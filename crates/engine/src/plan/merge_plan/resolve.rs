//! Finding what a sort or group item refers to: a place in the select list, and the table's column behind it.

#![expect(clippy::wildcard_enum_match_arm, reason = "filters over syntax nodes")]

use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_kernel::{Compares, LogicColumns};
use pando_sql::ast::{
    Expr, Ident, Kind, Literal, Node, ObjectName, Select, SelectItem, Statement, Table, TableFactor,
};
use pando_sql::{Fold, visit};

use super::aggregate;

/// The tables of one SELECT, and its items.
pub(in crate::plan) struct Scope<'a> {
    ctx: &'a Context<'a>,
    stmt: &'a Statement,
    select: &'a Select,
    tables: Vec<&'a Table>,
    /// Sub-queries and functions in FROM, and what gives its columns other names: their columns are not known.
    has_derived: bool,
}

/// What an ORDER BY or GROUP BY item means.
pub(in crate::plan) struct Meaning<'a> {
    /// The expression behind it; none for a column that a `*` stands for.
    pub(in crate::plan) expr: Option<&'a Expr>,
    /// Its text.
    pub(in crate::plan) text: String,
    /// Its place in the result; none when it is not selected, or a `*` in front hides its number.
    pub(in crate::plan) at: Option<usize>,
    /// Its column.
    pub(in crate::plan) info: Info,
}

enum Has {
    Yes,
    No,
    /// A derived table, or one that is not known, may have it.
    Perhaps,
    Needs(Need),
}

enum Width {
    Columns(Option<Arc<Vec<TableColumn>>>, usize),
    Needs(Need),
}

/// What is known of an item's column.
pub(in crate::plan) enum Info {
    /// It is this column.
    Column(Arc<Vec<TableColumn>>, usize),
    /// It is this one, of a table of which some columns are not as they are stored.
    Turned(Arc<LogicColumns>, usize),
    /// It is a computed value, or a column of something that is no table.
    Unknown,
    /// The table's columns must be read first.
    Needs(Need),
}

impl Info {
    /// A column of a table, as rows of storage units have it.
    fn of(ctx: &Context<'_>, logic: &str, columns: Arc<Vec<TableColumn>>, at: usize) -> Self {
        match ctx.catalog.logic(logic) {
            None => Self::Column(columns, at),
            Some(turned) => Self::Turned(turned, at),
        }
    }

    /// The column as clients see it, where what is stored of it does not compare as it does.
    pub(in crate::plan) fn turned(&self) -> Option<&TableColumn> {
        let Self::Turned(logic, at) = self else { return None };
        let one = logic.list.get(*at)?;
        (one.compares != Compares::AsStored).then_some(&one.column)
    }

    /// The column that storage units have.
    pub(in crate::plan) fn column(&self) -> Option<&TableColumn> {
        match self {
            Self::Column(columns, at) => columns.get(*at),
            Self::Turned(logic, at) => logic.list.get(*at)?.stored.first(),
            Self::Unknown | Self::Needs(_) => None,
        }
    }

    /// How what storage units have of it compares.
    pub(in crate::plan) fn compares(&self) -> Compares {
        match self {
            Self::Turned(logic, at) => {
                logic.list.get(*at).map_or(Compares::NotAtAll, |one| one.compares)
            }
            Self::Column(..) | Self::Unknown | Self::Needs(_) => Compares::AsStored,
        }
    }
}

impl<'a> Scope<'a> {
    pub(in crate::plan) fn new(
        ctx: &'a Context<'a>,
        stmt: &'a Statement,
        select: &'a Select,
    ) -> Self {
        let mut tables = Vec::new();
        let mut has_derived = false;
        let renamed = visit::renames_joins(&stmt.kind);
        for factor in &select.from {
            has_derived |= collect(factor, &mut tables);
        }
        let named = tables.len();
        tables.retain(|table: &&Table| {
            !is_common(stmt, &table.name) && table.columns.is_none() && !renamed
        });
        has_derived |= tables.len() < named;
        Self { ctx, stmt, select, tables, has_derived }
    }

    /// The text of an expression.
    pub(in crate::plan) fn text(&self, expr: &Expr) -> &'a str {
        expr.span.of(&self.stmt.text)
    }

    /// What an ORDER BY item means. A name alone is a name of the result first, and a column after that.
    ///
    /// # Errors
    /// `Refused` where servers differ, or where it cannot be told.
    pub(in crate::plan) fn ordered(&self, expr: &'a Expr) -> Result<Meaning<'a>> {
        let bare = unwrapped(expr);
        if let Some(ordinal) = ordinal(bare) {
            return self.numbered(expr, ordinal);
        }
        if let Some(name) = single(bare)
            && let Some(at) = self.named(|item, alias| self.is_called(item, alias, name))
        {
            if self.is_called_twice(at, name) {
                return Err(unclear(&format!("`{}` names several items", self.text(expr))));
            }
            return Ok(self.of_item(at));
        }
        if single(bare).is_none() && self.shadows(bare) && self.fold() == Fold::Keep {
            return Err(unclear(&format!(
                "`{}` names a column and an alias of another expression",
                self.text(expr)
            )));
        }
        Ok(self.of_expression(expr))
    }

    /// What a GROUP BY item means. A name alone is a column first, and an alias after that.
    ///
    /// # Errors
    /// `Refused` where it cannot be told.
    pub(in crate::plan) fn grouped(&self, expr: &'a Expr) -> Result<Meaning<'a>> {
        let bare = unwrapped(expr);
        if let Some(ordinal) = ordinal(bare) {
            return self.numbered(expr, ordinal);
        }
        if self.shadows(bare)
            && let Some(name) = single(bare)
        {
            match self.has_column(name) {
                Has::Yes => {}
                Has::Needs(need) => {
                    return Ok(Meaning { info: Info::Needs(need), ..self.of_expression(expr) });
                }
                Has::No => {
                    let alias = |_: &Expr, alias: Option<&Ident>| {
                        alias.is_some_and(|alias| self.same(&alias.value, &name.value))
                    };
                    return Ok(self
                        .named(alias)
                        .map_or_else(|| self.of_expression(expr), |at| self.of_item(at)));
                }
                Has::Perhaps => {
                    return Err(unclear(&format!(
                        "`{}` may be a column or an alias",
                        self.text(expr)
                    )));
                }
            }
        }
        Ok(self.of_expression(expr))
    }

    /// A select item as itself.
    pub(in crate::plan) fn of_item(&self, at: usize) -> Meaning<'a> {
        match self.select.items.get(at) {
            Some(SelectItem::Expr { expr, .. }) => {
                let star = self.select.items[..at].iter().any(is_star);
                let info = self.info(expr);
                Meaning {
                    expr: Some(expr),
                    text: self.text(expr).to_owned(),
                    at: (!star).then_some(at),
                    info,
                }
            }
            Some(SelectItem::Star(_) | SelectItem::QualifiedStar(..)) | None => {
                Meaning { expr: None, text: String::new(), at: None, info: Info::Unknown }
            }
        }
    }

    /// An expression over the tables' columns, at the place of the item that is the same, if there is one.
    fn of_expression(&self, expr: &'a Expr) -> Meaning<'a> {
        let bare = unwrapped(expr);
        let found = match &bare.node {
            Node::Column(name) => self.named(|item, _| match &unwrapped(item).node {
                Node::Column(other) => self.same_column(name, other),
                _ => false,
            }),
            // A `?` written twice is two parameters.
            _ if self.fold() == Fold::Keep && has_parameter(bare) => None,
            _ => {
                let wanted = squeezed(self.text(bare));
                self.named(|item, _| squeezed(self.text(unwrapped(item))) == wanted)
            }
        };
        let at = found.and_then(|at| self.of_item(at).at);
        Meaning { expr: Some(expr), text: self.text(expr).to_owned(), at, info: self.info(expr) }
    }

    /// The column of the result with this number, counted from 1.
    fn numbered(&self, expr: &'a Expr, ordinal: i64) -> Result<Meaning<'a>> {
        let mut left = usize::try_from(ordinal).unwrap_or(0);
        for (i, item) in self.select.items.iter().enumerate() {
            let width = if is_star(item) { self.width(item)? } else { Width::Columns(None, 1) };
            match width {
                Width::Needs(need) => {
                    return Ok(Meaning { info: Info::Needs(need), ..self.of_expression(expr) });
                }
                Width::Columns(columns, many) if left > many => {
                    left -= many;
                    drop(columns);
                }
                Width::Columns(columns, _) => {
                    let at = usize::try_from(ordinal).ok().and_then(|n| n.checked_sub(1));
                    return Ok(match (columns, left.checked_sub(1)) {
                        (Some(columns), Some(within)) => Meaning {
                            expr: None,
                            text: columns
                                .get(within)
                                .map_or_else(String::new, |c| self.ctx.dialect.quote(&c.name)),
                            at,
                            info: self.of_star(columns, within),
                        },
                        (None, Some(_)) => Meaning { at, ..self.of_item(i) },
                        (_, None) => self.of_expression(expr),
                    });
                }
            }
        }
        // The select list of the actual statements may be longer than the client's.
        Err(unclear(&format!("position {ordinal} is not in the select list")))
    }

    /// How many columns a `*` stands for.
    fn width(&self, star: &SelectItem) -> Result<Width> {
        let unclear =
            || unclear("a column's number counts the columns of a `*` over several tables");
        let [TableFactor::Table(table)] = &self.select.from[..] else { return Err(unclear()) };
        if is_common(self.stmt, &table.name) || table.columns.is_some() {
            return Err(unclear());
        }
        let name = match star {
            SelectItem::QualifiedStar(name, _) => name.parts.last(),
            SelectItem::Star(_) | SelectItem::Expr { .. } => None,
        };
        let base = table.name.parts.last();
        let label = table.alias.as_ref().or(base);
        if name.zip(label).is_some_and(|(name, label)| !self.same(&name.value, &label.value)) {
            return Err(unclear());
        }
        let logic = base.map(Ident::key).unwrap_or_default();
        match self.ctx.catalog.columns(&logic) {
            None => Ok(Width::Needs(Need::Columns(logic))),
            Some(columns) if columns.is_empty() => Err(unclear()),
            Some(mut columns) => {
                if columns.iter().any(|column| column.invisible) {
                    let seen = columns.iter().filter(|column| !column.invisible);
                    columns = Arc::new(seen.cloned().collect());
                }
                let many = columns.len();
                Ok(Width::Columns(Some(columns), many))
            }
        }
    }

    /// The first select item that fits.
    fn named(&self, fits: impl Fn(&Expr, Option<&Ident>) -> bool) -> Option<usize> {
        self.select.items.iter().position(|item| match item {
            SelectItem::Expr { expr, alias, .. } => fits(expr, alias.as_ref()),
            SelectItem::Star(_) | SelectItem::QualifiedStar(..) => false,
        })
    }

    /// Whether another item, which is not the same expression, has this name too: servers choose differently then.
    fn is_called_twice(&self, first: usize, name: &Ident) -> bool {
        let text = |item: &Expr| squeezed(self.text(unwrapped(item)));
        let Some(SelectItem::Expr { expr: own, .. }) = self.select.items.get(first) else {
            return false;
        };
        let differs = |item: &Expr, alias: Option<&Ident>| {
            self.is_called(item, alias, name) && text(item) != text(own)
        };
        self.named(differs).is_some()
    }

    /// Whether a column of the result has this name.
    fn is_called(&self, item: &Expr, alias: Option<&Ident>, name: &Ident) -> bool {
        match alias {
            Some(alias) => self.same(&alias.value, &name.value),
            None => {
                let own = if self.fold() == Fold::Lower { output_name(item) } else { None };
                own.is_some_and(|own| own == name.value)
            }
        }
    }

    /// Whether a GROUP BY item would mean something else in ORDER BY: an alias where it is a column.
    pub(super) fn sorts_otherwise(&self, expr: &'a Expr) -> bool {
        let is_itself =
            |meaning: &Meaning<'_>| meaning.expr.is_some_and(|own| std::ptr::eq(own, expr));
        self.shadows(expr) && self.grouped(expr).is_ok_and(|meaning| is_itself(&meaning))
    }

    /// Whether a bare name in the expression is also the alias of something else.
    fn shadows(&self, expr: &Expr) -> bool {
        let mut found = false;
        aggregate::walk(expr, &mut |node| {
            if let Node::Column(name) = node
                && let [single] = &name.parts[..]
            {
                found |= self
                    .named(|item, alias| {
                        let is_itself = matches!(&unwrapped(item).node, Node::Column(other) if self.same_column(name, other));
                        alias.is_some_and(|alias| self.same(&alias.value, &single.value)) && !is_itself
                    })
                    .is_some();
            }
        });
        found
    }

    /// Whether the tables have a column of this name.
    fn has_column(&self, name: &Ident) -> Has {
        let (mut known, mut owners) = (true, 0);
        for table in &self.tables {
            let Some(base) = table.name.parts.last() else { continue };
            let logic = base.key();
            let Some(columns) = self.ctx.catalog.columns(&logic) else {
                return Has::Needs(Need::Columns(logic));
            };
            owners += usize::from(columns.iter().any(|c| self.same(&c.name, &name.value)));
            known &= !columns.is_empty();
        }
        match owners {
            1 => Has::Yes,
            0 if known && !self.has_derived => Has::No,
            _ => Has::Perhaps,
        }
    }

    fn fold(&self) -> Fold {
        self.ctx.dialect.syntax().fold
    }

    fn same(&self, a: &str, b: &str) -> bool {
        match self.fold() {
            Fold::Lower => a == b,
            Fold::Keep => a.eq_ignore_ascii_case(b) || a.to_lowercase() == b.to_lowercase(),
        }
    }

    /// Whether two expressions are one and the same column.
    pub(in crate::plan) fn are_same_column(&self, a: &Expr, b: &Expr) -> bool {
        match (&unwrapped(a).node, &unwrapped(b).node) {
            (Node::Column(a), Node::Column(b)) => self.same_column(a, b),
            _ => false,
        }
    }

    /// Whether two column names mean the same column: equal last parts, and equal qualifiers where both have one.
    fn same_column(&self, a: &ObjectName, b: &ObjectName) -> bool {
        let pairs = a.parts.iter().rev().zip(b.parts.iter().rev());
        pairs.into_iter().all(|(x, y)| self.same(&x.value, &y.value))
    }

    /// The table's column an expression is.
    pub(in crate::plan) fn info(&self, expr: &Expr) -> Info {
        let Node::Column(name) = &unwrapped(expr).node else { return Info::Unknown };
        let Some(column) = name.parts.last() else { return Info::Unknown };
        let owner = name.parts.len().checked_sub(2).and_then(|i| name.parts.get(i));
        for table in &self.tables {
            let Some(base) = table.name.parts.last() else { continue };
            let label = table.alias.as_ref().unwrap_or(base);
            if owner.is_some_and(|owner| !self.same(&owner.value, &label.value)) {
                continue;
            }
            let logic = base.key();
            let Some(columns) = self.ctx.catalog.columns(&logic) else {
                return Info::Needs(Need::Columns(logic));
            };
            if let Some(at) = columns.iter().position(|c| self.same(&c.name, &column.value)) {
                return Info::of(self.ctx, &logic, columns, at);
            }
        }
        Info::Unknown
    }

    /// A column that a `*` over the only table stands for.
    fn of_star(&self, columns: Arc<Vec<TableColumn>>, at: usize) -> Info {
        match &self.select.from[..] {
            [TableFactor::Table(table)] => Info::of(self.ctx, &table.name.key(), columns, at),
            _ => Info::Unknown,
        }
    }

    /// Whether the select list has a `*`.
    pub(in crate::plan) fn has_star(&self) -> bool {
        self.select.items.iter().any(|item| !matches!(item, SelectItem::Expr { .. }))
    }
}

/// Whether a name is one of a common table expression in front of the statement.
fn is_common(stmt: &Statement, name: &ObjectName) -> bool {
    let Kind::Select(query) = &stmt.kind else { return false };
    let [name] = &name.parts[..] else { return false };
    query.with.iter().any(|cte| cte.name.is_alike(name))
}

/// Collects the tables of a FROM item; tells whether it has others that are no tables.
fn collect<'a>(factor: &'a TableFactor, out: &mut Vec<&'a Table>) -> bool {
    let mut stack = vec![factor];
    let mut others = false;
    while let Some(factor) = stack.pop() {
        match factor {
            TableFactor::Table(table) => out.push(table),
            TableFactor::Join(join) => {
                stack.push(&join.right);
                stack.push(&join.left);
            }
            TableFactor::Derived { .. } | TableFactor::Function { .. } => others = true,
        }
    }
    others
}

fn is_star(item: &SelectItem) -> bool {
    !matches!(item, SelectItem::Expr { .. })
}

fn ordinal(expr: &Expr) -> Option<i64> {
    match &expr.node {
        Node::Literal(Literal::Integer(n)) => Some(*n),
        _ => None,
    }
}

/// The name, when the expression is one name without a qualifier.
fn single(expr: &Expr) -> Option<&Ident> {
    match &expr.node {
        Node::Column(name) => match &name.parts[..] {
            [single] => Some(single),
            _ => None,
        },
        _ => None,
    }
}

pub(in crate::plan) fn has_parameter(expr: &Expr) -> bool {
    let mut found = false;
    aggregate::walk(expr, &mut |node| {
        // Sub-queries are not walked: they may have some.
        found |= matches!(
            node,
            Node::Parameter(_) | Node::Subquery(_) | Node::Exists(_) | Node::InQuery { .. }
        );
    });
    found
}

/// The name PostgreSQL gives a select item without an alias; none for `?column?` and for rare ones.
/// <https://www.postgresql.org/docs/current/sql-select.html#SQL-SELECT-LIST>
pub(in crate::plan) fn output_name(expr: &Expr) -> Option<String> {
    let last = |name: &ObjectName| name.parts.last().map(|part| part.value.clone());
    match &expr.node {
        Node::Column(name) => last(name),
        Node::Function(function) => last(&function.name).map(|name| name.to_lowercase()),
        Node::Nested(inner)
        | Node::Cast { operand: inner, .. }
        | Node::Collate { operand: inner, .. } => output_name(inner),
        Node::Case { otherwise, .. } => {
            let name = otherwise.as_deref().and_then(output_name);
            Some(name.unwrap_or_else(|| "case".to_owned()))
        }
        _ => None,
    }
}

/// An item whose meaning is not certain.
fn unclear(what: &str) -> Error {
    Error::unmerged(
        30001,
        format!("{what}: rows of several shards cannot be merged by it"),
        "give the expression an alias of its own, or name the table in front of the column",
    )
}

/// The expression inside parentheses.
pub(in crate::plan) fn unwrapped(expr: &Expr) -> &Expr {
    let mut expr = expr;
    while let Node::Nested(inner) = &expr.node {
        expr = inner;
    }
    expr
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
