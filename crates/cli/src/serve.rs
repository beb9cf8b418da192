//! `pando serve`.

use std::io;

use pando_server::{Addresses, Certificate, Listen, Options};

use crate::command::Serve;
use crate::out::say;

pub(crate) fn run(asked: Serve) -> Result<(), String> {
    let options = Options {
        data: asked.data.unwrap_or_default(),
        mysql: listen(asked.mysql),
        postgres: listen(asked.postgres),
        tls: asked.tls.map(|(chain, key)| Certificate { chain, key }),
        ..Options::new(asked.config)
    };
    pando_server::serve(options, ready).map_err(|error| error.to_string())
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
