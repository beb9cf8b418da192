//! A pool known to who does not keep it.

use std::sync::{Arc, Weak};

use crate::Pool;
use crate::shared::Shared;

/// A pool that may be gone by now.
#[derive(Debug, Clone)]
pub struct LoosePool(Weak<Shared>);

impl LoosePool {
    /// The pool, while anybody else has it.
    pub fn get(&self) -> Option<Pool> {
        self.0.upgrade().map(|shared| Pool { shared })
    }
}

impl Pool {
    /// This pool, for who does not want to keep it.
    pub fn loosen(&self) -> LoosePool {
        LoosePool(Arc::downgrade(&self.shared))
    }
}
