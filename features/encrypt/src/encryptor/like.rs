//! A digest of each character for itself, so that patterns of LIKE find what went the same way: ShardingSphere's
//! `CHAR_DIGEST_LIKE`. With the mask it has by default several characters become one, and LIKE finds more than it
//! should; a mask that loses nothing (65535) only moves each character.

use std::collections::HashMap;

use pando_config::{Algorithm, Problem};
use pando_kernel::error::{Error, ErrorKind, Result};

use super::{Abilities, Encryptor, Like, one_way, props};

/// What ShardingSphere takes where nothing is said.
const DELTA: i32 = 1;
const MASK: i32 = 0b1111_0111_1101;
const START: i32 = 0x4e00;
/// Up to here a character is digested by its own code.
const LAST_LETTER: u16 = 0xff;

/// `CHAR_DIGEST_LIKE`.
#[derive(Debug)]
pub(super) struct CharDigest {
    delta: i32,
    mask: i32,
    start: i32,
    /// The place of each character that is digested by it.
    places: HashMap<u16, i32>,
    like: Like,
}

impl CharDigest {
    pub(super) fn new(algorithm: &Algorithm) -> Result<Self, Problem> {
        props::check(algorithm, &["delta", "mask", "start", "dict", "approximate"])?;
        let dict = algorithm.props.get("dict").map_or("", |dict| dict.as_str());
        let places = dict.encode_utf16().zip(0..).collect();
        let like = match algorithm.props.get("approximate").map(|value| (value, value.as_str())) {
            None | Some((_, "false")) => Like::More,
            Some((_, "true")) => Like::Approved,
            Some((value, _)) => return Err(value.at.problem("`approximate` is `true` or `false`")),
        };
        Ok(Self {
            delta: props::number(algorithm, "delta", DELTA)?,
            mask: props::number(algorithm, "mask", MASK)?,
            start: props::number(algorithm, "start", START)?,
            places,
            like,
        })
    }

    fn digested(&self, unit: u16) -> u16 {
        if unit == u16::from(b'%') || unit == u16::from(b'_') {
            return unit;
        }
        let code = |n: i32| n.wrapping_add(self.delta) & self.mask;
        let digested = match self.places.get(&unit) {
            _ if unit <= LAST_LETTER => code(i32::from(unit)),
            Some(place) => code(*place).wrapping_add(self.start),
            None => code(i32::from(unit)).wrapping_add(self.start),
        };
        // What would become a wildcard stays as it is.
        match u16::try_from(digested & 0xffff) {
            Ok(digested) if digested != u16::from(b'%') && digested != u16::from(b'_') => digested,
            _ => unit,
        }
    }
}

impl Encryptor for CharDigest {
    fn encrypt(&self, plain: &[u8]) -> Result<String> {
        let unstorable = |why: &str| Error::new(ErrorKind::Value(why.to_owned()));
        let text = std::str::from_utf8(plain);
        let text = text.map_err(|_| unstorable("only characters have a digest for LIKE"))?;
        let units: Vec<u16> = text.encode_utf16().map(|unit| self.digested(unit)).collect();
        // Half a character, or one that no server stores.
        let digested = String::from_utf16(&units).ok().filter(|text| !text.contains('\0'));
        digested.ok_or_else(|| unstorable("its digest for LIKE is no text"))
    }

    fn decrypt(&self, _: &str) -> Result<Vec<u8>> {
        Err(one_way("CHAR_DIGEST_LIKE"))
    }

    fn width(&self, octets: usize) -> usize {
        octets
    }

    fn abilities(&self) -> Abilities {
        Abilities { decrypts: false, equal: false, like: self.like }
    }
}
