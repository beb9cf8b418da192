//! The files of the repository as plain data, so that every rule is a pure function that tests can feed.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use crate::manifest::Manifest;

/// Folders that hold nothing a person wrote. Other hidden folders are skipped too, except those in `HIDDEN`.
const SKIPPED: [&str; 3] = ["target", "__pycache__", "node_modules"];
const HIDDEN: [&str; 2] = [".cargo", ".ci"];
/// Bytes; larger files are data, which no rule reads.
const LARGEST: u64 = 4 << 20;

/// Text files by their path from the repository's root, with `/` between the parts, in path order.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
}

/// One crate of the workspace.
#[derive(Debug)]
pub(crate) struct Crate {
    /// From the root, without a slash at the end: `crates/sql`.
    pub(crate) folder: String,
    pub(crate) manifest: Manifest,
}

impl Tree {
    /// Reads every text file under `root`; what is not UTF-8 is left out.
    ///
    /// # Errors
    /// When a folder or file cannot be read.
    pub(crate) fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() {
                let hidden = name.starts_with('.') && !HIDDEN.contains(&name.as_str());
                if !hidden && !SKIPPED.contains(&name.as_str()) {
                    self.read_folder(&entry.path(), &format!("{path}/"))?;
                }
            } else if kind.is_file() && entry.metadata()?.len() <= LARGEST {
                let Ok(text) = String::from_utf8(fs::read(entry.path())?) else { continue };
                self.files.insert(path, text);
            }
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Paths below `folder`, at any depth.
    pub(crate) fn below(&self, folder: &str) -> impl Iterator<Item = &str> {
        let prefix = format!("{folder}/");
        self.files.keys().filter(move |path| path.starts_with(&prefix)).map(String::as_str)
    }

    /// True if `folder/name.rs` or anything in `folder/name/` exists: a thing may grow from a file to a folder.
    pub(crate) fn has_module(&self, folder: &str, name: &str) -> bool {
        self.text(&format!("{folder}/{name}.rs")).is_some()
            || self.below(&format!("{folder}/{name}")).next().is_some()
    }

    /// Every folder with a `Cargo.toml` that has a package, in path order.
    pub(crate) fn crates(&self) -> Vec<Crate> {
        self.iter()
            .filter_map(|(path, text)| {
                let folder = path.strip_suffix("/Cargo.toml")?.to_owned();
                let manifest = Manifest::parse(text);
                manifest.package.is_some().then_some(Crate { folder, manifest })
            })
            .collect()
    }

    /// The root's manifest; empty if there is none.
    pub(crate) fn workspace(&self) -> Manifest {
        self.text("Cargo.toml").map(Manifest::parse).unwrap_or_default()
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Self { files: files.collect() }
    }
}
