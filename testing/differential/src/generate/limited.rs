//! Queries with LIMIT inside other statements. Their order is total, so that which rows they give does not depend on chance.

use super::{Field, Maker};
use crate::schema::Table;
use crate::tree::{Body, By, Expr, Key, LimitForm, Query, Source, What};

impl Maker<'_> {
    /// Orders a query without groups by what tells the rows of all its tables apart, and cuts it. Nothing where some table has no such columns.
    pub(super) fn cut(&mut self, query: &mut Query) {
        let Body::Select(select) = &query.body else { return };
        let is_plain = select.group.is_empty() && !select.distinct;
        if !is_plain || select.from.iter().any(|source| source.unique.is_empty()) {
            return;
        }
        let columns: Vec<(String, String)> = select
            .from
            .iter()
            .flat_map(|source| {
                source.unique.iter().map(|name| (source.alias.clone(), name.clone()))
            })
            .collect();
        for (alias, name) in columns {
            let suffix = (*self.chance.one(&["", "", " desc"])).to_owned();
            query.order.push(Key { by: By::Hidden(Expr::Column(alias, name)), suffix });
        }
        query.limit = Some(self.number(&[1, 2, 3, 5, 20]));
        query.offset = self.maybe(25, |own| own.number(&[0, 1, 2, 5]));
        query.form = LimitForm::Limit;
    }

    /// A condition for a change: the row's `id` is among the first ones of a query over the same table.
    pub(super) fn chosen(&mut self, table: &Table, id: &Field) -> Expr {
        let (mut source, mut inner) = self.source_of(table);
        source.alias = "y".to_owned();
        for field in &mut inner {
            field.alias = "y".to_owned();
        }
        let filter = self.maybe(60, |own| own.condition(&inner, 1));
        let mut select = self.select_of(vec![source], filter);
        let own = Expr::Column("y".to_owned(), "id".to_owned());
        select.items = vec![self.item(own, id.class)];
        let mut query = Query::of(select);
        self.cut(&mut query);
        if !self.postgres() {
            return self.wrapped(query, id);
        }
        if self.chance.percent(20) {
            query.lock = Some("for update".to_owned());
        }
        let (before, after) =
            *self.chance.one(&[(" in ", ""), (" in ", ""), (" = any (array", ")")]);
        Expr::parts([id.expr(), Expr::raw(before), Self::bracketed(query), Expr::raw(after)])
    }

    /// MySQL takes no LIMIT right behind IN, and no query on the changed table but in a derived one.
    fn wrapped(&mut self, mut query: Query, id: &Field) -> Expr {
        let fields = self.named_columns(&mut query, "z");
        let source = Source {
            join: String::new(),
            what: What::Derived(Box::new(query)),
            alias: "z".to_owned(),
            on: None,
            unique: Vec::new(),
        };
        let mut select = self.select_of(vec![source], None);
        select.items = fields.iter().map(|field| self.item(field.expr(), field.class)).collect();
        Expr::parts([id.expr(), Expr::raw(" in "), Self::bracketed(Query::of(select))])
    }
}
