//! Changes of rows through a view of one table: the same change of the table.

use pando_kernel::error::{Error, Result};
use pando_kernel::views::{LogicView, Taken};
use pando_sql::ast::{
    Delete, Distinct, Expr, Ident, Insert, InsertSource, Kind, Node, ObjectName, Query, QueryBody,
    Select, SelectItem, Statement, Table, TableFactor, Update,
};
use pando_sql::visit;
use pando_sql::{Edits, Span};

use super::known::Known;
use super::statement::Expanded;
use super::{expand, names};
use crate::plan::parse::parsed;

/// The view that a statement changes, if it is one.
pub(super) fn target<'a>(known: &Known<'a>, stmt: &Statement) -> Option<Through<'a>> {
    let named = |name: &ObjectName| Some(Through { name: name.key(), view: known.view(name)? });
    changed_names(&stmt.kind).into_iter().find_map(named)
}

/// A view through which rows are changed.
pub(super) struct Through<'a> {
    name: String,
    view: &'a LogicView,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over statements")]
fn changed_names(kind: &Kind) -> Vec<&ObjectName> {
    match kind {
        Kind::Insert(insert) => vec![&insert.table.name],
        Kind::Update(update) => match &update.tables[..] {
            [TableFactor::Table(table)] => vec![&table.name],
            _ => Vec::new(),
        },
        Kind::Delete(delete) => delete.targets.iter().map(|table| &table.name).collect(),
        Kind::Utility { merge: Some(merge), .. } => vec![&merge.target.name],
        Kind::Load(load) => vec![&load.table],
        Kind::Explain { inner, .. } => changed_names(inner),
        _ => Vec::new(),
    }
}

/// The sub-query that an expression is or asks.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn query_in(expr: &Expr) -> Option<&Query> {
    match &expr.node {
        Node::Subquery(query) | Node::Exists(query) | Node::InQuery { query, .. } => Some(query),
        _ => None,
    }
}

/// Refuses changes of views by statements in WITH.
///
/// # Errors
/// `Refused`.
pub(super) fn refuse_inner(known: &Known<'_>, stmt: &Statement) -> Result<()> {
    for body in inner(&stmt.kind) {
        for name in changed_names(body) {
            if let Some(view) = known.view(name) {
                let through = Through { name: name.key(), view };
                return Err(through.uncertain("is changed inside of another statement"));
            }
        }
    }
    Ok(())
}

/// The statements of the WITH in front.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over statements")]
fn inner(kind: &Kind) -> Vec<&Kind> {
    let with = match kind {
        Kind::Select(query) => &query.with,
        Kind::Insert(insert) => &insert.with,
        Kind::Update(update) => &update.with,
        Kind::Delete(delete) => &delete.with,
        Kind::Explain { inner: explained, .. } => return inner(explained),
        Kind::Copy(copy) => match &copy.query {
            Some(query) => &query.with,
            None => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    with.iter().map(|cte| &*cte.body).collect()
}

/// The change of the view's table.
///
/// # Errors
/// `Refused` where it is not certain what that is.
pub(super) fn changed(
    known: &Known<'_>,
    stmt: &Statement,
    through: Through<'_>,
) -> Result<Expanded> {
    if through.view.changes == Taken::Nothing {
        return Ok(Expanded::ForServer);
    }
    let query = through.view.query.as_ref().map_err(Error::from)?;
    let query = parsed(known.ctx, query)?;
    let base = Base::of(known, &query, &through)?;
    if through.view.is_strict && base.is_refused(stmt)? {
        return Ok(Expanded::ForServer);
    }
    let mut edits = Edits::default();
    base.change(stmt, &mut edits)?;
    let text = edits.apply(&stmt.text);
    // An INSERT may read other views.
    let further = parsed(known.ctx, &text)?;
    let written = expand::expanded(known, &further, expand::Query::Whole)?;
    Ok(Expanded::Written(written.unwrap_or(text)))
}

impl Through<'_> {
    fn uncertain(&self, what: &str) -> Error {
        Error::unsupported(
            20032,
            format!("view `{}` over sharded tables {what}", self.name),
            "change its table instead",
        )
    }
}

/// The table of a view, and what the view says of it.
struct Base<'a> {
    known: &'a Known<'a>,
    query: &'a Statement,
    select: &'a Select,
    table: &'a Table,
    through: &'a Through<'a>,
    columns: Vec<Shown<'a>>,
}

