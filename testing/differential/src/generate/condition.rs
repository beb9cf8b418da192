//! Conditions: WHERE, ON and HAVING.

use super::{Field, Maker, Standing};
use crate::layout::Placement;
use crate::schema::Class;
use crate::tree::{Expr, Query};

impl Maker<'_> {
    /// True, false or unknown.
    pub(super) fn condition(&mut self, fields: &[Field], depth: usize) -> Expr {
        if depth < 3 && self.chance.percent(40) {
            let word = *self.chance.one(&[" and ", " and ", " or ", " or "]);
            let (left, right) =
                (self.condition(fields, depth + 1), self.condition(fields, depth + 1));
            let both = Expr::parts([left, Expr::raw(word), right]);
            return match self.chance.below(10) {
                0 => both.within("not (", ")"),
                1 => {
                    let ending = *self.chance.one(&[
                        ") is true",
                        ") is not true",
                        ") is false",
                        ") is unknown",
                    ]);
                    both.within("(", ending)
                }
                _ => both.within("(", ")"),
            };
        }
        if depth < 2 && self.chance.percent(7) {
            return self.nested(fields);
        }
        self.comparison(fields)
    }

    fn comparison(&mut self, fields: &[Field]) -> Expr {
        let (left, class) = if self.chance.percent(80) {
            let field = self.field(fields);
            (field.expr(), field.class)
        } else {
            self.scalar(fields)
        };
        let is_whole = fields.iter().all(|field| field.standing == Standing::Exact);
        if !class.is_comparable() || self.chance.percent(8) {
            return left.within("", self.chance.pick(&[" is null", " is not null"]));
        }
        match self.chance.below(20) {
            0..=8 => {
                let word =
                    *self.chance.one(&[" = ", " = ", " = ", " < ", " > ", " <= ", " >= ", " <> "]);
                Expr::parts([left, Expr::raw(word), self.constant(class)])
            }
            9..=12 => {
                let count = self.chance.between(1, 4);
                let mut parts =
                    vec![left, Expr::raw(self.chance.pick(&[" in (", " in (", " not in ("]))];
                for at in 0..count {
                    if at > 0 {
                        parts.push(Expr::raw(", "));
                    }
                    parts.push(self.constant(class));
                }
                parts.push(Expr::raw(")"));
                Expr::Parts(parts)
            }
            13..=14 => {
                let word = *self.chance.one(&[" between ", " between ", " not between "]);
                let (low, high) = (self.constant(class), self.constant(class));
                Expr::parts([left, Expr::raw(word), low, Expr::raw(" and "), high])
            }
            15 => {
                let word = if self.postgres() { " is not distinct from " } else { " <=> " };
                Expr::parts([left, Expr::raw(word), self.constant(class)])
            }
            16..=17 if class == Class::Text && is_whole => {
                let pattern = *self.chance.one(&[
                    " like 'a%'",
                    " like '%e%'",
                    " not like '_'",
                    " like 'x\\_%'",
                ]);
                left.within("", pattern)
            }
            18 if class != Class::Text || is_whole => self.between_columns(left, class, fields),
            _ => Expr::parts([left, Expr::raw(" = "), self.constant(class)]),
        }
    }

    fn between_columns(&mut self, left: Expr, class: Class, fields: &[Field]) -> Expr {
        let word = *self.chance.one(&[" = ", " < ", " >= ", " <> "]);
        match self.field_of(fields, |field| field.class == class) {
            Some(field) => Expr::parts([left, Expr::raw(word), field.expr()]),
            None => Expr::parts([left, Expr::raw(word), self.constant(class)]),
        }
    }

    /// A condition with a sub-query.
    fn nested(&mut self, fields: &[Field]) -> Expr {
        let table = self.table();
        let (source, inner) = self.source_of(table);
        let is_whole = |field: &Field| field.class == Class::Whole;
        // A bare name would be that of the table inside, where it has one.
        let outer = self.field_of(fields, is_whole).filter(|field| !field.alias.is_empty());
        let Some(outer) = outer.cloned() else {
            return self.comparison(fields);
        };
        let filter = self.maybe(60, |own| own.condition(&inner, 2));
        let own_key = self.field_of(&inner, |field| matches!(field.name.as_str(), "id" | "g"));
        let Some(own_key) = own_key.cloned() else { return self.comparison(fields) };
        let mut select = self.select_of(vec![source], filter);
        match self.chance.below(8) {
            0..=2 => {
                let word = *self.chance.one(&["exists ", "exists ", "not exists "]);
                let tie = Expr::parts([own_key.expr(), Expr::raw(" = "), outer.expr()]);
                select.filter = Some(match select.filter.take() {
                    Some(filter) => Expr::parts([tie, Expr::raw(" and "), filter]),
                    None => tie,
                });
                select.items = vec![self.item(Self::written("1"), Class::Whole)];
                Expr::parts([Expr::raw(word), Self::bracketed(Query::of(select))])
            }
            3..=5 => {
                let word = *self.chance.one(&[" in ", " in ", " not in "]);
                select.items = vec![self.item(own_key.expr(), Class::Whole)];
                Expr::parts([outer.expr(), Expr::raw(word), Self::bracketed(Query::of(select))])
            }
            6 => {
                let form = *self.chance.one(&["max(", "min(", "count("]);
                select.items = vec![self.item(own_key.expr().within(form, ")"), Class::Whole)];
                let word = *self.chance.one(&[" = ", " < ", " >= "]);
                Expr::parts([outer.expr(), Expr::raw(word), Self::bracketed(Query::of(select))])
            }
            _ => {
                select.items = vec![self.item(own_key.expr(), Class::Whole)];
                let word = *self.chance.one(&[" = any ", " > all ", " <= any ", " <> all "]);
                Expr::parts([outer.expr(), Expr::raw(word), Self::bracketed(Query::of(select))])
            }
        }
    }

    /// Equality on what decides where this source's rows stand; `None` if nothing does.
    pub(super) fn pinned(&mut self, table: &str, fields: &[Field]) -> Option<Expr> {
        let columns: Vec<String> = match self.layout.of(table)? {
            Placement::Single(_) | Placement::Broadcast => return None,
            split @ (Placement::Split { .. } | Placement::Grid { .. }) => {
                split.columns().into_iter().map(str::to_owned).collect()
            }
        };
        let mut parts = Vec::new();
        for name in columns {
            let field = fields.iter().find(|field| field.name == name)?.clone();
            if !parts.is_empty() {
                parts.push(Expr::raw(" and "));
            }
            let constant = crate::values::value(&mut self.chance, self.server, field.kind);
            parts.push(field.expr());
            parts.push(Expr::raw(" = "));
            parts.push(Expr::Value(constant, crate::tree::Given::Bound));
        }
        (!parts.is_empty()).then_some(Expr::Parts(parts))
    }
}
