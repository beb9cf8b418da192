//! Aggregates, GROUP BY, HAVING and ROLLUP.

use super::scalar::fill;
use super::{Field, Maker};
use crate::render;
use crate::schema::{Class, Kind};
use crate::tree::{By, Expr, GroupForm, Item, Key, Query, Select, Source};
use crate::visit;

/// The longest number of aggregates beside each other.
const MOST: usize = 3;

impl Maker<'_> {
    /// Aggregates over everything.
    pub(super) fn aggregate(&mut self) -> Query {
        let (from, fields) = self.from();
        let filter = self.filter(&from, &fields);
        let unique = self.unique(&from);
        let mut select = self.select_of(from, filter);
        select.items = self.aggregates(&fields, &unique);
        if self.chance.percent(8) {
            // MariaDB takes least and greatest values over no rows of a join for no NULL in HAVING, depending on its plan.
            let is_odd = !self.postgres() && select.from.len() > 1;
            select.having = Some(self.having(if is_odd { &[] } else { &fields }));
        }
        Query::of(select)
    }

    pub(super) fn grouped(&mut self) -> Query {
        let (from, fields) = self.from();
        let filter = self.filter(&from, &fields);
        let unique = self.unique(&from);
        let mut select = self.select_of(from, filter);
        let count = self.chance.between(1, 2);
        for _ in 0..count {
            let (expr, class) = self.scalar(&fields);
            let expr = self.group_of(expr, class, &fields);
            if !class.is_comparable() || select.group.contains(&expr) {
                continue;
            }
            select.group.push(expr.clone());
            if self.chance.percent(88) {
                let mut item = self.item(expr, class);
                item.alias = self.maybe(25, |_| String::new()).map(|_| format!("k{}", item.id));
                select.items.push(item);
            }
        }
        if select.group.is_empty() {
            let id = fields[0].expr();
            select.group.push(id.clone());
            let item = self.item(id, Class::Whole);
            select.items.push(item);
        }
        let groups: Vec<Item> = select.items.clone();
        let more = self.aggregates(&fields, &unique);
        select.items.extend(more);
        select.grouped_by = *self.chance.one(&[
            GroupForm::Expression,
            GroupForm::Expression,
            GroupForm::Ordinal,
            GroupForm::Alias,
        ]);
        select.rollup = self.chance.percent(4) && may_roll_up(&select, self.postgres());
        if self.chance.percent(18) {
            select.having = Some(self.having(&fields));
        }
        let mut query = Query::of(select);
        self.group_order(&mut query, &groups);
        self.limit(&mut query);
        query
    }

    /// `expr` as one may group by it.
    fn group_of(&self, mut expr: Expr, class: Class, fields: &[Field]) -> Expr {
        if self.postgres() {
            // `$1` and `$2` are two expressions whatever they hold.
            visit::written(&mut expr);
        } else if class == Class::Exact
            && let Some(column) = number_in(&expr, fields)
        {
            // MariaDB takes NULL for the decimal before it where it groups what it sorted by an expression.
            return column;
        }
        expr
    }

    fn group_order(&mut self, query: &mut Query, groups: &[Item]) {
        if !self.chance.percent(65) {
            return;
        }
        let shown: Vec<(usize, bool)> = query
            .items()
            .iter()
            .filter(|item| !item.loose && item.class.is_comparable())
            .map(|item| (item.id, item.alias.is_some()))
            .collect();
        if self.chance.percent(60) && !shown.is_empty() {
            let (id, has_alias) = *self.chance.one(&shown);
            let by =
                if has_alias && self.chance.percent(60) { By::Name(id) } else { By::Ordinal(id) };
            let suffix = (*self.chance.one(&["", " desc"])).to_owned();
            query.order.push(Key { by, suffix });
        }
        if self.chance.percent(12) {
            let suffix = (*self.chance.one(&["", " desc"])).to_owned();
            query.order.push(Key { by: By::Hidden(Expr::raw("count(*)")), suffix });
        }
        for item in groups {
            let by = if self.chance.percent(50) { By::Ordinal(item.id) } else { By::Name(item.id) };
            let suffix = (*self.chance.one(&["", "", " desc"])).to_owned();
            query.order.push(Key { by, suffix });
        }
    }

    fn having(&mut self, fields: &[Field]) -> Expr {
        let word = *self.chance.one(&[" > ", " = ", " <= ", " <> "]);
        let number = self.number(&[0, 1, 2, 3, 10]);
        let whole = self.field_of(fields, |field| field.class == Class::Whole).map(Field::expr);
        let left = match (whole, self.chance.below(4)) {
            (Some(whole), 0) => fill("sum({})", whole),
            (Some(whole), 1) => fill("min({})", whole),
            (Some(whole), 2) => fill("count(distinct {})", whole),
            _ => Expr::raw("count(*)"),
        };
        Expr::parts([left, Expr::raw(word), number])
    }

    /// One to three aggregates. `unique` columns make an order inside them total.
    pub(super) fn aggregates(&mut self, fields: &[Field], unique: &[String]) -> Vec<Item> {
        let count = self.chance.between(1, MOST);
        (0..count)
            .map(|_| {
                let (mut expr, mut class, loose) = self.one_aggregate(fields, unique);
                if self.postgres() && self.chance.percent(6) {
                    let condition = self.condition(fields, 2);
                    expr = Expr::parts([
                        expr,
                        Expr::raw(" filter (where "),
                        condition,
                        Expr::raw(")"),
                    ]);
                }
                if class.is_number() && self.chance.percent(12) {
                    let form = *self.chance.one(&[
                        "{} * 2",
                        "{} + count(*)",
                        "coalesce({}, 0)",
                        "-{}",
                        "{} / 3",
                        "abs({}) + 1",
                    ]);
                    // Sums in `real` would be compared as the `double precision` that they become.
                    let is_real = self.postgres()
                        && fields
                            .iter()
                            .any(|field| field.kind == Kind::Real && mentions(&expr, field));
                    if !is_real {
                        expr = fill(form, expr);
                        class = if class == Class::Float { class } else { Class::Exact };
                    }
                }
                let mut item = self.item(expr, class);
                item.loose = loose;
                item.alias = self.maybe(50, |_| String::new()).map(|_| format!("a{}", item.id));
                item
            })
            .collect()
    }

    fn one_aggregate(&mut self, fields: &[Field], unique: &[String]) -> (Expr, Class, bool) {
        let field = self.field(fields).clone();
        let own = field.expr();
        if self.chance.percent(20) {
            return (Expr::raw("count(*)"), Class::Whole, false);
        }
        if self.chance.percent(12) && field.class.is_comparable() {
            return (fill("count(distinct {})", own), Class::Whole, false);
        }
        if self.chance.percent(12) {
            return (fill("count({})", own), Class::Whole, false);
        }
        if field.class.is_number() && self.chance.percent(70) {
            return self.of_number(&field);
        }
        if self.chance.percent(14) && !unique.is_empty() {
            return self.gathered(&field, unique);
        }
        let has_extremes = match field.class {
            Class::Bool | Class::Uuid | Class::Bytes => !self.postgres(),
            Class::Json | Class::Ints | Class::Texts => false,
            Class::Whole
            | Class::Exact
            | Class::Float
            | Class::Text
            | Class::Date
            | Class::Stamp
            | Class::Mood => true,
        };
        if has_extremes {
            return (fill(self.chance.pick(&["min({})", "max({})"]), own), field.class, false);
        }
        if field.class == Class::Bool {
            return (
                fill(self.chance.pick(&["bool_and({})", "bool_or({})", "every({})"]), own),
                Class::Bool,
                false,
            );
        }
        (fill("count({})", own), Class::Whole, false)
    }

    fn of_number(&mut self, field: &Field) -> (Expr, Class, bool) {
        let own = field.expr();
        let is_float = field.class == Class::Float;
        match self.chance.below(14) {
            0..=3 => (fill("sum({})", own), Class::Exact, is_float),
            4..=5 => (fill("avg({})", own), Class::Exact, is_float),
            6..=7 => (fill("min({})", own), field.class, false),
            8..=9 => (fill("max({})", own), field.class, false),
            10 => (fill("sum({} * 2)", own), Class::Exact, is_float),
            11 => {
                let form = *self.chance.one(&["sum(distinct {})", "avg(distinct {})"]);
                (fill(form, own), Class::Exact, is_float)
            }
            12 => {
                let form = *self.chance.one(&[
                    "var_pop({})",
                    "stddev_samp({})",
                    "var_samp({})",
                    "stddev_pop({})",
                ]);
                (fill(form, own), Class::Exact, is_float || !self.postgres())
            }
            _ if field.class == Class::Whole && field.kind != Kind::Decimal(10, 2) => {
                (fill(self.chance.pick(&["bit_and({})", "bit_or({})"]), own), Class::Whole, false)
            }
            _ => (fill("sum({} + 1)", own), Class::Exact, is_float),
        }
    }

    /// Values one after the other, in an order that leaves nothing open.
    fn gathered(&mut self, field: &Field, unique: &[String]) -> (Expr, Class, bool) {
        let order = unique.join(", ");
        let own = field.expr();
        if self.postgres() {
            if field.class == Class::Text {
                return (
                    own.within("string_agg(", &format!(", ',' order by {order})")),
                    Class::Text,
                    false,
                );
            }
            if matches!(field.class, Class::Ints | Class::Texts | Class::Mood) {
                // An empty array in it is an error, if the group is looked at before LIMIT is reached.
                return (fill("count({})", own), Class::Whole, false);
            }
            return (own.within("array_agg(", &format!(" order by {order})")), Class::Json, false);
        }
        (
            own.within("group_concat(", &format!(" order by {order} separator ';')")),
            Class::Text,
            false,
        )
    }

    /// What tells the rows of a join apart; empty if nothing does. MariaDB orders wrongly inside GROUP_CONCAT over a join.
    fn unique(&self, from: &[Source]) -> Vec<String> {
        let is_odd = !self.postgres() && from.len() > 1;
        if is_odd || from.iter().any(|source| source.unique.is_empty()) {
            return Vec::new();
        }
        let of = |source: &Source| -> Vec<String> {
            source.unique.iter().map(|name| format!("{}.{name}", source.alias)).collect()
        };
        from.iter().flat_map(of).collect()
    }
}