/// A column of a view.
struct Shown<'a> {
    name: String,
    expr: &'a Expr,
    /// The table's column, where it is one.
    column: Option<&'a ObjectName>,
}

impl<'a> Base<'a> {
    fn of(known: &'a Known<'a>, query: &'a Statement, through: &'a Through<'a>) -> Result<Self> {
        let (Some((select, table)), true) = (plain(query), through.view.columns.is_empty()) else {
            return Err(through.uncertain("is no plain one of a single table"));
        };
        if known.view(&table.name).is_some() {
            return Err(through.uncertain("is no plain one of a single table"));
        }
        let mut columns = Vec::new();
        for item in &select.items {
            let SelectItem::Expr { expr, alias, .. } = item else {
                return Err(through.uncertain("does not tell its columns"));
            };
            let column = if let Node::Column(name) = &expr.node { Some(name) } else { None };
            let last = column.and_then(|name| name.parts.last());
            let Some(name) = alias.as_ref().or(last) else {
                return Err(through.uncertain("does not tell its columns"));
            };
            columns.push(Shown { name: name.value.clone(), expr, column });
        }
        Ok(Self { known, query, select, table, through, columns })
    }

    /// Whether a strict server takes no such change through the view.
    /// <https://dev.mysql.com/doc/refman/8.0/en/view-updatability.html>
    fn is_refused(&self, stmt: &Statement) -> Result<bool> {
        let mut kind = &stmt.kind;
        while let Kind::Explain { inner, .. } = kind {
            kind = inner;
        }
        if matches!(kind, Kind::Insert(_)) {
            let own = self.columns.iter().filter_map(|shown| shown.column?.parts.last());
            let names: Vec<String> = own.map(Ident::key).collect();
            let is_twice = |(at, name)| names[..at].contains(name);
            return Ok(names.len() < self.columns.len() || names.iter().enumerate().any(is_twice));
        }
        let mut queries = Vec::new();
        for shown in &self.columns {
            visit::exprs_in(shown.expr, &mut |expr| queries.extend(query_in(expr)));
        }
        let table = self.table.alias.as_ref().or(self.table.name.parts.last()).map(Ident::key);
        for query in queries {
            let kind = Kind::Select(Box::new(query.clone()));
            let own = visit::tables(&kind);
            if own.iter().any(|one| Some(one.name.key()) == table) {
                return Err(self.through.uncertain("shows a sub-query over its own table"));
            }
            let mut is_about_row = false;
            visit::exprs(&kind, &mut |expr| {
                if let Node::Column(name) = &expr.node
                    && let [.., owner, _] = &name.parts[..]
                {
                    is_about_row |= Some(owner.key()) == table;
                }
            });
            if is_about_row {
                return Ok(true);
            }
        }
        Ok(false)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over statements")]
    fn change(&self, stmt: &Statement, edits: &mut Edits) -> Result<()> {
        let mut kind = &stmt.kind;
        while let Kind::Explain { inner, .. } = kind {
            kind = inner;
        }
        match kind {
            Kind::Insert(insert) => self.insert(insert, edits),
            Kind::Update(update) => self.update(stmt, update, edits),
            Kind::Delete(delete) => self.delete(stmt, delete, edits),
            _ => Err(self.through.uncertain("is changed by this statement")),
        }
    }

    fn insert(&self, insert: &Insert, edits: &mut Edits) -> Result<()> {
        let is_plain = insert.on_duplicate.is_empty()
            && insert.on_conflict.is_none()
            && insert.table.alias.is_none()
            && insert.table.extras.is_empty()
            && !matches!(insert.source, InsertSource::Set(_));
        if !is_plain {
            return Err(self.through.uncertain("is inserted into with more than rows"));
        }
        self.leaves_shown()?;
        let names: Vec<String> = match &insert.columns {
            Some(columns) => columns.iter().map(|column| column.value.clone()).collect(),
            None => {
                let width = width(&insert.source)
                    .ok_or_else(|| self.through.uncertain("is inserted into without names"))?;
                self.columns.iter().take(width).map(|column| column.name.clone()).collect()
            }
        };
        let mut list: Vec<String> = Vec::new();
        for name in &names {
            let own = self.own_column(name)?;
            if list.contains(&own) {
                return Err(self.through.uncertain("shows a column twice"));
            }
            list.push(own);
        }
        edits.replace(insert.table.name.span, self.name());
        if !list.is_empty() {
            edits.replace(insert.columns_span, format!(" ({})", list.join(", ")));
        }
        self.returning(insert.returning.as_ref(), edits)
    }

    fn update(&self, stmt: &Statement, update: &Update, edits: &mut Edits) -> Result<()> {
        let [TableFactor::Table(table)] = &update.tables[..] else {
            return Err(self.through.uncertain("is changed beside others"));
        };
        if !update.from.is_empty() || !update.with.is_empty() {
            return Err(self.through.uncertain("is changed beside others"));
        }
        self.leaves_shown()?;
        for assignment in &update.assignments {
            let name = assignment.column.parts.last().map_or("", |last| last.value.as_str());
            let own = self.own_column(name)?;
            edits.replace(assignment.column.span, own);
        }
        let behind = update.assignments.iter().map(|own| own.span.end).max();
        let end = Span::at(behind.unwrap_or(table.span.end));
        let place = Place { table, filter: update.filter.as_ref(), end };
        self.restricted(stmt, place, edits)?;
        self.returning(update.returning.as_ref(), edits)
    }

    fn delete(&self, stmt: &Statement, delete: &Delete, edits: &mut Edits) -> Result<()> {
        let ([table], true) =
            (&delete.targets[..], delete.from.is_empty() && delete.with.is_empty())
        else {
            return Err(self.through.uncertain("is changed beside others"));
        };
        let place = Place { table, filter: delete.filter.as_ref(), end: Span::at(table.span.end) };
        self.restricted(stmt, place, edits)?;
        self.returning(delete.returning.as_ref(), edits)
    }

    /// The table in the view's place, its columns in those of the view's, and the view's condition beside the
    /// statement's own.
    fn restricted(&self, stmt: &Statement, place: Place<'_>, edits: &mut Edits) -> Result<()> {
        let Place { table, filter, end } = place;
        if visit::tables(&stmt.kind).len() != 1 || !table.extras.is_empty() {
            return Err(self.through.uncertain("is changed beside others"));
        }
        edits.replace(table.span, self.name());
        let mut unknown = None;
        visit::exprs(&stmt.kind, &mut |expr| {
            if let Node::Column(name) = &expr.node {
                match self.shown(name) {
                    Some(shown) => edits.replace(name.span, self.text(shown)),
                    None => unknown = unknown.take().or(name.parts.last().map(|n| n.value.clone())),
                }
            }
        });
        if let Some(name) = unknown {
            return Err(self.through.uncertain(&format!("has no column `{name}`")));
        }
        let Some(own) = &self.select.filter else { return Ok(()) };
        let own = own.span.of(&self.query.text);
        match filter {
            Some(filter) => edits.around(filter.span, "(", format!(") AND ({own})")),
            None => edits.replace(end, format!(" WHERE {own}")),
        }
        Ok(())
    }

    /// Items of RETURNING that are called after columns keep their names, and `*` means the view's columns.
    fn returning(
        &self,
        returning: Option<&(Vec<SelectItem>, Span)>,
        edits: &mut Edits,
    ) -> Result<()> {
        let Some((items, _)) = returning else { return Ok(()) };
        let quote = |name: &str| self.known.ctx.dialect.quote(name);
        for item in items {
            match item {
                SelectItem::Star(span) | SelectItem::QualifiedStar(_, span) => {
                    let all = self.columns.iter();
                    let all = all.map(|own| format!("{} AS {}", self.text(own), quote(&own.name)));
                    edits.replace(*span, all.collect::<Vec<_>>().join(", "));
                }
                SelectItem::Expr { expr, alias, .. } => {
                    let Node::Column(name) = &expr.node else {
                        return Err(self.through.uncertain("is to return more than columns"));
                    };
                    let Some(shown) = self.shown(name) else {
                        return Err(self.through.uncertain("is to return more than its columns"));
                    };
                    if !edits.covers(name.span) {
                        edits.replace(name.span, self.text(shown));
                    }
                    if alias.is_none() {
                        let behind = Span::at(expr.span.end);
                        edits.replace(behind, format!(" AS {}", quote(&shown.name)));
                    }
                }
            }
        }
        Ok(())
    }

    /// Refuses what may write rows that the view would not show, where its server would refuse these.
    fn leaves_shown(&self) -> Result<()> {
        match (self.through.view.changes, &self.select.filter) {
            (Taken::Shown, Some(_)) => {
                Err(self.through.uncertain("takes only rows that it shows (CHECK OPTION)"))
            }
            (Taken::Shown | Taken::Any | Taken::Nothing, _) => Ok(()),
        }
    }

    fn called(&self, name: &str) -> Option<&Shown<'a>> {
        let fold = self.known.ctx.dialect.syntax().fold;
        self.columns.iter().find(|column| names::are_same(fold, &column.name, name))
    }

