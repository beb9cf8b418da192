//! SQL text to a statement with exact byte spans: tokens, digest, tree, edits. No I/O and no vendor's name.

pub mod ast;
mod concat;
mod digest;
mod edits;
mod error;
mod format;
mod hint;
mod keyword;
mod latin1;
mod lexer;
mod literal;
mod parse;
mod reading;
mod shape;
mod span;
mod split;
mod syntax;
mod token;
mod values;
pub mod visit;

pub use concat::concatenate;
pub use edits::{Edits, Piece};
pub use error::SyntaxError;
pub use format::format;
pub use latin1::{read_latin1, write_latin1};
pub use lexer::tokenize;
pub use literal::literal;
pub use parse::parse;
pub use reading::{Dotted, Item, alike, reading};
pub use shape::{Shape, Slot};
pub use span::Span;
pub use split::split;
pub use syntax::{Fold, Placeholder, Syntax};
pub use token::{Hint, Token, TokenKind, Tokens};
pub use values::as_values;
