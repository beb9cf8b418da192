//! Hash of the normalised token stream. Not keyed: it tells plans apart, it does not defend against chosen collisions.

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const FACTOR: u64 = 0xa076_1d64_78bd_642f;
const STEP: u64 = 0xe703_7ed1_a0b4_28db;

/// A multiply-and-fold hash over eight bytes at a time.
#[derive(Debug, Clone)]
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) fn new() -> Self {
        Self(SEED)
    }

    /// Takes in one number.
    #[inline]
    pub(crate) fn number(&mut self, value: u64) {
        let product = u128::from(self.0 ^ value) * u128::from(FACTOR);
        self.0 = ((product as u64) ^ ((product >> 64) as u64)).wrapping_add(STEP);
    }

    /// Takes in a tagged piece of text; the length goes in too, so that neighbours do not run together.
    #[inline]
    pub(crate) fn piece(&mut self, tag: u8, bytes: &[u8]) {
        self.number((u64::from(tag) << 56) | bytes.len() as u64);
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0u8; 8];
            word.copy_from_slice(chunk);
            self.number(u64::from_le_bytes(word));
        }
        let rest = chunks.remainder();
        if !rest.is_empty() {
            let mut word = 0u64;
            for &byte in rest {
                word = (word << 8) | u64::from(byte);
            }
            self.number(word);
        }
    }

    pub(crate) fn value(&self) -> u64 {
        self.0
    }
}
