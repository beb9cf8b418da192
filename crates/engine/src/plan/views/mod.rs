//! Views over sharded tables. Their server knows each over one actual table of every logic one; a statement that names
//! one is planned with the view's query in its place.

mod change;
mod expand;
mod known;
mod names;
mod narrow;
mod statement;
mod stored;

pub(crate) use known::{materialized, stands_for_query};
pub(crate) use statement::{Expanded, expanded, of_view};
pub(crate) use stored::{Stored, are_possible, told};
