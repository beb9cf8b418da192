//! How the answers of several targets become one: the plan of the merge, and what each target is asked for its sake.

pub(in crate::plan) mod aggregate;
pub(in crate::plan) mod gather;
pub(in crate::plan) mod paginate;
pub(in crate::plan) mod reparse;
pub(in crate::plan) mod resolve;
pub(in crate::plan) mod unions;
