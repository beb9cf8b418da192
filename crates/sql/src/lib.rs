//! SQL text to a statement with exact byte spans: tokens, digest, tree, edits. No I/O and no vendor's name.

pub mod ast;
mod edits;
mod span;
mod syntax;

pub use edits::Edits;
pub use span::Span;
pub use syntax::{Fold, Placeholder, Syntax};
