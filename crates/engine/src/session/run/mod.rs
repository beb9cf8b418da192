//! A statement on storage units: what planning needs to know, the plan, and how it is started.

pub(in crate::session) mod admission;
pub(in crate::session) mod apart;
pub(in crate::session) mod assembly;
pub(in crate::session) mod base;
pub(in crate::session) mod connect;
pub(in crate::session) mod context;
pub(in crate::session) mod counted_tables;
pub(in crate::session) mod describe;
pub(in crate::session) mod doubted_rows;
pub(in crate::session) mod early_release;
pub(in crate::session) mod entry;
pub(in crate::session) mod find_out;
pub(in crate::session) mod insert_keys;
pub(in crate::session) mod jobs;
pub(in crate::session) mod leave;
pub(in crate::session) mod many_pools;
pub(in crate::session) mod meant;
pub(in crate::session) mod oids;
pub(in crate::session) mod on_units;
pub(in crate::session) mod planning;
pub(in crate::session) mod ready;
pub(in crate::session) mod start;
pub(in crate::session) mod template;
pub(in crate::session) mod uncounted;
pub(in crate::session) mod views;
pub(in crate::session) mod without_units;
