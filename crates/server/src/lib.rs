//! Sockets, TLS, users, accept loops, stopping and reloading: what turns the engine into a server.

mod authority;
mod cores;
mod door;
mod files;
mod gate;
mod guarded;
mod hall;
mod homed;
mod host;
mod inquiry;
mod load;
mod look;
mod loops;
mod mirrors;
mod options;
mod place;
mod pools;
mod private;
mod refill;
mod roaming;
mod runtime;
mod seat;
mod serve;
mod server;
mod stop;
mod store;
mod tidings;
mod tls;
mod wards;
mod wrong;

pub use load::{Loaded, load};
pub use options::{Addresses, Certificate, Listen, Options};
pub use runtime::TokioRuntime;
pub use serve::serve;
pub use server::Server;
