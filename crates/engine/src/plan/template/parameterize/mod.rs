//! Values that go out as parameters of a prepared statement although they came as text.

pub(in crate::plan::template) mod liftable;
pub(in crate::plan) mod lifted;
