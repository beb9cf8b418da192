//! ShardingSphere's YAML files → typed sections; every error says file, line, column and key path.

mod algorithm;
mod connection;
mod database;
pub mod global;
mod load;
mod node;
mod place;
mod placeholder;
mod print;
mod proofs;
mod read;
pub mod rules;
mod storage;
pub use pando_suggest as suggest;
mod tree;
mod url;
mod yaml;

pub use algorithm::{Algorithm, Named, Props};
pub use connection::{ConnectionOptions, Tls};
pub use database::Database;
pub use global::Global;
pub use load::{Configuration, File, load, load_with, parse_folder, parse_one, texts};
pub use node::{Content, Entry, Node};
pub use place::{At, Errors, Path, Placed, Problem, Report};
pub use placeholder::Environment;
pub use print::print;
pub use proofs::{ChannelBinding, Methods};
pub use read::Fields;
pub use rules::Rules;
pub use storage::{PoolOptions, Secret, StorageUnit};
pub use url::{Url, Vendor};
pub use yaml::{parse, parse_raw};
