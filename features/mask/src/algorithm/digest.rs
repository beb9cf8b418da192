//! A digest in the place of a value: equal values are told alike.

use std::fmt::Write as _;

use md5::Digest as _;
use pando_config::{Algorithm, Problem};

use super::{Covers, props};

/// `MD5`.
#[derive(Debug)]
pub(super) struct Md5 {
    salt: String,
}

impl Md5 {
    pub(super) fn new(algorithm: &Algorithm) -> Result<Self, Problem> {
        props::check(algorithm, &["salt"])?;
        let salt = algorithm.props.get("salt").map(|salt| salt.value.clone());
        Ok(Self { salt: salt.unwrap_or_default() })
    }
}

impl Covers for Md5 {
    fn covered(&self, plain: &str) -> String {
        let digest = md5::Md5::new().chain_update(plain).chain_update(&self.salt).finalize();
        digest.iter().fold(String::new(), |mut text, octet| {
            // A String takes every write.
            let _ = write!(text, "{octet:02x}");
            text
        })
    }
}
