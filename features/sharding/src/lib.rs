//! The sharding room: which rows live where, and the statements that find them.

pub mod algorithm;
mod asked;
mod binding;
mod captured;
mod cast;
mod domain;
mod feature;
pub mod inline;
mod inner;
mod insert;
mod join;
mod kept;
pub mod keygen;
mod literal;
mod merge;
mod moment;
mod named;
mod nodes;
mod proof;
mod rewrite;
mod route;
mod rule;
mod scope;
mod shortcut;
mod strategy;
mod table;
mod twins;
mod update;
mod value;
mod view;
mod within;

pub use domain::{Domain, Part};
pub use feature::Sharding;
pub use nodes::auto_table_nodes;
pub use rule::{Rule, algorithms};
pub use table::{Audit, Table};
