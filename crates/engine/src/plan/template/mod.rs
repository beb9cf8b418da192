//! Plans with places left open, for statements of a shape that comes again.

mod everywhere;
pub(in crate::plan) mod one;
pub(in crate::plan) mod parameterize;
mod redirect;
pub(in crate::plan) mod text_parts;
