//! The templates of one logical database, by the shape of their texts. Bounded in bytes. Sessions keep the few they used last, so that finding one of
//! these touches nothing they share.

use std::cell::RefCell;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pando_sql::Shape;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{Equivalent, Weighter};

use crate::plan::Template;

/// Bytes that the templates of one database may take, about.
const BYTES: u64 = 16 << 20;
/// Shapes there are about.
const ABOUT: usize = 4096;
/// Templates a session keeps at hand.
const AT_HAND: usize = 24;

thread_local! {
    /// Where shapes are read into: its buffers are used again by every statement of the thread.
    static SHAPE: RefCell<Shape> = RefCell::default();
}

/// Gives the thread's shape.
pub(crate) fn with_shape<T>(work: impl FnOnce(&mut Shape) -> T) -> T {
    SHAPE.with(|shape| match shape.try_borrow_mut() {
        Ok(mut shape) => work(&mut shape),
        Err(_) => work(&mut Shape::default()),
    })
}

/// What is known of a shape.
#[derive(Debug, Clone)]
pub(crate) enum Entry {
    /// It came once.
    Seen,
    /// It has no template, as things stood at this time.
    None(Moment),
    /// Its template.
    Template(Arc<Kept>),
}

/// A template and when it holds.
#[derive(Debug)]
pub(crate) struct Kept {
    key: Box<[u8]>,
    hash: u64,
    moment: Moment,
    pub(crate) template: Template,
}

/// A database and what was known of its tables: both change with every definition and every new configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) database: u64,
    pub(crate) epoch: u64,
}

impl Moment {
    /// A number that no other moment of its database has; not 0.
    pub(crate) fn era(self) -> u64 {
        // Databases count from 1, and one hardly lives through 2^32 definitions.
        self.database.wrapping_shl(32) ^ self.epoch
    }
}

/// A number that no other database of this process has.
pub(crate) fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// What is known of shapes.
pub(crate) struct Templates {
    cache: Cache<Key, Entry, ByBytes, BuildHasherDefault<AsItIs>>,
}

impl Default for Templates {
    fn default() -> Self {
        let hasher = BuildHasherDefault::default();
        let lifecycle = DefaultLifecycle::default();
        Self { cache: Cache::with(ABOUT, BYTES, ByBytes, hasher, lifecycle) }
    }
}

impl std::fmt::Debug for Templates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Templates").field("count", &self.cache.len()).finish_non_exhaustive()
    }
}

impl Templates {
    /// What is known of a shape; notes that it came.
    pub(crate) fn meet(&self, shape: &Shape, hash: u64) -> Option<Entry> {
        let known = self.cache.get(&Sought { bytes: shape.key(), hash });
        if known.is_none() {
            self.cache.insert(Key { bytes: shape.key().into(), hash }, Entry::Seen);
        }
        known
    }

    /// Notes what was found out about a shape.
    pub(crate) fn learn(&self, shape: &Shape, moment: Moment, template: Option<Template>) {
        let (key, hash): (Box<[u8]>, u64) = (shape.key().into(), shape.hash());
        let entry = match template {
            None => Entry::None(moment),
            Some(template) => {
                Entry::Template(Arc::new(Kept { key: key.clone(), hash, moment, template }))
            }
        };
        self.cache.insert(Key { bytes: key, hash }, entry);
    }
}

/// The templates a session used last.
#[derive(Debug, Default)]
pub(crate) struct AtHand {
    list: Vec<Held>,
    /// The next to give way.
    turn: usize,
}

/// A template at hand.
#[derive(Debug)]
struct Held {
    kept: Arc<Kept>,
    /// The prepared statement that used it last, if it has no constants: the same text need not be read for its shape again.
    text: Option<Arc<str>>,
}

impl AtHand {
    /// The template of a shape, when it is at hand and holds.
    pub(crate) fn find(&self, shape: &Shape, hash: u64, now: Moment) -> Option<&Arc<Kept>> {
        let mut all = self.list.iter().map(|held| &held.kept);
        all.find(|kept| kept.hash == hash && kept.moment == now && *kept.key == *shape.key())
    }

    /// The template of a prepared statement that has used it before, when it holds.
    pub(crate) fn find_text(&self, text: &Arc<str>, now: Moment) -> Option<&Arc<Kept>> {
        let is_it = |held: &&Held| held.text.as_ref().is_some_and(|own| Arc::ptr_eq(own, text));
        self.list.iter().find(is_it).map(|held| &held.kept).filter(|kept| kept.moment == now)
    }

    /// Notes that this text without constants has this template.
    pub(crate) fn know(&mut self, kept: &Arc<Kept>, text: &Arc<str>) {
        if let Some(held) = self.list.iter_mut().find(|held| Arc::ptr_eq(&held.kept, kept)) {
            held.text = Some(Arc::clone(text));
        }
    }

    /// Keeps a template at hand, in the place of another.
    pub(crate) fn keep(&mut self, kept: Arc<Kept>) {
        let held = Held { kept, text: None };
        if let Some(same) = self.list.iter_mut().find(|known| known.kept.hash == held.kept.hash) {
            *same = held;
        } else if self.list.len() < AT_HAND {
            self.list.push(held);
        } else {
            self.turn = (self.turn + 1) % AT_HAND;
            self.list[self.turn] = held;
        }
    }
}

impl Kept {
    /// A number that no other moment of its database has; not 0.
    pub(crate) fn era(&self) -> u64 {
        self.moment.era()
    }

    /// Whether it holds.
    pub(crate) fn holds(&self, now: Moment) -> bool {
        self.moment == now
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    bytes: Box<[u8]>,
    hash: u64,
}

struct Sought<'a> {
    bytes: &'a [u8],
    hash: u64,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Hash for Sought<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Equivalent<Key> for Sought<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.hash == key.hash && *self.bytes == *key.bytes
    }
}

/// Keys bring their hash with them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[derive(Debug, Clone, Copy)]
struct ByBytes;

impl Weighter<Key, Entry> for ByBytes {
    fn weight(&self, key: &Key, entry: &Entry) -> u64 {
        let own = match entry {
            Entry::Seen | Entry::None(_) => 0,
            Entry::Template(kept) => kept.key.len() + kept.template.weight(),
        };
        (64 + key.bytes.len() + own) as u64
    }
}
