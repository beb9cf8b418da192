//! OIDs of types and relations that users have made, and where they stand in binary values.
//! <https://www.postgresql.org/docs/current/catalog-pg-type.html>

use std::collections::HashMap;

use pando_kernel::oids::{
    Form, ListedRelation, ListedType, Listing, OidRules, RowTables, TypeName, Way,
};
use pando_kernel::{Column, Error, Format, Result, Value};
use pando_sql::ast::{Expr, Node, ObjectName};
use pando_sql::{Edits, Span};

use super::{Postgres, text_literal};
use crate::catalog::is_regclass;
use crate::types::FIRST_OWN;

/// Types of the server's own whose binary values tell the types of what is in them.
mod telling {
    pub(super) const RECORD: u32 = 2249;
    pub(super) const RECORDS: u32 = 2287;
    pub(super) const ANY_ARRAY: u32 = 2277;
    pub(super) const REGTYPE: u32 = 2206;
}

/// Values inside values are looked at so deep.
const DEEPEST: usize = 64;

/// Of a range: it is empty, has no lower bound, has no upper bound.
/// <https://doxygen.postgresql.org/rangetypes_8h.html>
mod range {
    pub(super) const EMPTY: u8 = 0x01;
    pub(super) const NO_LOWER: u8 = 0x08;
    pub(super) const NO_UPPER: u8 = 0x10;
}

impl OidRules for Postgres {
    fn query(&self, tables: &[&str]) -> String {
        let names: Vec<String> = tables.iter().map(|table| text_literal(table)).collect();
        let is_asked = match &names[..] {
            [] => "false".to_owned(),
            names => format!(
                "(c.relname IN ({}) AND c.relnamespace = (SELECT h.oid FROM pg_catalog.pg_namespace h \
                 WHERE h.nspname = coalesce(pg_catalog.current_schema(), 'public')))",
                names.join(", ")
            ),
        };
        // Older servers have no ranges of several parts: what they lack is read through `to_jsonb`, which gives NULL for it.
        format!(
            "SELECT 'type'::text, n.nspname::text, coalesce(e.typname, t.typname)::text, t.oid::int8, \
             CASE WHEN e.oid IS NOT NULL THEN 'array' WHEN t.typtype = 'c' THEN 'record' WHEN t.typtype = 'd' THEN 'as' \
             WHEN r.rngtypid = t.oid THEN 'range' WHEN r.rngtypid IS NOT NULL THEN 'ranges' ELSE 'plain' END::text, \
             CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE coalesce(r.rngsubtype, 0) END::int8, \
             coalesce(c.relkind <> 'c', false) \
             FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace \
             LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND e.typarray = t.oid \
             LEFT JOIN pg_catalog.pg_range r ON t.oid IN (r.rngtypid, (to_jsonb(r)->>'rngmultitypid')::oid) \
             LEFT JOIN pg_catalog.pg_class c ON c.oid = CASE WHEN e.oid IS NULL THEN t.typrelid ELSE e.typrelid END \
             WHERE t.oid >= {FIRST_OWN} AND n.nspname !~ '^pg_(toast|temp)' \
             AND (c.oid IS NULL OR c.relkind = 'c' OR {is_asked}) \
             UNION ALL SELECT 'relation', a.attname::text, c.relname::text, c.oid::int8, ''::text, a.attnum::int8, false \
             FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid \
             WHERE {is_asked} AND a.attnum > 0 AND NOT a.attisdropped"
        )
    }

    fn read(&self, rows: &[Vec<Value>]) -> Result<Listing> {
        let mut listing = Listing::default();
        for row in rows {
            let [
                Value::Text(what),
                Value::Text(first),
                Value::Text(name),
                Value::Int(number),
                Value::Text(form),
                Value::Int(of),
                Value::Bool(is_of_table),
            ] = &row[..]
            else {
                return Err(Error::internal("a row of numbers has another shape"));
            };
            let number = u32::try_from(*number).unwrap_or_default();
            if what == "relation" {
                let attribute = i16::try_from(*of).unwrap_or_default();
                let new = || ListedRelation { number, attributes: HashMap::new() };
                let relation = listing.relations.entry(name.clone()).or_insert_with(new);
                relation.attributes.insert(first.clone(), attribute);
                continue;
            }
            let of = u32::try_from(*of).unwrap_or_default();
            let form = match form.as_str() {
                "array" => Form::Array,
                "record" => Form::Record,
                "as" => Form::As(of),
                "range" => Form::Range(of),
                "ranges" => Form::Ranges(of),
                _ => Form::Plain,
            };
            let is_array = form == Form::Array;
            let name = TypeName { schema: first.clone(), name: name.clone(), is_array };
            listing.types.insert(name, ListedType { number, form, is_of_table: *is_of_table });
        }
        Ok(listing)
    }

