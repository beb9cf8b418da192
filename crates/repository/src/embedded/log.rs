//! The file: changes are appended and on disk before they are shown. A file that has grown beyond its use is written anew beside it
//! and takes its place by a rename.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::record::{self, FRAME, MAX_PAYLOAD, Record};
use super::state::State;
use crate::{Error, Result, Revision};

const MAGIC: &[u8] = b"pando repository 1\n";
const NAME: &str = "configuration.log";
const NEW: &str = "configuration.log.new";
const LOCK: &str = "lock";

/// More than any store within its limits writes before it compacts.
const MAX_FILE: u64 = 1 << 30;

/// How much larger than its beginning a file gets before it is written anew.
const GROWTH: u64 = 4;

/// The open log of a locked folder.
#[derive(Debug)]
pub(super) struct Log {
    folder: PathBuf,
    file: File,
    /// Up to here everything is on disk.
    length: u64,
    /// Where the next compaction is due.
    compact_at: u64,
    compact_after: u64,
    /// Why nothing more can be written: the disk's state is unknown until the file is read again.
    broken: Option<String>,
    /// Held as long as the log is open.
    _lock: File,
}

/// How an append ended when it did not succeed.
#[derive(Debug)]
pub(super) enum Failed {
    /// Nothing of it is in the file.
    Cleanly(String),
    /// It may be on disk.
    InDoubt(String),
}

impl Log {
    /// Opens the folder's log, or makes both, and gives the keys in it. Files are written anew when they are longer than `compact_after` bytes
    /// and than a multiple of what is kept.
    pub(super) fn open(folder: &Path, compact_after: u64) -> Result<(Self, State)> {
        let at = |e: io::Error| Error::Unavailable(format!("`{}`: {e}", folder.display()));
        make_folder(folder).map_err(at)?;
        let lock = lock(folder)?;
        match fs::remove_file(folder.join(NEW)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(at(e)),
            Ok(()) | Err(_) => {}
        }
        let path = folder.join(NAME);
        if !path.try_exists().map_err(at)? {
            write_anew(folder, &State::default()).map_err(at)?;
            fs::rename(folder.join(NEW), &path).and_then(|()| flush_folder(folder)).map_err(at)?;
        }
        let mut file = OpenOptions::new().read(true).write(true).open(&path).map_err(at)?;
        let (state, base, length) = load(&mut file, &path)?;
        file.seek(SeekFrom::Start(length)).map_err(at)?;
        let compact_at = compact_after.max(base * GROWTH);
        let folder = folder.to_owned();
        Ok((
            Self { folder, file, length, compact_at, compact_after, broken: None, _lock: lock },
            state,
        ))
    }

