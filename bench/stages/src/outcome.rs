//! How a stage, a measurement or a file ends.

/// What a stage, a measurement or a file may fail with; printed and nothing else.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;
/// What it comes to.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;