    fn first_made(&self) -> u32 {
        FIRST_OWN
    }

    fn holds_numbers(&self, column: &Column) -> bool {
        let type_id = column.native.type_id;
        let tells = [telling::RECORD, telling::RECORDS, telling::ANY_ARRAY, telling::REGTYPE];
        column.format == Format::Binary && (type_id >= FIRST_OWN || tells.contains(&type_id))
    }

    fn renumber(&self, way: Way<'_>, type_id: u32, value: &mut [u8]) {
        // What does not read to its end is no such value, and nobody will take it for one.
        let _ = renumber(way, type_id, value, 0);
    }
}

impl RowTables for Postgres {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a filter: every other variant is not what is looked for"
    )]
    fn row_table<'a>(&self, expr: &'a Expr, text: &str) -> Option<&'a ObjectName> {
        let Node::Cast { operand, to } = &expr.node else { return None };
        let mut operand = operand;
        while let Node::Nested(inner) = &operand.node {
            operand = inner;
        }
        match &operand.node {
            Node::Column(name) if is_regclass(to.of(text)) => {
                let last = name.parts.last()?;
                (last.value == "tableoid").then_some(name)
            }
            _ => None,
        }
    }

    fn tell_table(&self, expr: Span, table: &str, edits: &mut Edits) {
        // A schema in front stays. What is put in by a pattern has its backslashes twice.
        let table = text_literal(&table.replace('\\', "\\\\"));
        edits.around(
            expr,
            "(SELECT pg_catalog.regexp_replace((",
            format!(")::pg_catalog.text, '[^.]*$', pg_catalog.quote_ident({table})) AS tableoid)"),
        );
    }
}

fn form(way: Way<'_>, type_id: u32) -> Form {
    match type_id {
        telling::RECORD => Form::Record,
        telling::RECORDS | telling::ANY_ARRAY => Form::Array,
        made if made >= FIRST_OWN => way.form(made),
        _ => Form::Plain,
    }
}

fn renumber(way: Way<'_>, type_id: u32, value: &mut [u8], depth: usize) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    let mut rest = Rest(value);
    if type_id == telling::REGTYPE {
        rest.number(way)?;
        return Some(());
    }
    match form(way, type_id) {
        Form::Plain => {}
        Form::As(of) => renumber(way, of, value, depth + 1)?,
        Form::Array => array(way, &mut rest, depth)?,
        Form::Record => {
            for _ in 0..rest.integer()? {
                let of = rest.number(way)?;
                if let Some(field) = rest.sized()? {
                    renumber(way, of, field, depth + 1)?;
                }
            }
        }
        Form::Range(of) => bounds(way, of, &mut rest, depth)?,
        Form::Ranges(of) => {
            for _ in 0..rest.integer()? {
                if let Some(one) = rest.sized()? {
                    bounds(way, of, &mut Rest(one), depth)?;
                }
            }
        }
    }
    Some(())
}

/// The number of dimensions, whether there are NULLs, the type, two numbers of each dimension, then the elements.
fn array(way: Way<'_>, rest: &mut Rest<'_>, depth: usize) -> Option<()> {
    let dimensions = rest.integer()?;
    rest.integer()?;
    let of = rest.number(way)?;
    if form(way, of) == Form::Plain {
        return Some(());
    }
    for _ in 0..dimensions {
        rest.integer()?;
        rest.integer()?;
    }
    while !rest.0.is_empty() {
        if let Some(element) = rest.sized()? {
            renumber(way, of, element, depth + 1)?;
        }
    }
    Some(())
}

/// A byte of flags, then the bounds that there are.
fn bounds(way: Way<'_>, of: u32, rest: &mut Rest<'_>, depth: usize) -> Option<()> {
    let flags = *rest.take(1)?.first()?;
    for none in [range::NO_LOWER, range::NO_UPPER] {
        if flags & (range::EMPTY | none) == 0
            && let Some(bound) = rest.sized()?
        {
            renumber(way, of, bound, depth + 1)?;
        }
    }
    Some(())
}

