//! Engines.

use std::path::PathBuf;
use std::sync::Arc;

use jni::objects::{JClass, JLongArray, JString};
use jni::sys::{jint, jlong};
use jni::{Env, EnvUnowned};
use pando_embed::{Embedded, Options, Protocol, open};

use crate::failure::{Failure, told};
use crate::handles::Handles;
use crate::woken::Woken;

/// An engine, and what wakes its channels.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) embedded: Arc<Embedded>,
    pub(crate) woken: Arc<Woken>,
}

static ENGINES: Handles<Engine> = Handles::new();

pub(crate) fn engine(number: jlong) -> Result<Arc<Engine>, Failure> {
    ENGINES.get(number).ok_or_else(|| Failure::Io("the engine is closed".to_owned()))
}

fn text(env: &Env<'_>, text: &JString<'_>) -> Result<Option<String>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    Ok(Some(text.try_to_string(env)?))
}

/// `static native long open(String path, String name, String text, String data, String modules)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_pando_jdbc_Native_open<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    path: JString<'local>,
    name: JString<'local>,
    yaml: JString<'local>,
    data: JString<'local>,
    modules: JString<'local>,
) -> jlong {
    told(&mut env, |env| {
        let name = text(env, &name)?.unwrap_or_else(|| "pando.yaml".to_owned());
        let options = Options {
            path: text(env, &path)?.map(PathBuf::from),
            text: text(env, &yaml)?.map(|yaml| (name, yaml)),
            data: text(env, &data)?.map(PathBuf::from),
            modules: text(env, &modules)?.map(PathBuf::from),
        };
        let embedded = open(options).map_err(|error| Failure::Argument(error.to_string()))?;
        Ok(ENGINES.add(|_| Engine { embedded, woken: Arc::default() }))
    })
}

/// `static native void close(long engine)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_pando_jdbc_Native_close<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    number: jlong,
) {
    told(&mut env, |_| {
        if let Some(engine) = ENGINES.remove(number) {
            engine.woken.close();
        }
        Ok(())
    });
}

/// 1 for MySQL's, 2 for PostgreSQL's; 0 for neither.
pub(crate) fn number_of(protocol: Option<Protocol>) -> jint {
    match protocol {
        Some(Protocol::MySql) => 1,
        Some(Protocol::Postgres) => 2,
        None => 0,
    }
}

/// `static native int protocol(long engine, String database)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_pando_jdbc_Native_protocol<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    number: jlong,
    database: JString<'local>,
) -> jint {
    told(&mut env, |env| {
        let database = text(env, &database)?;
        Ok(number_of(engine(number)?.embedded.protocol(database.as_deref())?))
    })
}

/// `static native String firstDatabase(long engine)`: null where there is none.
#[unsafe(no_mangle)]
pub extern "system" fn Java_pando_jdbc_Native_firstDatabase<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    number: jlong,
) -> JString<'local> {
    told(&mut env, |env| match engine(number)?.embedded.first_database()? {
        Some(name) => Ok(JString::from_str(env, name)?),
        None => Ok(JString::default()),
    })
}

/// `static native long[] woken(long engine)`: waits for channels that have reason to be polled again; none once the engine is closed.
#[unsafe(no_mangle)]
pub extern "system" fn Java_pando_jdbc_Native_woken<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    number: jlong,
) -> JLongArray<'local> {
    told(&mut env, |env| {
        let numbers = match engine(number) {
            Ok(engine) => {
                let woken = Arc::clone(&engine.woken);
                drop(engine);
                woken.take()
            }
            Err(_) => Vec::new(),
        };
        let array = JLongArray::new(env, numbers.len())?;
        array.set_region(env, 0, &numbers)?;
        Ok(array)
    })
}
