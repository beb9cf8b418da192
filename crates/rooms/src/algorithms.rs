//! What algorithms configurations may name.

use pando_kernel::AlgorithmKind;

/// Every kind of algorithm that this version serves, those of one sort together.
pub fn algorithms() -> Vec<AlgorithmKind> {
    [pando_sharding::algorithms(), pando_readwrite::algorithms()].concat()
}
