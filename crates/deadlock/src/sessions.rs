//! What a look asks of the process whose sessions these are.

use std::fmt::Debug;
use std::sync::Arc;

use pando_kernel::Connector;

use crate::party::{Cost, Queue, Stance};

/// The sessions of this process.
pub trait Sessions: Send + Sync + Debug {
    /// Those that have more than one connection, or have one, or rows of BASE, and wait for another. In any order.
    fn spread(&self) -> Vec<Stand>;

    /// What opens connections to the storage units that are served now; the first 256 are looked at.
    fn connectors(&self) -> Vec<Arc<dyn Connector>>;

    /// Ends a wait of a session, and with it its transaction; false when the wait is over. `told` is the cycle it was in.
    fn give_way(&self, session: u32, wait: u64, told: &str) -> bool;
}

/// How one session stands.
#[derive(Debug, Clone)]
pub struct Stand {
    /// Its number.
    pub session: u32,
    /// Which of its waits; another number for each of them. `None` while it waits for nobody but its client.
    pub wait: Option<u64>,
    /// The connections it has.
    pub held: Vec<Held>,
    /// What would be lost with its transaction.
    pub cost: Cost,
    /// How it stands to being ended.
    pub stance: Stance,
    /// Its BASE transaction, while it waits for rows or for a connection.
    pub claims: Option<Claims>,
    /// It waits for connections of a pool; `None` when it waits for none, or when somebody has one of whom nothing is known.
    pub queue: Option<Queue<Held>>,
}

/// A BASE transaction, which may hold rows, and its waits for rows that others hold: they stand in a table, so that no server takes them for waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// The number of its global transaction: [`number_of`].
    pub own: u64,
    /// The numbers of those whose rows it waits for.
    pub wanted: Vec<u64>,
}

/// The number by which a global transaction is known to all instances: FNV-1a. <http://www.isthe.com/chongo/tech/comp/fnv/>
pub fn number_of(global: &str) -> u64 {
    let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    global.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// A connection that somebody has.
#[derive(Debug, Clone)]
pub struct Held {
    /// What opened it.
    pub connector: Arc<dyn Connector>,
    /// Its number at its server: [`pando_kernel::CancelToken::id`].
    pub id: u64,
    /// It is at work.
    pub is_running: bool,
}
