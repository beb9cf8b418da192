//! Where a statement uses the columns that a room turns: every use with its span and place, or the reason why they
//! cannot all be known.

mod analysis;
mod assign;
mod compare;
mod copy;
mod define;
mod expr;
mod from;
mod insert;
mod interest;
mod kinds;
mod lookup;
mod net;
mod outlet;
mod query;
mod ready;
mod scope;
mod select;
mod sort;
mod stop;
mod text;
mod uses;

use pando_kernel::Context;
use pando_sql::ast::Statement;

pub use interest::Interest;
pub use ready::{known_uses, uses_or_need};
pub use stop::Stop;
pub use uses::{
    Definition, Duplicates, Given, Origin, Place, Reference, Rows, Star, StarColumn, StarPlace,
    Use, Uses, Value,
};

/// Every use of the columns of interest in a statement.
///
/// ```text
/// SELECT u.phone FROM t_user u WHERE u.phone = '123'
///        ^^^^^^^ Item 0              ^^^^^^^ EqualTo '123'
/// ```
///
/// # Errors
/// [`Stop::Need`] where the columns of a table must be read first, [`Stop::Unclear`] where a use may be hidden,
/// [`Stop::Unknown`] where the statement names what none of its tables has.
pub fn uses(ctx: &Context<'_>, stmt: &Statement, interest: &Interest) -> Result<Uses, Stop> {
    analysis::run(ctx, stmt, interest)
}
