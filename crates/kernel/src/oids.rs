//! OIDs, numbers of types and relations that were made by users: every server gives its own, and clients are shown
//! those of one catalogue. <https://www.postgresql.org/docs/current/datatype-oid.html>

use std::collections::HashMap;
use std::fmt::Debug;

use pando_sql::ast::{Expr, ObjectName};
use pando_sql::{Edits, Span};

use crate::column::Column;
use crate::error::Result;
use crate::value::Value;

/// What a family knows of such numbers. Pure.
pub trait OidRules: RowTables + Send + Sync + Debug {
    /// A query for what is numbered in a storage unit: the types, and of relations these.
    fn query(&self, tables: &[&str]) -> String;

    /// Reads the answer to [`OidRules::query`].
    ///
    /// # Errors
    /// `Internal` when it has another shape.
    fn read(&self, rows: &[Vec<Value>]) -> Result<Listing>;

    /// The first number that a type of a user's may have; all below are the same everywhere.
    fn first_made(&self) -> u32;

    /// Whether values of the column hold such numbers in the form they come in.
    fn holds_numbers(&self, column: &Column) -> bool;

    /// Changes the numbers inside a value of this type, where they stand. What is no value of the type stays as it is.
    fn renumber(&self, way: Way<'_>, type_id: u32, value: &mut [u8]);
}

/// What a family knows of expressions that tell in which table a row stands. Pure, too.
pub trait RowTables {
    /// The column with the number of a row's table in an expression that gives that table's name.
    fn row_table<'a>(&self, expr: &'a Expr, text: &str) -> Option<&'a ObjectName>;

    /// Lets such an expression give this name, in the form in which servers give it.
    fn tell_table(&self, expr: Span, table: &str, edits: &mut Edits);
}

/// The name of a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TypeName {
    /// Its schema.
    pub schema: String,
    /// Its own name; of an array that of its elements, as servers make up names for arrays.
    pub name: String,
    /// It is the array of the type of that name.
    pub is_array: bool,
}

/// How binary values of a type are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// They hold no numbers.
    Plain,
    /// As those of another type.
    As(u32),
    /// An array, which says what its elements are.
    Array,
    /// A row, each of whose fields says what it is.
    Record,
    /// A range over this type.
    Range(u32),
    /// Ranges over this type.
    Ranges(u32),
}

/// A type of one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedType {
    /// Its number there.
    pub number: u32,
    /// How its values are put together, by numbers from there.
    pub form: Form,
    /// It is that of a table's rows, or an array of them.
    pub is_of_table: bool,
}

/// A relation of one unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedRelation {
    /// Its number there.
    pub number: u32,
    /// Its columns by name.
    pub attributes: HashMap<String, i16>,
}

/// What is numbered in one unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Its types.
    pub types: HashMap<TypeName, ListedType>,
    /// By their names those of its relations that were asked for.
    pub relations: HashMap<String, ListedRelation>,
}

/// A relation as it is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownRelation {
    /// Its number.
    pub number: u32,
    /// Those of its columns that have another number there, as (own, shown).
    pub attributes: Vec<(i16, i16)>,
}

/// What one unit's numbers are shown as.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Oids {
    shown: HashMap<u32, u32>,
    own: HashMap<u32, u32>,
    forms: HashMap<u32, Form>,
    relations: HashMap<u32, ShownRelation>,
    /// Of what nothing is said: from this number on it is shown so much higher.
    others: Others,
}

/// How numbers are shown of which nothing is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Others {
    /// The first that a user's object may have.
    pub first: u32,
    /// Those from there on are shown so much higher, so that nobody else's are like them.
    pub higher: u32,
}

