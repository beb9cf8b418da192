//! Statements given as text whose values may become parameters, so that a storage unit need not parse and plan them each time.
//!
//! The answer must be the text's, to the byte, so little is lifted:
//! - A SELECT of columns, and of plain aggregates that every server has for them, of one table where it can be asked again as text if its prepared form fails (outside a transaction, and inside
//!   one on servers whose errors leave it standing); where it cannot, one that names its columns, which only another type of theirs could change, and whoever has met
//!   that is told to repeat the transaction. Or an UPDATE or DELETE without RETURNING or an INSERT of one row, anywhere: these have no result whose type could change.
//! - Numbers that stand alone beside a column, in a WHERE of such comparisons joined by AND, in SET, as they are or added to a column, or in VALUES. A server finds
//!   operators and casts there by the types of both sides, so that a parameter of the number's own type means the same: on PostgreSQL beside numbers, on MySQL
//!   beside integers and not in sums.
//! - Strings that are assigned to a column of a type that takes any text, where the dialect says so: nothing is read out of them.
//! - Values that the column takes as they are. A constant is cast when a statement is planned, and fails there, whether there is a row for it or not, and before
//!   triggers and sequences run; a parameter may be cast for each row.
//! - Nothing of tables whose name the session means otherwise than the catalogue does: in a schema, by a search path of its own, or told from another's by case alone.
//! - Nothing whose meaning hangs on a setting when it is read: no other strings (and so no dates), no `= NULL`, no functions, casts or sub-queries. Names are looked up
//!   anew by the server when the search path or a table changes.
//! - Rows of one table, found by its whole primary key; or by `=`, IN or BETWEEN of a part of that or `=` of a sharding column, and then without LIMIT; or the first few
//!   beyond a value of the column that they are sorted by: a plan made without the values can hardly differ there from one made with them, and the server makes the
//!   first five with them anyhow.
//! - A statement that comes often, whose numbers that stay in the text are among the first few such sets.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use pando_kernel::dialect::{Dialect, Takes};
use pando_kernel::{Parameter, Value};
use pando_sql::{Placeholder, Slot, Span, TokenKind};

use super::liftable::Liftable;

/// How often a statement of the shape must have come.
const USES: u32 = 5;
/// Sets of numbers that stay in the text for which it may be prepared.
const MOST_KEPT: usize = 4;
/// Bytes of one such set.
const LONGEST_KEPT: usize = 128;

/// A statement's values, lifted out of its text for one storage unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Lifted {
    /// The text for the storage unit, with parameters in the places of values.
    pub sql: Arc<str>,
    /// The values, in order.
    pub parameters: Vec<Parameter>,
}

/// Whether a statement that fails before it has begun may be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chance {
    /// Nothing else is lost with it.
    Second,
    /// An error would end a transaction.
    Only,
}

/// What a statement tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plan::template) enum Tells {
    /// No rows.
    Nothing,
    /// Columns that it names.
    Named,
    /// Whatever columns there are.
    All,
}

/// How values are lifted out of statements of one shape.
#[derive(Debug)]
pub(in crate::plan::template) struct Lifting {
    /// What becomes of each literal.
    signs: Vec<Sign>,
    tells: Tells,
    uses: AtomicU32,
    /// The numbers that stay, as they were met.
    kept: [OnceLock<Box<str>>; MOST_KEPT],
}

/// What becomes of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Stays,
    Plus(Takes),
    Minus(Takes),
    Text(Takes),
}

/// A piece of the text for one storage unit.
#[derive(Debug, Clone, Copy)]
pub(in crate::plan::template) enum Piece<'a> {
    Text(&'a str),
    /// The literal of this number.
    Slot(usize),
}

/// What is sent for statements of one shape.
#[derive(Debug)]
pub(in crate::plan::template) struct Form {
    /// The text, with parameters in the places of values.
    sql: Arc<str>,
    /// Which literal each parameter stands for.
    stands: Box<[usize]>,
}

/// Where the places are that a text is cut at: those of its literals, with the minus in front of those that are lifted with it. `None` when a value is no
/// literal of the shape's.
pub(in crate::plan::template) fn cuts(
    slots: &[Slot],
    values: &[(Span, Takes)],
) -> Option<Vec<Span>> {
    let mut cuts: Vec<Span> = slots.iter().map(|slot| slot.span).collect();
    for (value, _) in values {
        let cut = cuts.iter_mut().find(|cut| cut.end == value.end && cut.start >= value.start);
        *cut? = *value;
    }
    Some(cuts)
}

impl Lifting {
    /// Of a statement with these literals.
    pub(in crate::plan::template) fn new(
        slots: &[Slot],
        Liftable { values, tells }: &Liftable,
    ) -> Self {
        let sign = |slot: &Slot| match values.iter().find(|(value, _)| value.end == slot.span.end) {
            None => Sign::Stays,
            Some((_, takes)) if slot.kind != TokenKind::Number => Sign::Text(*takes),
            Some((value, takes)) if *value == slot.span => Sign::Plus(*takes),
            Some((_, takes)) => Sign::Minus(*takes),
        };
        let signs = slots.iter().map(sign).collect();
        Self { signs, tells: *tells, uses: AtomicU32::new(0), kept: Default::default() }
    }

