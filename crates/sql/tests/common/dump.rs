//! A statement as one compact line, for tests.

use pando_sql::Span;
use pando_sql::ast::{
    BinaryOp, ColumnAssignment, Copy, Cursor, Define, Delete, Distinct, Expr, Function, Ident,
    Insert, InsertSource, JoinConstraint, Kind, Limit, Literal, Load, Node, ObjectName, OrderItem,
    PrepareBody, Query, QueryBody, Scroll, Select, SelectItem, SetOp, Show, Statement, TableFactor,
    Update,
};

pub(crate) fn statement(statement: &Statement) -> String {
    kind(&statement.kind, &statement.text)
}

pub(crate) fn kind(kind: &Kind, text: &str) -> String {
    let d = Dump { text };
    match kind {
        Kind::Select(query) => d.query(query),
        Kind::Insert(insert) => d.insert(insert),
        Kind::Update(update) => d.update(update),
        Kind::Delete(delete) => d.delete(delete),
        Kind::Define(define) => d.define(define),
        Kind::Transaction(transaction) => format!("{transaction:?}"),
        Kind::Set(list) => d.list(list, |set| {
            let value = set.value.as_ref().map_or("-".to_owned(), |value| d.expr(value));
            format!("{:?} {}={value} <{}>", set.scope, set.name, set.span.of(text))
        }),
        Kind::Show(show) => d.show(show),
        Kind::Use(name) => format!("use {}", d.ident(name)),
        Kind::Explain { body, inner, analyze } => {
            let analyze = if *analyze { " analyze" } else { "" };
            format!("explain{analyze} <{}> {}", body.of(text), self::kind(inner, text))
        }
        Kind::Copy(copy) => d.copy(copy),
        Kind::Load(load) => d.load(load),
        Kind::Prepare { name, types, body } => {
            let body = match body {
                PrepareBody::Span(span) => format!("<{}>", span.of(text)),
                PrepareBody::Text(text) => format!("{text:?}"),
                PrepareBody::Variable(name) => name.clone(),
            };
            let types: Vec<String> = types.iter().map(|name| format!(" {name:?}")).collect();
            format!("prepare {}{} {body}", d.ident(name), types.concat())
        }
        Kind::Execute { name, arguments } => {
            format!("execute {} {}", d.ident(name), d.exprs(arguments))
        }
        Kind::Deallocate(name) => format!("deallocate {}", d.optional(name.as_ref())),
        Kind::Cursor(cursor) => match cursor.as_ref() {
            Cursor::Declare { name, hold, scroll, binary, body, query } => {
                let (name, body, query) = (d.ident(name), body.of(text), d.query(query));
                let scroll = if *scroll == Scroll::Unsaid {
                    String::new()
                } else {
                    format!(" scroll={scroll:?}")
                };
                let binary = if *binary { " binary" } else { "" };
                format!("declare {name} hold={hold}{scroll}{binary} <{body}> {query}")
            }
            Cursor::Fetch { name, direction, moves } => {
                format!("fetch {} {direction:?} moves={moves}", d.ident(name))
            }
            Cursor::Close(name) => format!("close {}", d.optional(name.as_ref())),
        },
        Kind::Lock(names) => format!("lock {}", d.names(names)),
        Kind::Kill { id, query_only } => format!("kill {id} query_only={query_only}"),
        Kind::Preview(span) => format!("preview <{}>", span.of(text)),
        Kind::SetFor(own) => format!("set for <{}>", own.body.of(text)),
        Kind::Immediate(own) => format!("immediate <{}>", own.text.span.of(text)),
        Kind::Administration => "administration".to_owned(),
        Kind::Utility { verb, tables, index, merge } => {
            let index = index.iter().map(|index| format!(" index {}", d.name(index)));
            let whens = merge.iter().map(|merge| format!(" read with {} WHEN", merge.whens.len()));
            let more = index.chain(whens).collect::<String>();
            format!("utility {verb} {}{more}", d.names(tables))
        }
        Kind::Empty => "empty".to_owned(),
        Kind::Opaque => "opaque".to_owned(),
    }
}

