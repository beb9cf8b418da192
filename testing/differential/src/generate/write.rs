//! INSERT, UPDATE, DELETE and their relatives.

use super::{Field, Maker};
use crate::schema::{Class, Column, MOMENT, Server, Table};
use crate::tree::{Change, Expr, Given, Insert, Query, Source, Statement, What};
use crate::values::{self, Constant};

const ONE_MORE: &str = " + 1";

impl Maker<'_> {
    /// A statement that changes rows.
    pub(crate) fn write(&mut self) -> Statement {
        (self.items, self.aliases, self.is_writing) = (0, 0, true);
        let at = self.chance.below(self.tables.len());
        let table = &self.tables[at];
        match self.chance.below(100) {
            0..=33 => Statement::Insert(self.insert(table)),
            34..=49 => Statement::Insert(self.upsert(table)),
            50..=76 => Statement::Update(self.update(table)),
            77..=95 => Statement::Delete(self.delete(table)),
            96..=97 => Statement::Insert(self.insert_select(table)),
            _ => self.beside(table),
        }
    }

    /// Rows for an empty table: skewed, with NULLs, few enough different values to meet each other.
    pub(crate) fn fill(&mut self, table: &Table) -> Option<Insert> {
        let count = *self.chance.one(&[0, 3, 12, 25, 25, 40]);
        if count == 0 {
            return None;
        }
        let rows = (1..=count).map(|id| self.row(table, Some(id))).collect();
        Some(self.insert_of(table, rows))
    }

    fn insert_of(&mut self, table: &Table, rows: Vec<Vec<Expr>>) -> Insert {
        Insert {
            verb: "insert into".to_owned(),
            table: table.name.clone(),
            columns: table.columns.iter().map(|column| column.name.clone()).collect(),
            rows,
            query: None,
            conflict: None,
            returning: None,
        }
    }

    fn row(&mut self, table: &Table, id: Option<i64>) -> Vec<Expr> {
        let id = id.unwrap_or_else(|| {
            // Sometimes one that may be there already.
            if self.chance.percent(15) {
                return i64::try_from(self.chance.between(1, 40)).unwrap_or(1);
            }
            self.next_id += 1;
            self.next_id
        });
        let mut row = vec![Expr::Value(Constant::whole(id), Given::Bound)];
        for column in table.columns.iter().skip(1) {
            let constant = if column.nullable && self.chance.percent(20) {
                Constant::null()
            } else if column.name == "g" && self.chance.percent(30) {
                // One value has more rows than the others.
                Constant::whole(3)
            } else {
                values::value(&mut self.chance, self.server, column.kind)
            };
            row.push(Expr::Value(constant, Given::Bound));
        }
        row
    }

    pub(super) fn insert(&mut self, table: &Table) -> Insert {
        let count = *self.chance.one(&[1, 1, 1, 2, 3, 8]);
        let rows = (0..count).map(|_| self.row(table, None)).collect();
        let mut insert = self.insert_of(table, rows);
        insert.returning = self.returning(table, 15);
        insert
    }

    fn returning(&mut self, table: &Table, share: usize) -> Option<Expr> {
        if !self.postgres() || !self.chance.percent(share) {
            return None;
        }
        let column = &self.chance.one(&table.columns).name;
        Some(Expr::raw(match self.chance.below(3) {
            0 if !table.timed => "*".to_owned(),
            1 => format!("{column} as back, id"),
            _ => format!("id + 1, {column}"),
        }))
    }

    fn upsert(&mut self, table: &Table) -> Insert {
        let mut insert = self.insert(table);
        insert.rows = insert
            .rows
            .iter()
            .map(|_| {
                let id = i64::try_from(self.chance.between(1, 60)).unwrap_or(1);
                self.row(table, Some(id))
            })
            .collect();
        // PostgreSQL lets one statement touch a row once only; elsewhere it counts twice.
        if self.postgres() || self.chance.percent(50) {
            insert.rows.truncate(1);
        }
        let open: Vec<String> = table
            .columns
            .iter()
            .enumerate()
            .filter(|(at, column)| {
                !table.key.contains(at) && !matches!(column.name.as_str(), "g" | "s")
            })
            .map(|(_, column)| column.name.clone())
            .collect();
        let name = if open.is_empty() { None } else { Some(self.chance.one(&open).clone()) };
        if self.postgres() {
            let key: Vec<&str> =
                table.key.iter().map(|at| table.columns[*at].name.as_str()).collect();
            let target = key.join(", ");
            insert.conflict = Some(match name {
                Some(name) if self.chance.percent(70) => Expr::raw(format!(
                    "on conflict ({target}) do update set {name} = excluded.{name}"
                )),
                _ => Expr::raw(
                    self.chance.pick(&["on conflict do nothing", "on conflict do nothing"]),
                ),
            });
        } else {
            match (name, self.chance.below(3)) {
                (Some(name), 0..=1) => {
                    let words = format!("on duplicate key update {name} = values({name})");
                    insert.conflict = Some(Expr::raw(words));
                }
                (_, 2) => insert.verb = "replace into".to_owned(),
                _ => insert.verb = "insert ignore into".to_owned(),
            }
        }
        insert
    }

    fn insert_select(&mut self, table: &Table) -> Insert {
        let (source, fields) = self.source_of(table);
        // Few rows: each time is one more doubling.
        let filter = self
            .narrow(table, &fields)
            .or_else(|| Some(Expr::parts([fields.first()?.expr(), Expr::raw(" < 20")])));
        let mut select = self.select_of(vec![source], filter);
        // Past every id that was added to another one before.
        self.next_id += 100_000;
        for field in &fields {
            let expr = if field.name == "id" {
                field.expr().within("", &format!(" + {}", self.next_id))
            } else {
                field.expr()
            };
            let item = self.item(expr, field.class);
            select.items.push(item);
        }
        let mut insert = self.insert_of(table, Vec::new());
        insert.query = Some(Query::of(select));
        insert
    }

    fn changed(&mut self, table: &Table) -> (Source, Vec<Field>) {
        let (mut source, mut fields) = self.source_of(table);
        source.alias.clone_from(&table.name);
        for field in &mut fields {
            field.alias = if self.chance.percent(50) { String::new() } else { table.name.clone() };
        }
        source.what = What::Table(table.name.clone());
        (source, fields)
    }

    /// Mostly a few rows: a change of everything leaves nothing to find.
    fn narrow(&mut self, table: &Table, fields: &[Field]) -> Option<Expr> {
        if self.chance.percent(4) {
            return None;
        }
        if self.chance.percent(8)
            && let Some(id) = fields.iter().find(|field| field.name == "id").cloned()
        {
            return Some(self.chosen(table, &id));
        }
        let pinned = if self.chance.percent(40) { self.pinned(&table.name, fields) } else { None };
        let id = fields.iter().find(|field| field.name == "id").map(Field::expr)?;
        let range = {
            let low = i64::try_from(self.chance.between(0, 40)).unwrap_or(0);
            let high = low + i64::try_from(self.chance.between(0, 6)).unwrap_or(0);
            let value = |number| Expr::Value(Constant::whole(number), Given::Bound);
            Expr::parts([id, Expr::raw(" between "), value(low), Expr::raw(" and "), value(high)])
        };
        let condition = match pinned {
            Some(pinned) => pinned,
            None if self.chance.percent(60) => range,
            None => Expr::parts([range, Expr::raw(" and "), self.condition(fields, 1)]),
        };
        Some(condition)
    }

    fn update(&mut self, table: &Table) -> Change {
        let (source, fields) = self.changed(table);
        let filter = self.narrow(table, &fields);
        let mut change = Change {
            verb: "update".to_owned(),
            from: vec![source],
            sets: Vec::new(),
            beside: None,
            filter,
            order: Vec::new(),
            limit: None,
            returning: self.returning(table, 12),
        };
        let keys: Vec<&str> = self.layout.of(&table.name).map(|p| p.columns()).unwrap_or_default();
        let count = self.chance.between(1, 2);
        for _ in 0..count {
            let column = self.chance.one(&table.columns);
            // A key that moves a row is rare, as in life.
            let is_key = column.name == "id" || keys.contains(&column.name.as_str());
            if (is_key && !self.chance.percent(8))
                || change.sets.iter().any(|(name, _)| *name == column.name)
            {
                continue;
            }
            let value = self.new_value(table, column);
            change.sets.push((column.name.clone(), value));
        }
        if change.sets.is_empty() {
            let column = &table.columns[table.columns.len() - 1];
            let value = self.new_value(table, column);
            change.sets.push((column.name.clone(), value));
        }
        if table.timed && self.chance.percent(40) {
            let now = if self.postgres() { "now()" } else { "now(6)" };
            change.sets.push((MOMENT.to_owned(), Expr::raw(now)));
        }
        self.keep_apart(table, &mut change);
        change
    }

    /// Keys are checked row by row: where one row takes the place of another one that is changed, too, the first of them decides.
    fn keep_apart(&mut self, table: &Table, change: &mut Change) {
        for at in &table.key {
            let column = &table.columns[*at];
            let is_moved = |(name, value): &(String, Expr)| {
                *name == column.name && matches!(value, Expr::Raw(text) if text.ends_with(ONE_MORE))
            };
            if !change.sets.iter().any(is_moved) {
                continue;
            }
            let value = values::value(&mut self.chance, self.server, column.kind);
            let mut parts = vec![
                Expr::raw(format!("{}.{} = ", table.name, column.name)),
                Expr::Value(value, Given::Bound),
            ];
            if let Some(filter) = change.filter.take() {
                parts.extend([Expr::raw(" and "), filter]);
            }
            change.filter = Some(Expr::Parts(parts));
        }
    }

    /// UPDATE or DELETE of one table by the rows of another one.
    fn beside(&mut self, table: &Table) -> Statement {
        let other = self.table();
        let (own, _) = self.changed(table);
        let (mut second, more) = self.source_of(other);
        second.alias = "y".to_owned();
        let more: Vec<Field> =
            more.into_iter().map(|field| Field { alias: "y".to_owned(), ..field }).collect();
        let key = |table: &Table, maker: &Self| -> String {
            let placement = maker.layout.of(&table.name);
            let columns = placement.map(|p| p.columns()).unwrap_or_default();
            columns.first().map_or("id", |name| *name).to_owned()
        };
        let (a, mut b) = (key(table, self), key(other, self));
        if (a == "s") != (b == "s") {
            b.clone_from(&a);
        }
        let tie = Expr::raw(format!("{}.{a} = y.{b}", table.name));
        let narrow = self.condition(&more, 2);
        let is_update = self.chance.percent(50);
        let open = table.columns.iter().enumerate().find(|(at, column)| {
            !table.key.contains(at) && !matches!(column.name.as_str(), "g" | "s")
        });
        let sets = match open {
            Some((_, column)) if is_update => {
                let value = values::value(&mut self.chance, self.server, column.kind);
                let name = if self.postgres() {
                    column.name.clone()
                } else {
                    format!("{}.{}", table.name, column.name)
                };
                vec![(name, Expr::Value(value, Given::Bound))]
            }
            _ => Vec::new(),
        };
        let is_update = !sets.is_empty();
        let mut change = Change {
            verb: if is_update { "update" } else { "delete from" }.to_owned(),
            from: vec![own],
            sets,
            beside: None,
            filter: None,
            order: Vec::new(),
            limit: None,
            returning: None,
        };
        if self.postgres() {
            let word = if is_update { "from" } else { "using" };
            change.beside = Some((word.to_owned(), vec![second]));
            change.filter = Some(Expr::parts([tie, Expr::raw(" and "), narrow]));
        } else {
            if !is_update {
                change.verb = format!("delete {} from", table.name);
            }
            second.join = "join".to_owned();
            second.on = Some(tie.within("on ", ""));
            change.from.push(second);
            change.filter = Some(narrow);
        }
        if is_update { Statement::Update(change) } else { Statement::Delete(change) }
    }

    fn new_value(&mut self, table: &Table, column: &Column) -> Expr {
        let is_whole = column.kind.class() == Class::Whole;
        if column.nullable && self.chance.percent(10) {
            return Expr::Value(Constant::null(), Given::Bound);
        }
        if is_whole && self.chance.percent(30) {
            return Expr::raw(format!("{}{ONE_MORE}", column.name));
        }
        if is_whole && self.chance.percent(8) {
            let other = &self.table().name;
            // MySQL does not read the table that it changes.
            if self.server != Server::MySql || *other != table.name {
                let function = *self.chance.one(&["max", "min", "count"]);
                let query = format!("(select {function}(y.id) from {other} y where y.id < 40)");
                return Expr::raw(query);
            }
        }
        let kind = column.kind;
        Expr::Value(values::value(&mut self.chance, self.server, kind), Given::Bound)
    }

    fn delete(&mut self, table: &Table) -> Change {
        let (source, fields) = self.changed(table);
        let filter = self.narrow(table, &fields);
        let unique: Vec<Expr> = source.unique.iter().map(|name| Expr::raw(name.clone())).collect();
        let limited = !self.postgres() && self.chance.percent(8);
        Change {
            verb: "delete from".to_owned(),
            from: vec![source],
            sets: Vec::new(),
            beside: None,
            filter,
            order: if limited { unique } else { Vec::new() },
            limit: limited.then(|| self.number(&[1, 2, 3])),
            returning: self.returning(table, 12),
        }
    }
}
