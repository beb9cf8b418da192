//! The PostgreSQL wire protocol, version 3: bytes to messages and back, no I/O.
//!
//! A frame is one tag byte, a length and a body ([`frame`]); the first packet of a connection has
//! no tag ([`startup`]). Decoders take a body and borrow from it; encoders append a whole frame to
//! a `BytesMut`. <https://www.postgresql.org/docs/current/protocol-message-formats.html>

pub mod backend;
pub mod copy;
pub mod format;
pub mod frame;
pub mod frontend;
mod malformed;
mod reader;
pub mod startup;
mod writer;

pub use format::Formats;
pub use malformed::{Fault, Malformed};
pub use pando_kernel::Format;

pub(crate) use reader::Reader;
pub(crate) use writer::{
    Numbered, body, count, first_word, numbered, put_cstr, put_number, put_value, tagged,
};
