//! All that a statement says of rows that may be marked, from its conditions and its values.

use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::ast::{
    Copy, CopyDirection, Cte, Delete, Expr, Kind, Node, Query, QueryBody, Statement, Table,
    TableFactor, Update,
};
use pando_sql::visit::Names;

use crate::algorithm::Operation;
use crate::clause::{Clause, Says};
use crate::condition::{Reader, Scope};
use crate::rule::Rule;
use crate::values::Constant;
use crate::written::Assigned;

/// What a statement says.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) clauses: Vec<Clause>,
    /// It is no query: what queries inside of it say is about other rows than its own.
    pub(crate) changes: bool,
    /// Values that marked columns of rows get which are there already.
    pub(crate) assigned: Vec<Assigned>,
    /// A table gets rows whose values only show when it runs.
    pub(crate) unseen: Option<String>,
    /// The columns of this table must be known first.
    pub(crate) needs: Option<Need>,
}

/// Gathers what a statement says.
pub(crate) fn evidence(rule: &Rule, ctx: &Context<'_>, stmt: &Statement) -> Evidence {
    let mut inside: Vec<&Query> = Vec::new();
    let names = Names::of(&stmt.kind, &mut |expr| {
        if let Node::Subquery(query) | Node::Exists(query) | Node::InQuery { query, .. } =
            &expr.node
        {
            inside.push(query);
        }
    });
    let hidden = names.ctes.iter().map(|name| name.key()).collect();
    let changes = !matches!(explained(&stmt.kind), Kind::Select(_));
    let mut found = Evidence { changes, ..Evidence::default() };
    let reader = Reader { rule, ctx, text: &stmt.text };
    let mut gatherer = Gatherer { reader, hidden, found: &mut found, is_own: true };
    gatherer.kind(&stmt.kind);
    gatherer.is_own = !changes;
    inside.into_iter().for_each(|query| gatherer.query(query));
    found
}

/// The statement that is explained, or itself.
pub(crate) fn explained(kind: &Kind) -> &Kind {
    let mut kind = kind;
    while let Kind::Explain { inner, .. } = kind {
        kind = inner;
    }
    kind
}

pub(crate) struct Gatherer<'a, 'f> {
    pub(crate) reader: Reader<'a>,
    /// Keys of common table expressions, which hide tables.
    pub(crate) hidden: Vec<String>,
    pub(crate) found: &'f mut Evidence,
    pub(crate) is_own: bool,
}

impl Gatherer<'_, '_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other statement says anything of rows")]
    fn kind(&mut self, kind: &Kind) {
        match kind {
            Kind::Select(query) => self.query(query),
            Kind::Insert(insert) => {
                self.ctes(&insert.with);
                self.insert(insert);
            }
            Kind::Update(update) => self.update(update),
            Kind::Delete(delete) => self.delete(delete),
            Kind::Explain { inner, .. } => self.kind(inner),
            Kind::Copy(copy) => self.copy(copy),
            Kind::Load(load) => self.unseen_rows(&load.table.key()),
            Kind::Define(define) => {
                if let Some(query) = define.query.as_deref() {
                    self.query(query);
                }
            }
            Kind::Utility { merge: Some(merge), .. } => self.unseen_rows(&merge.target.name.key()),
            Kind::Utility { verb, tables, merge: None, .. } if verb == "MERGE" => {
                tables.iter().for_each(|table| self.unseen_rows(&table.key()));
            }
            _ => {}
        }
    }

    fn copy(&mut self, copy: &Copy) {
        match (&copy.query, &copy.table, copy.direction) {
            (Some(query), _, _) => self.query(query),
            (None, Some(table), direction) if direction != CopyDirection::ToClient => {
                self.unseen_rows(&table.key());
            }
            (None, _, _) => {}
        }
    }

    /// Rows for a table whose values nobody sees before.
    pub(crate) fn unseen_rows(&mut self, key: &str) {
        let table = self.reader.rule.table(key);
        if let Some(table) = table.filter(|table| table.decides(Operation::Insert)) {
            self.found.unseen = Some(table.name.clone());
        }
    }

    fn ctes(&mut self, with: &[Cte]) {
        for part in with {
            let was = self.is_own;
            // A change inside a query is a change of its own.
            self.is_own = was || !matches!(*part.body, Kind::Select(_));
            self.kind(&part.body);
            self.is_own = was;
        }
    }

    pub(crate) fn query(&mut self, query: &Query) {
        self.ctes(&query.with);
        match &query.body {
            QueryBody::Select(select) => {
                self.scope(Operation::Select, &[&select.from], select.filter.as_ref());
            }
            QueryBody::Set { left, right, .. } => {
                self.query(left);
                self.query(right);
            }
            QueryBody::Values(_) => {}
        }
    }

    /// The tables of a FROM, and what a WHERE and the conditions of joins say of their rows.
    fn scope(&mut self, operation: Operation, from: &[&[TableFactor]], filter: Option<&Expr>) {
        let mut scope = Scope::new(operation);
        let mut bounds = Vec::new();
        from.iter().for_each(|factors| scope.take(self.reader.rule, factors, &self.hidden));
        for factor in from.iter().copied().flatten() {
            self.reader.of_joins(&scope, factor, &mut bounds);
            let was = self.is_own;
            self.is_own = was && operation == Operation::Select;
            self.derived(factor);
            self.is_own = was;
        }
        if let Some(filter) = filter {
            bounds.extend(self.reader.bounds(&scope, filter));
        }
        for (at, (_, table)) in scope.tables.iter().enumerate() {
            let mut values: Vec<(usize, Vec<Constant>)> = Vec::new();
            for bound in bounds.iter().filter(|bound| bound.table == at) {
                // Of two that hold together the narrower one says enough: rows have a value of both.
                match values.iter_mut().find(|(column, _)| *column == bound.column) {
                    Some((_, known)) if known.len() <= bound.values.len() => {}
                    Some((_, known)) => known.clone_from(&bound.values),
                    None => values.push((bound.column, bound.values.clone())),
                }
            }
            let (table, is_own) = (table.clone(), self.is_own);
            let says = Says::Among(values);
            self.found.clauses.push(Clause { table, operation, says, is_own });
        }
    }

    fn derived(&mut self, factor: &TableFactor) {
        match factor {
            TableFactor::Derived { query, .. } => self.query(query),
            TableFactor::Join(join) => {
                self.derived(&join.left);
                self.derived(&join.right);
            }
            TableFactor::Table(_) | TableFactor::Function { .. } => {}
        }
    }

    fn update(&mut self, update: &Update) {
        self.ctes(&update.with);
        let from = [&update.tables[..], &update.from[..]];
        self.scope(Operation::Update, &from, update.filter.as_ref());
        self.assignments(update);
    }

    fn delete(&mut self, delete: &Delete) {
        self.ctes(&delete.with);
        let mut named = Scope::new(Operation::Delete);
        named.take(self.reader.rule, &delete.from, &self.hidden);
        let is_alone =
            |table: &&Table| !named.tables.iter().any(|(label, _)| *label == table.name.key());
        let targets: Vec<TableFactor> =
            delete.targets.iter().filter(is_alone).cloned().map(TableFactor::Table).collect();
        let from = [&targets[..], &delete.from[..]];
        self.scope(Operation::Delete, &from, delete.filter.as_ref());
    }
}
