//! What names mean where the analysis stands: the factors of each FROM, innermost last.

use std::ops::Range;
use std::rc::Rc;

use pando_sql::Span;
use pando_sql::ast::{Ident, ObjectName};

use crate::interest::Interest;
use crate::uses::Origin;

/// What a value holds of the columns of interest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Carries {
    /// Nothing.
    Nothing,
    /// The value of this column as it is.
    Column(Origin),
    /// Values of several columns, or of one in some rows only.
    Several,
}

impl Carries {
    pub(crate) fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Column(of) => Some(of),
            Self::Nothing | Self::Several => None,
        }
    }
}

/// How an output got its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// By an alias.
    Alias,
    /// By what is written.
    Own,
}

/// A column of a table or of a query.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    pub(crate) name: Option<String>,
    pub(crate) naming: Naming,
    pub(crate) carries: Carries,
}

/// The columns of a query, in order; `None` where they are not known, and none of them carries a column of interest.
pub(crate) type Outputs = Option<Rc<[Output]>>;

/// The columns of a factor.
#[derive(Debug, Clone)]
pub(crate) enum Columns {
    /// In order.
    Known(Rc<[Output]>),
    /// Those of a table of this key, which has none of interest; they may have to be read.
    Unread(String),
    /// Not known; none of interest.
    Open,
}

impl From<Outputs> for Columns {
    fn from(outputs: Outputs) -> Self {
        outputs.map_or(Self::Open, Self::Known)
    }
}

/// What a factor is called.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Label<'a> {
    /// An alias.
    Alias(&'a Ident),
    /// The table's own name, perhaps with its schema.
    Name(&'a ObjectName),
    /// `excluded`.
    Excluded,
    /// It has no name.
    None,
}

impl Label<'_> {
    /// Whether a qualifier means it. Never empty.
    pub(crate) fn is(self, qualifier: &[Ident]) -> bool {
        match (self, qualifier) {
            (Self::Alias(alias), [only]) => alias.is_alike(only),
            (Self::Name(name), _) => {
                let pairs = name.parts.iter().rev().zip(qualifier.iter().rev());
                pairs.into_iter().all(|(a, b)| a.is_alike(b))
            }
            (Self::Excluded, [only]) => only.value.eq_ignore_ascii_case("excluded"),
            (Self::Alias(_) | Self::Excluded | Self::None, _) => false,
        }
    }

    /// Whether it is spelled as the qualifier's last part is.
    pub(crate) fn is_spelled(self, qualifier: &[Ident]) -> bool {
        let own = match self {
            Self::Alias(alias) => Some(alias),
            Self::Name(name) => name.parts.last(),
            Self::Excluded | Self::None => None,
        };
        let other = qualifier.last();
        self.is(qualifier) && own.zip(other).is_none_or(|(own, other)| own.value == other.value)
    }

    pub(crate) fn span(self) -> Option<Span> {
        match self {
            Self::Alias(alias) => Some(alias.span),
            Self::Name(name) => Some(name.span),
            Self::Excluded | Self::None => None,
        }
    }
}

/// What kind of factor it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// A table: its columns have their own names.
    Table,
    /// A derived table or a common table expression.
    Derived,
    /// The row an INSERT proposes.
    Proposed,
}

/// A factor of FROM.
#[derive(Debug, Clone)]
pub(crate) struct Source<'a> {
    pub(crate) label: Label<'a>,
    pub(crate) columns: Columns,
    pub(crate) nature: Nature,
}

impl Source<'_> {
    /// Whether it has a column of interest.
    pub(crate) fn is_of_interest(&self) -> bool {
        match &self.columns {
            Columns::Known(list) => list.iter().any(|one| one.carries != Carries::Nothing),
            Columns::Unread(_) | Columns::Open => false,
        }
    }
}

/// One FROM.
#[derive(Debug, Default)]
pub(crate) struct Scope<'a> {
    pub(crate) sources: Vec<Source<'a>>,
    /// The sources that names may mean now; all where it is not set.
    pub(crate) visible: Option<Range<usize>>,
    /// The items whose aliases expressions may name now.
    pub(crate) aliases: Outputs,
    /// A NATURAL or USING makes one column of two.
    pub(crate) merges: bool,
    /// `VALUES(c)` is the value an INSERT proposes.
    pub(crate) proposes: bool,
}

impl<'a> Scope<'a> {
    /// The sources that names may mean.
    pub(crate) fn seen(&self) -> &[Source<'a>] {
        let all = 0..self.sources.len();
        self.sources.get(self.visible.clone().unwrap_or(all)).unwrap_or(&[])
    }

    pub(crate) fn is_of_interest(&self) -> bool {
        self.sources.iter().any(Source::is_of_interest)
            || self
                .aliases
                .iter()
                .any(|list| list.iter().any(|one| one.carries != Carries::Nothing))
    }
}

/// A common table expression in scope.
pub(crate) struct Common<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) columns: Columns,
}

/// The columns of a table of interest, as the catalogue lists them.
pub(crate) fn columns_of(
    names: impl Iterator<Item = String>,
    of: &[Origin],
    same: impl Fn(&str, &str) -> bool,
) -> Rc<[Output]> {
    let mut left: Vec<&Origin> = of.iter().collect();
    let mut list: Vec<Output> = names
        .map(|name| {
            let at = left.iter().position(|of| same(&of.column, &name));
            let carries =
                at.map_or(Carries::Nothing, |at| Carries::Column(left.remove(at).clone()));
            Output { name: Some(name), naming: Naming::Own, carries }
        })
        .collect();
    list.shrink_to_fit();
    list.into()
}

/// Whether the interest and the catalogue agree: every column of interest is one of the table's.
pub(crate) fn has_all(interest: &Interest, key: &str, columns: &[Output]) -> bool {
    let carried = columns.iter().filter(|one| one.carries != Carries::Nothing).count();
    carried == interest.of_table(key).len()
}
