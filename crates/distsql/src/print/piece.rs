//! What statements are printed from: texts, lists, and clauses that may be absent.

use std::fmt::{self, Display, Formatter};

use crate::command::{Name, Property};

/// A text in double quotes, as ShardingSphere's own statements have it.
pub(super) struct Text<'a>(pub(super) &'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.replace('"', "\"\""))
    }
}

pub(super) struct Truth(pub(super) bool);

impl Display for Truth {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 { "TRUE" } else { "FALSE" })
    }
}

/// Things with commas between them.
pub(super) struct List<'a, T>(pub(super) &'a [T]);

impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, item) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

/// A thing behind its introduction, or nothing.
pub(super) struct Maybe<'a, T>(pub(super) &'a str, pub(super) Option<T>);

impl<T: Display> Display for Maybe<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.1 {
            Some(thing) => write!(f, "{}{thing}", self.0),
            None => Ok(()),
        }
    }
}

/// A thing between an introduction and a closing parenthesis, or nothing.
pub(super) struct MaybeIn<'a, T>(pub(super) &'a str, pub(super) &'a Option<T>);

impl<T: Display> Display for MaybeIn<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(thing) => write!(f, "{}{thing})", self.0),
            None => Ok(()),
        }
    }
}

/// PROPERTIES behind an introduction, or nothing.
pub(super) struct Properties<'a>(pub(super) &'a str, pub(super) &'a [Property]);

impl Display for Properties<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.1.is_empty() {
            return Ok(());
        }
        write!(f, "{}PROPERTIES({})", self.0, List(self.1))
    }
}

/// ` FROM database`, or nothing.
pub(super) fn from(database: &Option<Name>) -> Maybe<'_, &Name> {
    Maybe(" FROM ", database.as_ref())
}

/// ` LIKE 'pattern'`, or nothing.
pub(super) struct Like<'a>(pub(super) Option<&'a str>);

impl Display for Like<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(pattern) => write!(f, " LIKE '{}'", pattern.replace('\'', "''")),
            None => Ok(()),
        }
    }
}
