//! A cluster's keys in etcd (3.4 or later), through the HTTP gateway that every etcd has.

mod gateway;
mod http;
mod keeper;
mod keys;
mod options;
mod range;
mod repository;
mod transaction;
mod watching;

pub use options::{Credentials, Endpoint, Options};
pub use repository::Etcd;
