//! From a changed model to a repository that has it: all of it visible at once, however large it is.

use pando_model::{Key as Secret, Write, difference};
use pando_repository::limits::{MAX_CHANGE_BYTES, MAX_CHANGE_KEYS, MAX_VALUE_BYTES};
use pando_repository::{Change, Error, Key, Repository, Result};

use crate::keys;
use crate::stored::{Entries, Stored, Version, packed, part_name, pending};

/// Keys of one commit: room is left for the version and for what a repository needs around them.
const KEYS: usize = MAX_CHANGE_KEYS - 4;
/// Bytes of one commit, likewise.
const BYTES: usize = MAX_CHANGE_BYTES - (64 << 10);
/// Bytes of one part of a pending change.
const PART: usize = MAX_VALUE_BYTES - (16 << 10);

/// What a repository is to hold.
pub(crate) struct Wanted<'a> {
    pub(crate) entries: &'a Entries,
    /// Writes of other entries, made together with them.
    pub(crate) more: Vec<Write>,
}

/// Makes the entries those of the repository, if it is still as `base` says. A change that one commit cannot hold is laid down in parts below a
/// folder of its own, decided by the version that names the folder, and then carried over into place; whoever reads in between sees it whole.
///
/// # Errors
/// `Conflict` when somebody else was faster; nothing has changed then. `Unknown` as the repository says.
///
/// The key, where there is one, marks what is there then.
pub(crate) async fn commit(
    repository: &dyn Repository,
    base: &Stored,
    wanted: Wanted<'_>,
    author: &str,
    key: Option<&Secret>,
) -> Result<()> {
    let Wanted { entries, more } = wanted;
    finish(repository, base, key).await?;
    let base = &reread_if_pending(repository, base).await?;
    let mut writes = difference(&base.entries, entries);
    writes.extend(more);
    let version = |pending| {
        let (number, author) = (base.next(), author.to_owned());
        let version = Version { number, author, pending, mark: None, revision: base.revision };
        version.marked(key, entries)
    };
    let own = keys::fixed(keys::VERSION)?;
    let decided = |change: Change, version: &Version| {
        change.expect(&own, base.expected()).put(&own, version.text())
    };
    let mut batches = batches(writes)?;
    if batches.len() < 2 {
        let writes = batches.pop().unwrap_or_default();
        let change = decided(with(Change::new(), writes)?, &version(None));
        return repository.commit(change).await.map(drop);
    }
    let writes: Vec<Write> = batches.into_iter().flatten().collect();
    let parts = parts(&writes)?;
    for (number, part) in parts.iter().enumerate() {
        let key = Key::parse(&format!("{}{}", keys::PENDING, part_name(author, number)))?;
        repository.commit(Change::new().put(&key, part.clone())).await?;
    }
    let version = version(Some((author.to_owned(), parts.len())));
    repository.commit(decided(Change::new(), &version)).await?;
    // It is decided; if carrying it over fails now, the next change does it.
    if let Ok(view) = repository.read(&pando_repository::Prefix::root()).await
        && let Ok(now) = Stored::read(&view)
        && let Err(error) = finish(repository, &now, key).await
    {
        tracing::info!(%error, "a large change of the configuration is still being carried over");
    }
    Ok(())
}

async fn reread_if_pending(repository: &dyn Repository, base: &Stored) -> Result<Stored> {
    let was_pending = base.version.as_ref().is_some_and(|version| version.pending.is_some());
    if !was_pending {
        return Ok(base.clone());
    }
    let view = repository.read(&pando_repository::Prefix::root()).await?;
    let now = Stored::read(&view)?;
    let same = now.entries == base.entries && now.next() == base.next().saturating_add(1);
    if same { Ok(now) } else { Err(Error::Conflict(keys::fixed(keys::VERSION)?)) }
}

/// Carries a decided change over into place, so that its folder can go. Any instance may, any number of times.
///
/// # Errors
/// `Conflict` when another instance has done it meanwhile.
async fn finish(repository: &dyn Repository, stored: &Stored, key: Option<&Secret>) -> Result<()> {
    let Some(version) = &stored.version else { return Ok(()) };
    let Some((folder, count)) = &version.pending else { return Ok(()) };
    let below = pando_repository::Prefix::parse(&format!("{}{folder}", keys::PENDING))?;
    let view = repository.read(&below).await?;
    let values: Vec<(String, Vec<u8>)> = view
        .entries
        .iter()
        .filter_map(|(key, entry)| {
            Some((key.as_str().strip_prefix(keys::PENDING)?.to_owned(), entry.value.to_vec()))
        })
        .collect();
    let parts = values.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    let own = keys::fixed(keys::VERSION)?;
    let guarded = || Change::new().expect(&own, stored.expected());
    for batch in batches(pending(Some(version), &parts)?)? {
        repository.commit(with(guarded(), batch)?).await?;
    }
    let done = Version {
        number: stored.next(),
        author: version.author.clone(),
        pending: None,
        mark: None,
        revision: version.revision,
    };
    let done = done.marked(key, &stored.entries);
    repository.commit(guarded().put(&own, done.text())).await?;
    for number in 0..*count {
        let key = Key::parse(&format!("{}{}", keys::PENDING, part_name(folder, number)))?;
        repository.commit(Change::new().delete(&key)).await?;
    }
    Ok(())
}

fn with(change: Change, writes: Vec<Write>) -> Result<Change> {
    writes.into_iter().try_fold(change, |change, write| {
        Ok(match write {
            Write::Put { path, value } => change.put(&Key::parse(&path)?, value),
            Write::Delete { path } => change.delete(&Key::parse(&path)?),
        })
    })
}

/// The writes in commits, as few as hold them.
fn batches(writes: Vec<Write>) -> Result<Vec<Vec<Write>>> {
    let mut out: Vec<Vec<Write>> = Vec::new();
    let mut bytes = 0;
    for write in writes {
        let own = size(&write);
        if own > PART {
            return Err(too_large(&write));
        }
        let is_full = out.last().is_none_or(|last| last.len() >= KEYS) || bytes + own > BYTES;
        if is_full {
            out.push(Vec::new());
            bytes = 0;
        }
        bytes += own;
        if let Some(last) = out.last_mut() {
            last.push(write);
        }
    }
    Ok(out)
}

/// The writes as values of a bounded size.
fn parts(writes: &[Write]) -> Result<Vec<Vec<u8>>> {
    let mut out: Vec<Vec<u8>> = Vec::new();
    for write in writes {
        let bytes = packed(std::slice::from_ref(write));
        if bytes.len() > PART {
            return Err(too_large(write));
        }
        match out.last_mut().filter(|last| last.len() + bytes.len() <= PART) {
            Some(last) => last.extend(bytes),
            None => out.push(bytes),
        }
    }
    Ok(out)
}

fn size(write: &Write) -> usize {
    match write {
        Write::Put { path, value } => path.len() + value.len(),
        Write::Delete { path } => path.len(),
    }
}

fn too_large(write: &Write) -> Error {
    let (Write::Put { path, .. } | Write::Delete { path }) = write;
    Error::Refused(format!("the entry `{path}` is larger than {PART} bytes"))
}
