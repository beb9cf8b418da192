//! Indexes and constraints in statements. Their names would collide where several actual tables stand in one schema, so each table's have its own in them.

use std::slice;
use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::feature::{Context, Names};
use pando_kernel::route::{Need, Route, TableName, Target, UnitName, Units};
use pando_sql::ast::{
    Define, DefineAction, Ident, InnerKind, Insert, Kind, ObjectKind, ObjectName, Statement,
};
use pando_sql::{Edits, Span};

use crate::inner::{self, Part};
use crate::rewrite::spelled;
use crate::row_trigger;
use crate::rule::Rule;

/// The indexes, or triggers, that a statement names without their table.
pub(crate) fn alone(kind: &Kind) -> Option<&[ObjectName]> {
    if let Kind::Define(define) = kind
        && (define.object == ObjectKind::Index || drops_trigger(define))
        && define.on.is_none()
    {
        return Some(&define.names);
    }
    if let Kind::Utility { tables, index: Some(index), .. } = kind
        && tables.is_empty()
    {
        return Some(slice::from_ref(index));
    }
    None
}

/// DROP TRIGGER.
pub(crate) fn drops_trigger(define: &Define) -> bool {
    define.object == ObjectKind::Trigger && define.action == DefineAction::Drop
}

/// What must be known of a statement's units first.
pub(crate) fn unread(ctx: &Context<'_>, stmt: &Statement, units: &Units) -> Option<Route> {
    if !wants_names(&stmt.kind) {
        return None;
    }
    let mut all: Vec<UnitName> = units.targets.iter().map(|target| target.unit.clone()).collect();
    all.sort_unstable();
    all.dedup();
    ctx.catalog.names(&all).is_none().then_some(Route::Needs(Need::Names(all)))
}

/// Whether a statement names indexes or constraints of a table that may be there: what they are called there must be known first.
fn wants_names(kind: &Kind) -> bool {
    if let Kind::Explain { inner, .. } = kind {
        return wants_names(inner);
    }
    if let Kind::Define(define) = kind {
        let makes_table =
            define.object == ObjectKind::Table && define.action == DefineAction::Create;
        let is_index = define.object == ObjectKind::Index;
        return is_index || drops_trigger(define) || !makes_table && !define.inner_names.is_empty();
    }
    if let Kind::Insert(insert) = kind {
        return conflicting(insert).is_some();
    }
    matches!(kind, Kind::Utility { index: Some(_), .. })
}

/// Edits these names for one target.
pub(crate) fn rename(rule: &Rule, ctx: &Context<'_>, kind: &Kind, to: &Target, edits: &mut Edits) {
    if let Kind::Explain { inner, .. } = kind {
        return rename(rule, ctx, inner, to, edits);
    }
    let of = |name: &ObjectName| to.tables.iter().find(|table| table.is_called(&name.key()));
    if let Kind::Define(define) = kind {
        let owner = define.on.as_ref().or(define.names.first());
        let table = if alone(kind).is_some() { to.tables.first() } else { owner.and_then(of) };
        if let Some(table) = table {
            defined(&Namer::new(rule, ctx, to, table), define, edits);
        }
    }
    if let Kind::Insert(insert) = kind
        && let (Some(name), Some(table)) = (conflicting(insert), of(&insert.table.name))
    {
        Namer::new(rule, ctx, to, table).name(name, InnerKind::Constraint, edits);
    }
    if let Kind::Utility { tables, index: Some(index), .. } = kind
        && let Some(table) = tables.first().map_or(to.tables.first(), of)
        && let Some(name) = index.parts.last()
    {
        Namer::new(rule, ctx, to, table).name(name, InnerKind::Index, edits);
    }
}

fn conflicting(insert: &Insert) -> Option<&Ident> {
    insert.on_conflict.as_ref()?.constraint.as_ref()
}

