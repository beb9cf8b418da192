//! Bringing the stored columns of a table's rows in step with the one that is read.

use std::sync::Arc;

use pando_kernel::dialect::Dialect;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::table::TableColumn;
use pando_kernel::{DeclaredType, Kind, Refill, RefillColumn, Unread, Value};
use pando_sql::Fold;

use crate::canonical::{Aim, Declared};
use crate::column::{EncryptedColumn, Part, Purpose};
use crate::declaration;
use crate::rule::Rule;

/// What is encrypted to tell an algorithm and its keys from others.
const SAMPLE: &[u8] = b"1";

/// The encrypted columns of one table.
#[derive(Debug)]
pub(crate) struct Columns {
    columns: Vec<Arc<EncryptedColumn>>,
    stored: Vec<RefillColumn>,
    fold: Fold,
}

impl Columns {
    /// `None` for a table that has none.
    pub(crate) fn of(rule: &Rule, table: &str) -> Option<Self> {
        let mut columns: Vec<_> = rule.of_table(table).cloned().collect();
        columns.sort_by(|one, other| one.of.column.cmp(&other.of.column));
        let stored = columns.iter().flat_map(|column| {
            column.all_parts().enumerate().map(|(at, part)| RefillColumn {
                name: part.name.clone(),
                is_written: at > 0 || !column.is_told_plain(),
            })
        });
        let stored = stored.collect();
        (!columns.is_empty()).then_some(Self { columns, stored, fold: rule.fold })
    }
}

impl Refill for Columns {
    fn lacking(&self, stored: &[TableColumn], dialect: &dyn Dialect) -> Result<Vec<String>> {
        let find = |part: &Part| {
            let is_called =
                |own: &&TableColumn| own.name.to_lowercase() == part.name.to_lowercase();
            stored.iter().find(is_called)
        };
        let mut lacking = Vec::new();
        for column in &self.columns {
            let Some(told) = find(&column.told) else {
                return Err(refused(column, &format!("`{}` is missing", column.told.name)));
            };
            if column.is_told_plain() {
                self.check_plain(column, told)?;
            }
            let octets = self.octets(column, told);
            for part in column.all_parts().skip(1).filter(|part| find(part).is_none()) {
                let kind = match (part.purpose, column.declared) {
                    (Purpose::Plain, Some(own)) => own.declared.spelled(self.fold),
                    (Purpose::Plain, None) => declaration::any_text(self.fold).to_owned(),
                    _ => declaration::kind(part, octets, self.fold),
                };
                let place = match self.fold {
                    Fold::Keep => format!(" AFTER {}", dialect.quote(&column.told.name)),
                    Fold::Lower => String::new(),
                };
                lacking.push(format!("{} {kind}{place}", dialect.quote(&part.name)));
            }
        }
        Ok(lacking)
    }

    fn columns(&self) -> &[RefillColumn] {
        &self.stored
    }

    fn row(&self, row: &[Value]) -> Result<Option<Vec<Value>>> {
        let mut wanted = Vec::with_capacity(row.len());
        let mut rest = row;
        for column in &self.columns {
            let (own, others) = rest
                .split_at_checked(column.all_parts().count())
                .ok_or_else(|| Error::internal("a row that is too short"))?;
            rest = others;
            wanted.extend(self.cells(column, own)?);
        }
        Ok((wanted[..] != *row).then_some(wanted))
    }

    fn made_by(&self) -> Vec<String> {
        let made = |(own, part): (String, &Part)| {
            let sample = part.makes.encrypt(SAMPLE).ok()?;
            Some(format!("{own}{sample}"))
        };
        self.made().map(made).collect::<Option<_>>().unwrap_or_default()
    }

    fn is_made_by(&self, known: &[String]) -> bool {
        let is_made = |((own, part), known): ((String, &Part), &String)| {
            let sample = known.strip_prefix(&own);
            sample.is_some_and(|sample| part.makes.is_current(sample, SAMPLE))
        };
        !known.is_empty()
            && self.made().count() == known.len()
            && self.made().zip(known).all(is_made)
    }

    fn unread(&self) -> Vec<Unread> {
        let of = |column: &Arc<EncryptedColumn>| {
            let told = column.told.name.clone();
            let parts = column.beside.iter().chain(&column.unwritten);
            let parts =
                parts.map(move |part| Unread { name: part.name.clone(), told: told.clone() });
            parts.collect::<Vec<_>>()
        };
        self.columns.iter().flat_map(of).collect()
    }
}

