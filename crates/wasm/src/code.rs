//! A module that is compiled and imports nothing.

use wasmtime::{InstancePre, Linker, Module, StoreLimits};

use crate::machine::Machine;

/// A compiled module.
pub(crate) struct Code {
    pub(crate) module: Module,
    pub(crate) ready: InstancePre<StoreLimits>,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Code")
    }
}

impl Code {
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn compiled(machine: &Machine, bytes: &[u8]) -> Result<Self, String> {
        let engine = &machine.engine;
        let module = Module::from_binary(engine, bytes)
            .map_err(|error| format!("is none that can run: {}", first_line(&error)))?;
        if let Some(import) = module.imports().next() {
            return Err(format!(
                "imports `{}.{}`, and modules are given nothing",
                import.module(),
                import.name()
            ));
        }
        let ready = Linker::new(engine).instantiate_pre(&module);
        let ready = ready.map_err(|error| format!("cannot run: {}", first_line(&error)))?;
        Ok(Self { module, ready })
    }
}

pub(crate) fn first_line(error: &wasmtime::Error) -> String {
    let text = format!("{error:#}");
    text.lines().next().unwrap_or_default().to_owned()
}
