//! How the system's scheduler is to treat the threads that serve; the one place of the server with unsafe code, as no safe interface to `sched_setattr(2)` is to be had.
#![allow(unsafe_code, reason = "two system calls that fill and read a structure of plain numbers")]

use std::io;

use libc::{
    SCHED_BATCH, SCHED_OTHER, SYS_sched_getattr, SYS_sched_setattr, pid_t, sched_attr, syscall,
};

/// Nanoseconds a thread asks to run for at a time. Kernels before 6.12 do not ask.
const SLICE: u64 = 20_000_000;

/// Makes the calling thread one that works in batches (sched(7), `SCHED_BATCH`): when it is woken it does not drive away whoever runs, mostly the client or the
/// server that has just sent something and is about to send more, and it is left alone while it works through what has arrived. A thread that somebody
/// has given another policy keeps it.
///
/// # Errors
/// What the system says where it does not allow it.
pub(crate) fn work_in_batches() -> io::Result<()> {
    let mut attributes = scheduling()?;
    if attributes.sched_policy != SCHED_OTHER.unsigned_abs() {
        return Ok(());
    }
    attributes.sched_policy = SCHED_BATCH.unsigned_abs();
    attributes.sched_runtime = SLICE;
    // SAFETY: the structure lives through the call and tells its own size; the kernel only reads it. 0 is the calling thread.
    checked(unsafe { syscall(SYS_sched_setattr, pid_t::from(0), &raw const attributes, 0) })
}

fn scheduling() -> io::Result<sched_attr> {
    let mut attributes = sched_attr {
        size: 0,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel writes no more than the size it is told, which is the structure's. 0 is the calling thread.
    checked(unsafe {
        syscall(SYS_sched_getattr, pid_t::from(0), &raw mut attributes, size_of::<sched_attr>(), 0)
    })?;
    Ok(attributes)
}

fn checked(answer: libc::c_long) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_works_in_batches_and_stays_as_nice_as_it_was() {
        let thread = std::thread::spawn(|| {
            let before = scheduling().unwrap();
            work_in_batches().unwrap();
            // Once more changes nothing.
            work_in_batches().unwrap();
            (before, scheduling().unwrap())
        });
        let (before, after) = thread.join().unwrap();
        assert_eq!(after.sched_policy, SCHED_BATCH.unsigned_abs());
        assert_eq!(after.sched_nice, before.sched_nice);
    }
}
