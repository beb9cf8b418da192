//! Values in the plain, as a table has them before it is encrypted.

use pando_kernel::error::Result;

use super::{Abilities, Encryptor, Like};

/// Stores a value as it is.
#[derive(Debug)]
pub(crate) struct Plain;

impl Encryptor for Plain {
    fn encrypt(&self, plain: &[u8]) -> Result<String> {
        Ok(String::from_utf8_lossy(plain).into_owned())
    }

    fn decrypt(&self, stored: &str) -> Result<Vec<u8>> {
        Ok(stored.as_bytes().to_vec())
    }

    fn width(&self, octets: usize) -> usize {
        octets
    }

    fn abilities(&self) -> Abilities {
        Abilities { decrypts: true, equal: true, like: Like::Approved }
    }
}
