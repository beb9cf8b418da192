//! Replies are pulled: each piece from the storage units when the door asks for the next one, up to the end of the
//! statement.

pub(in crate::session) mod finish;
pub(in crate::session) mod piece;
pub(in crate::session) mod read_ahead;
pub(in crate::session) mod whole;
