//! Replies that wait for their client: portals with a row limit, server-side cursors, and those that statements declare.

pub(in crate::session) mod declared;
pub(in crate::session) mod portals;
