//! `NANOID`: a short random text of letters, digits, `_` and `-`.

use std::sync::Arc;

use pando_config::Problem;
use pando_kernel::feature::Source;
use pando_kernel::{Error, Result, Value};

use super::KeyGenerator;
use crate::algorithm::Reader;

const ALPHABET: &str = "_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// 21 of 64 characters are as random as a UUID.
const SIZE: i64 = 21;

#[derive(Debug)]
struct NanoId {
    alphabet: Vec<char>,
    size: usize,
}

pub(super) fn build(config: &pando_config::Algorithm) -> Result<Arc<dyn KeyGenerator>, Problem> {
    let mut props = Reader::new(config);
    let size = props.optional_integer("size", 1..=255)?.unwrap_or(SIZE);
    let given = props.optional("alphabet");
    let alphabet: Vec<char> = given.map_or(ALPHABET, |text| text.as_str()).chars().collect();
    let at = given.map_or(props.at(), |text| &text.at);
    props.finish()?;
    let mut distinct = alphabet.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if !(2..=256).contains(&alphabet.len()) || distinct.len() != alphabet.len() {
        return Err(at.problem("property `alphabet`: expected 2 to 256 different characters"));
    }
    Ok(Arc::new(NanoId { alphabet, size: usize::try_from(size).unwrap_or_default() }))
}

impl KeyGenerator for NanoId {
    fn next(&self, source: &dyn Source) -> Result<Value> {
        // Bytes beyond the alphabet are thrown away, so that every character is equally likely.
        let mask = self.alphabet.len().next_power_of_two() - 1;
        let mut id = String::with_capacity(self.size);
        let mut count = 0;
        for _ in 0..1000 {
            let mut bytes = [0; 64];
            source.random(&mut bytes);
            for byte in bytes {
                if let Some(c) = self.alphabet.get(usize::from(byte) & mask) {
                    id.push(*c);
                    count += 1;
                }
                if count == self.size {
                    return Ok(Value::Text(id));
                }
            }
        }
        Err(Error::internal("the source of randomness repeats itself"))
    }
}
