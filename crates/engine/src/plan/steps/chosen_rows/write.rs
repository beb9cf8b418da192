//! The answer of a query as a text in its place.

use pando_kernel::error::{Error, Result};
use pando_kernel::transfer::{Field, Transfer};
use pando_kernel::{Column, Columns, Dialect};

use super::item::{Goal, Item};
use super::{Choice, Form, fit, too_many_rows};

/// An answer being written.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    choice: &'a Choice,
    dialect: &'a dyn Dialect,
    /// Casts to the types of the answer's columns, where the family has any.
    types: Vec<String>,
    names: Vec<String>,
    rows: usize,
    text: String,
}

impl<'a> Answer<'a> {
    pub(crate) fn new(choice: &'a Choice, dialect: &'a dyn Dialect) -> Self {
        let (types, names) = (Vec::new(), Vec::new());
        Self { choice, dialect, types, names, rows: 0, text: String::new() }
    }

    /// Bytes written so far.
    pub(crate) fn size(&self) -> usize {
        self.text.len()
    }

    /// Takes note of the answer's columns.
    ///
    /// # Errors
    /// `Refused` where their values would mean something else as constants.
    pub(crate) fn columns(&mut self, columns: &Columns) -> Result<()> {
        let none = Item::default();
        for (at, column) in columns.list.iter().enumerate() {
            let item = self.choice.items.get(at).unwrap_or(&none);
            fit::check(self.dialect, self.choice.form, item, column)?;
        }
        let transfer = transfer(self.dialect)?;
        self.types = columns.list.iter().map(|column| transfer.typed(column)).collect();
        self.names = columns.list.iter().map(|column| self.dialect.quote(&column.name)).collect();
        Ok(())
    }

    /// Adds a row.
    ///
    /// # Errors
    /// `Refused` for values that cannot travel, the server's error for a second row where one is wanted.
    pub(crate) fn row(&mut self, fields: &[Option<Field<'_>>]) -> Result<()> {
        self.rows += 1;
        match self.choice.form {
            Form::Existence => return Ok(()),
            Form::Value if self.rows > 1 => {
                return Err(too_many_rows(self.dialect));
            }
            Form::Value | Form::List { .. } | Form::Array { .. } | Form::Table => {}
        }
        let literals =
            fields.iter().enumerate().map(|(at, field)| self.literal(at, field.as_ref()));
        let literals = literals.collect::<Result<Vec<String>>>()?.join(", ");
        if self.rows > 1 {
            self.text.push_str(", ");
        }
        if fields.len() > 1 || self.choice.form == Form::Table {
            self.text.push_str(&format!("({literals})"));
        } else {
            self.text.push_str(&literals);
        }
        Ok(())
    }

    /// A value beside a column is read as that reads it; any other carries its type.
    fn literal(&self, at: usize, field: Option<&Field<'_>>) -> Result<String> {
        let goal = self.choice.items.get(at).and_then(|item| item.goal.as_ref());
        let typed = self.types.get(at).filter(|_| goal.is_none()).map_or("", String::as_str);
        let Some(field) = field else { return Ok(format!("NULL{typed}")) };
        let to = goal.map(|Goal { column, .. }| column);
        let literal = transfer(self.dialect)?.literal(field, to)?;
        Ok(if literal.ends_with(typed) { literal } else { format!("{literal}{typed}") })
    }

    /// What stands in the query's place.
    pub(crate) fn finish(self) -> String {
        let (rows, text) = (self.rows, &self.text);
        match self.choice.form {
            Form::Existence => if rows == 0 { "FALSE" } else { "TRUE" }.to_owned(),
            Form::Value if rows == 0 => format!("({})", self.nulls(&[])),
            Form::Value => format!("({text})"),
            Form::List { narrows: true } if rows == 0 && self.types.len() > 1 => {
                format!("({})", self.nulls(&[]))
            }
            // Nothing is equal to NULL, and routing knows it.
            Form::List { narrows: true } if rows == 0 => self.nulls(&[]),
            Form::List { .. } if rows == 0 && self.dialect.error_fails_transaction() => {
                format!("SELECT {} WHERE FALSE", self.nulls(&[]))
            }
            Form::List { .. } if rows == 0 => {
                format!("SELECT {} FROM DUAL WHERE FALSE", self.nulls(&[]))
            }
            Form::List { .. } => text.clone(),
            Form::Array { quantified } => {
                let array = match rows {
                    0 => "'{}'".to_owned(),
                    _ => format!("ARRAY[{text}]"),
                };
                let typed = self.types.first().filter(|typed| !typed.is_empty());
                let typed = typed.map_or_else(String::new, |typed| format!("{typed}[]"));
                if quantified { format!("({array}{typed})") } else { format!("{array}{typed}") }
            }
            Form::Table if rows == 0 => {
                format!("SELECT {} WHERE FALSE", self.nulls(&self.names))
            }
            Form::Table => {
                let names = self.names.join(", ");
                format!("SELECT * FROM (VALUES {text}) AS pando_chosen ({names})")
            }
        }
    }

    fn nulls(&self, names: &[String]) -> String {
        let one = |(at, typed): (usize, &String)| match names.get(at) {
            Some(name) => format!("NULL{typed} AS {name}"),
            None => format!("NULL{typed}"),
        };
        self.types.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
    }
}

impl Choice {
    /// What stands in the query's place when all that is known of its answer is its columns; without them, something of which nothing is known.
    pub(crate) fn described(&self, dialect: &dyn Dialect, columns: &[Column]) -> Result<String> {
        let mut answer = Answer::new(self, dialect);
        let transfer = transfer(dialect)?;
        answer.types = columns.iter().map(|column| transfer.typed(column)).collect();
        answer.names = columns.iter().map(|column| dialect.quote(&column.name)).collect();
        Ok(answer.finish())
    }

    /// Something in the query's place of which nothing is known.
    pub(crate) fn unknown(&self) -> String {
        const UNKNOWN: &str = "CASE WHEN TRUE THEN NULL END";
        match self.form {
            Form::List { .. } => {
                let all: Vec<&str> = self.items.iter().map(|_| UNKNOWN).collect();
                if all.len() > 1 { format!("({})", all.join(", ")) } else { all.join(", ") }
            }
            Form::Value | Form::Existence => format!("({UNKNOWN})"),
            Form::Array { quantified: true } => "('{}')".to_owned(),
            Form::Array { quantified: false } => "'{}'".to_owned(),
            Form::Table => "SELECT 1".to_owned(),
        }
    }
}

fn transfer(dialect: &dyn Dialect) -> Result<&dyn Transfer> {
    dialect.transfer().ok_or_else(|| Error::internal("rows that cannot travel"))
}
