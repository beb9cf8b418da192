//! The declaration of an encrypted column, and those of the stored columns that are made of it.

use pando_kernel::error::{Error, Result};
use pando_kernel::{DeclaredType, Value};
use pando_sql::ast::{Expr, Kind, QueryBody, SelectItem};
use pando_sql::{Fold, Span, Syntax, Token};

use crate::canonical::Declared;
use crate::column::{EncryptedColumn, Part, Purpose};
use crate::encryptor::Stores;
use crate::write::Writer;

/// A character of a text takes up to four octets.
const OCTETS: usize = 4;
/// MySQL's rows have 65,535 octets: a longer column is a TEXT.
const LONGEST: usize = 16_000;
/// A type has at most so many words, parentheses and numbers.
const TYPE_TOKENS: usize = 9;

/// What may stand behind a type. Values are compared octet by octet, so that a collation which does so changes nothing.
const CONSTRAINTS: [&str; 11] = [
    "NOT NULL",
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

/// A column that CREATE TABLE or ALTER TABLE declares.
#[derive(Debug, Default)]
pub(crate) struct Declaration {
    /// The most octets that a value has; `None` where there is no bound.
    octets: Option<usize>,
    /// `NOT NULL`, or nothing.
    nullable: &'static str,
    /// `PRIMARY KEY`, `UNIQUE`, or nothing.
    key: &'static str,
    /// The constant that rows without a value get.
    default: Option<Expr>,
    /// ` COMMENT '…'`, or nothing.
    comment: String,
    /// Where ALTER TABLE puts it.
    place: Place,
    /// Where it ends.
    pub(crate) end: u32,
}

/// Where ALTER TABLE puts a column.
#[derive(Debug, Default)]
enum Place {
    #[default]
    Last,
    First,
    /// Behind this column, as the statement writes it.
    After(String),
}

/// A statement's text, cut.
#[derive(Debug)]
pub(crate) struct Cut<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: &'a [Token],
    pub(crate) syntax: &'a Syntax,
}

impl Cut<'_> {
    fn word(&self, at: usize) -> String {
        self.tokens.get(at).map_or(String::new(), |token| token.span.of(self.text).to_uppercase())
    }

    /// Whether these words stand from a token on.
    pub(crate) fn has(&self, at: usize, words: &str) -> bool {
        words.split(' ').enumerate().all(|(behind, word)| self.word(at + behind) == word)
    }

    /// The number of tokens up to the next comma, or to the end of the list or the statement.
    pub(crate) fn length(&self, from: usize) -> usize {
        let mut depth = 0_usize;
        let rest = self.tokens.iter().skip(from);
        let ends = |token: &Token| match token.span.of(self.text) {
            "(" => {
                depth += 1;
                false
            }
            ")" | "," | ";" if depth == 0 => true,
            ")" => {
                depth -= 1;
                false
            }
            _ => false,
        };
        rest.clone().position(ends).unwrap_or_else(|| rest.count())
    }

    /// The text of some tokens.
    pub(crate) fn part(&self, from: usize, length: usize) -> &str {
        let part = self.tokens.get(from..from + length).unwrap_or_default();
        let span = part.first().zip(part.last());
        span.map_or("", |(first, last)| Span::new(first.span.start, last.span.end).of(self.text))
    }
}

impl Declaration {
    /// Reads what stands behind the column's name, which is the token before `from`.
    ///
    /// # Errors
    /// `Refused` for what would keep values in the plain or is not understood.
    pub(crate) fn read(cut: &Cut<'_>, from: usize, column: &EncryptedColumn) -> Result<Self> {
        let length = cut.length(from);
        let fold = cut.syntax.fold;
        let is_type = |most: &usize| {
            let kind = cut.part(from, *most);
            DeclaredType::read(kind, fold).is_some() || octets(kind).is_some()
        };
        // The longest that is a type: `timestamp(3) without time zone`.
        let own = (1..=length.min(TYPE_TOKENS)).rev().find(is_type).unwrap_or(length.min(1));
        let mut read = Self {
            octets: width(column, cut.part(from, own), fold)?,
            end: cut.tokens.get((from + length).saturating_sub(1)).map_or(0, |last| last.span.end),
            ..Self::default()
        };
        let (mut at, end) = (from + own, from + length);
        while at < end {
            at += read.constraint(cut, at, end, column)?;
        }
        Ok(read)
    }

    /// Reads one constraint; gives how many tokens it has.
    fn constraint(
        &mut self,
        cut: &Cut<'_>,
        at: usize,
        end: usize,
        column: &EncryptedColumn,
    ) -> Result<usize> {
        if cut.has(at, "DEFAULT NULL") {
            return Ok(2);
        }
        if cut.has(at, "DEFAULT") {
            let signed = usize::from(matches!(cut.word(at + 1).as_str(), "-" | "+"));
            let length = 1 + signed;
            self.default = constant(cut.part(at + 1, length), cut.syntax);
            return match self.default {
                Some(_) => Ok(1 + length),
                None => Err(unknown(column)),
            };
        }
        let is_string = |at: usize| cut.tokens.get(at).is_some_and(|token| token.kind.is_string());
        if cut.has(at, "COMMENT") && is_string(at + 1) {
            self.comment = format!(" {}", cut.part(at, 2));
            return Ok(2);
        }
        if cut.has(at, "FIRST") && cut.syntax.fold == Fold::Keep {
            self.place = Place::First;
            return Ok(1);
        }
        if cut.has(at, "AFTER") && end == at + 2 && cut.syntax.fold == Fold::Keep {
            self.place = Place::After(cut.part(at + 1, 1).to_owned());
            return Ok(2);
        }
        let Some(words) = CONSTRAINTS.iter().find(|words| cut.has(at, words)) else {
            return Err(unknown(column));
        };
        match *words {
            "NOT NULL" => self.nullable = " NOT NULL",
            "PRIMARY KEY" => self.key = " PRIMARY KEY",
            "UNIQUE" | "UNIQUE KEY" => self.key = " UNIQUE",
            _ => {}
        }
        Ok(words.split(' ').count())
    }

