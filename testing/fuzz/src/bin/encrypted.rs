//! Statements about encrypted columns to plans, in both languages: a value of such a column that would be sent to a storage
//! unit in the plain is a crash here.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use pando_fuzz::marked::{Family, Rules, Shop};

fn shops() -> &'static [Shop; 2] {
    static SHOPS: OnceLock<[Shop; 2]> = OnceLock::new();
    SHOPS.get_or_init(|| {
        [Family::MySql, Family::Postgres].map(|family| Shop::new(family, Rules::Encrypt))
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    if let Err(leak) = shops()[usize::from(first & 1)].check(rest) {
        panic!("{leak}");
    }
});
