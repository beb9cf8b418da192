//! `UUID`: 32 hexadecimal digits of randomness, without dashes.

use std::sync::Arc;

use pando_config::Problem;
use pando_kernel::feature::Source;
use pando_kernel::{Result, Value};

use super::KeyGenerator;
use crate::algorithm::Reader;

#[derive(Debug)]
struct Uuid;

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn KeyGenerator>, Problem> {
    Reader::new(config).finish()?;
    Ok(Arc::new(Uuid))
}

impl KeyGenerator for Uuid {
    fn next(&self, source: &dyn Source) -> Result<Value> {
        let mut bytes = [0; 16];
        source.random(&mut bytes);
        Ok(Value::Text(format!("{:032x}", u128::from_be_bytes(bytes))))
    }
}
