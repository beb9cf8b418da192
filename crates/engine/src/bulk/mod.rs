//! Bulk data as text: cutting lines and reading the fields that routing needs. Lines themselves are passed on byte for byte.

mod form;
mod line;

pub(crate) use form::Form;
pub(crate) use line::Lines;
