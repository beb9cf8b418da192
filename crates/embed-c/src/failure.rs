//! What is told when something went wrong.

use std::any::Any;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An error, with its message.
#[derive(Debug)]
pub struct Failure(CString);

impl Failure {
    pub(crate) fn new(why: &str) -> Self {
        Self(CString::new(why.replace('\0', " ")).unwrap_or_default())
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(&error.to_string())
    }
}

/// What `call` gives, or `otherwise` with the error put where C wants it.
///
/// # Safety
/// `error` is null or may be written.
pub(crate) unsafe fn told<T>(
    error: *mut *mut Failure,
    otherwise: T,
    call: impl FnOnce() -> Result<T, Failure>,
) -> T {
    let done = catch_unwind(AssertUnwindSafe(call));
    let failure = match done {
        Ok(Ok(done)) => return done,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::new(&format!("the engine broke: {}", message(&*panic))),
    };
    if !error.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *error = Box::into_raw(Box::new(failure)) };
    }
    otherwise
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason is known")
}

/// See `pando.h`.
///
/// # Safety
/// `error` comes from this library and is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_error_message(error: *const Failure) -> *const c_char {
    // SAFETY: the caller's promise.
    match unsafe { error.as_ref() } {
        Some(failure) => failure.0.as_ptr(),
        None => c"no error".as_ptr(),
    }
}

/// See `pando.h`.
///
/// # Safety
/// As [`pando_error_message`]; it is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_error_free(error: *mut Failure) {
    if !error.is_null() {
        // SAFETY: it was made by `Box::into_raw`.
        drop(unsafe { Box::from_raw(error) });
    }
}
