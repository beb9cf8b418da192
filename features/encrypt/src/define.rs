//! Definitions that name encrypted columns: CREATE TABLE makes the stored columns, an index or a key stands on the one
//! that is equal where values are.

use pando_columns::{Definition, Place, Use, Uses};
use pando_kernel::changes::Changes;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::{ColumnDefinition, Define, DefineAction, Kind, Statement};
use pando_sql::{Fold, Span};

use crate::column::{EncryptedColumn, Part, Purpose};
use crate::places::found;
use crate::refused;
use crate::rule::Rule;
use crate::write::Writer;

/// A character of a text takes up to four octets.
const OCTETS: usize = 4;
/// MySQL's rows have 65,535 octets: a longer column is a TEXT.
const LONGEST: usize = 16_000;

/// Refuses definitions that would keep values in the plain, or an order of them.
///
/// # Errors
/// `Refused`, with what may stand there.
pub(crate) fn check(rule: &Rule, ctx: &Context<'_>, stmt: &Statement, uses: &Uses) -> Result<()> {
    for one in &uses.columns {
        let Place::Definition(part) = &one.place else { continue };
        let column = found(rule, &one.of)?;
        match part {
            Definition::Column { .. } => {
                let made = Made::of(ctx, stmt, one, column)?;
                if made.is_unique() {
                    has_equality(column)?;
                }
            }
            Definition::Key => has_equality(column)?,
            Definition::Other => {
                let why = format!(
                    "a definition names the encrypted column `{}` in a way that is not known",
                    column.of.column
                );
                let hint = "CREATE TABLE, and indexes and keys of whole columns, are known";
                return Err(Error::unsupported(30001, why, hint));
            }
        }
    }
    Ok(())
}

fn has_equality(column: &EncryptedColumn) -> Result<()> {
    match column.equality() {
        Some(_) => Ok(()),
        None => Err(Error::unsupported(
            30001,
            format!(
                "nothing of the encrypted column `{}` is equal where values are",
                column.of.column
            ),
            "give it an `assistedQuery` in its rule",
        )),
    }
}

/// Writes what a definition says of one column.
///
/// # Errors
/// As [`check`].
pub(crate) fn write(
    writer: &Writer<'_>,
    one: &Use,
    column: &EncryptedColumn,
    part: Definition,
    changes: &mut Changes,
) -> Result<()> {
    match part {
        Definition::Column { .. } => {
            let made = Made::of(writer.ctx, writer.stmt, one, column)?;
            let span = Span::new(one.span.start, made.end);
            changes.text().replace(span, made.stored(writer, column));
            Ok(())
        }
        Definition::Key | Definition::Other => {
            let equality = column.equality().ok_or_else(|| refused("no column for equality"))?;
            changes.text().replace(one.span, writer.quoted(equality));
            Ok(())
        }
    }
}

/// What may stand behind a type. Values are compared octet by octet, so that a collation which does so changes nothing.
const CONSTRAINTS: [&str; 12] = [
    "NOT NULL",
    "DEFAULT NULL",
    "NULL",
    "PRIMARY KEY",
    "UNIQUE KEY",
    "UNIQUE",
    "CHARACTER SET UTF8MB4",
    "CHARSET UTF8MB4",
    "COLLATE UTF8MB4_BIN",
    "COLLATE UTF8MB4_0900_BIN",
    "COLLATE UTF8MB4_NOPAD_BIN",
    "COLLATE \"C\"",
];

/// A column that CREATE TABLE declares.
#[derive(Debug)]
struct Made {
    /// The most octets that a value has; `None` where there is no bound.
    octets: Option<usize>,
    /// `NOT NULL`, or nothing.
    nullable: &'static str,
    /// `PRIMARY KEY`, `UNIQUE`, or nothing.
    key: &'static str,
    /// Where its definition ends.
    end: u32,
}

impl Made {
    fn of(
        ctx: &Context<'_>,
        stmt: &Statement,
        one: &Use,
        column: &EncryptedColumn,
    ) -> Result<Self> {
        let name = &column.of.column;
        let declared = declared(stmt, one).ok_or_else(|| {
            refused(format!(
                "the encrypted column `{name}` is declared by something else than CREATE TABLE"
            ))
        })?;
        let octets = octets(declared.type_span.of(&stmt.text)).ok_or_else(|| {
            Error::unsupported(
                30001,
                format!("the encrypted column `{name}` is declared as something else than a text"),
                "declare it as VARCHAR, CHAR or TEXT",
            )
        })?;
        let end = end(ctx, stmt, declared);
        let tail = Span::new(declared.type_span.end, end).of(&stmt.text);
        let (mut nullable, mut key) = ("", "");
        let mut rest = tail.trim();
        while !rest.is_empty() {
            let upper = rest.to_uppercase();
            let Some(words) = CONSTRAINTS.iter().find(|words| starts(&upper, words)) else {
                return Err(Error::unsupported(
                    30001,
                    format!("the encrypted column `{name}` is declared with more than its type"),
                    "NOT NULL, NULL, DEFAULT NULL, UNIQUE, PRIMARY KEY and a binary collation may stand there",
                ));
            };
            match *words {
                "NOT NULL" => nullable = " NOT NULL",
                "PRIMARY KEY" => key = " PRIMARY KEY",
                "UNIQUE" | "UNIQUE KEY" => key = " UNIQUE",
                _ => {}
            }
            rest = rest.get(words.len()..).unwrap_or_default().trim_start();
        }
        Ok(Self { octets, nullable, key, end })
    }