    /// Returns once the record is on disk.
    pub(super) fn append(&mut self, record: &Record) -> std::result::Result<(), Failed> {
        if let Some(why) = &self.broken {
            return Err(Failed::Cleanly(why.clone()));
        }
        self.check_in_place()?;
        let mut bytes = Vec::new();
        record.append(self.length, &mut bytes);
        if let Err(e) = self.file.write_all(&bytes) {
            return Err(self.take_back(&e));
        }
        if let Err(e) = self.file.sync_data() {
            // What a failed flush left on disk cannot be known, and a later one may say nothing of it.
            let why = format!("`{}` could not be flushed: {e}", self.path().display());
            self.broken = Some(format!("{why}; start again to read what is there"));
            return Err(Failed::InDoubt(why));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// A file that somebody has removed or put another in the place of can be written, but never read again.
    fn check_in_place(&self) -> std::result::Result<(), Failed> {
        let path = self.path();
        let is_ours = fs::metadata(&path).and_then(|named| {
            let own = self.file.metadata()?;
            Ok((named.dev(), named.ino()) == (own.dev(), own.ino()))
        });
        let why = match is_ours {
            Ok(true) => return Ok(()),
            Ok(false) => "it was replaced".to_owned(),
            Err(e) => e.to_string(),
        };
        let path = path.display();
        Err(Failed::Cleanly(format!("`{path}` is not the file any more that was opened: {why}")))
    }

    /// Whether the file has grown enough to be written anew.
    pub(super) fn is_due(&self) -> bool {
        self.length >= self.compact_at && self.broken.is_none()
    }

    /// Writes the file anew, with the keys as they are after the last append. The old file stays when it cannot be done.
    pub(super) fn compact(&mut self, state: &State) {
        match self.replace(state) {
            Ok(()) => self.compact_at = self.compact_after.max(self.length * GROWTH),
            Err(e) => {
                let path = self.path();
                tracing::warn!(path = %path.display(), error = %e, "the log could not be compacted");
                self.compact_at = self.length * 2;
            }
        }
    }

    fn replace(&mut self, state: &State) -> io::Result<()> {
        let length = write_anew(&self.folder, state)?;
        fs::rename(self.folder.join(NEW), self.path())?;
        // From here on the open file is not the log any more: a change appended to it would be lost.
        let opened = flush_folder(&self.folder).and_then(|()| {
            let mut file = OpenOptions::new().read(true).write(true).open(self.path())?;
            file.seek(SeekFrom::Start(length))?;
            Ok(file)
        });
        match opened {
            Ok(file) => (self.file, self.length) = (file, length),
            Err(e) => {
                self.broken = Some(format!("the log could not be replaced: {e}"));
                return Err(e);
            }
        }
        Ok(())
    }

    /// After a write that did not fit: leaves the file as it was before.
    fn take_back(&mut self, cause: &io::Error) -> Failed {
        let why = format!("`{}` could not be written: {cause}", self.path().display());
        let cut = self.file.set_len(self.length).and_then(|()| self.file.sync_all());
        match cut.and_then(|()| self.file.seek(SeekFrom::Start(self.length))) {
            Ok(_) => Failed::Cleanly(why),
            Err(_) => {
                self.broken = Some(format!("{why}; start again to read what is there"));
                Failed::InDoubt(why)
            }
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }
}

/// Passwords stand in the log, if sealed.
const OWN: u32 = 0o600;

fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => flush_folder(parent),
        _ => flush_folder(Path::new(".")),
    }
}

/// A name is on disk only when its folder is.
fn flush_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let at = |e: io::Error| Error::Unavailable(format!("`{}`: {e}", path.display()));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(OWN);
    let opened = options.open(&path);
    let mut file = opened.map_err(at)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // Who holds it is said where it can be read; not knowing changes nothing.
            let read = file.take(20).read_to_string(&mut text);
            let by = if read.is_ok() { text.trim() } else { "" };
            let folder = folder.display();
            return Err(Error::Unavailable(format!(
                "`{folder}` is in use by another process ({by})"
            )));
        }
        Err(TryLockError::Error(e)) => return Err(at(e)),
    }
    file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(at)?;
    Ok(file)
}