    /// Whether this statement's values are to be lifted. Counts that it came.
    pub(in crate::plan::template) fn admits(
        &self,
        text: &str,
        slots: &[Slot],
        chance: Chance,
    ) -> bool {
        if self.uses.load(Ordering::Relaxed) < USES {
            self.uses.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        !(self.tells == Tells::All && chance == Chance::Only) && self.keeps(text, slots)
    }

    /// The text of these pieces with the statement's values lifted out; `None` when it is better sent as it is.
    pub(in crate::plan::template) fn lifted<'a>(
        &self,
        dialect: &dyn Dialect,
        statement: (&'a str, &[Slot]),
        pieces: impl Iterator<Item = Option<Piece<'a>>>,
    ) -> Option<Lifted> {
        let form = self.form(dialect, statement, pieces)?;
        self.filled(dialect, statement, &form)
    }

    /// Whether the text of these pieces is the same for all statements.
    pub(in crate::plan::template) fn lifts_all(&self) -> bool {
        !self.signs.contains(&Sign::Stays)
    }

    /// What is sent in the place of these pieces.
    pub(in crate::plan::template) fn form<'a>(
        &self,
        dialect: &dyn Dialect,
        (text, slots): (&'a str, &[Slot]),
        pieces: impl Iterator<Item = Option<Piece<'a>>>,
    ) -> Option<Form> {
        let mut sql = String::with_capacity(text.len() + 16);
        let mut stands = Vec::with_capacity(slots.len());
        for piece in pieces {
            let at = match piece? {
                Piece::Text(text) => {
                    sql.push_str(text);
                    continue;
                }
                Piece::Slot(at) => at,
            };
            if *self.signs.get(at)? == Sign::Stays {
                sql.push_str(slots.get(at)?.span.of(text));
                continue;
            }
            match dialect.syntax().placeholder {
                Placeholder::Question => {
                    stands.push(at);
                    sql.push('?');
                }
                Placeholder::Dollar => {
                    let known = stands.iter().position(|own| *own == at);
                    push_number(&mut sql, known.unwrap_or(stands.len()) + 1);
                    if known.is_none() {
                        stands.push(at);
                    }
                }
            }
        }
        Some(Form { sql: sql.into(), stands: stands.into() })
    }

    /// A form with a statement's values; `None` when one of them is better sent in the text.
    pub(in crate::plan::template) fn filled(
        &self,
        dialect: &dyn Dialect,
        (text, slots): (&str, &[Slot]),
        form: &Form,
    ) -> Option<Lifted> {
        let mut parameters = Vec::with_capacity(form.stands.len());
        for at in &form.stands {
            let literal = slots.get(*at)?.span.of(text);
            let (value, takes) = match *self.signs.get(*at)? {
                Sign::Stays => return None,
                Sign::Plus(takes) => (Value::Int(number(Sense::Plus, literal)?), takes),
                Sign::Minus(takes) => (Value::Int(number(Sense::Minus, literal)?), takes),
                Sign::Text(takes) => (Value::Text(unquoted(literal)?), takes),
            };
            if !takes.takes(&value) {
                return None;
            }
            parameters.push(dialect.lifted(value)?);
        }
        Some(Lifted { sql: Arc::clone(&form.sql), parameters })
    }

    /// Whether the numbers that stay are among the sets for which the text may be prepared.
    fn keeps(&self, text: &str, slots: &[Slot]) -> bool {
        let mut kept = String::new();
        for (slot, sign) in slots.iter().zip(&self.signs) {
            if *sign == Sign::Stays {
                kept.push_str(slot.span.of(text));
                kept.push(' ');
            }
        }
        if kept.len() > LONGEST_KEPT {
            return false;
        }
        let is_it =
            |known: &OnceLock<Box<str>>| **known.get_or_init(|| kept.as_str().into()) == *kept;
        self.kept.iter().any(is_it)
    }
}

/// `$1`; there are at most 16.
fn push_number(sql: &mut String, number: usize) {
    let digit = |digit: usize| char::from(b'0' + u8::try_from(digit % 10).unwrap_or(0));
    sql.push('$');
    if number >= 10 {
        sql.push(digit(number / 10));
    }
    sql.push(digit(number));
}

/// Whether a sign stands in front of a number's digits.
#[derive(Debug, Clone, Copy)]
enum Sense {
    Plus,
    Minus,
}

/// The number of a literal that is lifted; `None` when it is too large.
fn number(sense: Sense, literal: &str) -> Option<i64> {
    let size = literal.parse::<u64>().ok().map(i128::from)?;
    let number = match sense {
        Sense::Plus => size,
        Sense::Minus => -size,
    };
    i64::try_from(number).ok()
}

/// What a string says; `None` where settings decide that.
fn unquoted(literal: &str) -> Option<String> {
    let inside = literal.strip_prefix('\'')?.strip_suffix('\'')?;
    if inside.contains('\\') {
        return None;
    }
    Some(inside.replace("''", "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_sign_and_end_with_64_bits() {
        assert_eq!(number(Sense::Plus, "007"), Some(7));
        assert_eq!(number(Sense::Minus, "2147483648"), Some(-2_147_483_648));
        assert_eq!(number(Sense::Minus, "9223372036854775808"), Some(i64::MIN));
        assert_eq!(number(Sense::Plus, "9223372036854775808"), None);
        assert_eq!(number(Sense::Plus, "1.5"), None);
    }

    #[test]
    fn strings_are_lifted_without_what_settings_read() {
        assert_eq!(unquoted("''").as_deref(), Some(""));
        assert_eq!(unquoted("'it''s'").as_deref(), Some("it's"));
        assert_eq!(unquoted("''''").as_deref(), Some("'"));
        assert_eq!(unquoted(r"'a\nb'"), None);
        assert_eq!(unquoted("E'a'"), None);
    }

    #[test]
    fn parameters_are_numbered() {
        let written = |number: usize| {
            let mut sql = String::new();
            push_number(&mut sql, number);
            sql
        };
        assert_eq!([1, 9, 10, 16].map(written), ["$1", "$9", "$10", "$16"]);
    }
}
