//! Bulk data: COPY and LOAD DATA.

pub(in crate::session) mod columns;
pub(in crate::session) mod copy;
pub(in crate::session) mod fields;
pub(in crate::session) mod filling;
