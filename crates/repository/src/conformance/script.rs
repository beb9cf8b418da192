//! A server of `testing/services`, which its scripts stop and start.

use std::path::PathBuf;
use std::process::Command;

use super::Server;

/// One server of a folder that `testing/services/up` has filled.
#[derive(Debug, Clone)]
pub struct Script {
    /// `testing/services/server`.
    pub program: PathBuf,
    /// The folder.
    pub folder: String,
    /// Such as `zk1`.
    pub name: String,
}

impl Script {
    fn run(&self, action: &str) -> Result<(), String> {
        let output = Command::new(&self.program).args([&self.folder, &self.name, action]).output();
        match output {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(e) => Err(format!("`{}`: {e}", self.program.display())),
        }
    }
}

impl Server for Script {
    fn stop(&self) -> Result<(), String> {
        self.run("stop")
    }

    fn kill(&self) -> Result<(), String> {
        self.run("kill")
    }

    fn start(&self) -> Result<(), String> {
        self.run("start")
    }
}
