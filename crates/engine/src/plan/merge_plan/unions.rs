//! Several tables of one storage unit read as one: `FROM (SELECT a, b FROM t_0 UNION ALL SELECT a, b FROM t_1) AS t` in the place of a statement for
//! each table. The unit parses, plans and answers once, and where it orders or limits, few rows are left to merge.
//!
//! Shards that one unit reads together are one larger shard: whatever is right for the rows of each shard alone is right for these.

use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::Context;
use pando_kernel::route::{Need, Spread, Target, Units};
use pando_kernel::session::TransactionState;
use pando_kernel::{Attribute, LogicColumns};
use pando_sql::ast::{
    BinaryOp, Expr, Kind, Literal, Node, QueryBody, Select, SelectItem, Statement, Table,
    TableFactor,
};
use pando_sql::{Edits, Span, visit};

use crate::execute::spread_over;

/// So many tables are read by one statement: servers plan more of them slowly.
const MOST: usize = 32;
/// Conditions joined by AND that a union may have: PostgreSQL's planner goes over them by pairs for each table below. Five tables, one of them asked at a time: 50
/// conditions 7 ms for 15, 100 conditions 38 ms for 23, 4,000 conditions 49 s for 0.5. OR and IN cost the same either way.
const MOST_CONDITIONS: usize = 32;
/// Bytes of a statement that reads a union: what it says is copied for each table when it is planned.
const LONGEST: usize = 16 << 10;

/// What reading the tables of a unit as one needs.
#[derive(Debug)]
pub(in crate::plan) enum Found {
    /// The targets cannot be read together, or each unit has only one.
    No,
    /// They can.
    Some(Union),
    /// The table's columns must be known first.
    Needs(Need),
}

/// A table whose shards are read together.
#[derive(Debug)]
pub(in crate::plan) struct Union {
    /// Where the table's name stands, its schema in front of it included.
    at: Span,
    /// What stands before the actual name in the text: its schema.
    schema: String,
    /// The columns that are asked for, quoted.
    columns: String,
    /// What its rows are called, when the text gives them no name of their own.
    label: Option<String>,
    /// The table's columns that the select list shows: servers do not tell where a union's columns come from.
    pub(in crate::plan) attributes: Vec<Attribute>,
}

/// Whether targets that share a unit can be read by one statement.
pub(in crate::plan) fn find(ctx: &Context<'_>, stmt: &Statement, units: &Units) -> Found {
    let Some((select, table)) = readable(ctx, stmt, units) else { return Found::No };
    let logic = table.name.key();
    if !units.targets.iter().all(|target| is_shard_of(target, &logic)) {
        return Found::No;
    }
    let Some(known) = ctx.catalog.columns(&logic) else {
        return Found::Needs(Need::Columns(logic));
    };
    // What is read as a table would have no column that only those see who name it.
    let is_star = |item: &SelectItem| !matches!(item, SelectItem::Expr { .. });
    if known.iter().any(|column| column.invisible) && select.items.iter().any(is_star) {
        return Found::No;
    }
    let names: Vec<&str> = known.iter().map(|column| &*column.name).collect();
    let primary: Vec<&str> =
        known.iter().filter(|column| column.primary_key).map(|column| &*column.name).collect();
    if !groups_alike(select, &names, &primary) {
        return Found::No;
    }
    match asked(stmt, select, table, &names) {
        Some(columns) => {
            let logic = ctx.catalog.logic(&logic);
            let columns = logic.as_deref().map_or(columns.clone(), |logic| stored(logic, &columns));
            let mut union = union(ctx, stmt, table, &columns);
            union.attributes = select.items.iter().map(|item| attribute(item, &known)).collect();
            Found::Some(union)
        }
        None => Found::No,
    }
}

/// The targets that one statement reads, in the order of their units and tables.
pub(in crate::plan) fn together(ctx: &Context<'_>, targets: &[Target]) -> Vec<Vec<Target>> {
    let mut units: Vec<Vec<&Target>> = Vec::new();
    for target in targets {
        match units.iter_mut().find(|unit| unit.iter().any(|known| known.unit == target.unit)) {
            Some(unit) => unit.push(target),
            None => units.push(vec![target]),
        }
    }
    let connections = connections(ctx);
    let mut groups = Vec::new();
    for unit in units {
        let statements = unit.len().div_ceil(MOST).max(connections);
        let mut left = unit.into_iter();
        for share in spread_over(left.len(), statements) {
            groups.push(left.by_ref().take(share).cloned().collect());
        }
    }
    groups
}