fn mentions(expr: &Expr, field: &Field) -> bool {
    match expr {
        Expr::Column(alias, name) => *alias == field.alias && *name == field.name,
        Expr::Parts(parts) => parts.iter().any(|part| mentions(part, field)),
        Expr::Raw(_) | Expr::Value(..) | Expr::Query(_) => false,
    }
}

/// A column of numbers in it.
fn number_in(expr: &Expr, fields: &[Field]) -> Option<Expr> {
    fields.iter().find(|field| field.class.is_number() && mentions(expr, field)).map(Field::expr)
}

/// PostgreSQL does not sort by a group that its planner finds constant, though ROLLUP shows NULL there.
fn may_roll_up(select: &Select, is_postgres: bool) -> bool {
    let conditions =
        select.from.iter().filter_map(|source| source.on.as_ref()).chain(&select.filter);
    let is_constant = |group: &Expr| render::expression(group).contains("case ");
    let pins = |one: &Expr| is_postgres && equals_constant(&render::expression(one));
    !select.group.iter().any(is_constant) && !conditions.into_iter().any(pins)
}

/// Whether a column may be compared with a constant by `=` or `IN`.
fn equals_constant(text: &str) -> bool {
    let is_column = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        end.is_some_and(|end| end > 0 && text[end..].starts_with('.'))
    };
    text.split(" = ").skip(1).any(|right| !is_column(right))
        || text.split(" in (").skip(1).any(|right| !right.starts_with("select "))
}

#[cfg(test)]
mod tests {
    use super::equals_constant;

    #[test]
    fn constants_are_seen() {
        for text in ["x1.s = 'bee'", "ta.g = tb.g and ta.id = 6", "x = (4)", "ta.id in (7)"] {
            assert!(equals_constant(text), "{text}");
        }
        for text in ["ta.g = x2.g", "ta.id <> 6", "ta.id in (select x2.id from tb x2)"] {
            assert!(!equals_constant(text), "{text}");
        }
    }
}
