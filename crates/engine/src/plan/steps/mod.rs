//! Statements that no single plan can answer, taken apart into steps: `session/steps.rs` runs them, in one transaction.

pub(in crate::plan) mod chosen_rows;
pub(in crate::plan) mod first_rows;
pub(in crate::plan) mod insert_select;
pub(in crate::plan) mod move_rows;
