//! Logs go to standard error, so that standard output stays for answers.

use std::io::IsTerminal;

use tracing_subscriber::filter::LevelFilter;

use crate::out::complain;

/// Starts logging at `level` (`off`, `error`, `warn`, `info`, `debug`, `trace`; anything else is said to be none, and is `info`).
pub(crate) fn start(level: &str) {
    let filter = level.parse::<LevelFilter>().unwrap_or_else(|_| {
        complain(&format!(
            "`PANDO_LOG` is `{level}`, expected off, error, warn, info, debug or trace; `info` is used"
        ));
        LevelFilter::INFO
    });
    tracing_subscriber::fmt()
        .with_max_level(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .init();
}