impl Columns {
    /// The stored columns, each with its name and its type in front of a sample.
    fn made(&self) -> impl Iterator<Item = (String, &Part)> {
        self.columns.iter().flat_map(|column| {
            column.all_parts().map(|part| {
                let declared = column.declared.map(|own| own.declared.spelled(self.fold));
                (format!("{} {:?} {declared:?} ", part.name, part.purpose), part)
            })
        })
    }

    /// What the stored columns of one column are to hold; what is right already stays as it is.
    fn cells(&self, column: &EncryptedColumn, own: &[Value]) -> Result<Vec<Value>> {
        let told = own.first().unwrap_or(&Value::Null);
        if told.is_null() {
            return Ok(vec![Value::Null; own.len()]);
        }
        let plain = match column.is_told_plain() {
            true => self.text(column, told)?,
            false => decrypted(&column.told, told)?,
        };
        let parts = column.all_parts().zip(own).enumerate();
        let cell = |(at, (part, stored)): (usize, (&Part, &Value))| {
            if at == 0 && column.is_told_plain() {
                return Ok(stored.clone());
            }
            self.cell(column, part, stored, &plain)
        };
        parts.map(cell).collect()
    }

    fn cell(
        &self,
        column: &EncryptedColumn,
        part: &Part,
        stored: &Value,
        plain: &str,
    ) -> Result<Value> {
        if part.purpose == Purpose::Plain {
            let is_right = !stored.is_null() && self.text(column, stored)? == plain;
            return match (is_right, column.declared) {
                (true, _) => Ok(stored.clone()),
                (false, Some(declared)) => declared.value(plain.to_owned()),
                (false, None) => Ok(Value::Text(plain.to_owned())),
            };
        }
        match text(stored).filter(|stored| part.makes.is_current(stored, plain.as_bytes())) {
            Some(_) => Ok(stored.clone()),
            None => part.makes.encrypt(plain.as_bytes()).map(Value::Text),
        }
    }

    /// The one text of a value that is stored in the plain.
    fn text(&self, column: &EncryptedColumn, value: &Value) -> Result<String> {
        let any = Declared { declared: DeclaredType::Text { most: None }, fold: self.fold };
        column.declared.unwrap_or(any).text(&column.of.column, value, Aim::Store)
    }

    /// Refuses a column in the plain that is not of the type that clients would be told.
    fn check_plain(&self, column: &EncryptedColumn, plain: &TableColumn) -> Result<()> {
        let kind = plain.type_name.as_str();
        if plain.primary_key {
            return Err(refused(column, "it is a part of the primary key"));
        }
        let found = DeclaredType::read(kind, self.fold);
        let is_right = match column.declared {
            Some(own) => found == Some(own.declared),
            // Blanks behind a value of CHAR are told or not: its rule has to say that it is one.
            None => {
                plain.kind == Kind::Text
                    && declaration::octets(kind).is_some()
                    && !matches!(found, Some(DeclaredType::Char { .. }))
            }
        };
        match (is_right, column.declared) {
            (true, _) => Ok(()),
            (false, Some(own)) => {
                let own = own.declared.spelled(self.fold);
                Err(refused(column, &format!("it is {kind}, and {own} in its rule")))
            }
            (false, None) => Err(refused(
                column,
                &format!("it is {kind}; say so in its rule with DATA_TYPE='{kind}'"),
            )),
        }
    }

    /// The most octets of its values, where there is a bound.
    fn octets(&self, column: &EncryptedColumn, told: &TableColumn) -> Option<usize> {
        match column.declared {
            Some(own) => declaration::most_octets(own.declared),
            None if column.is_told_plain() => declaration::octets(&told.type_name).flatten(),
            None => None,
        }
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Bytes(octets) => String::from_utf8(octets.to_vec()).ok(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Decimal(_) => None,
    }
}

fn decrypted(part: &Part, stored: &Value) -> Result<String> {
    let wrong = || Error::new(ErrorKind::Value("a decrypted value is no text".into()));
    let stored = text(stored).ok_or_else(wrong)?;
    String::from_utf8(part.makes.decrypt(&stored)?).map_err(|_| wrong())
}

fn refused(column: &EncryptedColumn, why: &str) -> Error {
    let (table, name) = (&column.of.table, &column.of.column);
    Error::unsupported(
        30001,
        format!("column `{name}` of `{table}` cannot be encrypted: {why}"),
        "change the rule, or the column",
    )
}
