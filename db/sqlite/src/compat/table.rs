//! CREATE TABLE, ALTER TABLE and CREATE INDEX.

use pando_kernel::Result;
use pando_sql::{Edits, TokenKind};

use super::words::Words;
use super::{column, unsupported};

/// Words a table's options start with, behind the closing parenthesis. They tune storage; what they say is dropped.
const OPTIONS: [&str; 20] = [
    "ENGINE",
    "DEFAULT",
    "CHARSET",
    "CHARACTER",
    "COLLATE",
    "COMMENT",
    "AUTO_INCREMENT",
    "ROW_FORMAT",
    "KEY_BLOCK_SIZE",
    "TABLESPACE",
    "STATS_PERSISTENT",
    "MAX_ROWS",
    "MIN_ROWS",
    "AVG_ROW_LENGTH",
    "CHECKSUM",
    "PACK_KEYS",
    "COMPRESSION",
    "ENCRYPTION",
    "PARTITION",
    "DELAY_KEY_WRITE",
];

/// `at` stands behind TABLE.
pub(super) fn create(
    words: Words<'_>,
    at: usize,
    edits: &mut Edits,
    more: &mut Vec<String>,
) -> Result<()> {
    let name = at + if words.are(at, &["IF", "NOT", "EXISTS"]) { 3 } else { 0 };
    let open = words.behind_name(name);
    if !words.mark(open, "(") || words.one_of(open + 1, &["LIKE", "SELECT"]) {
        return Ok(());
    }
    let end = words.behind_group(open);
    let items = words.parts(open + 1, end.saturating_sub(1));
    let table = Table { words, name: (name, open), key: single_key(words, &items) };
    for (index, &(from, to)) in items.iter().enumerate() {
        table.item(&items, index, edits, more)?;
        if !constraint(words, from, to) {
            column::edit(words, from, to, table.key.as_ref(), edits)?;
        }
    }
    options(words, end, edits);
    Ok(())
}

fn options(words: Words<'_>, end: usize, edits: &mut Edits) {
    let storage = words.is(end, "WITH") && words.mark(end + 1, "(");
    if storage || words.one_of(end, &OPTIONS) {
        edits.replace(words.span(end, words.len()), "");
    }
}

/// The column of a one-column PRIMARY KEY that stands by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) column: String,
    /// Which item it is.
    item: usize,
}

struct Table<'a> {
    words: Words<'a>,
    name: (usize, usize),
    key: Option<Key>,
}

impl Table<'_> {
    fn item(
        &self,
        items: &[(usize, usize)],
        index: usize,
        edits: &mut Edits,
        more: &mut Vec<String>,
    ) -> Result<()> {
        let words = self.words;
        let (from, to) = items[index];
        if self.moved_key(items, index) {
            remove(words, items, index, edits);
            return Ok(());
        }
        if let Some(open) = plain_index(words, from, to) {
            remove(words, items, index, edits);
            if !words.one_of(from, &["FULLTEXT", "SPATIAL"]) {
                more.push(self.index(from, open));
            }
            return Ok(());
        }
        let at = from + if words.is(from, "CONSTRAINT") { 2 } else { 0 };
        if words.is(at, "UNIQUE") {
            let open = (at..to).find(|&at| words.mark(at, "(")).unwrap_or(to);
            edits.replace(words.span(at, open), "UNIQUE ");
            trim_index_columns(words, open, to, edits);
        } else if words.are(at, &["PRIMARY", "KEY"]) {
            trim_index_columns(words, at + 2, to, edits);
        }
        Ok(())
    }

    /// The key of an auto-increment column moves into the column's own definition.
    fn moved_key(&self, items: &[(usize, usize)], index: usize) -> bool {
        let Some(key) = self.key.as_ref().filter(|key| key.item == index) else { return false };
        items.iter().any(|&(from, to)| {
            self.words.bare(from).eq_ignore_ascii_case(&key.column)
                && column::is_automatic(self.words, from, to)
        })
    }

    /// `KEY name (columns)` becomes an index of its own. Index names are the database's here, hence the table's name in front.
    fn index(&self, from: usize, open: usize) -> String {
        let words = self.words;
        let (table, columns) = (words.slice(self.name.0, self.name.1), self.columns(open));
        let own = if words.mark(from + 1, "(") { columns.join("_") } else { words.bare(from + 1) };
        let name = format!("{}_{own}", words.bare(self.name.1 - 1)).replace('"', "\"\"");
        format!("CREATE INDEX \"{name}\" ON {table} ({})", columns.join(", "))
    }

    /// The columns of an index, without prefix lengths.
    fn columns(&self, open: usize) -> Vec<String> {
        let words = self.words;
        let parts = words.parts(open + 1, words.behind_group(open).saturating_sub(1));
        let text = |(from, to): (usize, usize)| {
            let prefixed = words.mark(from + 1, "(") && words.kind(from + 2) == TokenKind::Number;
            if !prefixed {
                return words.slice(from, to).to_owned();
            }
            let order = words.slice(words.behind_group(from + 1), to);
            format!("{} {order}", words.text(from)).trim_end().to_owned()
        };
        parts.into_iter().map(text).collect()
    }
}

