//! The list of refusals, read out of the sources: `docs/refusals.md` is what [`page`] gives.

mod page;
mod sites;
mod text;

use crate::tree::Tree;

/// The generated page, from the repository's root.
pub(crate) const PAGE: &str = "docs/refusals.md";

/// One way in which a statement is refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Refusal {
    /// `ShardingSphere`'s vendor code; `…` where the site leaves it to others.
    code: String,
    reason: String,
    instead: String,
    /// The file that decides, from the root.
    place: String,
    /// It may be answered over rows that are read first.
    is_given_on: bool,
}

/// The page for these sources.
pub(crate) fn page(tree: &Tree) -> String {
    page::of(sites::all(tree))
}
