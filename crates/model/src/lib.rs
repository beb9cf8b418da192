//! One configuration model behind YAML, DistSQL and the repository: trees in, changed trees and rows out. No I/O.

mod algorithms;
mod around;
mod canonical;
mod change;
mod compare;
mod convert;
mod draft;
mod entries;
mod layout;
mod metadata;
mod model;
mod moved;
mod own;
mod ral;
mod rdl;
mod reach;
mod refusal;
mod rows;
mod rql;
mod scrub;
mod seal;
mod singles;
mod uses;

pub use around::{Around, ComputeNode, Facts, ReadUnit, Rooms, Settings, SingleTable};
pub use change::{Change, Check, Lost, Task};
pub use compare::Difference;
pub use convert::Conversion;
pub use entries::{Write, difference};
pub use model::{Model, wrong_at};
pub use ral::Export;
pub use rdl::EncryptAdvance;
pub use refusal::{Kind, Refusal, Result};
pub use rows::Rows;
pub use seal::{Keeping, Key};
pub use singles::Singles;

/// So that the README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
