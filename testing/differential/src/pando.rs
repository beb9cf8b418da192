//! A running Pando with a configuration of its own.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::wire::Fault;

/// The logical database every configuration has.
pub(crate) const DATABASE: &str = "bench";

const GLOBAL: &str = "mode: {type: Standalone}
authority:
  users:
    - {user: \"test@%\", password: test, admin: true}
  privilege: {type: ALL_PERMITTED}
transaction: {defaultType: LOCAL}
";

/// Killed when dropped.
#[derive(Debug)]
pub(crate) struct Pando {
    child: Child,
    pub(crate) mysql: u16,
    pub(crate) postgres: u16,
    log: PathBuf,
}

impl Pando {
    /// Writes the configuration into `folder` and waits until Pando is ready.
    pub(crate) fn start(
        binary: &Path,
        folder: &Path,
        urls: &[String],
        rules: &str,
    ) -> Result<Self, Fault> {
        let told = |error: std::io::Error| format!("pando: {error}");
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).map_err(told)?;
        let mut text = format!("databaseName: {DATABASE}\ndataSources:\n");
        for (unit, url) in urls.iter().enumerate() {
            text.push_str(&format!(
                "  ds_{unit}: {{url: \"{url}\", username: test, password: test, maxPoolSize: 12, minPoolSize: 0}}\n"
            ));
        }
        text.push_str(rules);
        fs::write(folder.join(format!("database-{DATABASE}.yaml")), text).map_err(told)?;
        fs::write(folder.join("global.yaml"), GLOBAL).map_err(told)?;
        let log = folder.join("log");
        let mut child = Command::new(binary)
            .arg("serve")
            .arg("--config")
            .arg(folder)
            .args(["--mysql", "127.0.0.1:0", "--postgres", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&log).map_err(told)?)
            .spawn()
            .map_err(told)?;
        let output = child.stdout.take().ok_or("pando has no output")?;
        let mut own = Self { child, mysql: 0, postgres: 0, log };
        let port = |line: &str, name: &str| -> Option<u16> {
            let word = line.split_whitespace().find_map(|word| word.strip_prefix(name))?;
            word.rsplit(':').next()?.parse().ok()
        };
        for line in BufReader::new(output).lines() {
            let line = line.map_err(told)?;
            if line.starts_with("ready ") {
                own.mysql = port(&line, "mysql=").ok_or("no MySQL port")?;
                own.postgres = port(&line, "postgres=").ok_or("no PostgreSQL port")?;
                return Ok(own);
            }
        }
        Err(format!("pando ended before it was ready: {}", own.last_words()))
    }

    /// The end of what it logged.
    pub(crate) fn last_words(&self) -> String {
        let mut text = String::new();
        if let Ok(mut file) = fs::File::open(&self.log) {
            let _ = file.read_to_string(&mut text);
        }
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(5)..].join("\n")
    }
}

impl Drop for Pando {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
