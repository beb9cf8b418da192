//! Generated keys that are not numbers.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use pando_config::Algorithm;
use pando_kernel::feature::Source;
use pando_kernel::{NoModules, Value};
use pando_sharding::keygen::build;

/// A fixed seed, stirred by SplitMix64.
#[derive(Debug)]
struct Seeded(AtomicU64);

impl Source for Seeded {
    fn now_millis(&self) -> i64 {
        0
    }

    fn random(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let mut z = self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            chunk.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes()[..chunk.len()]);
        }
    }
}

/// A source that is broken.
#[derive(Debug)]
struct Same;

impl Source for Same {
    fn now_millis(&self) -> i64 {
        0
    }

    fn random(&self, buffer: &mut [u8]) {
        buffer.fill(0xff);
    }
}

fn keys(kind: &str, props: &[(&str, &str)], count: usize) -> Vec<String> {
    let generator = build(&Algorithm::nowhere(kind, props.iter().copied()), &NoModules).ok();
    let source = Seeded(AtomicU64::new(7));
    let next = || match generator.as_ref()?.next(&source) {
        Ok(Value::Text(text)) => Some(text),
        _ => None,
    };
    (0..count).filter_map(|_| next()).collect()
}

#[test]
fn a_uuid_is_32_hexadecimal_digits() {
    let keys = keys("uuid", &[], 1000);
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 1000);
    for key in keys {
        assert_eq!(key.len(), 32);
        assert!(key.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)), "{key}");
    }
}

#[test]
fn a_nanoid_has_its_size_and_uses_its_whole_alphabet() {
    let plain = keys("NANOID", &[], 1000);
    assert_eq!(plain.iter().collect::<HashSet<_>>().len(), 1000);
    assert!(plain.iter().all(|key| key.len() == 21));
    let letters: HashSet<char> = plain.iter().flat_map(|key| key.chars()).collect();
    assert_eq!(letters.len(), 64);
    let own = keys("NANOID", &[("alphabet", "abc"), ("size", "5")], 100);
    assert!(own.iter().all(|key| key.len() == 5 && key.chars().all(|c| "abc".contains(c))));
}

#[test]
fn a_source_that_repeats_itself_is_an_error_not_a_loop() {
    let generator =
        build(&Algorithm::nowhere("NANOID", [("alphabet", "abc")]), &NoModules).expect("valid");
    assert!(generator.next(&Same).is_err());
}

#[test]
fn properties_that_cannot_be_are_refused() {
    for (kind, name, value) in [
        ("UUID", "as-text", "true"),
        ("NANOID", "alphabet", "aab"),
        ("NANOID", "alphabet", "a"),
        ("NANOID", "size", "0"),
        ("COSID", "id-name", "x"),
    ] {
        assert!(
            build(&Algorithm::nowhere(kind, [(name, value)]), &NoModules).is_err(),
            "{kind} {name}={value}"
        );
    }
}