struct Dump<'a> {
    text: &'a str,
}

impl Dump<'_> {
    fn list<T>(&self, items: &[T], show: impl Fn(&T) -> String) -> String {
        format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", "))
    }

    fn ident(&self, ident: &Ident) -> String {
        if ident.quoted { format!("{:?}", ident.value) } else { ident.value.clone() }
    }

    fn idents(&self, idents: &[Ident]) -> String {
        self.list(idents, |ident| self.ident(ident))
    }

    fn optional(&self, ident: Option<&Ident>) -> String {
        ident.map_or("-".to_owned(), |ident| self.ident(ident))
    }

    fn name(&self, name: &ObjectName) -> String {
        name.parts.iter().map(|part| self.ident(part)).collect::<Vec<_>>().join(".")
    }

    fn names(&self, names: &[ObjectName]) -> String {
        self.list(names, |name| self.name(name))
    }

    fn exprs(&self, exprs: &[Expr]) -> String {
        self.list(exprs, |expr| self.expr(expr))
    }

    fn span(&self, span: Span) -> &str {
        span.of(self.text)
    }

    pub(crate) fn expr(&self, expr: &Expr) -> String {
        match &expr.node {
            Node::Column(name) => self.name(name),
            Node::Literal(literal) => literal_text(literal),
            Node::Parameter(index) => format!("?{index}"),
            Node::Variable(name) => name.clone(),
            Node::Unary { op, operand } => format!("({op} {})", self.expr(operand)),
            Node::Binary { op, left, right } => {
                format!("({} {} {})", op_text(op), self.expr(left), self.expr(right))
            }
            Node::Between { operand, low, high, negated, symmetric } => {
                let head = format!("{}between{}", not(*negated), if *symmetric { "*" } else { "" });
                let (operand, low, high) = (self.expr(operand), self.expr(low), self.expr(high));
                format!("({head} {operand} {low} {high})")
            }
            Node::InList { operand, list, negated } => {
                format!("({}in {} {})", not(*negated), self.expr(operand), self.exprs(list.trees()))
            }
            Node::InQuery { operand, query, negated } => {
                format!("({}in {} {})", not(*negated), self.expr(operand), self.query(query))
            }
            Node::Like { operand, pattern, negated } => {
                format!("({}like {} {})", not(*negated), self.expr(operand), self.expr(pattern))
            }
            Node::IsNull { operand, negated } => {
                format!("({}null {})", not(*negated), self.expr(operand))
            }
            Node::Function(function) => self.function(function),
            Node::Case { operand, branches, otherwise } => {
                let operand =
                    operand.as_ref().map_or(String::new(), |e| format!(" {}", self.expr(e)));
                let branches =
                    self.list(branches, |(w, t)| format!("{}: {}", self.expr(w), self.expr(t)));
                let otherwise =
                    otherwise.as_ref().map_or(String::new(), |e| format!(" {}", self.expr(e)));
                format!("(case{operand} {branches}{otherwise})")
            }
            Node::Cast { operand, to } => {
                format!("(cast {} <{}>)", self.expr(operand), self.span(*to))
            }
            Node::Collate { operand, collation } => {
                format!("(collate {} {})", self.expr(operand), self.name(collation))
            }
            Node::Subquery(query) => format!("(query {})", self.query(query)),
            Node::Exists(query) => format!("(exists {})", self.query(query)),
            Node::Row(list) => format!("(row {})", self.exprs(list)),
            Node::Nested(inner) => format!("(paren {})", self.expr(inner)),
            Node::Other(list) => format!("(other {})", self.exprs(list)),
            Node::Default => "default".to_owned(),
        }
    }

    fn function(&self, function: &Function) -> String {
        let mut out = format!("{}(", self.name(&function.name));
        if function.distinct.is_some() {
            out.push_str("distinct ");
        }
        if function.star {
            out.push('*');
        }
        let arguments: Vec<String> = function.arguments.iter().map(|e| self.expr(e)).collect();
        out.push_str(&arguments.join(", "));
        if !function.order_by.is_empty() {
            out.push_str(&format!(" order {}", self.order(&function.order_by)));
        }
        if let Some(separator) = &function.separator {
            out.push_str(&format!(" separator {separator:?}"));
        }
        out.push(')');
        if let Some(span) = function.within_group {
            out.push_str(&format!(" <{}>", self.span(span)));
        }
        if let Some(filter) = &function.filter {
            out.push_str(&format!(" filter {}", self.expr(filter)));
        }
        if let Some(span) = function.over {
            out.push_str(&format!(" <{}>", self.span(span)));
        }
        if !function.inner.is_empty() {
            out.push_str(&format!(" inner {}", self.exprs(&function.inner)));
        }
        out
    }

    fn order(&self, items: &[OrderItem]) -> String {
        self.list(items, |item| {
            let mut out = self.expr(&item.expr);
            if item.descending {
                out.push_str(" desc");
            }
            if let Some(first) = item.nulls_first {
                out.push_str(if first { " nulls first" } else { " nulls last" });
            }
            if let Some(using) = item.using {
                out.push_str(&format!(" <{}>", self.span(using)));
            }
            out
        })
    }

    fn limit(&self, limit: &Limit) -> String {
        let count = limit.count.as_ref().map_or("all".to_owned(), |e| self.expr(e));
        let offset =
            limit.offset.as_ref().map_or(String::new(), |e| format!(" offset {}", self.expr(e)));
        let ties = if limit.with_ties { " ties" } else { "" };
        format!(" limit {count}{offset}{ties}")
    }

    fn with(&self, with: &[pando_sql::ast::Cte]) -> String {
        if with.is_empty() {
            return String::new();
        }
        let list = self.list(with, |cte| {
            let columns =
                if cte.columns.is_empty() { String::new() } else { self.idents(&cte.columns) };
            format!("{}{columns} = {}", self.ident(&cte.name), kind(&cte.body, self.text))
        });
        format!("with {list} ")
    }

    fn query(&self, query: &Query) -> String {
        let mut out = self.with(&query.with);
        if query.recursive {
            out = format!("recursive {out}");
        }
        out.push_str(&match &query.body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::Set { op, all, left, right } => {
                let op = match op {
                    SetOp::Union => "union",
                    SetOp::Intersect => "intersect",
                    SetOp::Except => "except",
                };
                let all = if *all { " all" } else { "" };
                format!("({op}{all} {} | {})", self.query(left), self.query(right))
            }
            QueryBody::Values(rows) => format!("values {}", self.list(rows, |row| self.exprs(row))),
        });
        if !query.order_by.is_empty() {
            out.push_str(&format!(" order {}", self.order(&query.order_by)));
        }
        if let Some(limit) = &query.limit {
            out.push_str(&self.limit(limit));
        }
        if let Some(lock) = &query.lock {
            out.push_str(&format!(" lock <{}> {}", self.span(lock.span), self.names(&lock.of)));
        }
        out
    }

    fn select(&self, select: &Select) -> String {
        let mut out = "select".to_owned();
        match &select.distinct {
            Distinct::No => {}
            Distinct::Yes(_) => out.push_str(" distinct"),
            Distinct::On(list, _) => out.push_str(&format!(" distinct on {}", self.exprs(list))),
        }
        if !select.modifiers.is_empty() {
            out.push_str(&format!(" {}", select.modifiers.join(" ")));
        }
        out.push_str(&format!(" {}", self.items(&select.items)));
        if let Some(into) = select.into {
            out.push_str(&format!(" <{}>", self.span(into)));
        }
        if !select.from.is_empty() {
            out.push_str(&format!(" from {}", self.factors(&select.from)));
        }
        if let Some(filter) = &select.filter {
            out.push_str(&format!(" where {}", self.expr(filter)));
        }
        if select.group_span.is_some() {
            let sets = if select.grouping_sets { " sets" } else { "" };
            out.push_str(&format!(" group{sets} {}", self.exprs(&select.group_by)));
            assert_eq!(select.group_by.len(), select.group_descending.len());
            if select.sorts_groups() {
                let word = |direction: &Option<bool>| match direction {
                    Some(true) => "desc",
                    Some(false) => "asc",
                    None => "-",
                };
                let words: Vec<&str> = select.group_descending.iter().map(word).collect();
                out.push_str(&format!(" sorted {}", words.join(" ")));
            }
        }
        if let Some(having) = &select.having {
            out.push_str(&format!(" having {}", self.expr(having)));
        }
        if select.window.is_some() {
            out.push_str(&format!(" window {}", self.exprs(&select.window_exprs)));
        }
        out
    }

    fn items(&self, items: &[SelectItem]) -> String {
        self.list(items, |item| match item {
            SelectItem::Star(_) => "*".to_owned(),
            SelectItem::QualifiedStar(name, _) => format!("{}.*", self.name(name)),
            SelectItem::Expr { expr, alias, .. } => match alias {
                Some(alias) => format!("{} as {}", self.expr(expr), self.ident(alias)),
                None => self.expr(expr),
            },
        })
    }

    fn factors(&self, factors: &[TableFactor]) -> String {
        self.list(factors, |factor| self.factor(factor))
    }

    fn factor(&self, factor: &TableFactor) -> String {
        let named = |alias: &Option<Ident>| {
            alias.as_ref().map_or(String::new(), |alias| format!(" as {}", self.ident(alias)))
        };
        match factor {
            TableFactor::Table(table) => self.table(table),
            TableFactor::Derived { query, alias, lateral, .. } => {
                let lateral = if *lateral { "lateral " } else { "" };
                format!("({lateral}{}){}", self.query(query), named(alias))
            }
            TableFactor::Function { expr, alias, .. } => {
                format!("{}{}", self.expr(expr), named(alias))
            }
            TableFactor::Join(join) => {
                let constraint = match &join.constraint {
                    JoinConstraint::On(expr) => format!(" on {}", self.expr(expr)),
                    JoinConstraint::Using(columns) => format!(" using {}", self.idents(columns)),
                    JoinConstraint::Natural => " natural".to_owned(),
                    JoinConstraint::None => String::new(),
                };
                let kind = format!("{:?}", join.kind).to_lowercase();
                let (left, right) = (self.factor(&join.left), self.factor(&join.right));
                format!("({kind} {left} | {right}{constraint})")
            }
        }
    }

    fn table(&self, table: &pando_sql::ast::Table) -> String {
        let mut out = self.name(&table.name);
        if let Some(alias) = &table.alias {
            out.push_str(&format!(" as {}", self.ident(alias)));
        }
        for extra in &table.extras {
            out.push_str(&format!(" <{}>", self.span(*extra)));
        }
        out
    }

    fn assignments(&self, list: &[ColumnAssignment]) -> String {
        self.list(list, |set| format!("{} = {}", self.name(&set.column), self.expr(&set.value)))
    }

    fn returning(&self, returning: &Option<(Vec<SelectItem>, Span)>) -> String {
        returning
            .as_ref()
            .map_or(String::new(), |(items, _)| format!(" returning {}", self.items(items)))
    }

    fn insert(&self, insert: &Insert) -> String {
        let mut out = self.with(&insert.with);
        out.push_str(if insert.replace { "replace " } else { "insert " });
        out.push_str(&self.table(&insert.table));
        if !insert.modifiers.is_empty() {
            out.push_str(&format!(" {}", insert.modifiers.join(" ")));
        }
        if let Some(columns) = &insert.columns {
            out.push_str(&format!(" {}", self.idents(columns)));
        }
        out.push_str(&match &insert.source {
            InsertSource::Values { rows, .. } => {
                format!(" values {}", self.list(rows, |row| self.exprs(row.trees().unwrap_or(&[]))))
            }
            InsertSource::Set(list) => format!(" set {}", self.assignments(list)),
            InsertSource::Query(query) => format!(" {}", self.query(query)),
            InsertSource::Default => " default".to_owned(),
        });
        if !insert.on_duplicate.is_empty() {
            out.push_str(&format!(" duplicate {}", self.assignments(&insert.on_duplicate)));
        }
        if let Some(conflict) = &insert.on_conflict {
            let constraint = conflict.constraint.iter().map(|name| self.ident(name) + " ");
            let constraint: String = constraint.collect();
            let assignments = self.assignments(&conflict.assignments);
            out.push_str(&format!(" conflict {constraint}{assignments}"));
            if let Some(filter) = &conflict.filter {
                out.push_str(&format!(" where {}", self.expr(filter)));
            }
        }
        out.push_str(&self.returning(&insert.returning));
        out
    }

    fn tail(&self, filter: &Option<Expr>, order: &[OrderItem], limit: &Option<Limit>) -> String {
        let mut out = String::new();
        if let Some(filter) = filter {
            out.push_str(&format!(" where {}", self.expr(filter)));
        }
        if !order.is_empty() {
            out.push_str(&format!(" order {}", self.order(order)));
        }
        if let Some(limit) = limit {
            out.push_str(&self.limit(limit));
        }
        out
    }

    fn update(&self, update: &Update) -> String {
        let mut out = self.with(&update.with);
        out.push_str(&format!("update {}", self.factors(&update.tables)));
        out.push_str(&format!(" set {}", self.assignments(&update.assignments)));
        if !update.from.is_empty() {
            out.push_str(&format!(" from {}", self.factors(&update.from)));
        }
        out.push_str(&self.tail(&update.filter, &update.order_by, &update.limit));
        out.push_str(&self.returning(&update.returning));
        out
    }

    fn delete(&self, delete: &Delete) -> String {
        let mut out = self.with(&delete.with);
        out.push_str(&format!("delete {}", self.list(&delete.targets, |table| self.table(table))));
        if !delete.from.is_empty() {
            out.push_str(&format!(" from {}", self.factors(&delete.from)));
        }
        out.push_str(&self.tail(&delete.filter, &delete.order_by, &delete.limit));
        out.push_str(&self.returning(&delete.returning));
        out
    }

    fn define(&self, define: &Define) -> String {
        let mut out = format!("{:?} {:?} ", define.action, define.object).to_lowercase();
        out.push_str(&self.names(&define.names));
        for (set, word) in [
            (define.conditional, "conditional"),
            (define.temporary, "temporary"),
            (define.cascade, "cascade"),
        ] {
            if set {
                out.push_str(&format!(" {word}"));
            }
        }
        if let Some(on) = &define.on {
            out.push_str(&format!(" on {}", self.name(on)));
        }
        for (names, word) in [(&define.referenced, "refers"), (&define.renamed_to, "to")] {
            if !names.is_empty() {
                out.push_str(&format!(" {word} {}", self.names(names)));
            }
        }
        if !define.inner_names.is_empty() {
            let inner = self.list(&define.inner_names, |inner| {
                format!("{:?} {}", inner.kind, self.ident(&inner.name)).to_lowercase()
            });
            out.push_str(&format!(" inner {inner}"));
        }
        if !define.columns.is_empty() {
            let columns = self.list(&define.columns, |column| {
                let key = if column.primary_key { " key" } else { "" };
                let auto = if column.auto_increment { " auto" } else { "" };
                format!("{} <{}>{key}{auto}", self.ident(&column.name), self.span(column.type_span))
            });
            out.push_str(&format!(" columns {columns}"));
        }
        if !define.view_columns.is_empty() {
            out.push_str(&format!(" called {:?}", define.view_columns));
        }
        if !define.index_columns.is_empty() {
            out.push_str(&format!(" over {:?}", define.index_columns));
        }
        if !define.qualified.is_empty() {
            out.push_str(&format!(" qualified {}", self.names(&define.qualified)));
        }
        if let Some(at) = define.missing_name_at {
            out.push_str(&format!(" name after <{}>", &self.text[..at as usize]));
        }
        if let Some(query) = &define.query {
            out.push_str(&format!(" as {}", self.query(query)));
        }
        out
    }

    fn show(&self, show: &Show) -> String {
        let mut out = format!("show {:?}", show.what);
        if let Some(table) = &show.table {
            out.push_str(&format!(" table {}", self.name(table)));
        }
        if let Some(database) = &show.database {
            out.push_str(&format!(" database {}", self.ident(database)));
        }
        if let Some(like) = &show.like {
            out.push_str(&format!(" like {like:?}"));
        }
        if let Some(filter) = &show.filter {
            out.push_str(&format!(" where {}", self.expr(filter)));
        }
        out
    }

    fn copy(&self, copy: &Copy) -> String {
        let mut out = format!("copy {:?}", copy.direction);
        if let Some(table) = &copy.table {
            out.push_str(&format!(" {}", self.name(table)));
        }
        if let Some(columns) = &copy.columns {
            out.push_str(&format!(" {}", self.idents(columns)));
        }
        if let Some(query) = &copy.query {
            out.push_str(&format!(" ({})", self.query(query)));
        }
        if let Some(change) = copy.change {
            out.push_str(&format!(" <{}>", change.of(self.text)));
        }
        let options = self.list(&copy.options, |(name, value)| format!("{name}={value:?}"));
        let filter = copy.filter.as_ref().map(|filter| format!(" where {}", self.expr(filter)));
        let filter = filter.unwrap_or_default();
        format!("{out} {options} after <{}>{filter}", &self.text[..copy.columns_at as usize])
    }

    fn load(&self, load: &Load) -> String {
        let options = self.list(&load.options, |(name, value)| format!("{name}={value:?}"));
        let mut out = format!(
            "load {:?} local={} {:?} {} {options}",
            load.file,
            load.local,
            load.duplicates,
            self.name(&load.table)
        );
        if let Some(columns) = &load.columns {
            out.push_str(&format!(" {}", self.idents(columns)));
        }
        if !load.assignments.is_empty() {
            out.push_str(&format!(" set {}", self.assignments(&load.assignments)));
        }
        let at = &self.text[..load.columns_at as usize];
        let last = at.split_whitespace().next_back().unwrap_or_default();
        format!("{out} after <…{last}>")
    }
}

fn not(negated: bool) -> &'static str {
    if negated { "not-" } else { "" }
}

fn literal_text(literal: &Literal) -> String {
    match literal {
        Literal::Integer(value) => value.to_string(),
        Literal::Number(text) => format!("{text}n"),
        Literal::Text(text) => format!("{text:?}"),
        Literal::Bytes(bytes) => format!("bytes{bytes:?}"),
        Literal::Boolean(value) => value.to_string(),
        Literal::Null => "null".to_owned(),
        Literal::Typed(of, text) => format!("{of}:{text:?}"),
    }
}

fn op_text(op: &BinaryOp) -> &str {
    match op {
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Xor => "xor",
        BinaryOp::Equal => "=",
        BinaryOp::NullSafeEqual => "<=>",
        BinaryOp::NotEqual => "<>",
        BinaryOp::Less => "<",
        BinaryOp::LessOrEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterOrEqual => ">=",
        BinaryOp::Plus => "+",
        BinaryOp::Minus => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Modulo => "%",
        BinaryOp::Other(text) => text,
    }
}
