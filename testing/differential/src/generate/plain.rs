//! SELECT without groups, set operations, windows, WITH and derived tables.

use super::{Field, Maker, Standing};
use crate::schema::Class;
use crate::tree::{Body, By, Common, Expr, Given, Item, Key, LimitForm, Query, Source, What};
use crate::values::Constant;

impl Maker<'_> {
    pub(super) fn plain(&mut self) -> Query {
        let (from, fields) = self.from();
        let filter = self.filter(&from, &fields);
        let mut select = self.select_of(from, filter);
        let count = self.chance.between(1, 4);
        for _ in 0..count {
            let item = self.any_item(&fields);
            select.items.push(item);
        }
        if self.chance.percent(3) {
            let nested = self.counted_below(&fields);
            select.items.extend(nested);
        }
        let has_json = select.items.iter().any(|item| !item.class.is_comparable());
        // MariaDB's DISTINCT takes `not NULL` for `not true`.
        let is_odd = |item: &Item| crate::render::expression(&item.expr).contains("(not ");
        let has_odd = !self.postgres() && select.items.iter().any(is_odd);
        select.distinct = self.chance.percent(18) && !has_json && !has_odd;
        if self.chance.percent(6) && !select.distinct && !self.is_timed() {
            // A star cannot be named in ORDER BY; the order is by hidden columns.
            let star = self.star(&select.from);
            select.items = vec![self.item(Expr::raw(star), Class::Json)];
        }
        let mut query = Query::of(select);
        self.order(&mut query, &fields);
        self.limit(&mut query);
        if self.chance.percent(2) {
            query.lock = Some("for update".to_owned());
        }
        query
    }

    fn star(&mut self, from: &[Source]) -> String {
        if from.len() == 1 && self.chance.percent(70) {
            "*".to_owned()
        } else {
            format!("{}.*", from[0].alias)
        }
    }

    pub(super) fn any_item(&mut self, fields: &[Field]) -> Item {
        let (expr, class) = self.scalar(fields);
        let mut item = self.item(expr, class);
        item.alias = self.alias(item.id);
        item
    }

    /// Rarely one that hides a column.
    fn alias(&mut self, id: usize) -> Option<String> {
        match self.chance.below(20) {
            0..=4 => Some(format!("v{id}")),
            5 => Some(format!("\"V {id}\"")).filter(|_| self.postgres()),
            6 => Some((*self.chance.one(&["id", "g", "s", "c0"])).to_owned()),
            _ => None,
        }
    }

    /// `(select count(*) from … where its key = ours)`
    fn counted_below(&mut self, fields: &[Field]) -> Option<Item> {
        let outer =
            self.field_of(fields, |field| matches!(field.name.as_str(), "id" | "g"))?.clone();
        let table = self.table();
        let (source, inner) = self.source_of(table);
        let own = self.field_of(&inner, |field| matches!(field.name.as_str(), "id" | "g"))?.clone();
        let tie = Expr::parts([own.expr(), Expr::raw(" = "), outer.expr()]);
        let mut select = self.select_of(vec![source], Some(tie));
        select.items = vec![self.item(Expr::raw("count(*)"), Class::Whole)];
        Some(self.item(Self::bracketed(Query::of(select)), Class::Whole))
    }

    fn direction(&mut self) -> String {
        let mut words = (*self.chance.one(&["", "", " desc", " asc"])).to_owned();
        if self.postgres() && self.chance.percent(25) {
            words.push_str(self.chance.pick(&[" nulls first", " nulls last"]));
        }
        words
    }

    /// ORDER BY for most statements; about half of them with a tie-breaker.
    pub(super) fn order(&mut self, query: &mut Query, fields: &[Field]) {
        if let Body::Select(select) = &mut query.body {
            one_of_each_alias(&mut select.items);
        }
        if !self.chance.percent(65) {
            return;
        }
        let (distinct, from) = match &query.body {
            Body::Select(select) => (select.distinct, select.from.clone()),
            Body::Set { .. } => (true, Vec::new()),
        };
        let shown: Vec<Item> = query
            .items()
            .iter()
            .filter(|item| item.class.is_comparable() && !item.loose)
            .cloned()
            .collect();
        let count = self.chance.between(1, 2);
        for _ in 0..count {
            let by = if !shown.is_empty() && (distinct || self.chance.percent(60)) {
                let item = self.chance.one(&shown);
                let as_ordinal =
                    self.chance.percent(40) || (from.is_empty() && item.alias.is_none());
                if as_ordinal { By::Ordinal(item.id) } else { By::Name(item.id) }
            } else if distinct {
                continue;
            } else {
                let (expr, class) = self.scalar(fields);
                if !class.is_comparable() {
                    continue;
                }
                By::Hidden(expr)
            };
            let suffix = self.direction();
            query.order.push(Key { by, suffix });
        }
        if self.chance.percent(60) {
            if distinct {
                for item in &shown {
                    let suffix = self.direction();
                    query.order.push(Key { by: By::Ordinal(item.id), suffix });
                }
            } else {
                for source in &from {
                    for name in &source.unique {
                        let expr = Expr::Column(source.alias.clone(), name.clone());
                        let suffix = self.direction();
                        query.order.push(Key { by: By::Hidden(expr), suffix });
                    }
                }
            }
        }
    }

    pub(super) fn number(&mut self, of: &[i64]) -> Expr {
        Expr::Value(Constant::whole(*self.chance.one(of)), Given::Bound)
    }

    /// LIMIT and OFFSET, mostly under an order.
    pub(super) fn limit(&mut self, query: &mut Query) {
        if !self.chance.percent(if query.order.is_empty() { 4 } else { 35 }) {
            return;
        }
        query.limit = Some(self.number(&[0, 1, 2, 3, 5, 10, 100]));
        query.offset = self.maybe(35, |own| own.number(&[0, 1, 2, 5, 20]));
        query.form = match (self.postgres(), self.chance.below(10)) {
            (true, 0) => LimitForm::Fetch,
            (true, 1) if !query.order.is_empty() && self.chance.percent(40) => LimitForm::Ties,
            (false, 0..=2) => LimitForm::Comma,
            _ => LimitForm::Limit,
        };
        if matches!(query.form, LimitForm::Fetch | LimitForm::Ties)
            && let Some(Expr::Value(_, given)) = &mut query.limit
        {
            *given = Given::Written;
        }
    }

    /// Two or three SELECT of the same columns.
    pub(super) fn united(&mut self) -> Query {
        let names: &[&str] =
            self.chance.pick(&[&["id", "g"][..], &["g"], &["s"], &["id", "s"], &["s", "g"]]);
        let mut query = self.column_query(names);
        let more = self.chance.between(1, 2);
        for _ in 0..more {
            let operators: &[&str] =
                &["union", "union all", "union all", "union", "intersect", "except"];
            let operator = (*self.chance.one(operators)).to_owned();
            let (left, right) = (Box::new(query), Box::new(self.column_query(names)));
            query = Query::body(Body::Set { operator, left, right });
        }
        self.order(&mut query, &[]);
        self.limit(&mut query);
        query
    }

    fn column_query(&mut self, names: &[&str]) -> Query {
        let table = self.table();
        let (source, fields) = self.source_of(table);
        let filter = self.filter(std::slice::from_ref(&source), &fields);
        let mut select = self.select_of(vec![source], filter);
        for name in names {
            if let Some(field) = fields.iter().find(|field| field.name == *name) {
                let item = self.item(field.expr(), field.class);
                select.items.push(item);
            }
        }
        Query::of(select)
    }

    /// A window function beside plain columns.
    pub(super) fn windowed(&mut self) -> Query {
        let table = self.table();
        let (source, fields) = self.source_of(table);
        let unique: Vec<String> =
            source.unique.iter().map(|name| format!("{}.{name}", source.alias)).collect();
        let unique = unique.join(", ");
        let filter = self.filter(std::slice::from_ref(&source), &fields);
        let mut select = self.select_of(vec![source], filter);
        let count = self.chance.between(1, 3);
        for _ in 0..count {
            let item = self.any_item(&fields);
            select.items.push(item);
        }
        let within = self.field_of(&fields, |field| field.class.is_comparable()).map(Field::expr);
        let number = self.field_of(&fields, |field| field.class == Class::Whole).map(Field::expr);
        let number = number.unwrap_or_else(|| Expr::raw("1"));
        let form = self.chance.below(12);
        let mut parts = match form {
            0 => vec![Expr::raw("row_number()")],
            1 => vec![Expr::raw("rank()")],
            2 => vec![Expr::raw("dense_rank()")],
            3 => vec![number.clone().within("sum(", ")")],
            4 => vec![Expr::raw("count(*)")],
            5 => vec![number.clone().within("lag(", ")")],
            6 => vec![number.clone().within("max(", ")")],
            7 => vec![number.clone().within("lead(", ", 2)")],
            8 => vec![number.clone().within("first_value(", ")")],
            9 => vec![number.clone().within("last_value(", ")")],
            10 => vec![Expr::raw("ntile(3)")],
            _ => vec![number.clone().within("min(", ")")],
        };
        parts.push(Expr::raw(" over ("));
        if let (Some(within), true) = (within, self.chance.percent(75)) {
            parts.push(within.within("partition by ", ""));
        }
        // Functions of a row's place take no frame on MariaDB.
        let takes_frame = matches!(form, 3 | 6 | 8 | 9 | 11);
        let frame = match self.chance.below(5) {
            0 if takes_frame => " rows between 1 preceding and 1 following",
            1 if takes_frame => " rows between unbounded preceding and unbounded following",
            _ => "",
        };
        parts.push(Expr::raw(format!(" order by {unique}{frame})")));
        let mut item = self.item(Expr::Parts(parts), Class::Whole);
        item.alias = Some("w".to_owned());
        select.items.push(item);
        let mut query = Query::of(select);
        self.order(&mut query, &fields);
        self.limit(&mut query);
        query
    }

    /// A query that may stand in FROM: its rows do not depend on chance.
    pub(super) fn inner(&mut self) -> Query {
        let mut query = if self.chance.percent(65) {
            let (from, fields) = self.from();
            let filter = self.filter(&from, &fields);
            let mut select = self.select_of(from, filter);
            let count = self.chance.between(1, 3);
            for _ in 0..count {
                let field = self.field(&fields).clone();
                let item = self.item(field.expr(), field.class);
                select.items.push(item);
            }
            Query::of(select)
        } else {
            self.grouped()
        };
        query.order.clear();
        (query.limit, query.offset) = (None, None);
        if self.chance.percent(25) {
            self.cut(&mut query);
        }
        query
    }

    pub(super) fn over_derived(&mut self) -> Query {
        let mut inner = self.inner();
        let fields = self.named_columns(&mut inner, "q");
        let source = Source {
            join: String::new(),
            what: What::Derived(Box::new(inner)),
            alias: "q".to_owned(),
            on: None,
            unique: Vec::new(),
        };
        self.outer(vec![source], &fields)
    }

    pub(super) fn common(&mut self) -> Query {
        let mut inner = self.inner();
        let fields = self.named_columns(&mut inner, "w1");
        let source = Source {
            join: String::new(),
            what: What::Table("w1".to_owned()),
            alias: "w1".to_owned(),
            on: None,
            unique: Vec::new(),
        };
        let mut query = self.outer(vec![source], &fields);
        query.with.push(Common { name: "w1".to_owned(), query: inner });
        query
    }

    pub(super) fn outer(&mut self, from: Vec<Source>, fields: &[Field]) -> Query {
        let (loose, fields): (Vec<Field>, Vec<Field>) =
            fields.iter().cloned().partition(|field| field.standing == Standing::Loose);
        let as_they_are = |own: &mut Self| -> Vec<Item> {
            let shown = |field: &Field| Item { loose: true, ..own.item(field.expr(), field.class) };
            loose.iter().map(shown).collect()
        };
        let mut select = self.select_of(from, None);
        if fields.is_empty() {
            select.items = as_they_are(self);
            return Query::of(select);
        }
        select.filter = self.maybe(40, |own| own.condition(&fields, 1));
        if self.chance.percent(35) {
            select.items = self.aggregates(&fields, &[]);
            return Query::of(select);
        }
        let count = self.chance.between(1, 3);
        for _ in 0..count {
            let item = self.any_item(&fields);
            select.items.push(item);
        }
        if self.chance.percent(30) {
            let more = as_they_are(self);
            select.items.extend(more);
        }
        let mut query = Query::of(select);
        self.order(&mut query, &fields);
        if !query.order.is_empty() {
            self.limit(&mut query);
        }
        query
    }
}

/// ORDER BY takes the last of two columns of one name on MariaDB.
fn one_of_each_alias(items: &mut [Item]) {
    let mut known = Vec::new();
    for item in items {
        if known.contains(&item.alias) {
            item.alias = None;
        }
        known.push(item.alias.clone());
    }
}
