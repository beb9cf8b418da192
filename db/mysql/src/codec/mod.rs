//! The wire protocol without I/O: bytes to borrowed messages and messages to bytes, one message per file.
//!
//! Decoders take the payload of one packet (framing removed) and never read past it; encoders append to a
//! buffer. Lengths found in the bytes are checked against what is there before they are used.

mod auth;
mod binary_row;
mod capabilities;
mod change_user;
mod column;
mod command;
mod eof;
mod err;
mod execute;
mod frame;
mod handshake;
mod handshake_response;
mod local_infile;
mod malformed;
mod ok;
mod prepare;
mod query;
mod reader;
mod session_track;
mod status;
mod text_row;
mod writer;

pub use auth::{AuthMoreData, AuthSwitch};
pub use binary_row::{BinaryRow, binary_value_len};
pub use capabilities::Capabilities;
pub use change_user::ChangeUser;
pub use column::{Column, ColumnDefinition};
pub use command::{Command, CommandCode};
pub use eof::Eof;
pub use err::ErrPacket;
pub use execute::{BoundParameter, Execute, ExecuteHead, ParameterType};
pub(crate) use frame::seal;
pub use frame::{HEADER_LEN, Inbound, MAX_FRAME, Outbound, Packet, Run, frame_payload_len};
pub use handshake::Handshake;
pub use handshake_response::{HandshakeResponse, SslRequest};
pub use local_infile::LocalInfile;
pub use malformed::{Fault, Malformed};
pub use ok::{OkHeader, OkPacket};
pub use prepare::PrepareOk;
pub use query::{Attributes, Query};
pub use reader::Reader;
pub use session_track::{SessionChange, SessionChanges};
pub use status::Status;
pub use text_row::{TextRow, text_value_len};
pub use writer::{put_lenenc_bytes, put_lenenc_int, put_nul};
