//! The one folder below which statements may read and write files.
//!
//! Each step of a path is opened by itself, from the folder before it and never through a symbolic link, so that no name leads out, whatever
//! somebody does to the folder meanwhile.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use pando_kernel::error::Result;
use pando_model::Kind;
use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::error::refused;

/// Bytes of a file that is read: as much as the configuration files themselves may have.
const MOST: u64 = 16 << 20;

/// The folder; none where statements have no business with files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Folder(pub(crate) Option<PathBuf>);

impl Folder {
    /// The text of a file below the folder.
    ///
    /// # Errors
    /// `InvalidDocument`, without a word of what stands in the file.
    pub(crate) fn read(&self, path: &str) -> Result<String> {
        let failed =
            |why: String| refused(Kind::InvalidDocument, &format!("cannot read `{path}`: {why}"));
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let file = self.open(path, flags).map_err(|error| failed(told(&error)))?;
        if !file.metadata().is_ok_and(|about| about.is_file()) {
            return Err(failed("it is no file".to_owned()));
        }
        let mut bytes = Vec::new();
        let length = file.take(MOST + 1).read_to_end(&mut bytes);
        let length = length.map_err(|error| failed(told(&error)))?;
        if length as u64 > MOST {
            return Err(failed(format!("it is larger than {MOST} bytes")));
        }
        String::from_utf8(bytes).map_err(|_| failed("it is no text in UTF-8".to_owned()))
    }

    /// Makes a file that only this server's user can read: there are passwords in it. One that is there already stays as it is.
    ///
    /// # Errors
    /// `InvalidDocument`.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<()> {
        let failed = |error: io::Error| {
            let why = told(&error);
            refused(Kind::InvalidDocument, &format!("cannot write `{path}`: {why}"))
        };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mut file = self.open(path, flags).map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
    }

    fn open(&self, path: &str, flags: OFlags) -> io::Result<File> {
        let Some(root) = &self.0 else { return Err(io::Error::other(OFF)) };
        let (folders, name) = steps(root, Path::new(path))?;
        let into = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
        // The folder itself is the server's own choice, links and all.
        let mut at: OwnedFd = openat(CWD, root, into, Mode::empty())?;
        for folder in folders {
            at = openat(&at, folder, into | OFlags::NOFOLLOW, Mode::empty())?;
        }
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(&at, name, flags, Mode::RUSR | Mode::WUSR)?))
    }
}

const OFF: &str = "statements may not use files here; start the server with `--files DIR`, and they may below that folder";

/// The folders of a path below the root, and the file's name.
fn steps<'p>(root: &Path, path: &'p Path) -> io::Result<(Vec<&'p OsStr>, &'p OsStr)> {
    let outside = || io::Error::other("it is not below the folder of `--files`");
    let below = match path.is_absolute() {
        false => path,
        true => {
            let whole = root.canonicalize();
            let whole = whole.as_deref().unwrap_or(root);
            path.strip_prefix(root).or_else(|_| path.strip_prefix(whole)).map_err(|_| outside())?
        }
    };
    let mut steps = Vec::new();
    for component in below.components() {
        match component {
            Component::Normal(step) => steps.push(step),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(outside());
            }
        }
    }
    let name = steps.pop().ok_or_else(outside)?;
    Ok((steps, name))
}

fn told(error: &io::Error) -> String {
    match rustix::io::Errno::from_io_error(error) {
        Some(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR) => {
            "there is a symbolic link on the way, or what is no folder".to_owned()
        }
        Some(_) | None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn no_path_leads_out_of_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("files");
        fs::create_dir_all(root.join("in/side")).unwrap();
        fs::write(place.path().join("secret"), "hush").unwrap();
        fs::write(root.join("in/side/own"), "own").unwrap();
        symlink(place.path().join("secret"), root.join("link")).unwrap();
        symlink(place.path(), root.join("up")).unwrap();
        symlink("in", root.join("around")).unwrap();
        let folder = Folder(Some(root.clone()));
        let absolute = root.join("in/side/own");
        for path in ["in/side/own", "./in/side/own", "in//side/./own", absolute.to_str().unwrap()] {
            assert_eq!(folder.read(path).unwrap(), "own", "{path}");
        }
        let outside = place.path().join("secret");
        let dotted = root.join("../secret");
        for path in [
            "link",
            "up/secret",
            "../secret",
            "in/../../secret",
            "around/side/own",
            "",
            ".",
            "in",
            "/etc/passwd",
            "/dev/stdin",
            "/proc/self/environ",
            outside.to_str().unwrap(),
            dotted.to_str().unwrap(),
        ] {
            let error = folder.read(path).unwrap_err().to_string();
            assert!(!error.contains("hush"), "{error}");
            assert!(folder.write(path, "x").is_err(), "{path}");
        }
        assert_eq!(fs::read_to_string(place.path().join("secret")).unwrap(), "hush");
        folder.write("in/new", "text").unwrap();
        assert_eq!(fs::metadata(root.join("in/new")).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(folder.write("in/new", "again").is_err());
        assert!(folder.write("up/new", "x").is_err());
    }

    #[test]
    fn without_a_folder_it_is_said_how_to_have_one() {
        let error = Folder::default().read("x").unwrap_err().to_string();
        assert!(error.contains("--files"), "{error}");
    }
}
