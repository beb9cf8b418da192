//! The bounds that every repository has in common, so that what one store takes another does not refuse.

/// Bytes of a key. etcd and ZooKeeper take longer ones; a path of that length is a mistake.
pub const MAX_KEY_BYTES: usize = 1024;

/// Bytes of a value.
pub const MAX_VALUE_BYTES: usize = 512 * 1024;

/// Bytes of all keys and values of one change. ZooKeeper takes requests of up to 1 MiB, with what it needs around each key.
pub const MAX_CHANGE_BYTES: usize = 768 * 1024;

/// Writes of one change, and likewise expectations. etcd takes 128 of either.
pub const MAX_CHANGE_KEYS: usize = 100;

/// Bytes of the keys and values of one view.
pub const MAX_VIEW_BYTES: usize = 64 * 1024 * 1024;

/// Keys of one view.
pub const MAX_VIEW_KEYS: usize = 100_000;
