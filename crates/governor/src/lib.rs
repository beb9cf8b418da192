//! The governor: holds the configuration, changes it when clients say so, and keeps every instance of a cluster at the same one.

mod answer;
mod change;
mod cluster;
mod commit;
mod desk;
mod error;
mod files;
mod folder;
mod follow;
mod governor;
mod house;
mod keys;
mod leaving;
mod left;
mod member;
mod overtaken;
mod positions;
mod refills;
mod standing;
mod state;
mod stored;
mod tables;
mod waits;

pub use cluster::{Admits, Cluster, Instance, InstanceKind};
pub use governor::{Governor, Options, Origin, Secrets};
pub use pando_distsql::command::Status;

pub use house::{
    Found, House, Lease, MOST_COMPARED, MOST_COUNTED, MOST_PLACED, Orders, Position, Positions,
    Progress, Refiller, Refilling, RowsLook, Served, Unsettled,
};
pub use state::Keeper;

/// So that the README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
