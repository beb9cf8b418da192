//! What a session makes of a text: its statements, in words that mean the same to every storage unit.

pub(in crate::session) mod executable;
pub(in crate::session) mod piped;
pub(in crate::session) mod request;
