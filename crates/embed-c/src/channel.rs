//! Reading and writing channels.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pando_embed::{Channel, Read, Written};

use crate::failure::{Failure, told};
use crate::wake::{Call, waker};

const END: i64 = 0;
const FAILED: i64 = -1;
const TIMED_OUT: i64 = -2;
const PENDING: i64 = -3;

/// A channel, and whom its session wakes.
#[derive(Debug)]
pub struct Wired {
    channel: Channel,
    waker: OnceLock<Waker>,
}

impl From<Channel> for Wired {
    fn from(channel: Channel) -> Self {
        Self { channel, waker: OnceLock::new() }
    }
}

fn held<'a>(channel: *const Wired) -> Result<&'a Wired, Failure> {
    // SAFETY: channels come from `pando_connect`, and outlive the calls that use them.
    unsafe { channel.as_ref() }.ok_or_else(|| Failure::new("no channel is given"))
}

fn limit(milliseconds: i64) -> Option<Duration> {
    u64::try_from(milliseconds).ok().map(Duration::from_millis)
}

fn counted(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// # Safety
/// `bytes` is null, or `count` bytes may be written there.
unsafe fn room<'a>(bytes: *mut c_void, count: usize) -> Result<&'a mut [u8], Failure> {
    if bytes.is_null() || count == 0 {
        return Err(Failure::new("there is no room to read into"));
    }
    // SAFETY: the caller's promise; bytes of any value are bytes.
    Ok(unsafe { std::slice::from_raw_parts_mut(bytes.cast(), count) })
}

/// # Safety
/// `bytes` is null, or there are `count` bytes.
unsafe fn text<'a>(bytes: *const c_void, count: usize) -> &'a [u8] {
    if bytes.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(bytes.cast(), count) }
}

/// See `pando.h`.
///
/// # Safety
/// As `pando.h` says of its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_read(
    channel: *const Wired,
    bytes: *mut c_void,
    count: usize,
    milliseconds: i64,
    error: *mut *mut Failure,
) -> i64 {
    // SAFETY: the caller's promise.
    unsafe {
        told(error, FAILED, || {
            let room = room(bytes, count)?;
            Ok(match held(channel)?.channel.read(room, limit(milliseconds))? {
                Read::Bytes(count) => counted(count),
                Read::End => END,
                Read::TimedOut => TIMED_OUT,
            })
        })
    }
}

/// See `pando.h`.
///
/// # Safety
/// As `pando.h` says of its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_write(
    channel: *const Wired,
    bytes: *const c_void,
    count: usize,
    milliseconds: i64,
    error: *mut *mut Failure,
) -> i64 {
    // SAFETY: the caller's promise.
    unsafe {
        told(error, FAILED, || {
            let text = text(bytes, count);
            Ok(match held(channel)?.channel.write(text, limit(milliseconds))? {
                Written::All => counted(count),
                Written::TimedOut(done) => counted(done),
            })
        })
    }
}

/// See `pando.h`.
///
/// # Safety
/// As `pando.h` says of its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_available(channel: *const Wired) -> usize {
    // SAFETY: a null pointer takes no error.
    unsafe { told(std::ptr::null_mut(), 0, || Ok(held(channel)?.channel.available())) }
}

/// See `pando.h`.
///
/// # Safety
/// As `pando.h` says of its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_on_wake(
    channel: *mut Wired,
    wake: Option<Call>,
    release: Option<Call>,
    context: *mut c_void,
) {
    // SAFETY: a null pointer takes no error.
    unsafe {
        told(std::ptr::null_mut(), (), || {
            let Some(wake) = wake else { return Ok(()) };
            // A second one is released at once.
            drop(held(channel)?.waker.set(waker(wake, release, context)));
            Ok(())
        });
    }
}

impl Wired {
    fn poll(
        &self,
        call: impl FnOnce(&Channel, &mut Context<'_>) -> Poll<std::io::Result<usize>>,
    ) -> Result<i64, Failure> {
        let none = || Failure::new("nobody is to be woken: call pando_on_wake first");
        let mut cx = Context::from_waker(self.waker.get().ok_or_else(none)?);
        match call(&self.channel, &mut cx) {
            Poll::Ready(done) => Ok(counted(done?)),
            Poll::Pending => Ok(PENDING),
        }
    }
}

/// See `pando.h`.
///
/// # Safety
/// As `pando.h` says of its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_poll_read(
    channel: *const Wired,
    bytes: *mut c_void,
    count: usize,
    error: *mut *mut Failure,
) -> i64 {
    // SAFETY: the caller's promise.
    unsafe {
        told(error, FAILED, || {
            let room = room(bytes, count)?;
            held(channel)?.poll(|channel, cx| channel.poll_read(cx, room))
        })
    }
}

/// See `pando.h`.
///
/// # Safety
/// As `pando.h` says of its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_poll_write(
    channel: *const Wired,
    bytes: *const c_void,
    count: usize,
    error: *mut *mut Failure,
) -> i64 {
    // SAFETY: the caller's promise.
    unsafe {
        told(error, FAILED, || {
            let text = text(bytes, count);
            held(channel)?.poll(|channel, cx| channel.poll_write(cx, text))
        })
    }
}

/// See `pando.h`.
///
/// # Safety
/// As `pando.h` says of its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_shutdown(channel: *const Wired) {
    // SAFETY: a null pointer takes no error.
    unsafe {
        told(std::ptr::null_mut(), (), || {
            held(channel)?.channel.close();
            Ok(())
        });
    }
}

/// See `pando.h`.
///
/// # Safety
/// `channel` comes from `pando_connect`, and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_channel_free(channel: *mut Wired) {
    if channel.is_null() {
        return;
    }
    // SAFETY: it was made by `Box::into_raw`.
    unsafe {
        told(std::ptr::null_mut(), (), || {
            drop(Box::from_raw(channel));
            Ok(())
        });
    }
}
