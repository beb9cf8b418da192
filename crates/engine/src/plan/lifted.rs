//! Statements given as text whose whole numbers may become parameters, so that a storage unit need not parse and plan them each time.
//!
//! The answer must be the text's, to the byte, so little is lifted:
//! - A SELECT of columns of one table where it can be asked again as text if its prepared form fails (outside a transaction, and inside one on servers
//!   whose errors leave it standing); or an UPDATE or DELETE without RETURNING, anywhere: it has no result whose type could change.
//! - Numbers that stand alone beside a column, in a WHERE of such comparisons joined by AND, or in SET, as they are or added to a column. A server finds
//!   operators and casts there by the types of both sides, so that a parameter of the number's own type means the same: on PostgreSQL whatever the column
//!   is, on MySQL beside integers and not in sums.
//! - Nothing whose meaning hangs on a setting when it is read: no strings (and so no dates), no `= NULL`, no functions, casts or sub-queries. Names are looked up
//!   anew by the server when the search path or a table changes.
//! - Rows of one table, found by its whole primary key; or by `=`, IN or BETWEEN of a part of that or `=` of a sharding column, and then without LIMIT: a plan
//!   made without the values can hardly differ there from one made with them, and the server makes the first five with them anyhow.
//! - A statement that comes often, whose numbers that stay in the text are among the first few such sets.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use pando_kernel::Parameter;
use pando_kernel::dialect::Dialect;
use pando_kernel::route::Target;
use pando_sql::{Placeholder, Slot, Span};

use super::liftable::LONGEST_NAME;
use super::parts::Part;

/// How often a statement of the shape must have come.
const USES: u32 = 5;
/// Sets of numbers that stay in the text for which it may be prepared.
const MOST_KEPT: usize = 4;
/// Bytes of one such set.
const LONGEST_KEPT: usize = 128;

/// A statement's numbers, lifted out of its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Lifted {
    /// The text for the storage unit, with parameters in the places of numbers.
    pub sql: Arc<str>,
    /// The numbers, in order.
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

/// How numbers are lifted out of statements of one shape.
#[derive(Debug)]
pub(super) struct Lifting {
    parts: Vec<Part>,
    signs: Vec<Sign>,
    /// It has a result.
    reads: bool,
    uses: AtomicU32,
    /// The numbers that stay, as they were met.
    kept: [OnceLock<Box<str>>; MOST_KEPT],
}

/// What becomes of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Stays,
    Plus,
    Minus,
}

/// Where the places are that a text is cut at: those of its literals, with the minus in front of those that are lifted with it. `None` when a number is no
/// literal of the shape's.
pub(super) fn cuts(slots: &[Slot], numbers: &[Span]) -> Option<Vec<Span>> {
    let mut cuts: Vec<Span> = slots.iter().map(|slot| slot.span).collect();
    for number in numbers {
        let cut = cuts.iter_mut().find(|cut| cut.end == number.end && cut.start >= number.start);
        *cut? = *number;
    }
    Some(cuts)
}

impl Lifting {
    /// `parts` is the text cut at [`cuts`] of the same numbers.
    pub(super) fn new(parts: Vec<Part>, slots: &[Slot], numbers: &[Span], reads: bool) -> Self {
        let sign = |slot: &Slot| match numbers.iter().find(|number| number.end == slot.span.end) {
            None => Sign::Stays,
            Some(number) if *number == slot.span => Sign::Plus,
            Some(_) => Sign::Minus,
        };
        let signs = slots.iter().map(sign).collect();
        Self { parts, signs, reads, uses: AtomicU32::new(0), kept: Default::default() }
    }

    /// A statement's numbers lifted out; `None` when it is better sent as text. Counts that it came.
    pub(super) fn lifted(
        &self,
        dialect: &dyn Dialect,
        (text, slots): (&str, &[Slot]),
        target: &Target,
        chance: Chance,
    ) -> Option<Lifted> {
        if self.uses.load(Ordering::Relaxed) < USES {
            self.uses.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        if self.reads && chance == Chance::Only || !self.admits(text, slots) {
            return None;
        }
        let mut sql = String::with_capacity(text.len() + 16);
        let mut parameters = Vec::with_capacity(slots.len());
        for part in &self.parts {
            match part {
                Part::Text(text) => sql.push_str(text),
                Part::Name(at) => {
                    let name = &target.tables.get(*at)?.actual;
                    sql.push_str(Some(name).filter(|name| name.len() <= LONGEST_NAME)?);
                }
                Part::Slot(at) => {
                    let literal = slots.get(*at)?.span.of(text);
                    match number(*self.signs.get(*at)?, literal)? {
                        None => sql.push_str(literal),
                        Some(number) => {
                            parameters.push(dialect.lifted(number)?);
                            match dialect.syntax().placeholder {
                                Placeholder::Question => sql.push('?'),
                                Placeholder::Dollar => {
                                    sql.push('$');
                                    sql.push_str(&parameters.len().to_string());
                                }
                            }
                        }
                    }
                }
            }
        }
        Some(Lifted { sql: sql.into(), parameters })
    }

    /// Whether the numbers that stay are among the sets for which the text may be prepared.
    fn admits(&self, text: &str, slots: &[Slot]) -> bool {
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

/// The number of a literal that is lifted, or `Some(None)` of one that stays; `None` when it is too large.
#[expect(clippy::option_option, reason = "three answers")]
fn number(sign: Sign, literal: &str) -> Option<Option<i64>> {
    let size = || literal.parse::<u64>().ok().map(i128::from);
    let number = match sign {
        Sign::Stays => return Some(None),
        Sign::Plus => size()?,
        Sign::Minus => -size()?,
    };
    i64::try_from(number).ok().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_sign_and_end_with_64_bits() {
        let lifted = |sign, literal| number(sign, literal).flatten();
        assert_eq!(lifted(Sign::Plus, "007"), Some(7));
        assert_eq!(lifted(Sign::Minus, "2147483648"), Some(-2_147_483_648));
        assert_eq!(lifted(Sign::Minus, "9223372036854775808"), Some(i64::MIN));
        assert_eq!(number(Sign::Plus, "9223372036854775808"), None);
        assert_eq!(number(Sign::Plus, "1.5"), None);
        assert_eq!(number(Sign::Stays, "1.5"), Some(None));
    }
}
