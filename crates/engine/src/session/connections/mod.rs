//! Connections of storage units, as a session has them: taken, dressed, made part of its transaction, asked, given
//! back.

pub(in crate::session) mod ask;
pub(in crate::session) mod channels;
pub(in crate::session) mod dress;
pub(in crate::session) mod enlist;
pub(in crate::session) mod everywhere;
pub(in crate::session) mod lend;
pub(in crate::session) mod locks;
pub(in crate::session) mod release;
pub(in crate::session) mod table_locks;
pub(in crate::session) mod tell_first;
