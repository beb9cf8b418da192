//! Inline expressions: `ds_${0..1}.t_order_${['a','b']}` as a list of names, `t_order_${order_id % 4}` as one name per row.
//!
//! Compiled once, with every variable resolved to a slot; nothing is parsed while a statement is routed.

mod condition;
pub mod datetime;
mod datum;
mod evaluate;
mod format;
mod interval;
pub mod java;
mod lexer;
mod method;
mod methods;
pub mod number;
mod operate;
mod parser;
mod template;
mod tree;

use std::fmt;

pub use condition::{Condition, Formula, Type, Variable};
pub use datum::{Datum, Width};
pub use template::{Template, expand};

/// Whose arithmetic is followed where Groovy's differs from what a reader of the expression expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arithmetic {
    /// Whole numbers of any size, `%` never negative, equal values of different types give equal results.
    #[default]
    Exact,
    /// As Groovy on the JVM: numbers wrap at 32 and 64 bits, `%` keeps the sign, `hashCode()` depends on the type.
    Groovy,
}

/// What is wrong with an expression, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The character it was found at, from 0.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

impl Error {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at character {} of the expression", self.message, self.at + 1)
    }
}

impl std::error::Error for Error {}
