//! The one walk behind every visitor.

use super::scope::Scope;
use super::{Occurrence, Owner};
use crate::ast::{
    ColumnAssignment, Copy, Cte, Cursor, Define, DefineAction, Delete, Expr, Function, Ident,
    Insert, InsertRow, InsertSource, Join, JoinConstraint, Kind, Limit, Load, Merge, MergeThen,
    Node, ObjectKind, ObjectName, OrderItem, Query, QueryBody, Select, SelectItem, Show, Table,
    TableFactor, Transaction, Update,
};
use crate::span::Span;

/// What the walk comes across.
pub(super) enum Found<'a> {
    Expr(&'a Expr),
    Table(Occurrence<'a>),
    Owner(Owner<'a>),
    Join(&'a Join),
    Label(&'a Ident),
    /// The name of a common table expression.
    Cte(&'a Ident),
    Item(&'a SelectItem),
}

pub(super) struct Walk<'a, 's> {
    found: &'s mut dyn FnMut(Found<'a>),
    scope: Scope<'a>,
}

impl<'a, 's> Walk<'a, 's> {
    pub(super) fn new(found: &'s mut dyn FnMut(Found<'a>)) -> Self {
        Self { found, scope: Scope::default() }
    }

    pub(super) fn kind(&mut self, kind: &'a Kind) {
        match kind {
            Kind::Select(query) => self.query(query),
            Kind::Insert(insert) => self.insert(insert),
            Kind::Update(update) => self.update(update),
            Kind::Delete(delete) => self.delete(delete),
            Kind::Define(define) => self.define(define),
            Kind::Transaction(transaction) => nothing_in(transaction),
            Kind::SetFor(own) => {
                let values = own.assignments.iter().filter_map(|set| set.value.as_ref());
                values.for_each(|value| self.expr(value));
            }
            Kind::Immediate(own) => {
                self.expr(&own.text);
                self.exprs(&own.arguments);
            }
            Kind::Set(list) => {
                list.iter().filter_map(|set| set.value.as_ref()).for_each(|value| self.expr(value));
            }
            Kind::Show(show) => self.show(show),
            Kind::Explain { inner, .. } => self.kind(inner),
            Kind::Copy(copy) => self.copy(copy),
            Kind::Load(load) => self.load(load),
            Kind::Execute { arguments, .. } => self.exprs(arguments),
            Kind::Cursor(cursor) => match cursor.as_ref() {
                Cursor::Declare { query, .. } => self.query(query),
                Cursor::Fetch { .. } | Cursor::Close(_) => {}
            },
            Kind::Utility { merge: Some(merge), .. } => self.merge(merge),
            Kind::Lock(names) | Kind::Utility { tables: names, .. } => self.names(names),
            Kind::Use(_)
            | Kind::Prepare { .. }
            | Kind::Deallocate(_)
            | Kind::Kill { .. }
            | Kind::Preview(_)
            | Kind::Administration
            | Kind::Empty
            | Kind::Opaque => {}
        }
    }

    fn names(&mut self, names: &'a [ObjectName]) {
        for name in names {
            self.name(name, None);
        }
    }

    fn name(&mut self, name: &'a ObjectName, table: Option<&'a Table>) {
        if !self.scope.is_cte(name) {
            (self.found)(Found::Table(Occurrence { name, table }));
        }
    }

    /// WITH: each name is known behind its own query.
    fn with(&mut self, with: &'a [Cte]) {
        for cte in with {
            (self.found)(Found::Cte(&cte.name));
            self.kind(&cte.body);
            self.scope.declare_cte(&cte.name);
        }
    }

    /// WITH RECURSIVE: each name is known everywhere.
    fn with_recursive(&mut self, with: &'a [Cte]) {
        with.iter().for_each(|cte| self.scope.declare_cte(&cte.name));
        for cte in with {
            (self.found)(Found::Cte(&cte.name));
            self.kind(&cte.body);
        }
    }

    fn query(&mut self, query: &'a Query) {
        let mark = self.scope.mark();
        match query.recursive {
            true => self.with_recursive(&query.with),
            false => self.with(&query.with),
        }
        match &query.body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::Set { left, right, .. } => {
                self.query(left);
                self.query(right);
            }
            QueryBody::Values(rows) => rows.iter().for_each(|row| self.exprs(row)),
        }
        // A plain SELECT's names are still known here: ORDER BY may use them.
        self.order(&query.order_by);
        self.limit(query.limit.as_ref());
        for name in query.lock.iter().flat_map(|lock| &lock.of) {
            self.owner(&name.parts, name.span);
        }
        self.scope.back_to(mark);
    }

    fn select(&mut self, select: &'a Select) {
        select.from.iter().for_each(|factor| self.scope.declare(factor));
        if let crate::ast::Distinct::On(list, _) = &select.distinct {
            self.exprs(list);
        }
        self.items(&select.items);
        select.from.iter().for_each(|factor| self.factor(factor));
        self.option(select.filter.as_ref());
        self.exprs(&select.group_by);
        self.option(select.having.as_ref());
        self.exprs(&select.window_exprs);
    }

    fn items(&mut self, items: &'a [SelectItem]) {
        for item in items {
            (self.found)(Found::Item(item));
            match item {
                SelectItem::Star(_) => {}
                SelectItem::QualifiedStar(name, _) => self.owner(&name.parts, name.span),
                SelectItem::Expr { expr, .. } => self.expr(expr),
            }
        }
    }

    fn label(&mut self, label: Option<&'a Ident>) {
        label.into_iter().for_each(|label| (self.found)(Found::Label(label)));
    }

    fn factor(&mut self, factor: &'a TableFactor) {
        match factor {
            TableFactor::Table(table) => {
                self.label(table.alias.as_ref());
                self.name(&table.name, Some(table));
            }
            TableFactor::Derived { query, alias, .. } => {
                self.label(alias.as_ref());
                self.query(query);
            }
            TableFactor::Function { expr, alias, .. } => {
                self.label(alias.as_ref());
                self.expr(expr);
            }
            TableFactor::Join(join) => {
                (self.found)(Found::Join(join));
                let Join { left, right, constraint, .. } = join.as_ref();
                self.factor(left);
                self.factor(right);
                match constraint {
                    JoinConstraint::On(condition) => self.expr(condition),
                    JoinConstraint::Using(_) | JoinConstraint::Natural | JoinConstraint::None => {}
                }
            }
        }
    }

    fn exprs(&mut self, list: &'a [Expr]) {
        list.iter().for_each(|expr| self.expr(expr));
    }

    fn option(&mut self, expr: Option<&'a Expr>) {
        expr.into_iter().for_each(|expr| self.expr(expr));
    }

    fn order(&mut self, items: &'a [OrderItem]) {
        items.iter().for_each(|item| self.expr(&item.expr));
    }

    fn limit(&mut self, limit: Option<&'a Limit>) {
        if let Some(limit) = limit {
            self.option(limit.count.as_ref());
            self.option(limit.offset.as_ref());
        }
    }

    pub(super) fn expr(&mut self, expr: &'a Expr) {
        (self.found)(Found::Expr(expr));
        match &expr.node {
            Node::Column(name) => self.column(name),
            Node::Literal(_) | Node::Parameter(_) | Node::Variable(_) | Node::Default => {}
            Node::Unary { operand, .. }
            | Node::IsNull { operand, .. }
            | Node::Cast { operand, .. }
            | Node::Collate { operand, .. }
            | Node::Nested(operand) => self.expr(operand),
            Node::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            Node::Between { operand, low, high, .. } => {
                self.expr(operand);
                self.expr(low);
                self.expr(high);
            }
            Node::InList { operand, list, .. } => {
                self.expr(operand);
                // Literals alone are kept as text: nobody looks for those.
                self.exprs(list.trees());
            }
            Node::InQuery { operand, query, .. } => {
                self.expr(operand);
                self.query(query);
            }
            Node::Like { operand, pattern, .. } => {
                self.expr(operand);
                self.expr(pattern);
            }
            Node::Function(function) => self.function(function),
            Node::Case { operand, branches, otherwise } => {
                self.option(operand.as_deref());
                for (when, then) in branches {
                    self.expr(when);
                    self.expr(then);
                }
                self.option(otherwise.as_deref());
            }
            Node::Subquery(query) | Node::Exists(query) => self.query(query),
            Node::Row(list) | Node::Other(list) => self.exprs(list),
        }
    }

    fn function(&mut self, function: &'a Function) {
        self.exprs(&function.arguments);
        self.order(&function.order_by);
        self.option(function.filter.as_deref());
        self.exprs(&function.inner);
    }

    /// The parts in front of a column's own name.
    fn column(&mut self, name: &'a ObjectName) {
        if let [parts @ .., _] = name.parts.as_slice()
            && let (Some(first), Some(last)) = (parts.first(), parts.last())
        {
            self.owner(parts, first.span.to(last.span));
        }
    }

    fn owner(&mut self, parts: &'a [Ident], span: Span) {
        let refers = self.scope.resolve(parts);
        (self.found)(Found::Owner(Owner { parts, span, refers }));
    }

    fn insert(&mut self, insert: &'a Insert) {
        let mark = self.scope.mark();
        self.with(&insert.with);
        // The target is never a common table expression.
        (self.found)(Found::Table(Occurrence {
            name: &insert.table.name,
            table: Some(&insert.table),
        }));
        match &insert.source {
            InsertSource::Values { rows, .. } => {
                // Literals alone are kept as text: nobody looks for those.
                rows.iter().filter_map(InsertRow::trees).for_each(|row| self.exprs(row));
            }
            InsertSource::Set(assignments) => self.assignments(assignments),
            InsertSource::Query(query) => self.query(query),
            InsertSource::Default => {}
        }
        self.scope.declare_table(&insert.table);
        // ON DUPLICATE KEY UPDATE also knows the tables the rows come from.
        if let InsertSource::Query(query) = &insert.source
            && let QueryBody::Select(select) = &query.body
        {
            select.from.iter().for_each(|factor| self.scope.declare(factor));
        }
        self.assignments(&insert.on_duplicate);
        if let Some(conflict) = &insert.on_conflict {
            self.assignments(&conflict.assignments);
            self.option(conflict.filter.as_ref());
        }
        self.returning(insert.returning.as_ref());
        self.scope.back_to(mark);
    }

    fn returning(&mut self, returning: Option<&'a (Vec<SelectItem>, Span)>) {
        if let Some((items, _)) = returning {
            self.items(items);
        }
    }

    fn assignments(&mut self, list: &'a [ColumnAssignment]) {
        let mut last = None;
        for assignment in list {
            self.column(&assignment.column);
            // `(a, b) = (…)` gives both columns the same value: it is walked once.
            if last != Some(assignment.span) {
                self.expr(&assignment.value);
            }
            last = Some(assignment.span);
        }
    }

    fn update(&mut self, update: &'a Update) {
        let mark = self.scope.mark();
        self.with(&update.with);
        update.tables.iter().chain(&update.from).for_each(|factor| self.scope.declare(factor));
        update.tables.iter().for_each(|factor| self.factor(factor));
        self.assignments(&update.assignments);
        update.from.iter().for_each(|factor| self.factor(factor));
        self.option(update.filter.as_ref());
        self.order(&update.order_by);
        self.limit(update.limit.as_ref());
        self.returning(update.returning.as_ref());
        self.scope.back_to(mark);
    }

    fn merge(&mut self, merge: &'a Merge) {
        let mark = self.scope.mark();
        // The target is never a common table expression.
        let Merge { target, source, on, whens } = merge;
        (self.found)(Found::Table(Occurrence { name: &target.name, table: Some(target) }));
        self.factor(source);
        self.scope.declare_table(target);
        self.scope.declare(source);
        self.expr(on);
        for when in whens {
            self.option(when.condition.as_ref());
            match &when.then {
                MergeThen::Update(assignments) => self.assignments(assignments),
                MergeThen::Insert { values, .. } => self.exprs(values.as_deref().unwrap_or(&[])),
                MergeThen::Delete | MergeThen::Nothing => {}
            }
        }
        self.scope.back_to(mark);
    }

    fn delete(&mut self, delete: &'a Delete) {
        let mark = self.scope.mark();
        self.with(&delete.with);
        delete.from.iter().for_each(|factor| self.scope.declare(factor));
        // The alias of a factor stays the alias where the table itself is called so, too.
        let mut own = Vec::new();
        for target in &delete.targets {
            let is_alias = match target.name.parts.as_slice() {
                [only] => self.scope.has_alias(only),
                _ => false,
            };
            if is_alias {
                continue;
            }
            (self.found)(Found::Table(Occurrence { name: &target.name, table: Some(target) }));
            own.push(target);
        }
        own.into_iter().for_each(|target| self.scope.declare_table(target));
        delete.from.iter().for_each(|factor| self.factor(factor));
        self.option(delete.filter.as_ref());
        self.order(&delete.order_by);
        self.limit(delete.limit.as_ref());
        self.returning(delete.returning.as_ref());
        self.scope.back_to(mark);
    }

    fn define(&mut self, define: &'a Define) {
        match define.object {
            ObjectKind::Table | ObjectKind::View => self.names(&define.names),
            ObjectKind::Index
            | ObjectKind::Database
            | ObjectKind::Schema
            | ObjectKind::Sequence
            | ObjectKind::Routine
            | ObjectKind::Trigger
            | ObjectKind::User
            | ObjectKind::Other => {}
        }
        define.on.iter().for_each(|name| self.name(name, None));
        self.names(&define.referenced);
        let renames_tables = define.object == ObjectKind::Table
            && matches!(define.action, DefineAction::Alter | DefineAction::Rename);
        if renames_tables {
            self.names(&define.renamed_to);
        }
        let mark = self.scope.mark();
        // Expressions in the definition of a table or an index know this one table.
        define
            .on
            .iter()
            .chain(define.names.first())
            .take(1)
            .for_each(|name| self.scope.declare_name(name));
        define.qualified.iter().for_each(|name| self.column(name));
        self.scope.back_to(mark);
        define.query.iter().for_each(|query| self.query(query));
    }

    fn show(&mut self, show: &'a Show) {
        show.table.iter().for_each(|name| self.name(name, None));
        self.option(show.filter.as_ref());
    }

    fn copy(&mut self, copy: &'a Copy) {
        copy.table.iter().for_each(|name| self.name(name, None));
        copy.query.iter().for_each(|query| self.query(query));
        let mark = self.scope.mark();
        copy.table.iter().for_each(|name| self.scope.declare_name(name));
        self.option(copy.filter.as_ref());
        self.scope.back_to(mark);
    }

    fn load(&mut self, load: &'a Load) {
        self.name(&load.table, None);
        self.assignments(&load.assignments);
    }
}

/// Transaction verbs name savepoints and modes only.
fn nothing_in(_: &Transaction) {}
