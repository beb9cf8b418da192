//! Opening and closing engines.

use std::ffi::{CStr, c_char, c_int};
use std::os::fd::IntoRawFd;
use std::path::PathBuf;
use std::sync::Arc;

use pando_embed::{Embedded, Options, Protocol, open};

use crate::channel::Wired;
use crate::failure::{Failure, told};

/// `pando_options`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Given {
    size: u32,
    path: *const c_char,
    name: *const c_char,
    text: *const c_char,
    data: *const c_char,
    modules: *const c_char,
}

/// A caller's hold on an engine.
#[derive(Debug)]
pub struct Engine(Arc<Embedded>);

/// # Safety
/// `text` is null or a string that ends with a zero.
unsafe fn string(text: *const c_char, what: &str) -> Result<Option<String>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) }.to_str();
    text.map(|text| Some(text.to_owned()))
        .map_err(|_| Failure::new(&format!("`{what}` is not UTF-8")))
}

impl Given {
    /// # Safety
    /// Its strings are as [`string`] wants them.
    unsafe fn read(self) -> Result<Options, Failure> {
        let Self { path, name, text, data, modules, .. } = self;
        // SAFETY: the caller's promise, for each.
        let (path, name, text, data, modules) = unsafe {
            (
                string(path, "path")?,
                string(name, "name")?,
                string(text, "text")?,
                string(data, "data")?,
                string(modules, "modules")?,
            )
        };
        let name = name.unwrap_or_else(|| "pando.yaml".to_owned());
        Ok(Options {
            path: path.map(PathBuf::from),
            text: text.map(|text| (name, text)),
            data: data.map(PathBuf::from),
            modules: modules.map(PathBuf::from),
        })
    }
}

/// See `pando.h`.
///
/// # Safety
/// As `pando.h` says of its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_open(
    options: *const Given,
    error: *mut *mut Failure,
) -> *mut Engine {
    // SAFETY: the caller's promise.
    unsafe {
        told(error, std::ptr::null_mut(), || {
            let given = options.as_ref().ok_or_else(|| Failure::new("no options are given"))?;
            if usize::try_from(given.size) != Ok(size_of::<Given>()) {
                return Err(Failure::new("the options are of another version of this library"));
            }
            let engine = Engine(open(given.read()?)?);
            Ok(Box::into_raw(Box::new(engine)))
        })
    }
}

/// See `pando.h`.
///
/// # Safety
/// `engine` comes from [`pando_open`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_close(engine: *mut Engine) {
    if engine.is_null() {
        return;
    }
    // SAFETY: it was made by `Box::into_raw`.
    unsafe {
        told(std::ptr::null_mut(), (), || {
            drop(Box::from_raw(engine));
            Ok(())
        });
    }
}

fn spoken(protocol: i32) -> Result<Protocol, Failure> {
    match protocol {
        1 => Ok(Protocol::MySql),
        2 => Ok(Protocol::Postgres),
        _ => Err(Failure::new("the protocol is PANDO_MYSQL or PANDO_POSTGRESQL")),
    }
}

fn held<'a>(engine: *const Engine) -> Result<&'a Embedded, Failure> {
    // SAFETY: engines come from `pando_open`, and outlive the calls that use them.
    let engine = unsafe { engine.as_ref() };
    engine.map(|engine| &*engine.0).ok_or_else(|| Failure::new("no engine is given"))
}

/// See `pando.h`.
///
/// # Safety
/// As `pando.h` says of its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_protocol(engine: *const Engine, database: *const c_char) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        told(std::ptr::null_mut(), 0, || {
            let database = string(database, "database")?;
            Ok(match held(engine)?.protocol(database.as_deref())? {
                Some(Protocol::MySql) => 1,
                Some(Protocol::Postgres) => 2,
                None => 0,
            })
        })
    }
}

/// See `pando.h`.
///
/// # Safety
/// As `pando.h` says of its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_connect(
    engine: *const Engine,
    protocol: i32,
    error: *mut *mut Failure,
) -> *mut Wired {
    // SAFETY: the caller's promise.
    unsafe {
        told(error, std::ptr::null_mut(), || {
            let channel = held(engine)?.connect(spoken(protocol)?)?;
            Ok(Box::into_raw(Box::new(Wired::from(channel))))
        })
    }
}

/// See `pando.h`.
///
/// # Safety
/// As `pando.h` says of its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pando_socket(
    engine: *const Engine,
    protocol: i32,
    error: *mut *mut Failure,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { told(error, -1, || Ok(held(engine)?.socket(spoken(protocol)?)?.into_raw_fd())) }
}