    fn is_unique(&self) -> bool {
        !self.key.is_empty()
    }

    /// The definitions of the stored columns.
    fn stored(&self, writer: &Writer<'_>, column: &EncryptedColumn) -> String {
        let equality = column.equality().map(|part| part.name.as_str());
        let mut definitions = Vec::new();
        for part in column.parts() {
            let kind = self.kind(part, writer.rule.fold);
            let key = if equality == Some(&part.name) { self.key } else { "" };
            definitions.push(format!("{} {kind}{}{key}", writer.quoted(part), self.nullable));
        }
        definitions.join(", ")
    }

    /// A type that is wide enough. Cipher text and digests are ASCII; digests for LIKE are characters.
    fn kind(&self, part: &Part, fold: Fold) -> String {
        let is_like = part.purpose == Purpose::Like;
        let bound = match self.octets {
            // A digest has a character for each UTF-16 unit of a text, which has no more of them than octets.
            Some(octets) if is_like => Some(octets),
            Some(octets) => Some(part.makes.width(octets)),
            None if part.makes.width(0) == part.makes.width(1_000_000) => Some(part.makes.width(0)),
            None => None,
        };
        let kind = match bound.filter(|width| *width <= LONGEST) {
            Some(width) => format!("VARCHAR({width})"),
            None if fold == Fold::Keep => "LONGTEXT".to_owned(),
            None => "TEXT".to_owned(),
        };
        match (fold, is_like) {
            (Fold::Lower, _) => kind,
            (Fold::Keep, true) => format!("{kind} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"),
            (Fold::Keep, false) => format!("{kind} CHARACTER SET ascii COLLATE ascii_bin"),
        }
    }
}

/// Whether a text begins with these words as words of their own.
fn starts(text: &str, words: &str) -> bool {
    let behind = text.strip_prefix(words).map(|rest| rest.chars().next());
    behind.is_some_and(|next| next.is_none_or(|next| !next.is_alphanumeric() && next != '_'))
}

fn declared<'a>(stmt: &'a Statement, one: &Use) -> Option<&'a ColumnDefinition> {
    let Kind::Define(define) = &stmt.kind else { return None };
    let define: &Define = define;
    let is_create = define.action == DefineAction::Create;
    let mut columns = define.columns.iter().filter(|_| is_create);
    columns.find(|column| column.name.span == one.span)
}

/// The most octets of a value of a type of texts; `Some(None)` for one without a bound, `None` for another type.
fn octets(kind: &str) -> Option<Option<usize>> {
    let (name, length) = match kind.split_once('(') {
        Some((name, rest)) => {
            (name.trim(), Some(rest.trim_end().strip_suffix(')')?.trim().parse::<usize>().ok()?))
        }
        None => (kind.trim(), None),
    };
    match name.to_uppercase().as_str() {
        "VARCHAR" | "CHARACTER VARYING" | "NVARCHAR" => Some(length.map(|length| length * OCTETS)),
        "CHAR" | "CHARACTER" => Some(Some(length.unwrap_or(1) * OCTETS)),
        "TINYTEXT" => Some(Some(255)),
        "TEXT" | "MEDIUMTEXT" | "LONGTEXT" => Some(None),
        _ => None,
    }
}

/// Where a column's definition ends: at the next comma, or the end of the list.
fn end(ctx: &Context<'_>, stmt: &Statement, declared: &ColumnDefinition) -> u32 {
    let mut depth = 0_usize;
    let tokens = pando_sql::tokenize(&stmt.text, ctx.dialect.syntax());
    let tokens = tokens.map(|tokens| tokens.list).unwrap_or_default();
    let mut last = declared.type_span.end;
    for token in tokens.iter().filter(|token| token.span.start >= declared.type_span.end) {
        match token.span.of(&stmt.text) {
            "(" => depth += 1,
            ")" | "," if depth == 0 => return last,
            ")" => depth -= 1,
            _ => {}
        }
        last = token.span.end;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_so_many_octets() {
        for (kind, expected) in [
            ("VARCHAR(20)", Some(Some(80))),
            ("character varying ( 5 )", Some(Some(20))),
            ("char", Some(Some(4))),
            ("text", Some(None)),
            ("varchar", Some(None)),
            ("int", None),
            ("decimal(10, 2)", None),
        ] {
            assert_eq!(octets(kind), expected, "{kind}");
        }
    }

    #[test]
    fn words_end_where_they_end() {
        assert!(
            starts("UNIQUE", "UNIQUE") && starts("NULL, ", "NULL") && !starts("UNIQUEX", "UNIQUE")
        );
    }
}
