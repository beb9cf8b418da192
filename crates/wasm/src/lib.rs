//! People's own algorithms as WebAssembly modules: read from one folder, compiled, and called within bounds.
//!
//! `wit/algorithm.wit` is the interface. Modules are given nothing but their arguments.

mod abi;
mod call;
mod code;
mod machine;

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use aws_lc_rs::digest;
use pando_kernel::module::{Export, Found, Modules};

use crate::call::Callable;
use crate::code::Code;
use crate::machine::Machine;

/// The largest module, in bytes.
const MOST_BYTES: u64 = 4 << 20;

/// Compiled modules that are kept for the next rule that names them. Those in use stay whatever their number.
const MOST_KEPT: usize = 64;

/// A folder with modules. What runs them is started with the first.
#[derive(Debug)]
pub struct Folder {
    folder: PathBuf,
    machine: OnceLock<Result<Machine, String>>,
    /// By their digests, the newest last.
    kept: Mutex<Vec<(String, Arc<Code>)>>,
}

impl Folder {
    /// The modules of this folder, and of none below it.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), machine: OnceLock::new(), kept: Mutex::default() }
    }

    /// A module that has this digest, compiled once.
    fn code(&self, module: &str, wanted: Option<&str>) -> Result<Arc<Code>, String> {
        let bytes = self.bytes(module)?;
        let digest = hexadecimal(digest::digest(&digest::SHA256, &bytes).as_ref());
        match wanted {
            None => {
                return Err(format!(
                    "property `sha256` is required, so that every instance runs the same: that of `{module}` is `{digest}`"
                ));
            }
            Some(wanted) if !wanted.trim().eq_ignore_ascii_case(&digest) => {
                return Err(format!(
                    "module `{module}` is another than the one that property `sha256` names: its own is `{digest}`"
                ));
            }
            Some(_) => {}
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, code)) = kept.iter().find(|(own, _)| *own == digest) {
            return Ok(Arc::clone(code));
        }
        let machine = self.machine.get_or_init(Machine::new).as_ref().map_err(Clone::clone)?;
        let code = Code::compiled(machine, &bytes);
        let code = Arc::new(code.map_err(|why| format!("module `{module}` {why}"))?);
        if kept.len() >= MOST_KEPT {
            kept.remove(0);
        }
        kept.push((digest, Arc::clone(&code)));
        Ok(code)
    }

    fn bytes(&self, module: &str) -> Result<Vec<u8>, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if !module.ends_with(".wasm") || !module.chars().all(is_plain) || module.starts_with('.') {
            return Err(format!(
                "`{module}` is no name of a module: a file of the folder `--modules`, as `shop.wasm`, and perhaps `#` and a name"
            ));
        }
        let path = self.folder.join(module);
        let unread = |error| format!("module `{module}` cannot be read: {error}");
        let size = fs::metadata(&path).map_err(unread)?.len();
        if size > MOST_BYTES {
            return Err(format!(
                "module `{module}` has {size} bytes, and {MOST_BYTES} are the most"
            ));
        }
        fs::read(&path).map_err(unread)
    }
}

impl Modules for Folder {
    fn function(&self, export: &Export<'_>) -> Found {
        let code = self.code(export.module, export.digest)?;
        let found = Callable::of(code, export);
        let found = found.map_err(|why| format!("module `{}`: {why}", export.module))?;
        Ok(found.map(|function| Arc::new(function) as _))
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
