//! A shop's own algorithms, in Rust: sharding by region and by hundreds, keys, an encryptor and a mask, by the interface of `wit/algorithm.wit`.
//!
//! Built with nothing but a compiler that has the target:
//!
//!     rustc --edition 2021 --crate-type cdylib --target wasm32-unknown-unknown -O -C panic=abort \
//!       -C link-arg=-s shop.rs
//!
//! What stands at the end, between these functions and the canonical ABI, is what `wit-bindgen` writes for larger modules.

type Props = Vec<(String, String)>;
type Answer<T> = Result<T, String>;

/// The table of a customer's region: `DE-10115` is in `t_customer_de` where the property `regions` has `DE`, and else in the
/// one that the property `rest` names.
fn shard(props: &Props, targets: &[String], value: &str) -> Answer<String> {
    let region = value.split('-').next().unwrap_or_default().to_lowercase();
    let known = property(props, "regions")?.split(',').any(|own| own.trim() == region);
    let wanted = if known { region.as_str() } else { property(props, "rest")? };
    let own = targets.iter().find(|target| target.rsplit('_').next() == Some(wanted));
    own.cloned().ok_or_else(|| format!("no target for region {}", wanted))
}

/// A hundred numbers in a row are in one table, the next hundred in the next.
fn hundreds(_: &Props, targets: &[String], value: &str) -> Answer<String> {
    let number: i64 = value.parse().map_err(|_| format!("{} is no whole number", value))?;
    Ok(targets[number.div_euclid(100).rem_euclid(targets.len() as i64) as usize].clone())
}

/// Between two bounds are the tables of all hundreds from the first to the last.
fn hundreds_range(_: &Props, targets: &[String], low: Option<&str>, high: Option<&str>) -> Answer<Vec<String>> {
    let part = |bound: Option<&str>| bound?.parse::<i64>().ok().map(|number| number.div_euclid(100));
    let count = targets.len() as i64;
    match (part(low), part(high)) {
        (Some(first), Some(last)) if last.saturating_sub(first) < count => {
            Ok((first..=last).map(|part| targets[part.rem_euclid(count) as usize].clone()).collect())
        }
        _ => Ok(targets.to_vec()),
    }
}

/// `C-` and the id in base 36.
fn next_key(_: &Props, mut id: u64, _: &str) -> Answer<String> {
    let mut digits = Vec::new();
    while id > 0 || digits.is_empty() {
        digits.push(char::from_digit((id % 36) as u32, 36).unwrap_or('0'));
        id /= 36;
    }
    Ok(format!("C-{}", digits.iter().rev().collect::<String>()))
}

/// Letters and digits are moved by the property `shift`. It is an example, and keeps nothing secret.
fn encrypt(props: &Props, value: &str) -> Answer<String> {
    let shift = shift(props)?;
    Ok(value.chars().map(|c| moved(c, shift)).collect())
}

fn decrypt(props: &Props, stored: &str) -> Answer<String> {
    let shift = shift(props)?;
    Ok(stored.chars().map(|c| moved(c, 26 * 10 - shift)).collect())
}

/// What stands in front of the last four characters is covered.
fn mask(_: &Props, value: &str) -> Answer<String> {
    let count = value.chars().count();
    Ok(value.chars().enumerate().map(|(at, c)| if at + 4 < count { '#' } else { c }).collect())
}

/// Never ends, and asks for more than there is: what the bounds are for.
fn spin(_: &Props, value: &str) -> Answer<String> {
    let mut number = value.len() as u64;
    loop {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if number == 0 {
            return Ok(number.to_string());
        }
    }
}

fn hoard(_: &Props, value: &str) -> Answer<String> {
    let mut all = vec![value.to_owned()];
    while all.len() < 1_000_000 {
        all.push("x".repeat(1 << 20));
    }
    Ok(all.concat())
}

fn property<'p>(props: &'p Props, name: &str) -> Answer<&'p str> {
    let own = props.iter().find(|(key, _)| key == name);
    own.map(|(_, value)| value.as_str()).ok_or_else(|| format!("property `{}` is required", name))
}

fn shift(props: &Props) -> Answer<u32> {
    let shift = property(props, "shift")?.parse().ok().filter(|shift| *shift < 26);
    shift.ok_or_else(|| "property `shift` is a number below 26".to_owned())
}

