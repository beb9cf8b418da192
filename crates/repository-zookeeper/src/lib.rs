//! A cluster's keys in ZooKeeper (3.6 or later), spoken to in its own protocol.

mod commit;
mod connection;
mod link;
mod options;
mod plan;
mod read;
mod repository;
mod session;
mod wire;

pub use options::{Options, Server};
pub use repository::ZooKeeper;