/// Whether one statement reads all targets: what [`together`] says, without making the groups.
pub(in crate::plan) fn is_one(ctx: &Context<'_>, targets: &[Target]) -> bool {
    let together = targets.windows(2).all(|pair| pair[0].unit == pair[1].unit);
    together && targets.len() <= MOST && connections(ctx) == 1
}

/// How many statements of one unit run at a time.
pub(in crate::plan) fn connections(ctx: &Context<'_>) -> usize {
    match ctx.session.transaction {
        TransactionState::Idle => ctx.session.connections_per_query.max(1),
        TransactionState::Open | TransactionState::Failed => 1,
    }
}

impl Union {
    /// Puts these tables in the place of the logic one.
    pub(in crate::plan) fn edit(&self, ctx: &Context<'_>, group: &[Target], edits: &mut Edits) {
        let mut text = String::from("(");
        for name in group.iter().flat_map(|target| &target.tables) {
            if text.len() > 1 {
                text.push_str(" UNION ALL ");
            }
            let Self { schema, columns, .. } = self;
            let actual = ctx.dialect.quote(&name.actual);
            text.push_str(&format!("SELECT {columns} FROM {schema}{actual}"));
        }
        text.push(')');
        if let Some(label) = &self.label {
            text.push_str(&format!(" AS {label}"));
        }
        edits.replace(self.at, text);
    }
}

fn union(ctx: &Context<'_>, stmt: &Statement, table: &Table, columns: &[&str]) -> Union {
    let own = table.name.parts.last().map_or(table.name.span, |name| name.span);
    let columns: Vec<String> = columns.iter().map(|name| ctx.dialect.quote(name)).collect();
    Union {
        at: table.name.span,
        schema: Span::new(table.name.span.start, own.start).of(&stmt.text).to_owned(),
        columns: columns.join(", "),
        label: table.alias.is_none().then(|| own.of(&stmt.text).to_owned()),
        attributes: Vec::new(),
    }
}

/// What is stored of columns, in table order.
fn stored<'a>(logic: &'a LogicColumns, columns: &[&str]) -> Vec<&'a str> {
    let asked = columns.iter().filter_map(|name| logic.find(name));
    let held: Vec<&str> = asked.flat_map(|one| &one.stored).map(|column| &*column.name).collect();
    let all = logic.stored.iter().map(|column| &*column.name);
    all.filter(|name| held.contains(name)).collect()
}

fn attribute(item: &SelectItem, known: &[TableColumn]) -> Attribute {
    let SelectItem::Expr { expr, .. } = item else { return Attribute::default() };
    let Node::Column(name) = &bare(expr).node else { return Attribute::default() };
    let column = known.iter().find(|own| name.parts.last().is_some_and(|n| n.value == own.name));
    column.map(|column| column.attribute).unwrap_or_default()
}

/// The SELECT and its only table, if it is of the kind that may read a derived table in the place of that.
fn readable<'a>(
    ctx: &Context<'_>,
    stmt: &'a Statement,
    units: &Units,
) -> Option<(&'a Select, &'a Table)> {
    let shares = |(at, target): (usize, &Target)| {
        units.targets[..at].iter().any(|known| known.unit == target.unit)
    };
    let fits = ctx.dialect.reads_unions_as_tables()
        && stmt.text.len() <= LONGEST
        && units.spread == Spread::Gather
        && units.keys.is_none()
        && units.targets.iter().enumerate().any(shares);
    let Kind::Select(query) = &stmt.kind else { return None };
    let QueryBody::Select(select) = &query.body else { return None };
    let [TableFactor::Table(table)] = &select.from[..] else { return None };
    let bare = query.with.is_empty()
        && query.lock.is_none()
        && select.into.is_none()
        && select.window.is_none()
        && select.modifiers.is_empty()
        && table.extras.is_empty()
        && table.span.end == table.alias.as_ref().map_or(table.name.span.end, |name| name.span.end);
    (fits && bare).then_some((select, table))
}

fn is_shard_of(target: &Target, logic: &str) -> bool {
    target.rows.is_none() && matches!(&target.tables[..], [table] if &*table.logic == logic)
}

/// Whether the unit groups the rows of a derived table as it would the table's: one grouped by its primary key may show any other column, too.
/// <https://www.postgresql.org/docs/current/sql-select.html#SQL-GROUPBY>
fn groups_alike(select: &Select, names: &[&str], primary: &[&str]) -> bool {
    let mut keys = Vec::new();
    for item in &select.group_by {
        match meant(select, item, names) {
            Meant::Column(name) => keys.push(name),
            Meant::Value => {}
            Meant::Unknown => return false,
        }
    }
    let has_key = !primary.is_empty() && primary.iter().all(|name| keys.contains(name));
    !select.grouping_sets && !has_key
}

