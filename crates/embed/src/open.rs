//! One engine for each configuration of a process.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pando_kernel::error::Result;
use pando_kernel::{Modules, NoModules};
use pando_server::{Clients, Listen, Source};

use crate::embedded::Embedded;

/// What an engine is opened with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Folder of configuration files, or one file of the JDBC driver's form.
    pub path: Option<PathBuf>,
    /// A configuration of the JDBC driver's form as a text, in the place of `path`; problems call it by its name.
    pub text: Option<(String, String)>,
    /// Folder where the configuration is kept, so that statements can change it, and where relative paths of embedded storage units start.
    pub data: Option<PathBuf>,
    /// Folder with the WebAssembly modules that algorithms of type `CLASS_BASED` name.
    pub modules: Option<PathBuf>,
}

/// The engines of this process by what they were opened with. Held while one is opened: the second one waits for the first.
static KNOWN: Mutex<Vec<(Options, Weak<Embedded>)>> = Mutex::new(Vec::new());

fn known() -> MutexGuard<'static, Vec<(Options, Weak<Embedded>)>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Options {
    /// Paths as they are, so that two ways to the same file are one configuration.
    fn plain(self) -> Self {
        let plain = |path: PathBuf| path.canonicalize().unwrap_or(path);
        Self {
            path: self.path.map(plain),
            data: self.data.map(plain),
            modules: self.modules.map(plain),
            text: self.text,
        }
    }
}

/// The engine of a configuration: the one that this process has opened already, or a new one. It is closed when the last one who has it drops it.
///
/// # Errors
/// `Configuration` with everything that is wrong.
pub fn open(options: Options) -> Result<Arc<Embedded>> {
    let options = options.plain();
    let mut known = known();
    known.retain(|(_, engine)| engine.strong_count() > 0);
    let found = known.iter().find(|(own, _)| *own == options);
    if let Some(engine) = found.and_then(|(_, engine)| engine.upgrade())
        && engine.is_open()
    {
        return Ok(engine);
    }
    let engine = Arc::new(Embedded::start(of_server(&options))?);
    known.retain(|(own, _)| *own != options);
    known.push((options, Arc::downgrade(&engine)));
    Ok(engine)
}

fn of_server(options: &Options) -> pando_server::Options {
    let modules: Arc<dyn Modules> = match &options.modules {
        Some(folder) => Arc::new(pando_wasm::Folder::new(folder)),
        None => Arc::new(NoModules),
    };
    let config = match (&options.text, &options.path) {
        (Some((name, text)), _) => Source::Text { name: name.clone(), text: text.clone() },
        (None, Some(path)) => Source::Path(path.clone()),
        (None, None) => Source::Nothing,
    };
    pando_server::Options {
        config,
        clients: Clients::OwnProcess,
        data: options.data.clone().unwrap_or_default(),
        store: options.data.clone(),
        modules,
        mysql: Listen::Off,
        postgres: Listen::Off,
        ..pando_server::Options::default()
    }
}
