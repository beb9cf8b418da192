//! The statements by which the rows of one actual table are read and written.

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::Result;
use pando_kernel::{Dialect, Refill, Value};

use super::Node;

/// How the rows of one actual table are read and written.
pub(super) struct Reading<'n> {
    refill: &'n dyn Refill,
    dialect: &'n dyn Dialect,
    table: String,
    /// Quoted.
    keys: Vec<String>,
    /// What a refill takes, quoted.
    cells: Vec<String>,
    /// `, c = c` of columns that would change with the row.
    kept: String,
}

impl<'n> Reading<'n> {
    pub(super) fn of(node: &Node<'n>, columns: &[TableColumn]) -> Self {
        let dialect = &*node.look.database.dialect;
        let keys = columns.iter().filter(|column| column.primary_key);
        let kept = columns.iter().filter(|column| node.words.is_moved(column));
        let kept = kept.map(|column| {
            let name = dialect.quote(&column.name);
            format!(", {name} = {name}")
        });
        Self {
            refill: node.refill,
            dialect,
            table: node.name(),
            keys: keys.map(|column| dialect.quote(&column.name)).collect(),
            cells: node.refill.columns().iter().map(|own| dialect.quote(&own.name)).collect(),
            kept: kept.collect(),
        }
    }

    fn select(&self, condition: &str) -> String {
        let columns = [&self.keys[..], &self.cells[..]].concat().join(", ");
        format!("SELECT {columns} FROM {}{condition}", self.table)
    }

    /// So many of the next rows behind a key, in its order.
    pub(super) fn batch(&self, after: Option<&[Value]>, count: usize) -> String {
        let behind = after.map(|after| format!(" WHERE {}", self.behind(after)));
        let behind = behind.unwrap_or_default();
        self.select(&format!("{behind} ORDER BY {} LIMIT {count}", self.keys.join(", ")))
    }

    /// `a > 1 OR a = 1 AND b > 2`, with `a >= 1` in front, by which servers find the place.
    fn behind(&self, after: &[Value]) -> String {
        let mut equal = String::new();
        let mut any = Vec::new();
        for (name, value) in self.keys.iter().zip(after) {
            let literal = self.dialect.literal(value);
            any.push(format!("{equal}{name} > {literal}"));
            equal = format!("{equal}{name} = {literal} AND ");
        }
        match (&any[..], self.keys.first().zip(after.first())) {
            ([_, _, ..], Some((name, value))) => {
                format!("{name} >= {} AND ({})", self.dialect.literal(value), any.join(" OR "))
            }
            _ => any.join(" OR "),
        }
    }

    pub(super) fn key<'r>(&self, row: &'r [Value]) -> &'r [Value] {
        row.get(..self.keys.len()).unwrap_or_default()
    }

    fn of_refill<'r>(&self, row: &'r [Value]) -> &'r [Value] {
        row.get(self.keys.len()..).unwrap_or_default()
    }

    /// The keys of rows that are not in step.
    pub(super) fn stale(&self, rows: &[Vec<Value>]) -> Result<Vec<Vec<Value>>> {
        let mut stale = Vec::new();
        for row in rows {
            if self.refill.row(self.of_refill(row))?.is_some() {
                stale.push(self.key(row).to_vec());
            }
        }
        Ok(stale)
    }

    fn is(&self, key: &[Value]) -> String {
        let parts = self.keys.iter().zip(key);
        let parts = parts.map(|(name, value)| format!("{name} = {}", self.dialect.literal(value)));
        parts.collect::<Vec<_>>().join(" AND ")
    }

    pub(super) fn locked(&self, keys: &[Vec<Value>]) -> String {
        let any: Vec<String> = keys.iter().map(|key| self.is(key)).collect();
        self.select(&format!(" WHERE {} FOR UPDATE", any.join(" OR ")))
    }

    /// One statement that brings these rows in step, and how many were not.
    pub(super) fn update(&self, rows: &[Vec<Value>]) -> Result<(Option<String>, usize)> {
        let mut wanted: Vec<(&[Value], Vec<Value>)> = Vec::new();
        for row in rows {
            if let Some(cells) = self.refill.row(self.of_refill(row))? {
                wanted.push((self.key(row), cells));
            }
        }
        if wanted.is_empty() {
            return Ok((None, 0));
        }
        let columns = self.refill.columns().iter().enumerate().filter(|(_, own)| own.is_written);
        let set = columns.map(|(at, _)| {
            let name = self.cells.get(at).map_or("", String::as_str);
            let case = wanted.iter().map(|(key, cells)| {
                let value = cells.get(at).unwrap_or(&Value::Null);
                format!(" WHEN {} THEN {}", self.is(key), self.dialect.literal(value))
            });
            format!("{name} = CASE{} ELSE {name} END", case.collect::<String>())
        });
        let set = set.collect::<Vec<_>>().join(", ");
        let any: Vec<String> = wanted.iter().map(|(key, _)| self.is(key)).collect();
        let (table, kept) = (&self.table, &self.kept);
        let statement = format!("UPDATE {table} SET {set}{kept} WHERE {}", any.join(" OR "));
        Ok((Some(statement), wanted.len()))
    }
}
