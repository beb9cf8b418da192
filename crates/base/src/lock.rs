//! Names under which rows are held by global transactions.

use pando_kernel::error::{Error, Result};
use pando_kernel::undo::Form;

use crate::image::{Change, Row};
use crate::packed::unpack;
use crate::table::Table;

/// Bytes of a name in the lock table.
const LENGTH: usize = 180;

/// The names of all rows that changes are about, sorted, each once. Every unique index counts: what one transaction has freed, another must not take
/// before it is sure that nobody wants it back.
pub(crate) fn names(table: &Table, changes: &[Change]) -> Vec<String> {
    let mut names = Vec::new();
    for change in changes {
        for row in [&change.before, &change.after].into_iter().flatten() {
            names.extend(name(table, &table.shape.key, row, 0));
            for (number, places) in table.uniques.iter().enumerate() {
                names.extend(name(table, places, row, number + 1));
            }
        }
    }
    // In one order for everybody, so that two transactions do not wait for each other.
    names.sort_unstable();
    names.dedup();
    names
}

/// How a query tells keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// As one row value.
    Packed,
    /// As a column for each value.
    Columns,
}

/// The names of rows whose keys a query told.
pub(crate) fn names_of_keys(table: &Table, keys: Vec<Row>, told: Keys) -> Result<Vec<String>> {
    let shape = &table.shape;
    let mut names = Vec::new();
    for key in keys {
        let values = match (told, &key[..]) {
            (Keys::Packed, [Some(packed)]) => unpack(packed)?,
            (Keys::Packed | Keys::Columns, _) => key,
        };
        if values.len() != shape.key.len() {
            return Err(Error::internal("a key of another width"));
        }
        let mut row: Row = vec![None; shape.columns.len()];
        for (at, value) in shape.key.iter().zip(values) {
            if let Some(slot) = row.get_mut(*at) {
                *slot = value;
            }
        }
        names.extend(name(table, &shape.key, &row, 0));
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// The name of a key's values; `None` when one is NULL, which equals nothing.
pub(crate) fn name(table: &Table, places: &[usize], row: &Row, index: usize) -> Option<String> {
    let mut text = format!("{index}:");
    for at in places {
        let value = row.get(*at)?.as_deref()?;
        let form = table.shape.columns.get(*at)?.form;
        text.push_str(&alike(form, value));
        text.push('\u{1}');
    }
    text.pop();
    Some(bounded(&text))
}

/// Values that a collation may hold for equal have one name. Two that have one by accident are only held together.
fn alike(form: Form, value: &str) -> String {
    match form {
        Form::Plain | Form::Padded => value.trim_end().to_lowercase().replace('\0', "\u{2}"),
        Form::Number
        | Form::Float
        | Form::Coded
        | Form::Octets
        | Form::Temporal
        | Form::Moment
        | Form::Money => value.to_owned(),
    }
}

/// The text itself, or as much as fits and a number of all of it.
pub(crate) fn bounded(text: &str) -> String {
    if text.len() <= LENGTH {
        return text.to_owned();
    }
    let mut end = LENGTH - 34;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}#{:032x}", &text[..end], fnv(text.as_bytes()))
}

/// FNV-1a of 128 bits: stays the same in every version of Pando. <http://www.isthe.com/chongo/tech/comp/fnv/>
fn fnv(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_and_stay_different() {
        let (a, b) = ("é".repeat(200), "é".repeat(201));
        assert!(bounded(&a).len() <= LENGTH && bounded(&a) != bounded(&b));
        assert_eq!(bounded("t"), "t");
    }

    #[test]
    fn the_number_of_a_name_is_that_of_the_standard() {
        assert_eq!(fnv(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(fnv(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
