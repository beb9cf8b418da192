//! What is known of a table before a statement may change it.

use std::sync::Arc;

use pando_kernel::dialect::{Dialect, TableColumn};
use pando_kernel::error::{Error, Result};
use pando_kernel::undo::Undo;
use pando_kernel::{ErrorKind, Value};
use pando_sql::ast::ObjectName;

use crate::image::{Shape, ShapeColumn};
use crate::lock;

/// An actual table of one storage unit.
#[derive(Debug, Clone)]
pub struct Table {
    /// What its images are of.
    pub(crate) shape: Arc<Shape>,
    /// Its name in the lock table.
    pub(crate) lock_name: String,
    /// Unique indexes other than the primary key that consist of whole columns: places among [`Shape::columns`].
    pub(crate) uniques: Vec<Vec<usize>>,
    /// A unique index has an expression, a computed column or a part of a column.
    pub(crate) has_odd_uniques: bool,
    /// All columns, computed ones included, in table order.
    pub(crate) all: Vec<TableColumn>,
}

/// The name of a table in a statement for a storage unit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName {
    /// The schema (or database) in front of it.
    pub schema: Option<String>,
    /// Its own name.
    pub name: String,
}

impl TableName {
    pub(crate) fn of(name: &ObjectName) -> Self {
        let mut parts = name.parts.iter().rev().map(|part| part.value.clone());
        let own = parts.next().unwrap_or_default();
        Self { schema: parts.next(), name: own }
    }
}

/// What the facts query told.
#[derive(Debug, Default)]
struct Facts {
    name: Option<(String, String)>,
    primary: Vec<String>,
    /// (index, column) in the order they came.
    unique: Vec<(String, String)>,
    parts: Vec<String>,
    computed: Vec<String>,
    stamped: Vec<String>,
    reasons: Vec<String>,
}

impl Table {
    /// Puts together what the catalogue's columns and the rows of [`pando_kernel::undo::Images::facts_query`] tell.
    ///
    /// # Errors
    /// `Refused` when rows of the table have no images that can be restored; `UnknownTable`.
    pub fn of(
        asked: &TableName,
        columns: Vec<TableColumn>,
        rows: &[Vec<Value>],
        dialect: &dyn Dialect,
    ) -> Result<Self> {
        let undo = undo_of(dialect)?;
        let facts = facts(rows)?;
        let Some((name, schema)) = facts.name.filter(|_| !columns.is_empty()) else {
            return Err(ErrorKind::UnknownTable(asked.name.clone()).into());
        };
        if let Some(reason) = facts.reasons.first() {
            return Err(refused(&name, reason));
        }
        if facts.primary.is_empty() {
            return Err(refused(&name, "it has no primary key"));
        }
        if facts.primary.iter().any(|key| facts.computed.contains(key)) {
            return Err(refused(&name, "its primary key is computed"));
        }
        let kept = columns.iter().filter(|column| !facts.computed.contains(&column.name));
        let list: Vec<ShapeColumn> = kept
            .map(|column| {
                let stamped = facts.stamped.contains(&column.name);
                let form = undo.form(column)?;
                Ok(ShapeColumn { name: column.name.clone(), form, stamped })
            })
            .collect::<Result<_>>()?;
        let place = |name: &String| list.iter().position(|column| column.name == *name);
        let key: Vec<usize> = facts.primary.iter().filter_map(place).collect();
        if key.len() != facts.primary.len() {
            return Err(Error::internal("a primary key of columns the table does not have"));
        }
        let mut uniques: Vec<(&String, Option<Vec<usize>>)> = Vec::new();
        for (index, column) in &facts.unique {
            let at = place(column).filter(|_| !facts.parts.contains(index));
            match uniques.iter_mut().find(|(known, _)| *known == index) {
                Some((_, places)) => {
                    *places = places.take().zip(at).map(|(mut p, at)| {
                        p.push(at);
                        p
                    })
                }
                None => uniques.push((index, at.map(|at| vec![at]))),
            }
        }
        let has_odd_uniques = uniques.iter().any(|(_, places)| places.is_none());
        let path = match schema.as_str() {
            "" => dialect.quote(&name),
            schema => format!("{}.{}", dialect.quote(schema), dialect.quote(&name)),
        };
        Ok(Self {
            lock_name: lock::bounded(&path),
            uniques: uniques.into_iter().filter_map(|(_, places)| places).collect(),
            has_odd_uniques,
            shape: Arc::new(Shape { path, columns: list, key }),
            all: columns,
        })
    }

    /// The place of a column among those of its images.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        let columns = &self.shape.columns;
        let exact = columns.iter().position(|column| column.name == name);
        exact.or_else(|| columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)))
    }

    /// Whether a column belongs to the primary key.
    pub(crate) fn is_key(&self, name: &str) -> bool {
        self.place(name).is_some_and(|at| self.shape.key.contains(&at))
    }

    /// The column whose values the server generates, when it is part of the key.
    pub(crate) fn generated_key(&self) -> Option<usize> {
        let generates = |at: &&usize| {
            let name = &self.shape.columns[**at].name;
            self.all.iter().any(|column| column.name == *name && column.auto_increment)
        };
        self.shape.key.iter().find(generates).copied()
    }
}

/// How the family takes changes back.
///
/// # Errors
/// `Refused` when it cannot.
pub(crate) fn undo_of(dialect: &dyn Dialect) -> Result<&dyn Undo> {
    dialect.undo().ok_or_else(|| {
        Error::unsupported(
            30001,
            format!(
                "storage units of the family `{}` take no part in BASE transactions",
                dialect.family()
            ),
            "use a LOCAL transaction",
        )
    })
}

fn facts(rows: &[Vec<Value>]) -> Result<Facts> {
    let mut facts = Facts::default();
    for row in rows {
        let [Value::Text(what), Value::Text(name), Value::Text(detail)] = &row[..] else {
            return Err(Error::internal("a row about a table's facts has another shape"));
        };
        match what.as_str() {
            "table" => facts.name = Some((name.clone(), detail.clone())),
            "primary" => facts.primary.push(name.clone()),
            "unique" => facts.unique.push((detail.clone(), name.clone())),
            "part" => facts.parts.push(detail.clone()),
            "computed" => facts.computed.push(name.clone()),
            "stamped" => facts.stamped.push(name.clone()),
            // Of a view that is what is said besides: that it is no table.
            "always" | "view" => {}
            "reference" => {
                facts.reasons.push(format!(
                    "`{name}` depends on it with {detail}, so that rows without images would change"
                ));
            }
            "trigger" => facts
                .reasons
                .push(format!("its trigger or rule `{name}` may change rows without images")),
            // What it is says more than what it has.
            "refused" => facts.reasons.insert(0, name.clone()),
            _ => return Err(Error::internal("a fact about a table that nobody knows")),
        }
    }
    Ok(facts)
}

fn refused(table: &str, reason: &str) -> Error {
    Error::unsupported(
        30001,
        format!("table `{table}` cannot be changed in a BASE transaction: {reason}"),
        "use a LOCAL or XA transaction",
    )
}
