//! `pando serve`.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use pando_kernel::{Modules, NoModules};
use pando_server::{Addresses, Certificate, Listen, Options};

use crate::command::Serve;
use crate::out::say;

/// The folder of a server that begins with nothing.
const DATA: &str = "pando-data";

pub(crate) fn run(asked: Serve) -> Result<(), String> {
    let store = match (&asked.config, asked.data) {
        (_, Some(data)) => Some(data),
        (Some(_), None) => None,
        (None, None) => Some(PathBuf::from(DATA)),
    };
    let options = Options {
        config: asked.config.into(),
        data: store.clone().unwrap_or_default(),
        store,
        files: asked.files,
        modules: modules(asked.modules),
        mysql: listen(asked.mysql),
        postgres: listen(asked.postgres),
        tls: asked.tls.map(|(chain, key)| Certificate { chain, key, clients: asked.tls_clients }),
        ..Options::default()
    };
    pando_server::serve(options, ready).map_err(|error| error.to_string())
}

/// Where algorithms of people's own are.
pub(crate) fn modules(asked: Option<PathBuf>) -> Arc<dyn Modules> {
    match asked {
        Some(folder) => Arc::new(pando_wasm::Folder::new(folder)),
        None => Arc::new(NoModules),
    }
}

fn listen(asked: Option<String>) -> Listen {
    match asked {
        None => Listen::Default,
        Some(word) if word.eq_ignore_ascii_case("off") => Listen::Off,
        Some(address) => Listen::At(address),
    }
}

/// The one line programs wait for.
fn ready(addresses: &Addresses) -> io::Result<()> {
    say(&format!("ready {addresses}\n"))
}
