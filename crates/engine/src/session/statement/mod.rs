//! Statements that the session answers itself, and what it makes of a text before the line sees it.

pub(in crate::session) mod administer;
pub(in crate::session) mod beside;
pub(in crate::session) mod change_modes;
pub(in crate::session) mod constraints;
pub(in crate::session) mod copy;
pub(in crate::session) mod cursor;
pub(in crate::session) mod database;
pub(in crate::session) mod expression;
pub(in crate::session) mod inquiry;
pub(in crate::session) mod instead;
pub(in crate::session) mod local;
pub(in crate::session) mod lock_tables;
pub(in crate::session) mod maintain;
pub(in crate::session) mod named;
pub(in crate::session) mod own_rows;
pub(in crate::session) mod parse_tree;
pub(in crate::session) mod prepare;
pub(in crate::session) mod preview;
pub(in crate::session) mod processlist;
pub(in crate::session) mod reset;
pub(in crate::session) mod set;
pub(in crate::session) mod set_config;
pub(in crate::session) mod set_modes;
pub(in crate::session) mod stand;
pub(in crate::session) mod verbs;