/// Takes an item out, with one of the commas beside it.
fn remove(words: Words<'_>, items: &[(usize, usize)], index: usize, edits: &mut Edits) {
    let (from, to) = items[index];
    let from = if index > 0 { from - 1 } else { from };
    let to = if index == 0 && items.len() > 1 { to + 1 } else { to };
    edits.replace(words.span(from, to), "");
}

fn single_key(words: Words<'_>, items: &[(usize, usize)]) -> Option<Key> {
    items.iter().enumerate().find_map(|(item, &(from, _))| {
        let at = from + if words.is(from, "CONSTRAINT") { 2 } else { 0 };
        let open = (at + 2..at + 5).find(|&at| words.mark(at, "("))?;
        let single = words.are(at, &["PRIMARY", "KEY"]) && words.behind_group(open) == open + 3;
        single.then(|| Key { column: words.bare(open + 1), item })
    })
}

/// Whether the item is no column. A word like `key` may be a column's name: then a type follows, not a list of columns.
fn constraint(words: Words<'_>, from: usize, to: usize) -> bool {
    words.one_of(from, &["CONSTRAINT", "CHECK", "EXCLUDE"])
        || words.are(from, &["PRIMARY", "KEY"])
        || words.are(from, &["FOREIGN", "KEY"])
        || (words.is(from, "UNIQUE") && (from..to).any(|at| words.mark(at, "(")))
        || plain_index(words, from, to).is_some()
}

/// The parenthesis of `KEY|INDEX [name] [USING method] (columns)`.
fn plain_index(words: Words<'_>, from: usize, to: usize) -> Option<usize> {
    let at = from + usize::from(words.one_of(from, &["FULLTEXT", "SPATIAL"]));
    if !(words.one_of(at, &["KEY", "INDEX"]) || at > from) {
        return None;
    }
    let open = (at..to.min(at + 6)).find(|&at| words.mark(at, "("))?;
    words.name(open + 1).then_some(open)
}

/// Takes prefix lengths, operator classes and `USING BTREE` out of a list of indexed columns.
fn trim_index_columns(words: Words<'_>, from: usize, to: usize, edits: &mut Edits) {
    for at in from..to {
        if words.one_of(at, &["USING", "COMMENT", "KEY_BLOCK_SIZE"]) {
            let value = at + 1 + usize::from(words.mark(at + 1, "="));
            edits.replace(words.span(at, value + 1), "");
        }
        let prefix = words.name(at) && words.mark(at + 1, "(");
        if prefix && words.kind(at + 2) == TokenKind::Number && words.mark(at + 3, ")") {
            edits.replace(words.span(at + 1, at + 4), "");
        }
    }
}

/// `at` stands behind INDEX.
pub(super) fn create_index(words: Words<'_>, at: usize, edits: &mut Edits) {
    if words.is(at, "CONCURRENTLY") {
        edits.replace(words.span(at, at + 1), "");
    }
    trim_index_columns(words, at, words.len(), edits);
}

/// `ALTER TABLE t ADD [COLUMN] …` takes a column as CREATE TABLE does; `ADD INDEX` becomes CREATE INDEX.
pub(super) fn alter(words: Words<'_>, edits: &mut Edits) -> Result<()> {
    if !words.is(1, "TABLE") {
        return Ok(());
    }
    let mut name = 2 + if words.are(2, &["IF", "EXISTS"]) { 2 } else { 0 };
    name += usize::from(words.is(name, "ONLY"));
    edits.replace(words.span(2, name), "");
    let add = words.behind_name(name);
    if !words.is(add, "ADD") {
        return Ok(());
    }
    let unique = usize::from(words.is(add + 1, "UNIQUE"));
    let at = add + 1 + unique;
    if words.one_of(at, &["INDEX", "KEY"]) && words.name(at + 1) {
        let open = (at..words.len()).find(|&at| words.mark(at, "(")).unwrap_or(words.len());
        let (table, index) = (words.slice(name, add), words.text(at + 1));
        let unique = if unique == 1 { "UNIQUE " } else { "" };
        edits.replace(words.span(0, open), format!("CREATE {unique}INDEX {index} ON {table} "));
        trim_index_columns(words, open, words.len(), edits);
        return Ok(());
    }
    if words.parts(add, words.len()).len() > 1 {
        return Err(unsupported("ALTER TABLE takes one change at a time here"));
    }
    let from = add + 1 + usize::from(words.is(add + 1, "COLUMN"));
    if !constraint(words, from, words.len()) {
        column::edit(words, from, words.len(), None, edits)?;
    }
    Ok(())
}