    fn shown(&self, name: &ObjectName) -> Option<&Shown<'a>> {
        self.called(&name.parts.last()?.value)
    }

    /// The table's column, quoted, that a column of the view is.
    fn own_column(&self, name: &str) -> Result<String> {
        let last =
            self.called(name).and_then(|shown| shown.column).and_then(|column| column.parts.last());
        match last {
            Some(last) => Ok(self.known.ctx.dialect.quote(&last.value)),
            None => Err(self.through.uncertain(&format!("has no column `{name}` of its table"))),
        }
    }

    fn text(&self, shown: &Shown<'_>) -> String {
        let text = shown.expr.span.of(&self.query.text);
        if shown.column.is_some() { text.to_owned() } else { format!("({text})") }
    }

    fn name(&self) -> String {
        self.table.name.span.of(&self.query.text).to_owned()
    }
}

/// Where a change of rows says what it changes.
struct Place<'a> {
    table: &'a Table,
    filter: Option<&'a Expr>,
    /// Where a condition would stand.
    end: Span,
}

/// The SELECT from one table that gives each of its rows once or not at all.
fn plain(query: &Statement) -> Option<(&Select, &Table)> {
    let Kind::Select(query) = &query.kind else { return None };
    let Query { with, body: QueryBody::Select(select), order_by, limit: None, lock: None, .. } =
        &**query
    else {
        return None;
    };
    let [TableFactor::Table(table)] = &select.from[..] else { return None };
    let is_plain = with.is_empty()
        && order_by.is_empty()
        && matches!(select.distinct, Distinct::No)
        && select.group_by.is_empty()
        && select.having.is_none()
        && select.window.is_none()
        && table.alias.is_none()
        && table.extras.is_empty();
    is_plain.then_some((&**select, table))
}

/// How many values the rows of an INSERT have; `None` where it does not show.
fn width(source: &InsertSource) -> Option<usize> {
    match source {
        InsertSource::Values { rows, .. } => rows.iter().map(|row| row.width()).max(),
        InsertSource::Default => Some(0),
        InsertSource::Set(_) => None,
        InsertSource::Query(query) => {
            let QueryBody::Select(select) = &query.body else { return None };
            let is_one = |item: &SelectItem| matches!(item, SelectItem::Expr { .. });
            select.items.iter().all(is_one).then_some(select.items.len())
        }
    }
}