/// Reads the whole file, cuts a torn tail off, and gives the keys, the length of the file's beginning and its length.
fn load(file: &mut File, path: &Path) -> Result<(State, u64, u64)> {
    let failed = |e: io::Error| Error::Unavailable(format!("`{}`: {e}", path.display()));
    let length = file.metadata().map_err(failed)?.len();
    if length > MAX_FILE {
        return Err(Error::Refused(format!("`{}` has {length} bytes", path.display())));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    file.read_to_end(&mut bytes).map_err(failed)?;
    let damaged = |at: usize| Error::Damaged(format!("`{}` at byte {at}", path.display()));
    if !bytes.starts_with(MAGIC) {
        return Err(damaged(0));
    }
    let mut replay = Replay::default();
    let mut at = MAGIC.len();
    while let Some((record, next)) = record::read(&bytes, at) {
        replay.take(record, next).ok_or_else(|| damaged(at))?;
        at = next;
    }
    if replay.expected != Some(0) {
        return Err(damaged(at));
    }
    let rest = bytes.len() - at;
    if rest > 0 {
        // Only one record is ever not flushed, and it is the last: anything whole after it means that it was flushed once.
        let is_last = rest <= FRAME + MAX_PAYLOAD
            && (at + 1..bytes.len()).all(|later| record::whole(&bytes, later).is_none());
        if !is_last || record::whole(&bytes, at).is_some() {
            return Err(damaged(at));
        }
        tracing::warn!(path = %path.display(), at, bytes = rest, "an unfinished change was cut off");
        file.set_len(at as u64).and_then(|()| file.sync_all()).map_err(failed)?;
    }
    Ok((replay.state, replay.base, at as u64))
}

#[derive(Default)]
struct Replay {
    state: State,
    /// How many entries of the beginning are still to come; `None` before it.
    expected: Option<u64>,
    base: u64,
}

impl Replay {
    /// `None` when the record does not belong there.
    fn take(&mut self, record: Record, next: usize) -> Option<()> {
        match (record, self.expected) {
            (Record::Base { revision, entries }, None) => {
                self.state.revision = revision;
                self.expected = Some(entries);
                self.base = next as u64;
            }
            (Record::Entry { revision, key, value }, Some(1..)) => {
                self.state.load(key, Some(value), revision);
                self.expected = self.expected.map(|n| n - 1);
                self.base = next as u64;
            }
            (Record::Commit { revision, writes }, Some(0)) if revision > self.state.revision => {
                self.state.revision = revision;
                for (key, value) in writes {
                    self.state.load(key, value, revision);
                }
            }
            (Record::Base { .. } | Record::Entry { .. } | Record::Commit { .. }, _) => return None,
        }
        Some(())
    }
}

/// Writes a file with the keys that stay, beside the log, and returns its length once it is on disk.
fn write_anew(folder: &Path, state: &State) -> io::Result<u64> {
    let mut out = MAGIC.to_vec();
    let revision: Revision = state.revision;
    let entries = state.kept().count() as u64;
    Record::Base { revision, entries }.append(out.len() as u64, &mut out);
    for (key, value, revision) in state.kept() {
        let (key, value) = (key.clone(), value.clone());
        Record::Entry { revision, key, value }.append(out.len() as u64, &mut out);
    }
    let mut options = OpenOptions::new();
    let mut file =
        options.write(true).create(true).truncate(true).mode(OWN).open(folder.join(NEW))?;
    file.write_all(&out)?;
    file.sync_all()?;
    Ok(out.len() as u64)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{Change, Key};

    const NEVER: u64 = 1 << 40;

    fn commit(log: &mut Log, state: &mut State, change: Change) {
        let revision = Revision(state.revision.0 + 1);
        log.append(&Record::Commit { revision, writes: state.durable(&change) }).unwrap();
        state.apply(change, revision, 1);
    }

    fn set(n: usize) -> Change {
        let key = |name| Key::parse(name).unwrap();
        Change::new()
            .put(&key("/a"), n.to_string())
            .put(&key("/b"), vec![b'x'; n])
            .delete(&key("/c"))
    }

    fn kept(state: &State) -> Vec<(Key, Bytes, Revision)> {
        state.kept().map(|(key, value, at)| (key.clone(), value.clone(), at)).collect()
    }

    /// A folder whose log has three changes: its bytes, where the last record begins, and the keys before and after it.
    struct Written {
        folder: tempfile::TempDir,
        bytes: Vec<u8>,
        last: usize,
        before: Vec<(Key, Bytes, Revision)>,
        after: Vec<(Key, Bytes, Revision)>,
    }

    fn written() -> Written {
        let folder = tempfile::tempdir().unwrap();
        let (mut log, mut state) = Log::open(folder.path(), NEVER).unwrap();
        commit(&mut log, &mut state, set(3));
        commit(&mut log, &mut state, set(40));
        let (last, before) = (log.length as usize, kept(&state));
        commit(&mut log, &mut state, set(5));
        drop(log);
        let bytes = fs::read(folder.path().join(NAME)).unwrap();
        Written { folder, bytes, last, before, after: kept(&state) }
    }

    fn reopen(written: &Written, bytes: &[u8]) -> Result<Vec<(Key, Bytes, Revision)>> {
        fs::write(written.folder.path().join(NAME), bytes).unwrap();
        Log::open(written.folder.path(), NEVER).map(|(_, state)| kept(&state))
    }

    #[test]
    fn a_tail_torn_at_any_byte_leaves_the_state_before_the_last_change() {
        let written = written();
        assert_eq!(reopen(&written, &written.bytes), Ok(written.after.clone()));
        for end in written.last..written.bytes.len() {
            let torn = &written.bytes[..end];
            assert_eq!(reopen(&written, torn), Ok(written.before.clone()), "cut at {end}");
            // What was cut is gone, so that the next change stands where it can be read.
            let length = fs::metadata(written.folder.path().join(NAME)).unwrap().len();
            assert_eq!(length as usize, written.last, "cut at {end}");
            // A disk may have given the file its length and not yet its bytes.
            let mut zeros = torn.to_vec();
            zeros.resize(written.bytes.len(), 0);
            assert_eq!(reopen(&written, &zeros), Ok(written.before.clone()), "zeros at {end}");
        }
    }

    #[test]
    fn sectors_of_the_last_record_may_reach_the_disk_in_any_order() {
        let written = written();
        for at in written.last..written.bytes.len() {
            let mut other = written.bytes.clone();
            other[at] ^= 0x55;
            assert_eq!(reopen(&written, &other), Ok(written.before.clone()), "changed at {at}");
        }
    }

    #[test]
    fn a_changed_byte_before_the_last_record_is_damage_and_named() {
        let written = written();
        for at in 0..written.last {
            let mut other = written.bytes.clone();
            other[at] ^= 0x55;
            let found = reopen(&written, &other);
            let Err(Error::Damaged(why)) = &found else { panic!("changed at {at}: {found:?}") };
            assert!(why.contains(NAME) && why.contains("at byte"), "{why}");
        }
    }

    #[test]
    fn a_cut_inside_the_beginning_is_damage() {
        let written = written();
        let base = record::read(&written.bytes, MAGIC.len()).unwrap().1;
        for end in 0..base {
            let found = reopen(&written, &written.bytes[..end]);
            assert!(matches!(found, Err(Error::Damaged(_))), "cut at {end}: {found:?}");
        }
    }

    #[test]
    fn a_compacted_log_has_the_same_keys_and_revisions_and_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let (mut log, mut state) = Log::open(folder.path(), 200).unwrap();
        let mut compacted = 0;
        for n in 0..100 {
            commit(&mut log, &mut state, set(n % 50));
            if log.is_due() {
                log.compact(&state);
                compacted += 1;
            }
        }
        assert!(compacted > 3 && log.length < 2_000, "{compacted} times, {} bytes", log.length);
        drop(log);
        let (_, again) = Log::open(folder.path(), 200).unwrap();
        assert_eq!(kept(&again), kept(&state));
        assert_eq!(again.revision, state.revision);
    }

    #[test]
    fn a_compaction_that_was_cut_short_is_as_if_it_had_not_begun() {
        let written = written();
        fs::write(written.folder.path().join(NEW), b"half a file").unwrap();
        assert_eq!(reopen(&written, &written.bytes), Ok(written.after.clone()));
        assert!(!written.folder.path().join(NEW).exists());
    }

    #[test]
    fn a_second_opening_is_refused_and_says_by_whom() {
        let folder = tempfile::tempdir().unwrap();
        let first = Log::open(folder.path(), NEVER).unwrap();
        let Err(Error::Unavailable(why)) = Log::open(folder.path(), NEVER).map(drop) else {
            panic!("opened twice")
        };
        assert!(why.contains(&format!("({})", std::process::id())), "{why}");
        drop(first);
        assert!(Log::open(folder.path(), NEVER).is_ok());
    }

    #[test]
    fn a_file_that_was_removed_or_replaced_takes_no_more_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let (mut log, mut state) = Log::open(folder.path(), NEVER).unwrap();
        commit(&mut log, &mut state, set(3));
        let revision = Revision(state.revision.0 + 1);
        let mut append =
            || log.append(&Record::Commit { revision, writes: state.durable(&set(5)) });
        let aside = folder.path().join("aside");
        fs::rename(&path, &aside).unwrap();
        assert!(matches!(append(), Err(Failed::Cleanly(why)) if why.contains(NAME)));
        fs::copy(&aside, &path).unwrap();
        assert!(matches!(append(), Err(Failed::Cleanly(why)) if why.contains("replaced")));
        fs::rename(&aside, &path).unwrap();
        append().unwrap();
    }

    #[test]
    fn a_file_that_is_not_a_log_is_not_touched() {
        let written = written();
        let strange = "#!/bin/sh";
        assert!(matches!(reopen(&written, strange.as_bytes()), Err(Error::Damaged(_))));
        assert_eq!(fs::read_to_string(written.folder.path().join(NAME)).unwrap(), strange);
    }
}
