//! What a key generator is.

use std::fmt::Debug;

use pando_kernel::feature::Source;
use pando_kernel::{Result, Value};

/// Makes keys, each once. May be called from many threads.
pub trait KeyGenerator: Debug + Send + Sync {
    /// The next key.
    ///
    /// # Errors
    /// `ShardingValue` when no key can be made that is surely new.
    fn next(&self, source: &dyn Source) -> Result<Value>;

    /// Whether its keys are numbers beyond 32 bits.
    fn makes_long_numbers(&self) -> bool {
        false
    }

    /// The keys of one statement's rows, one after the other. Numbers follow each other without a gap as far as the generator can have it: of several keys MySQL's
    /// clients are told the first, and count on from there.
    ///
    /// # Errors
    /// As [`KeyGenerator::next`].
    fn run(&self, source: &dyn Source, count: usize) -> Result<Vec<Value>> {
        (0..count).map(|_| self.next(source)).collect()
    }
}