fn moved(c: char, by: u32) -> char {
    let within = |first: u8, count: u32| {
        char::from_u32(u32::from(first) + (c as u32 - u32::from(first) + by) % count).unwrap_or(c)
    };
    match c {
        'a'..='z' => within(b'a', 26),
        'A'..='Z' => within(b'A', 26),
        '0'..='9' => within(b'0', 10),
        _ => c,
    }
}

/// The canonical ABI: texts come and go as a place and a length, lists as those of their entries.
mod abi {
    use super::*;
    use std::alloc::{alloc, realloc, Layout};
    use std::slice;

    #[export_name = "cabi_realloc"]
    pub unsafe extern "C" fn cabi_realloc(old: *mut u8, old_size: usize, align: usize, size: usize) -> *mut u8 {
        match (old_size, size) {
            (_, 0) => align as *mut u8,
            (0, _) => alloc(Layout::from_size_align_unchecked(size, align)),
            _ => realloc(old, Layout::from_size_align_unchecked(old_size, align), size),
        }
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Part {
        at: *const u8,
        length: usize,
    }

    #[repr(C)]
    pub struct Given {
        case: u32,
        part: Part,
    }

    unsafe fn text(at: *const u8, length: usize) -> String {
        String::from_utf8_lossy(slice::from_raw_parts(at, length)).into_owned()
    }

    unsafe fn texts(at: *const Part, count: usize) -> Vec<String> {
        slice::from_raw_parts(at, count).iter().map(|part| text(part.at, part.length)).collect()
    }

    unsafe fn pairs(at: *const Part, count: usize) -> Props {
        let all = texts(at, count * 2);
        all.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    }

    /// The memory is the host's to throw away: each call begins anew.
    fn leaked(text: String) -> Part {
        let bytes = Box::leak(text.into_bytes().into_boxed_slice());
        Part { at: bytes.as_ptr(), length: bytes.len() }
    }

    fn given(answer: Answer<String>) -> *const Given {
        let (case, text) = match answer {
            Ok(text) => (0, text),
            Err(why) => (1, why),
        };
        Box::leak(Box::new(Given { case, part: leaked(text) }))
    }

    fn given_list(answer: Answer<Vec<String>>) -> *const Given {
        match answer {
            Err(why) => given(Err(why)),
            Ok(all) => {
                let parts: Vec<Part> = all.into_iter().map(leaked).collect();
                let parts = Box::leak(parts.into_boxed_slice());
                let part = Part { at: parts.as_ptr() as *const u8, length: parts.len() };
                Box::leak(Box::new(Given { case: 0, part }))
            }
        }
    }

    macro_rules! of_a_value {
        ($name:literal, $function:ident) => {
            const _: () = {
                #[export_name = $name]
                unsafe extern "C" fn own(props: *const Part, count: usize, at: *const u8, length: usize) -> *const Given {
                    given($function(&pairs(props, count), &text(at, length)))
                }
            };
        };
    }
    of_a_value!("encrypt", encrypt);
    of_a_value!("decrypt", decrypt);
    of_a_value!("mask", mask);
    of_a_value!("spin-mask", spin);
    of_a_value!("hoard-mask", hoard);

    macro_rules! of_targets {
        ($name:literal, $function:ident) => {
            const _: () = {
                #[export_name = $name]
                unsafe extern "C" fn own(
                    props: *const Part,
                    count: usize,
                    targets: *const Part,
                    of_them: usize,
                    at: *const u8,
                    length: usize,
                ) -> *const Given {
                    given($function(&pairs(props, count), &texts(targets, of_them), &text(at, length)))
                }
            };
        };
    }
    of_targets!("shard", shard);
    of_targets!("hundreds-shard", hundreds);

    #[export_name = "hundreds-shard-range"]
    unsafe extern "C" fn own_range(
        props: *const Part,
        count: usize,
        targets: *const Part,
        of_them: usize,
        has_low: u32,
        low: *const u8,
        low_length: usize,
        has_high: u32,
        high: *const u8,
        high_length: usize,
    ) -> *const Given {
        let low = if has_low == 1 { Some(text(low, low_length)) } else { None };
        let high = if has_high == 1 { Some(text(high, high_length)) } else { None };
        let targets = texts(targets, of_them);
        given_list(hundreds_range(&pairs(props, count), &targets, low.as_deref(), high.as_deref()))
    }

    #[export_name = "next-key"]
    unsafe extern "C" fn own_key(props: *const Part, count: usize, id: u64, at: *const u8, length: usize) -> *const Given {
        given(next_key(&pairs(props, count), id, &text(at, length)))
    }
}
