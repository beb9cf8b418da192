//! The store that needs no server: a log in a folder, for one process.

mod checksum;
mod log;
mod record;
mod state;
mod store;

pub use store::{Options, Store};
