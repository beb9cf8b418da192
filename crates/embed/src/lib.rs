//! The engine inside of an application's process: everything that a server has but listeners.
//!
//! A connection is a byte channel in memory that speaks MySQL's or PostgreSQL's protocol, so stock drivers work over it. A session runs on the
//! thread that reads and writes its channel, which polls the sockets of storage units itself; no statement changes threads.

mod bell;
mod channel;
mod connect;
mod driver;
mod embedded;
mod open;
mod pair;
mod pipe;
mod reactor;
mod runtime;
mod session;
mod socket;
mod stream;
mod tasks;
mod waits;

pub use channel::{Channel, Read, Written};
pub use embedded::Embedded;
pub use open::{Options, open};
pub use pando_config::global::Protocol;
pub use stream::ChannelStream;
