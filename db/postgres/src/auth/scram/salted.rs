//! The password as SCRAM works with it: salted, in thousands of rounds, a few at a time.

use std::fmt;

use aws_lc_rs::hmac;

use super::{Failure, HASH, sign_with, xor};

/// The rounds of SCRAM-SHA-256 at least (RFC 7677), and what PostgreSQL uses: with fewer, whoever pretends to be the server would find the password by trying
/// many out on the proof he is sent.
const MIN_ROUNDS: u32 = 4096;
/// More rounds than this from a server would only be an attack on our time.
const MAX_ROUNDS: u32 = 1_000_000;
/// Done in one go: a millisecond or two.
const SLICE: u32 = 4096;

/// A password that is being salted: PBKDF2 with one block.
/// <https://datatracker.ietf.org/doc/html/rfc5802#section-2.2>
pub(super) struct Salting {
    key: hmac::Key,
    last: [u8; HASH],
    sum: [u8; HASH],
    left: u32,
}

impl fmt::Debug for Salting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Salting").field("left", &self.left).finish_non_exhaustive()
    }
}

impl Salting {
    /// # Errors
    /// `Exchange` when these are too few rounds or too many.
    pub(super) fn new(password: &[u8], salt: &[u8], rounds: u32) -> Result<Salting, Failure> {
        if rounds < MIN_ROUNDS {
            return Err(Failure::Exchange(
                "the server asks for fewer than 4096 iterations, by which the password could be found out",
            ));
        }
        if rounds > MAX_ROUNDS {
            return Err(Failure::Exchange("the server asks for more than 1000000 iterations"));
        }
        let key = hmac::Key::new(hmac::HMAC_SHA256, password);
        let last = sign_with(&key, &[salt, &1_u32.to_be_bytes()].concat());
        Ok(Salting { key, last, sum: last, left: rounds - 1 })
    }

    /// Does some of the rounds; gives the salted password after the last one.
    pub(super) fn advance(&mut self) -> Option<[u8; HASH]> {
        let now = self.left.min(SLICE);
        for _ in 0..now {
            self.last = sign_with(&self.key, &self.last);
            self.sum = xor(self.sum, self.last);
        }
        self.left -= now;
        (self.left == 0).then_some(self.sum)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use aws_lc_rs::pbkdf2;

    use super::*;

    fn check(rounds: u32, slices: usize) {
        let mut expected = [0; HASH];
        let count = NonZeroU32::new(rounds).unwrap();
        let (salt, password) = (b"0123456789abcdef", "pencil \u{e4}".as_bytes());
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, count, salt, password, &mut expected);
        let mut salting = Salting::new(password, salt, rounds).unwrap();
        let given: Vec<_> = std::iter::from_fn(|| Some(salting.advance())).take(slices).collect();
        assert!(given.iter().rev().skip(1).all(Option::is_none));
        assert_eq!(given.last().unwrap(), &Some(expected), "{rounds}");
    }

    #[test]
    fn rounds_in_slices_are_those_of_the_library() {
        check(4096, 1);
        check(4097, 1);
        check(4098, 2);
        check(20_000, 5);
    }

    #[test]
    fn too_few_rounds_and_too_many_are_refused_before_the_first() {
        for rounds in [0, 1, 4095, 1_000_001, 1 << 31, u32::MAX] {
            assert!(Salting::new(b"pw", b"salt", rounds).is_err(), "{rounds}");
        }
        assert!(Salting::new(b"pw", b"salt", 1_000_000).is_ok());
    }
}
