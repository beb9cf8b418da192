//! FROM: tables, joins and derived tables.

use super::{Field, Maker, Standing};
use crate::layout::Placement;
use crate::schema::{Class, Table};
use crate::tree::{Expr, GroupForm, Item, Query, Select, Source, What};

impl Maker<'_> {
    pub(super) fn item(&mut self, expr: Expr, class: Class) -> Item {
        Item { id: self.item_id(), expr, alias: None, class, loose: false }
    }

    pub(super) fn select_of(&mut self, from: Vec<Source>, filter: Option<Expr>) -> Select {
        Select {
            distinct: false,
            items: Vec::new(),
            from,
            filter,
            group: Vec::new(),
            grouped_by: GroupForm::Expression,
            rollup: false,
            having: None,
        }
    }

    /// One table under a fresh alias, or under its own name.
    pub(super) fn source_of(&mut self, table: &Table) -> (Source, Vec<Field>) {
        self.aliases += 1;
        let alias = if self.aliases == 1 && self.chance.percent(40) {
            table.name.clone()
        } else {
            format!("x{}", self.aliases)
        };
        let unique =
            table.key.iter().map(|at| table.columns[*at].name.clone()).collect::<Vec<String>>();
        let fields = table
            .columns
            .iter()
            .map(|column| Field {
                alias: alias.clone(),
                name: column.name.clone(),
                class: column.kind.class(),
                kind: column.kind,
                standing: Standing::Exact,
            })
            .collect();
        let what = What::Table(table.name.clone());
        (Source { join: String::new(), what, alias, on: None, unique }, fields)
    }

    /// One to three sources, and what may be named of them.
    pub(super) fn from(&mut self) -> (Vec<Source>, Vec<Field>) {
        let first = self.table();
        let (source, mut fields) = self.source_of(first);
        let mut sources = vec![source];
        let more = match self.chance.below(100) {
            0..=64 => 0,
            65..=94 => 1,
            _ => 2,
        };
        let mut names = vec![first.name.clone()];
        for _ in 0..more {
            let table = self.partner(&names[0]);
            let (mut source, own) = self.source_of(&table);
            let joins: &[&str] = if self.postgres() {
                &[
                    "join",
                    "join",
                    "left join",
                    "left join",
                    "right join",
                    "full join",
                    "cross join",
                    ",",
                ]
            } else {
                &[
                    "join",
                    "join",
                    "left join",
                    "left join",
                    "right join",
                    "inner join",
                    "cross join",
                    ",",
                ]
            };
            source.join = (*self.chance.one(joins)).to_owned();
            if !matches!(source.join.as_str(), "cross join" | ",") {
                source.on = Some(self.on(&names[0], &fields, &table.name, &own));
            }
            names.push(table.name.clone());
            sources.push(source);
            fields.extend(own);
        }
        (sources, fields)
    }

    /// Mostly one that lies together with `first`.
    fn partner(&mut self, first: &str) -> Table {
        let layout = self.layout;
        let near = |table: &&Table| {
            layout.is_bound(first, &table.name)
                || layout.of(&table.name) == Some(&Placement::Broadcast)
        };
        let fitting: Vec<&Table> = self.tables.iter().filter(near).collect();
        if !fitting.is_empty() && self.chance.percent(75) {
            return fitting[self.chance.below(fitting.len())].clone();
        }
        self.table().clone()
    }

    fn on(&mut self, first: &str, left: &[Field], second: &str, right: &[Field]) -> Expr {
        let bound = self.layout.is_bound(first, second) && self.chance.percent(85);
        let key = |maker: &Self, table: &str| -> Option<String> {
            let placement = maker.layout.of(table)?;
            placement.columns().first().map(|name| (*name).to_owned())
        };
        let (a, b) = match (key(self, first), key(self, second)) {
            (Some(a), Some(b)) if bound => (a, b),
            _ => {
                let names = ["id", "g", "g", "s"];
                let name = (*self.chance.one(&names)).to_owned();
                let other = if name == "s" { "s" } else { *self.chance.one(&["id", "g"]) };
                (name, other.to_owned())
            }
        };
        if a == b
            && !left.is_empty()
            && self.chance.percent(10)
            && left.iter().filter(|f| f.name == a).count() == 1
        {
            return Expr::raw(format!("using ({a})"));
        }
        let find =
            |fields: &[Field], name: &str| fields.iter().find(|f| f.name == name).map(Field::expr);
        let (Some(a), Some(b)) = (find(left, &a), find(right, &b)) else {
            return Expr::raw("on true");
        };
        let tie = Expr::parts([a, Expr::raw(" = "), b]);
        if self.chance.percent(20) {
            let both: Vec<Field> = left.iter().chain(right).cloned().collect();
            let more = self.condition(&both, 3);
            return Expr::parts([Expr::raw("on "), tie, Expr::raw(" and "), more]);
        }
        tie.within("on ", "")
    }

    /// A condition for most statements; for many it decides the shard.
    pub(super) fn filter(&mut self, from: &[Source], fields: &[Field]) -> Option<Expr> {
        let pinned = match from.first().map(|source| &source.what) {
            Some(What::Table(name)) if self.chance.percent(22) => {
                let alias = from[0].alias.clone();
                let own: Vec<Field> =
                    fields.iter().filter(|field| field.alias == alias).cloned().collect();
                self.pinned(&name.clone(), &own)
            }
            _ => None,
        };
        let other = self.maybe(60, |own| own.condition(fields, 0));
        match (pinned, other) {
            (Some(pinned), Some(other)) => Some(Expr::parts([pinned, Expr::raw(" and "), other])),
            (Some(one), None) | (None, Some(one)) => Some(one),
            (None, None) => None,
        }
    }

    /// A query in place of a table, with its columns under names of their own.
    pub(super) fn named_columns(&mut self, query: &mut Query, alias: &str) -> Vec<Field> {
        let mut fields = Vec::new();
        if let crate::tree::Body::Select(select) = &mut query.body {
            let is_grouped = !select.group.is_empty();
            for (at, item) in select.items.iter_mut().enumerate() {
                let name = format!("n{at}");
                let standing = if item.loose {
                    Standing::Loose
                } else if is_grouped && item.class == Class::Text && !self.postgres() {
                    Standing::OneOfEquals
                } else {
                    Standing::Exact
                };
                item.alias = Some(name.clone());
                fields.push(Field {
                    alias: alias.to_owned(),
                    name,
                    class: item.class,
                    kind: kind_of(item.class),
                    standing,
                });
            }
        }
        fields
    }
}

fn kind_of(class: Class) -> crate::schema::Kind {
    use crate::schema::Kind;
    match class {
        Class::Whole => Kind::Int,
        Class::Exact => Kind::Decimal(10, 2),
        Class::Float => Kind::Double,
        Class::Text => Kind::VarChar(30),
        Class::Date => Kind::Date,
        Class::Stamp => Kind::Stamp,
        Class::Bool => Kind::Bool,
        Class::Json => Kind::Json,
        Class::Ints => Kind::Ints,
        Class::Texts => Kind::Texts,
        Class::Bytes => Kind::Bytes,
        Class::Uuid => Kind::Uuid,
        Class::Mood => Kind::Mood,
    }
}