/// What an item of GROUP BY stands for.
enum Meant<'a> {
    Column(&'a str),
    Value,
    Unknown,
}

/// A name is a column's before it is an item's; a whole number is an item's place.
/// <https://www.postgresql.org/docs/current/sql-select.html#SQL-GROUPBY>
fn meant<'a>(select: &'a Select, item: &'a Expr, names: &[&str]) -> Meant<'a> {
    let column = |expr: &'a Expr| {
        let Node::Column(name) = &bare(expr).node else { return Meant::Value };
        match name.parts.last() {
            Some(name) if names.contains(&&*name.value) => Meant::Column(&name.value),
            _ => Meant::Unknown,
        }
    };
    let shown = |at: usize| match select.items.get(at) {
        Some(SelectItem::Expr { expr, .. }) => column(expr),
        Some(SelectItem::Star(_) | SelectItem::QualifiedStar(..)) | None => Meant::Unknown,
    };
    if let Node::Literal(Literal::Integer(place)) = &item.node {
        return usize::try_from(*place)
            .map_or(Meant::Unknown, |place| shown(place.wrapping_sub(1)));
    }
    match (column(item), &item.node) {
        (Meant::Unknown, Node::Column(name)) if name.parts.len() == 1 => {
            let own = |item: &SelectItem| name.parts.last().map(|n| &*n.value) == label(item);
            select.items.iter().position(own).map_or(Meant::Unknown, shown)
        }
        (meant, _) => meant,
    }
}

fn bare(expr: &Expr) -> &Expr {
    let mut expr = expr;
    while let Node::Nested(inner) = &expr.node {
        expr = inner;
    }
    expr
}

/// The columns the statement names, in table order; one of them when it names none. `None` when it asks for anything else of the table:
/// what only the server knows (`ctid`), whole rows, all columns (of which the catalogue may not know a new one), sub-queries.
fn asked<'a>(
    stmt: &Statement,
    select: &Select,
    table: &Table,
    names: &[&'a str],
) -> Option<Vec<&'a str>> {
    let owner = table.alias.as_ref().or(table.name.parts.last())?;
    let labels: Vec<&str> = select.items.iter().map(label).collect::<Option<_>>()?;
    let (mut plain, mut asked, mut conditions) = (true, Vec::new(), 1);
    visit::exprs(&stmt.kind, &mut |expr| {
        conditions += usize::from(matches!(expr.node, Node::Binary { op: BinaryOp::And, .. }));
        let Node::Column(name) = &expr.node else {
            plain &= is_plain(expr);
            return;
        };
        plain &= match &name.parts[..] {
            [column] if names.contains(&&*column.value) => {
                asked.push(column.value.clone());
                true
            }
            [column] => !column.value.is_empty() && labels.contains(&&*column.value),
            [of, column] => {
                asked.push(column.value.clone());
                of.value == owner.value && names.contains(&&*column.value)
            }
            _ => false,
        };
    });
    let mut columns: Vec<&str> =
        names.iter().copied().filter(|name| asked.iter().any(|asked| asked == name)).collect();
    if columns.is_empty() {
        columns.extend(names.first());
    }
    (plain && conditions <= MOST_CONDITIONS && !columns.is_empty()).then_some(columns)
}

/// The name an item is given; empty without one, `None` for stars.
fn label(item: &SelectItem) -> Option<&str> {
    match item {
        SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
        SelectItem::Expr { alias, .. } => Some(alias.as_ref().map_or("", |name| &name.value)),
    }
}

fn is_plain(expr: &Expr) -> bool {
    match &expr.node {
        Node::Column(_)
        | Node::Literal(_)
        | Node::Parameter(_)
        | Node::Unary { .. }
        | Node::Binary { .. }
        | Node::Between { .. }
        | Node::InList { .. }
        | Node::Like { .. }
        | Node::IsNull { .. }
        | Node::Function(_)
        | Node::Case { .. }
        | Node::Cast { .. }
        | Node::Collate { .. }
        | Node::Nested(_) => true,
        Node::Variable(_)
        | Node::InQuery { .. }
        | Node::Subquery(_)
        | Node::Exists(_)
        | Node::Row(_)
        | Node::Other(_)
        | Node::Default => false,
    }
}
