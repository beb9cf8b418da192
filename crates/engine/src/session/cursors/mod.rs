//! Replies that wait for their client: portals with a row limit, server-side cursors, and those that statements
//! declare.

pub(in crate::session) mod close;
pub(in crate::session) mod declared;
pub(in crate::session) mod fetch;
pub(in crate::session) mod portals;
pub(in crate::session) mod rows;
pub(in crate::session) mod settle;

use std::collections::HashMap;

use pando_kernel::request::CursorId;

use crate::session::cursors::declared::Declared;
use crate::session::cursors::portals::Cursor;

/// Replies that wait for their client to ask for more.
#[derive(Debug, Default)]
pub(in crate::session) struct Cursors {
    portals: HashMap<CursorId, Cursor>,
    /// Those that statements have declared, by their names.
    declared: HashMap<String, Declared>,
    /// The one that the last suspension has made.
    last_suspended: Option<CursorId>,
}
