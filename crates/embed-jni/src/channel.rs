//! Channels.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use jni::objects::{JByteArray, JClass};
use jni::sys::{jint, jlong};
use jni::{Env, EnvUnowned};
use pando_embed::{Channel, Protocol, Read, Written};

use crate::engine::engine;
use crate::failure::{Failure, told};
use crate::handles::Handles;
use crate::woken::waker;

/// Bytes that cross at once.
const MOST: usize = 32 << 10;

const END: jint = -1;
const TIMED_OUT: jint = -2;
const PENDING: jint = -3;

/// A channel, and what wakes those who poll it.
#[derive(Debug)]
struct Wired {
    channel: Channel,
    waker: Waker,
}

static CHANNELS: Handles<Wired> = Handles::new();

fn wired(number: jlong) -> Result<Arc<Wired>, Failure> {
    CHANNELS.get(number).ok_or_else(|| Failure::Io("the channel is closed".to_owned()))
}

/// `static native long connect(long engine, int protocol)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_pando_jdbc_Native_connect<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    number: jlong,
    protocol: jint,
) -> jlong {
    told(&mut env, |_| {
        let engine = engine(number)?;
        let protocol = if protocol == 1 { Protocol::MySql } else { Protocol::Postgres };
        let channel = engine.embedded.connect(protocol)?;
        Ok(CHANNELS.add(|own| Wired { channel, waker: waker(&engine.woken, own) }))
    })
}

fn limit(milliseconds: jlong) -> Option<Duration> {
    u64::try_from(milliseconds).ok().map(Duration::from_millis)
}

fn counted(count: usize) -> jint {
    jint::try_from(count).unwrap_or(jint::MAX)
}

/// Reads through a buffer of ours: arrays of Java's may move meanwhile.
fn through<'local>(
    env: &Env<'local>,
    bytes: &JByteArray<'local>,
    offset: jint,
    count: jint,
    read: impl FnOnce(&mut [u8]) -> Result<Result<usize, jint>, Failure>,
) -> Result<jint, Failure> {
    let count = usize::try_from(count).unwrap_or(0).min(MOST);
    let mut buffer = vec![0; count];
    match read(&mut buffer)? {
        Ok(count) => {
            // In place: bytes of either sign are as large.
            buffer.truncate(count);
            let signed: Vec<i8> = buffer.into_iter().map(u8::cast_signed).collect();
            bytes.set_region(env, offset, &signed)?;
            Ok(counted(count))
        }
        Err(other) => Ok(other),
    }
}

fn given<'local>(
    env: &Env<'local>,
    bytes: &JByteArray<'local>,
    offset: jint,
    count: jint,
) -> Result<Vec<u8>, Failure> {
    let mut signed = vec![0_i8; usize::try_from(count).unwrap_or(0).min(MOST)];
    bytes.get_region(env, offset, &mut signed)?;
    Ok(signed.into_iter().map(i8::cast_unsigned).collect())
}

/// `static native int read(long channel, byte[] bytes, int offset, int count, long milliseconds)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_pando_jdbc_Native_read<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    number: jlong,
    bytes: JByteArray<'local>,
    offset: jint,
    count: jint,
    milliseconds: jlong,
) -> jint {
    told(&mut env, |env| {
        let wired = wired(number)?;
        through(env, &bytes, offset, count, |buffer| {
            Ok(match wired.channel.read(buffer, limit(milliseconds))? {
                Read::Bytes(count) => Ok(count),
                Read::End => Err(END),
                Read::TimedOut => Err(TIMED_OUT),
            })
        })
    })
}

/// `static native int write(long channel, byte[] bytes, int offset, int count)`: how many were written, at least one.
#[unsafe(no_mangle)]
pub extern "system" fn Java_pando_jdbc_Native_write<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    number: jlong,
    bytes: JByteArray<'local>,
    offset: jint,
    count: jint,
) -> jint {
    told(&mut env, |env| {
        let (wired, given) = (wired(number)?, given(env, &bytes, offset, count)?);
        Ok(match wired.channel.write(&given, None)? {
            Written::All => counted(given.len()),
            Written::TimedOut(done) => counted(done),
        })
    })
}

fn polled(done: Poll<io::Result<usize>>) -> Result<Result<usize, jint>, Failure> {
    match done {
        Poll::Ready(count) => Ok(Ok(count?)),
        Poll::Pending => Ok(Err(PENDING)),
    }
}

/// `static native int pollRead(long channel, byte[] bytes, int offset, int count)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_pando_jdbc_Native_pollRead<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    number: jlong,
    bytes: JByteArray<'local>,
    offset: jint,
    count: jint,
) -> jint {
    told(&mut env, |env| {
        let wired = wired(number)?;
        let read = through(env, &bytes, offset, count, |buffer| {
            polled(wired.channel.poll_read(&mut Context::from_waker(&wired.waker), buffer))
        })?;
        Ok(if read == 0 { END } else { read })
    })
}

/// `static native int pollWrite(long channel, byte[] bytes, int offset, int count)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_pando_jdbc_Native_pollWrite<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    number: jlong,
    bytes: JByteArray<'local>,
    offset: jint,
    count: jint,
) -> jint {
    told(&mut env, |env| {
        let (wired, given) = (wired(number)?, given(env, &bytes, offset, count)?);
        let done = wired.channel.poll_write(&mut Context::from_waker(&wired.waker), &given);
        Ok(polled(done)?.map_or_else(|other| other, counted))
    })
}

/// `static native int available(long channel)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_pando_jdbc_Native_available<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    number: jlong,
) -> jint {
    told(&mut env, |_| Ok(counted(wired(number)?.channel.available())))
}

/// `static native void shutdown(long channel)`: ends the session and forgets the number; who is at it is told.
#[unsafe(no_mangle)]
pub extern "system" fn Java_pando_jdbc_Native_shutdown<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    number: jlong,
) {
    told(&mut env, |_| {
        if let Some(wired) = CHANNELS.remove(number) {
            wired.channel.close();
        }
        Ok(())
    });
}
