//! Expressions with a value.

use super::{Field, Maker, Standing};
use crate::schema::Class;
use crate::tree::{Expr, Given};
use crate::values::{self, Constant};

impl Maker<'_> {
    pub(super) fn field<'f>(&mut self, fields: &'f [Field]) -> &'f Field {
        // `id`, `g` and `s` of every table are what routing looks at.
        let keys: Vec<&Field> =
            fields.iter().filter(|field| matches!(field.name.as_str(), "id" | "g" | "s")).collect();
        if !keys.is_empty() && self.chance.percent(35) {
            return keys[self.chance.below(keys.len())];
        }
        self.chance.one(fields)
    }

    pub(super) fn field_of<'f>(
        &mut self,
        fields: &'f [Field],
        wanted: impl Fn(&Field) -> bool,
    ) -> Option<&'f Field> {
        let fitting: Vec<&Field> = fields.iter().filter(|field| wanted(field)).collect();
        (!fitting.is_empty()).then(|| fitting[self.chance.below(fitting.len())])
    }

    /// A constant that a prepared statement may give as a parameter.
    pub(super) fn constant(&mut self, class: Class) -> Expr {
        if self.chance.percent(6) {
            return self.odd(class);
        }
        Expr::Value(values::to_compare(&mut self.chance, self.server, class), Given::Bound)
    }

    /// A value in a form that people rarely write, but programs do.
    fn odd(&mut self, class: Class) -> Expr {
        let postgres: &[&str] = match class {
            Class::Whole => {
                &["'3'", "2.0", "1.5", "-(-2)", "+3", "1 + 1", "'2'::bigint", "3.6::int", "(4)"]
            }
            Class::Text => {
                &["concat('a', 'b')", "'a'::text", "upper('zebra')", "E'b'", "U&'\\00e9'"]
            }
            Class::Date => {
                &["'20200102'", "date '2020-01-01'", "'2020-1-1'", "'2020-01-01'::date + 1"]
            }
            Class::Exact
            | Class::Float
            | Class::Stamp
            | Class::Bool
            | Class::Json
            | Class::Ints
            | Class::Texts
            | Class::Bytes
            | Class::Uuid
            | Class::Mood => &["null"],
        };
        let mysql: &[&str] = match class {
            Class::Whole => &[
                "'3'",
                "2.0",
                "-(-2)",
                "+3",
                "1 + 1",
                "1e0",
                "0x02",
                "true",
                "cast('2' as signed)",
                "'3 '",
            ],
            Class::Text => &["concat('a', 'b')", "'A '", "upper('zebra')", "_utf8mb4'b'", "10"],
            Class::Date => &["'20200102'", "date '2020-01-01'", "'2020-1-1'", "20200102"],
            Class::Exact
            | Class::Float
            | Class::Stamp
            | Class::Bool
            | Class::Json
            | Class::Ints
            | Class::Texts
            | Class::Bytes
            | Class::Uuid
            | Class::Mood => &["null"],
        };
        // Texts beside a number are no numbers: which rows that is told of depends on those that are looked at.
        let mysql = match (class, self.is_writing, mysql) {
            (Class::Text, true, [rest @ .., "10"]) => rest,
            _ => mysql,
        };
        let forms = if self.postgres() { postgres } else { mysql };
        Self::written(self.chance.pick(forms))
    }

    pub(super) fn written(text: &str) -> Expr {
        Expr::Value(Constant { literal: text.to_owned(), parameter: None }, Given::Written)
    }

    /// A column or something computed from columns, and its class.
    pub(super) fn scalar(&mut self, fields: &[Field]) -> (Expr, Class) {
        let field = self.field(fields).clone();
        if self.chance.percent(62) {
            return (field.expr(), field.class);
        }
        self.computed(&field, fields)
    }

    fn computed(&mut self, field: &Field, fields: &[Field]) -> (Expr, Class) {
        let class = field.class;
        let own = field.expr();
        if self.chance.percent(15) {
            return (self.choice(&own, class, fields), class);
        }
        if field.standing == Standing::OneOfEquals {
            return (own, class);
        }
        match class {
            Class::Whole => self.of_whole(own),
            Class::Exact => {
                let form =
                    *self.chance.one(&["{} * 2", "-{}", "abs({})", "round({}, 1)", "{} + 1"]);
                (fill(form, own), Class::Exact)
            }
            Class::Float => (fill(self.chance.pick(&["{} * 2", "{} + 1", "abs({})"]), own), class),
            Class::Text => self.of_text(own),
            Class::Date | Class::Stamp => {
                let form = *self.chance.one(&["extract(year from {})", "extract(month from {})"]);
                (fill(form, own), if self.postgres() { Class::Exact } else { Class::Whole })
            }
            Class::Bool => (fill("(not {})", own), Class::Bool),
            Class::Json if self.postgres() => (fill("{} ->> 'a'", own), Class::Text),
            Class::Json => (fill("json_extract({}, '$.a')", own), Class::Json),
            Class::Ints => (fill("coalesce(cardinality({}), -1)", own), Class::Whole),
            Class::Texts => (fill("coalesce(array_length({}, 1), 0)", own), Class::Whole),
            Class::Bytes => (fill("length({})", own), Class::Whole),
            Class::Uuid | Class::Mood => (own, class),
        }
    }

    fn of_whole(&mut self, own: Expr) -> (Expr, Class) {
        let form = *self.chance.one(&[
            "{} % 3",
            "-{}",
            "{} + 1",
            "abs({})",
            "{} * 2",
            "coalesce({}, 0)",
            "nullif({}, 1)",
            "{} - 5",
            "mod({}, 4)",
        ]);
        if !self.postgres() && self.chance.percent(10) {
            return (fill("{} / 4", own), Class::Exact);
        }
        (fill(form, own), Class::Whole)
    }

    fn of_text(&mut self, own: Expr) -> (Expr, Class) {
        let form = *self.chance.one(&[
            "upper({})",
            "lower({})",
            "coalesce({}, 'none')",
            "concat({}, '!')",
            "substring({}, 1, 2)",
            "replace({}, 'a', 'o')",
            "char_length({})",
        ]);
        let class = if form.starts_with("char_") { Class::Whole } else { Class::Text };
        (fill(form, own), class)
    }

    fn choice(&mut self, own: &Expr, class: Class, fields: &[Field]) -> Expr {
        let condition = self.condition(fields, 2);
        Expr::parts([
            Expr::raw("case when "),
            condition,
            Expr::raw(" then "),
            own.clone(),
            Expr::raw(match class {
                Class::Whole | Class::Exact | Class::Float => " else 0 end",
                Class::Text => " else 'other' end",
                Class::Date
                | Class::Stamp
                | Class::Bool
                | Class::Json
                | Class::Ints
                | Class::Texts
                | Class::Bytes
                | Class::Uuid
                | Class::Mood => " else null end",
            }),
        ])
    }
}

/// `form` with the expression in place of `{}`.
pub(super) fn fill(form: &str, own: Expr) -> Expr {
    let (before, after) = form.split_once("{}").unwrap_or((form, ""));
    own.within(before, after)
}
