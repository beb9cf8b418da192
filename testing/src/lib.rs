//! Tests that cross crates, and the runtime seam over poll(2) that shows the engine needs no runtime.

pub mod poll;