/// What is left of a value.
struct Rest<'a>(&'a mut [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, length: usize) -> Option<&'a mut [u8]> {
        let (taken, rest) = std::mem::take(&mut self.0).split_at_mut_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn integer(&mut self) -> Option<i32> {
        self.take(4).and_then(|four| four.first_chunk()).map(|four| i32::from_be_bytes(*four))
    }

    /// What stands behind its length; `None` inside for NULL.
    fn sized(&mut self) -> Option<Option<&'a mut [u8]>> {
        match usize::try_from(self.integer()?) {
            Ok(length) => self.take(length).map(Some),
            Err(_) => Some(None),
        }
    }

    /// Changes the number of a type; gives what it was.
    fn number(&mut self, way: Way<'_>) -> Option<u32> {
        let four = self.take(4)?.first_chunk_mut::<4>()?;
        let number = u32::from_be_bytes(*four);
        if number >= FIRST_OWN {
            *four = way.type_number(number).to_be_bytes();
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::Oids;

    use super::*;

    fn numbers() -> Oids {
        let mut numbers = Oids::default();
        let listed = |number, form| ListedType { number, form, is_of_table: false };
        numbers.show_type(listed(20_000, Form::Plain), 30_000);
        numbers.show_type(listed(20_001, Form::Array), 30_001);
        numbers.show_type(listed(20_002, Form::Record), 30_002);
        numbers.show_type(listed(20_003, Form::As(20_002)), 30_003);
        numbers.show_type(listed(20_004, Form::Range(20_002)), 30_004);
        numbers.show_type(listed(20_005, Form::Ranges(20_002)), 30_005);
        numbers
    }

    fn sized(bytes: &[u8]) -> Vec<u8> {
        [&i32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
    }

    fn array(of: u32, elements: &[Vec<u8>]) -> Vec<u8> {
        let count = u32::try_from(elements.len()).unwrap();
        let head = [1, 0, of, count, 1].map(u32::to_be_bytes).concat();
        [head, elements.concat()].concat()
    }

    fn record(of: u32, field: &[u8]) -> Vec<u8> {
        [1u32.to_be_bytes().to_vec(), of.to_be_bytes().to_vec(), sized(field)].concat()
    }

    /// `value` makes a value of the type with the unit's numbers (0) or with those that are shown (10,000).
    fn check(type_id: u32, value: impl Fn(u32) -> Vec<u8>) {
        let numbers = numbers();
        let made = |more: u32| if type_id >= FIRST_OWN { type_id + more } else { type_id };
        let mut bytes = value(0);
        Postgres.renumber(Way::ToShown(&numbers), made(0), &mut bytes);
        assert_eq!(bytes, value(10_000), "{type_id}");
        Postgres.renumber(Way::ToOwn(&numbers), made(10_000), &mut bytes);
        assert_eq!(bytes, value(0), "{type_id}");
    }

    #[test]
    fn numbers_inside_values_are_those_that_are_shown() {
        let row = |more| record(20_000 + more, b"sad");
        check(20_001, |more| array(20_000 + more, &[sized(b"sad"), vec![255; 4]]));
        check(20_002, row);
        check(20_003, row);
        check(20_001, |more| array(20_003 + more, &[sized(&row(more)), sized(&row(more))]));
        check(telling::RECORD, |more| record(20_002 + more, &row(more)));
        check(telling::RECORDS, |more| array(telling::RECORD, &[sized(&row(more))]));
        check(telling::REGTYPE, |more| (20_000 + more).to_be_bytes().to_vec());
        let span = |more| [vec![range::NO_UPPER], sized(&row(more))].concat();
        check(20_004, span);
        check(20_005, |more| [vec![0, 0, 0, 1], sized(&span(more))].concat());
    }

    #[test]
    fn what_is_no_such_value_stays_or_ends() {
        let numbers = numbers();
        for length in 0..40 {
            let mut bytes = vec![255; length];
            Postgres.renumber(Way::ToShown(&numbers), 20_002, &mut bytes);
            Postgres.renumber(Way::ToShown(&numbers), 20_001, &mut bytes);
            assert_eq!(bytes.len(), length);
        }
        // A record whose only field is said to be a record again, for ever: its end comes first.
        let mut deep = (0..1000).fold(Vec::new(), |inner, _| record(20_002, &inner));
        Postgres.renumber(Way::ToShown(&numbers), 20_002, &mut deep);
    }
}
