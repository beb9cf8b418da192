//! Statements of the client that run as several of the session's own.

pub(in crate::session) mod chosen_rows;
pub(in crate::session) mod first_rows;
pub(in crate::session) mod frame;
pub(in crate::session) mod in_steps;
pub(in crate::session) mod insert_select;
pub(in crate::session) mod locked_rows;
pub(in crate::session) mod move_rows;
pub(in crate::session) mod probe;
pub(in crate::session) mod refill;
pub(in crate::session) mod server_calls;
pub(in crate::session) mod table_like;
pub(in crate::session) mod table_of_query;
