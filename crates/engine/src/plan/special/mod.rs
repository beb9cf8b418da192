//! Statements and tables with a way of their own.

pub(in crate::plan) mod catalogue;
pub(crate) mod computed_set;
pub(crate) mod counted_rows;
pub(crate) mod counted_sets;
pub(in crate::plan) mod do_block;
pub(crate) mod left_numbers;
pub(in crate::plan) mod missing;
pub(in crate::plan) mod own_counts;
pub(in crate::plan) mod routines;
pub(crate) mod sequence_calls;
pub(in crate::plan) mod sequence_homes;
pub(in crate::plan) mod sequences;
pub(in crate::plan) mod servers;
pub(in crate::plan) mod several_tables;
pub(in crate::plan) mod tell_calls;
pub(in crate::plan) mod temporary;
pub(crate) mod unique_parts;