/// Between the numbers of a unit and those that are shown.
#[derive(Debug, Clone, Copy)]
pub enum Way<'a> {
    /// From the unit to the client.
    ToShown(&'a Oids),
    /// From the client to the unit.
    ToOwn(&'a Oids),
}

impl Oids {
    /// A type of the unit's is shown under this number, and its values are put together so.
    pub fn show_type(&mut self, own: ListedType, shown: u32) {
        if own.number != shown {
            self.shown.insert(own.number, shown);
            self.own.insert(shown, own.number);
        }
        if own.form != Form::Plain {
            self.forms.insert(own.number, own.form);
        }
    }

    /// A relation of the unit's is shown so.
    pub fn show_relation(&mut self, own: u32, shown: ShownRelation) {
        self.relations.insert(own, shown);
    }

    /// Says how all others are shown.
    pub fn show_others(&mut self, others: Others) {
        self.others = others;
    }

    /// How all others are shown.
    pub fn others(&self) -> Others {
        self.others
    }

    /// Whether a relation has another number than it is shown under.
    pub fn change_relations(&self) -> bool {
        self.others.higher > 0 || !self.relations.is_empty()
    }

    /// Whether a type is known to have another number than it is shown under.
    pub fn change_types(&self) -> bool {
        !self.shown.is_empty()
    }

    /// The number under which the unit's type is shown.
    pub fn shown_type(&self, own: u32) -> u32 {
        self.shown.get(&own).copied().unwrap_or_else(|| match own >= self.others.first {
            true => own.wrapping_add(self.others.higher),
            false => own,
        })
    }

    /// The unit's number for a type that is shown.
    pub fn own_type(&self, shown: u32) -> u32 {
        let Others { first, higher } = self.others;
        let other = || shown.checked_sub(higher).filter(|own| *own >= first).unwrap_or(shown);
        self.own.get(&shown).copied().unwrap_or_else(other)
    }

    /// How the unit's relation is shown, where that is not by its own number as the unit shows others.
    pub fn relation(&self, own: u32) -> Option<&ShownRelation> {
        self.relations.get(&own)
    }

    /// The types with other numbers, as (own, shown), in no order.
    pub fn types(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.shown.iter().map(|(own, shown)| (*own, *shown))
    }
}

impl Way<'_> {
    /// The number of a type at the end of the way.
    pub fn type_number(&self, number: u32) -> u32 {
        match self {
            Self::ToShown(numbers) => numbers.shown_type(number),
            Self::ToOwn(numbers) => numbers.own_type(number),
        }
    }

    /// How values of a type are put together, which has this number at the start of the way; the form's numbers are those of the start, too.
    pub fn form(&self, number: u32) -> Form {
        let numbers = match self {
            Self::ToShown(numbers) | Self::ToOwn(numbers) => numbers,
        };
        let at_start = |own: u32| match self {
            Self::ToShown(_) => own,
            Self::ToOwn(numbers) => numbers.shown_type(own),
        };
        let own = match self {
            Self::ToShown(_) => number,
            Self::ToOwn(numbers) => numbers.own_type(number),
        };
        match numbers.forms.get(&own).copied().unwrap_or(Form::Plain) {
            Form::As(of) => Form::As(at_start(of)),
            Form::Range(of) => Form::Range(at_start(of)),
            Form::Ranges(of) => Form::Ranges(at_start(of)),
            form @ (Form::Plain | Form::Array | Form::Record) => form,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_shown_as_nobody_elses() {
        let mut numbers = Oids::default();
        numbers.show_others(Others { first: 16_384, higher: 1 << 26 });
        for (own, shown) in [(23, 23), (16_384, 67_125_248), (20_000, 67_128_864)] {
            assert_eq!((numbers.shown_type(own), numbers.own_type(shown)), (shown, own));
        }
        assert_eq!(numbers.own_type(20_000), 20_000, "another unit's");
        assert!(numbers.change_relations() && !numbers.change_types());
    }

    #[test]
    fn types_go_both_ways_and_keep_their_forms() {
        let mut numbers = Oids::default();
        let listed = |number, form| ListedType { number, form, is_of_table: false };
        numbers.show_type(listed(20_000, Form::Plain), 30_000);
        numbers.show_type(listed(20_001, Form::Range(20_000)), 30_001);
        numbers.show_type(listed(20_002, Form::Array), 20_002);
        assert!(numbers.change_types());
        assert_eq!((numbers.shown_type(20_000), numbers.own_type(30_001)), (30_000, 20_001));
        assert_eq!((numbers.shown_type(23), numbers.own_type(23)), (23, 23));
        assert_eq!(Way::ToShown(&numbers).form(20_001), Form::Range(20_000));
        assert_eq!(Way::ToOwn(&numbers).form(30_001), Form::Range(30_000));
        assert_eq!(Way::ToOwn(&numbers).form(20_002), Form::Array);
        assert_eq!(Way::ToOwn(&numbers).type_number(30_000), 20_000);
    }
}
