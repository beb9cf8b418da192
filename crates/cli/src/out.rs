//! Standard output for answers, standard error for complaints. A reader that went away is no reason to break.

use std::io::{self, Write};

/// Writes `text` to standard output at once.
pub(crate) fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes each line of `message` to standard error behind the program's name.
pub(crate) fn complain(message: &str) {
    let lines: String = message.lines().map(|line| format!("pando: {line}\n")).collect();
    // Nothing is left to tell it to.
    let _ = io::stderr().lock().write_all(lines.as_bytes());
}
