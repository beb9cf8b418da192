//! What algorithms there are, for whoever lists them.

/// A kind of algorithm that a configuration may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlgorithmKind {
    /// What it is used for.
    pub sort: AlgorithmSort,
    /// Its type, as `HASH_MOD`.
    pub name: &'static str,
    /// One line for people.
    pub description: &'static str,
}

/// What algorithms are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlgorithmSort {
    /// From sharding values to nodes.
    Sharding,
    /// Keys for rows that come without.
    KeyGenerator,
    /// Which statements on sharded tables are refused.
    Auditor,
    /// Which replica reads.
    LoadBalancer,
    /// What is stored in the place of a value.
    Encrypt,
    /// What is shown in the place of a value.
    Mask,
    /// Which statements go to a shadow unit.
    Shadow,
}
