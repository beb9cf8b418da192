//! The embedded engine for the JVM: the native methods of `pando.jdbc.Native` in `java/`.
//!
//! Java has numbers in the place of engines and channels. A number that is not known any more is an error, so nothing that Java does touches memory
//! that is gone. No panic crosses it.
#![allow(unsafe_code, reason = "native methods have names that nothing may change")]

pub mod channel;
pub mod engine;
mod failure;
mod handles;
mod woken;
