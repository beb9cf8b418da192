//! The pool's bounds.

use std::time::Duration;

/// Bounds of one pool. The defaults are `ShardingSphere`'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Connections kept open once the pool is in use, default 1. More than `max` means `max`.
    pub min: usize,
    /// Connections open at most, default 50. 0 means 1.
    pub max: usize,
    /// Longest wait for a connection, waiting and connecting together; default 30 s.
    pub connection_timeout: Duration,
    /// Connections above `min` that idle for so long are closed; default 60 s, zero means never.
    pub idle_timeout: Duration,
    /// Connections that are so old are closed once they are idle; default 1800 s, zero means never. Each connection's own limit is up to
    /// 2.5 % less, so that those opened together are not closed together.
    pub max_lifetime: Duration,
    /// A connection that idled for longer is asked for a sign of life before it is handed out; default 5 s, zero means always.
    pub health_check_after: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            min: 1,
            max: 50,
            connection_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(60),
            max_lifetime: Duration::from_secs(1800),
            health_check_after: Duration::from_secs(5),
        }
    }
}

impl Options {
    /// The same with bounds that make sense together.
    pub(crate) fn sane(mut self) -> Self {
        self.max = self.max.max(1);
        self.min = self.min.min(self.max);
        self
    }
}
