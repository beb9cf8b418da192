//! Requests of the door that bring statements: texts, split and read one by one, and executions of prepared statements.

pub(in crate::session) mod executable;
pub(in crate::session) mod execute;
pub(in crate::session) mod text;