    pub(crate) fn is_unique(&self) -> bool {
        !self.key.is_empty()
    }

    /// The definitions of the stored columns, with `between` from the second on.
    ///
    /// # Errors
    /// `Refused` for a default that is no value of the column.
    pub(crate) fn stored(
        &self,
        writer: &Writer<'_>,
        column: &EncryptedColumn,
        between: &str,
    ) -> Result<String> {
        let equality = column.equality().map(|part| part.name.as_str());
        let mut definitions: Vec<String> = Vec::new();
        let mut before: Option<&Part> = None;
        for part in column.parts() {
            let kind = kind(part, self.octets, writer.rule.fold);
            let key = if equality == Some(&part.name) { self.key } else { "" };
            let default = match &self.default {
                Some(default) => format!(" DEFAULT {}", writer.turned(default, &part.stored)?),
                None => String::new(),
            };
            let place = match (&self.place, before) {
                (Place::Last, _) => String::new(),
                (_, Some(before)) => format!(" AFTER {}", writer.quoted(before)),
                (Place::First, None) => " FIRST".to_owned(),
                (Place::After(other), None) => {
                    format!(" AFTER {}", writer.behind(&column.of.table, other))
                }
            };
            let comment = if before.is_none() { self.comment.as_str() } else { "" };
            let (name, nullable) = (writer.quoted(part), self.nullable);
            definitions.push(format!("{name} {kind}{nullable}{default}{key}{comment}{place}"));
            before = Some(part);
        }
        Ok(definitions.join(between))
    }
}

/// A stored column's type that is wide enough for values of up to so many octets. Cipher text and digests are ASCII;
/// digests for LIKE are characters, and so is what people's own encryptors store.
pub(crate) fn kind(part: &Part, octets: Option<usize>, fold: Fold) -> String {
    let is_like = part.purpose == Purpose::Like;
    let bound = match octets {
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
    match (fold, is_like || part.makes.stores() == Stores::Characters) {
        (Fold::Lower, _) => kind,
        (Fold::Keep, true) => format!("{kind} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"),
        (Fold::Keep, false) => format!("{kind} CHARACTER SET ascii COLLATE ascii_bin"),
    }
}

/// A type of texts of any length, compared octet by octet.
pub(crate) fn any_text(fold: Fold) -> &'static str {
    match fold {
        Fold::Lower => "TEXT",
        Fold::Keep => "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    }
}

/// The most octets of a value's text; `None` where there is no bound.
pub(crate) fn most_octets(declared: DeclaredType) -> Option<usize> {
    let characters = declared.characters()?;
    Some(if declared.is_text() { characters * OCTETS } else { characters })
}

fn unknown(column: &EncryptedColumn) -> Error {
    let name = &column.of.column;
    Error::unsupported(
        30001,
        format!("the encrypted column `{name}` is declared with more than its type"),
        "NOT NULL, NULL, DEFAULT with a constant, UNIQUE, PRIMARY KEY, COMMENT and a binary collation may stand there",
    )
}

/// The constant that a text is.
fn constant(text: &str, syntax: &Syntax) -> Option<Expr> {
    let stmt = pando_sql::parse(&format!("SELECT {text}"), syntax).ok()?;
    let Kind::Select(query) = &stmt.kind else { return None };
    let QueryBody::Select(select) = &query.body else { return None };
    let [SelectItem::Expr { expr, alias: None, .. }] = &select.items[..] else { return None };
    Value::of_constant(expr).is_some().then(|| expr.clone())
}

/// The most octets of a column's values where it is declared so; `None` where there is no bound.
///
/// # Errors
/// `Refused` where its rule has it of another type, or does not say that it is no text.
fn width(column: &EncryptedColumn, kind: &str, fold: Fold) -> Result<Option<usize>> {
    let name = &column.of.column;
    let read = DeclaredType::read(kind, fold);
    if let Some(Declared { declared, .. }) = column.declared {
        if read == Some(declared) {
            return Ok(most_octets(declared));
        }
        let spelled = declared.spelled(fold);
        let why = format!(
            "the encrypted column `{name}` is declared as {kind}, and is {spelled} in its rule"
        );
        return Err(Error::unsupported(30001, why, "declare it as its rule does"));
    }
    octets(kind).ok_or_else(|| {
        let instead = match read {
            Some(_) => format!("say so in its rule: `dataType: {kind}`, or DATA_TYPE='{kind}'"),
            None => "texts, whole numbers, exact ones with a scale, and dates and times without a zone can be".into(),
        };
        let why = format!("the encrypted column `{name}` is declared as something else than a text");
        Error::unsupported(30001, why, instead)
    })
}

/// The most octets of a value of a type of texts; `Some(None)` for one without a bound, `None` for another type.
pub(crate) fn octets(kind: &str) -> Option<Option<usize>> {
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
}
