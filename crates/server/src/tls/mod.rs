//! TLS on both sides: the acceptor of the doors, the client towards storage units.

mod certificate;
mod client;
mod pem;
mod server;
mod verify;

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

pub use client::Client;
pub(crate) use server::{Acceptor, Files, Terms};

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}