fn defined(namer: &Namer<'_>, define: &Define, edits: &mut Edits) {
    // One that is named with its table is called the same in all parts.
    if drops_trigger(define) && define.on.is_none() {
        let names = define.names.iter().filter_map(|name| name.parts.last());
        names.for_each(|name| namer.trigger(name, edits));
    }
    if define.object == ObjectKind::Index {
        let names = define.names.iter().chain(&define.renamed_to);
        for name in names.filter_map(|name| name.parts.last()) {
            namer.name(name, InnerKind::Index, edits);
        }
    }
    if let Some(at) = define.missing_name_at {
        namer.missing(at, &define.index_columns, edits);
    }
    for inner in &define.inner_names {
        match inner.kind {
            InnerKind::Index | InnerKind::Constraint => namer.name(&inner.name, inner.kind, edits),
            InnerKind::Sequence => namer.sequence(&inner.name, edits),
            InnerKind::SequenceText => namer.sequence_text(&inner.name, edits),
        }
    }
}

/// What indexes and constraints are called in one actual table.
struct Namer<'a> {
    ctx: &'a Context<'a>,
    table: &'a TableName,
    part: Part,
    names: Option<Arc<Names>>,
}

impl<'a> Namer<'a> {
    fn new(rule: &Rule, ctx: &'a Context<'a>, to: &Target, table: &'a TableName) -> Self {
        let shown = rule.table(&table.logic).and_then(|own| own.nodes().first());
        let part = match shown {
            Some(node) if node.unit == to.unit && node.table == table.actual => Part::Shown,
            Some(_) | None => Part::Other,
        };
        Self { ctx, table, part, names: ctx.catalog.names(&[]) }
    }

    /// What a table has under a name is meant by it also where the name is given anew: the server tells that there is one already.
    fn name(&self, name: &Ident, kind: InnerKind, edits: &mut Edits) {
        let names = self.names.as_deref();
        let there = names.and_then(|names| inner::there(&name.value, kind, self.table, names));
        let is_ours = kind == InnerKind::Constraint || self.ctx.dialect.index_names_are_global();
        let given = || is_ours.then(|| inner::given(&name.value, self.table, self.part));
        if let Some(own) = there.or_else(given) {
            edits.replace(name.span, spelled(self.ctx, name, &own));
        }
    }

    /// Under any other name a part that lacks the trigger would drop one of its own, or of another table.
    fn trigger(&self, name: &Ident, edits: &mut Edits) {
        let own = row_trigger::own_name(&name.value, self.table);
        if own != name.value {
            edits.replace(name.span, spelled(self.ctx, name, &own));
        }
    }

    /// The sequence of a column, by the name that a server gives it, is each table's own.
    fn sequence(&self, name: &Ident, edits: &mut Edits) {
        if let Some(own) = inner::made(&name.value, self.table) {
            edits.replace(name.span, spelled(self.ctx, name, &own));
        }
    }

    /// The same in a string, behind its schema.
    fn sequence_text(&self, text: &Ident, edits: &mut Edits) {
        let (schema, name) = match text.value.strip_suffix('"') {
            Some(quoted) => quoted.rsplit_once('"').unwrap_or(("", quoted)),
            None => text.value.rsplit_once('.').unwrap_or(("", &text.value)),
        };
        let folds = !text.value.ends_with('"');
        let name = if folds { name.to_lowercase() } else { name.to_owned() };
        if let Some(own) = inner::made(&name, self.table) {
            let schema = schema.strip_suffix('.').unwrap_or(schema);
            let dot = if schema.is_empty() { "" } else { "." };
            let own = format!("{schema}{dot}{}", self.ctx.dialect.quote(&own));
            edits.replace(text.span, self.ctx.dialect.literal(&Value::Text(own)));
        }
    }

    /// An index that is given no name gets one here where its server would make none.
    fn missing(&self, at: u32, columns: &[String], edits: &mut Edits) {
        let dialect = self.ctx.dialect;
        if dialect.index_names_are_global() && !dialect.names_indexes() {
            let name = format!("{}_{}_idx", self.table.logic, columns.join("_"));
            let name = dialect.quote(&inner::given(&name, self.table, self.part));
            edits.replace(Span::at(at), format!(" {name} "));
        }
    }
}
