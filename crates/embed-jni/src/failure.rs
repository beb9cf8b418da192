//! Exceptions.

use jni::strings::{JNIStr, JNIString};
use jni::{Env, EnvUnowned, jni_str};

/// Why a native method fails.
#[derive(Debug)]
pub(crate) enum Failure {
    /// `java.io.IOException`, as for sockets.
    Io(String),
    /// `java.lang.IllegalArgumentException`, as for a configuration that is none.
    Argument(String),
    /// What Java itself said.
    Java(jni::errors::Error),
}

impl From<jni::errors::Error> for Failure {
    fn from(error: jni::errors::Error) -> Self {
        Self::Java(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error.to_string())
    }
}

/// What `call` gives; where it fails an exception is thrown, and Java never sees the value.
pub(crate) fn told<'local, T: Default>(
    env: &mut EnvUnowned<'local>,
    call: impl FnOnce(&mut Env<'local>) -> Result<T, Failure>,
) -> T {
    env.with_env(|env| -> Result<T, jni::errors::Error> {
        let (class, message): (&JNIStr, String) = match call(env) {
            Ok(done) => return Ok(done),
            Err(Failure::Java(error)) => return Err(error),
            Err(Failure::Io(message)) => (jni_str!("java/io/IOException"), message),
            Err(Failure::Argument(message)) => {
                (jni_str!("java/lang/IllegalArgumentException"), message)
            }
        };
        env.throw_new(class, JNIString::from(message))?;
        Ok(T::default())
    })
    .resolve::<jni::errors::ThrowRuntimeExAndDefault>()
}
