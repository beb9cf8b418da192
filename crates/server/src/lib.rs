//! Sockets, TLS, users, accept loops, stopping and reloading: what turns the engine into a server.

mod door;
mod runtime;
mod stop;
mod tls;

pub use runtime::TokioRuntime;
