//! What the `pando` binary does: serves a configuration, checks one, or shows a demonstration.

mod check;
mod command;
mod demo;
mod log;
mod out;
mod serve;

use std::process::ExitCode;

use command::Asked;
use demo::Files;

/// Does what the command line asks for; the answer is the process's.
pub fn main() -> ExitCode {
    let (asked, level) = command::read();
    log::start(&level);
    let done = match asked {
        Asked::Serve(serve) => serve::run(serve),
        Asked::Check { config, data, modules } => {
            check::run(&config, &data, &*serve::modules(modules))
        }
        Asked::Demo { keep: true } => demo::run(Files::Stay),
        Asked::Demo { keep: false } => demo::run(Files::Go),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            out::complain(&message);
            ExitCode::FAILURE
        }
    }
}
