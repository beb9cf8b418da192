//! The folder with the configuration is this server's user's alone: there are passwords in it, and the key that seals them.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use pando_kernel::error::Result;
use rustix::fs::Mode;

use crate::options::Options;
use crate::wrong::configuration;

/// Entries of the folder that are looked at.
const MOST: usize = 100_000;

/// Whatever this process makes from here on is its user's alone, from the moment it is there.
pub(crate) fn keep_to_ourselves() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Makes the folder, or takes from others what an earlier version or somebody else has left them.
///
/// # Errors
/// `Configuration` when it cannot be made, or cannot be closed to others.
pub(crate) fn make(folder: &Path) -> Result<()> {
    let failed =
        |error: io::Error| configuration(format!("`--data`: `{}`: {error}", folder.display()));
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let about = fs::metadata(folder).map_err(failed)?;
    if about.mode() & SHARED != 0 {
        return Err(failed(io::Error::other("it is everybody's; give a folder of its own in it")));
    }
    close(folder, 0o700).map_err(failed)?;
    // Nobody else comes any deeper then.
    for (seen, entry) in fs::read_dir(folder).map_err(failed)?.enumerate() {
        let entry = entry.map_err(failed)?;
        if seen >= MOST {
            return Err(failed(io::Error::other("there are too many files in it")));
        }
        if entry.file_type().map_err(failed)?.is_file() {
            close(&entry.path(), 0o600).map_err(failed)?;
        }
    }
    Ok(())
}

/// The sticky bit, as of `/tmp`.
const SHARED: u32 = 0o1000;

fn close(path: &Path, mode: u32) -> io::Result<()> {
    if fs::metadata(path)?.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(mode))?;
        tracing::warn!(path = %path.display(), "was open to other users, and is not any more");
    }
    Ok(())
}

/// The folder for files of statements, which must have nothing of the server's own in it.
///
/// # Errors
/// `Configuration` when it is no folder, or shares files with the configuration's.
pub(crate) fn exchange(options: &Options) -> Result<Option<PathBuf>> {
    let Some(folder) = &options.files else { return Ok(None) };
    let failed = |why: String| configuration(format!("`--files`: `{}`: {why}", folder.display()));
    let whole = folder.canonicalize().map_err(|error| failed(error.to_string()))?;
    if !whole.is_dir() {
        return Err(failed("it is no folder".to_owned()));
    }
    let own =
        [options.store.as_ref(), options.config.path(), options.tls.as_ref().map(|tls| &tls.key)];
    for own in own.into_iter().flatten() {
        let own = own.canonicalize().unwrap_or_else(|_| own.clone());
        if own.starts_with(&whole) || whole.starts_with(&own) {
            return Err(failed(format!(
                "it must stand apart from `{}`, whose files are not for statements",
                own.display()
            )));
        }
    }
    Ok(Some(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_open_to_others_is_closed() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("data");
        fs::create_dir_all(&folder).unwrap();
        for name in ["secret.key", "ds_0.db"] {
            fs::write(folder.join(name), "x").unwrap();
            fs::set_permissions(folder.join(name), Permissions::from_mode(0o644)).unwrap();
        }
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        make(&folder).unwrap();
        assert_eq!(mode(&folder), 0o700);
        assert_eq!(mode(&folder.join("secret.key")), 0o600);
        assert_eq!(mode(&folder.join("ds_0.db")), 0o600);
        let shared = place.path().join("shared");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, Permissions::from_mode(0o1777)).unwrap();
        assert!(make(&shared).is_err());
        assert_eq!(mode(&shared), 0o777);
        let new = place.path().join("new/inner");
        make(&new).unwrap();
        assert_eq!(mode(&new), 0o700);
    }

    #[test]
    fn files_of_statements_stand_apart_from_the_servers_own() {
        let place = tempfile::tempdir().unwrap();
        let (data, files) = (place.path().join("data"), place.path().join("files"));
        fs::create_dir_all(data.join("below")).unwrap();
        fs::create_dir_all(&files).unwrap();
        let with = |files: &Path| Options {
            store: Some(data.clone()),
            files: Some(files.to_path_buf()),
            ..Options::default()
        };
        assert!(exchange(&with(&files)).unwrap().is_some());
        for wrong in
            [data.as_path(), &data.join("below"), place.path(), Path::new("/no/such/folder")]
        {
            assert!(exchange(&with(wrong)).is_err(), "{}", wrong.display());
        }
        assert_eq!(exchange(&Options::default()).unwrap(), None);
    }
}
