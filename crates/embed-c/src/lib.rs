//! The embedded engine for every language that can call C: `include/pando.h` says what each function does.
//!
//! No panic crosses it: what breaks inside is an error to the caller.
#![allow(unsafe_code, reason = "pointers come from C")]

pub mod channel;
pub mod engine;
pub mod failure;
pub mod wake;

/// The version of the functions and their arguments.
const ABI: u32 = 1;

/// See `pando.h`.
#[unsafe(no_mangle)]
pub extern "C" fn pando_abi_version() -> u32 {
    ABI
}
