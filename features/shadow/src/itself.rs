//! Assignments that leave a column as it is.

use pando_sql::Fold;
use pando_sql::ast::{
    ColumnAssignment, Expr, Ident, Insert, InsertSource, Node, ObjectName, Query, QueryBody,
    TableFactor, Update,
};

/// What in the value of an assignment means the row that it is made to, or the one that was to be inserted.
pub(crate) struct Itself {
    /// What that row is called.
    labels: Vec<String>,
    /// What else has columns there: a name alone may be one of theirs.
    others: Vec<String>,
    /// `VALUES(c)` gives what was to be inserted.
    is_upsert: bool,
    fold: Fold,
}

impl Itself {
    /// In an assignment of an UPDATE.
    pub(crate) fn changed(update: &Update, assignment: &ColumnAssignment, fold: Fold) -> Self {
        let mut others = labels(&update.tables);
        others.extend(labels(&update.from));
        let target = match (owner(&assignment.column), &update.tables[..]) {
            (Some(owner), _) => Some(owner.key()),
            (None, [TableFactor::Table(_)]) => others.first().cloned(),
            (None, _) => None,
        };
        let at = target.as_ref().and_then(|own| others.iter().position(|other| other == own));
        if let Some(at) = at {
            others.remove(at);
        }
        Self { labels: target.into_iter().collect(), others, is_upsert: false, fold }
    }

    /// In ON DUPLICATE KEY UPDATE, which sees the tables of a query, too.
    ///
    /// <https://dev.mysql.com/doc/refman/8.0/en/insert-on-duplicate.html>
    pub(crate) fn replaced(insert: &Insert, fold: Fold) -> Self {
        let (mut labels, mut others) = (vec![target(insert)], Vec::new());
        if let InsertSource::Query(query) = &insert.source {
            of_query(query, &mut others);
        }
        if let Some(row) = &insert.row_alias {
            // Its columns may be called as others of the table are.
            let list = if row.columns.is_empty() { &mut labels } else { &mut others };
            list.push(row.name.key());
        }
        Self { labels, others, is_upsert: true, fold }
    }

    /// In ON CONFLICT, which sees the row that is there, and the one that was to be inserted.
    ///
    /// <https://www.postgresql.org/docs/current/sql-insert.html>
    pub(crate) fn in_conflict(insert: &Insert, fold: Fold) -> Self {
        let labels = vec![target(insert), "excluded".to_owned()];
        Self { labels, others: Vec::new(), is_upsert: false, fold }
    }

    /// Whether an assignment leaves its column as it is: `c = c`, `c = VALUES(c)`, `c = excluded.c`.
    pub(crate) fn is_given(&self, assignment: &ColumnAssignment) -> bool {
        let column = assignment.column.parts.last();
        column.is_some_and(|column| self.is_it(column, &assignment.value))
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "any other expression may give another value"
    )]
    fn is_it(&self, column: &Ident, value: &Expr) -> bool {
        match &value.node {
            Node::Nested(inner) => self.is_it(column, inner),
            Node::Column(name) => self.is_own(column, name),
            Node::Function(function) => match (&function.name.parts[..], &function.arguments[..]) {
                ([name], [Expr { node: Node::Column(inserted), .. }]) => {
                    self.is_upsert
                        && name.value.eq_ignore_ascii_case("values")
                        && owner(inserted).is_none_or(|owner| self.is_label(owner))
                        && inserted.parts.last().is_some_and(|last| self.is_same(column, last))
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn is_own(&self, column: &Ident, name: &ObjectName) -> bool {
        let is_row = match owner(name) {
            Some(owner) => self.is_label(owner),
            None => self.others.is_empty(),
        };
        is_row && name.parts.last().is_some_and(|last| self.is_same(column, last))
    }

    fn is_label(&self, owner: &Ident) -> bool {
        let key = owner.key();
        let is_other = self.others.iter().any(|other| other.eq_ignore_ascii_case(&key));
        !is_other && self.labels.contains(&key)
    }

    /// Whether two names in the statement are one column's.
    fn is_same(&self, column: &Ident, other: &Ident) -> bool {
        match self.fold {
            Fold::Lower => column.value == other.value,
            Fold::Keep => column.value.eq_ignore_ascii_case(&other.value),
        }
    }
}

/// What stands in front of a column's name.
pub(crate) fn owner(column: &ObjectName) -> Option<&Ident> {
    match &column.parts[..] {
        [.., owner, _] => Some(owner),
        [_] | [] => None,
    }
}

/// What the rows of each of these are called; nothing of what has no name.
pub(crate) fn labels(factors: &[TableFactor]) -> Vec<String> {
    let mut all = Vec::new();
    factors.iter().for_each(|factor| of_factor(factor, &mut all));
    all
}

fn of_factor(factor: &TableFactor, all: &mut Vec<String>) {
    let key = |alias: &Option<Ident>| alias.as_ref().map(Ident::key);
    match factor {
        TableFactor::Table(table) => {
            all.push(key(&table.alias).unwrap_or_else(|| table.name.key()));
        }
        TableFactor::Derived { alias, .. } | TableFactor::Function { alias, .. } => {
            all.push(key(alias).unwrap_or_default());
        }
        TableFactor::Join(join) => {
            of_factor(&join.left, all);
            of_factor(&join.right, all);
        }
    }
}

fn of_query(query: &Query, all: &mut Vec<String>) {
    match &query.body {
        QueryBody::Select(select) => all.extend(labels(&select.from)),
        QueryBody::Set { left, right, .. } => {
            of_query(left, all);
            of_query(right, all);
        }
        QueryBody::Values(_) => {}
    }
}

fn target(insert: &Insert) -> String {
    insert.table.alias.as_ref().map_or_else(|| insert.table.name.key(), Ident::key)
}
