//! One client's session: requests in, pieces of replies out.

mod bulk;
mod cursors;
mod door;
mod given;
mod line;
mod memory;
mod place;
mod reply;
mod run;
mod settings;
mod statement;
mod steps;
mod transaction;

use cursors::portals::Cursors;
use given::{Bound, Window};
use memory::Memory;
use place::Place;
use reply::Outbox;
use settings::Settings;
pub(crate) use settings::set::{answer, read_effects, undress};
use transaction::Work;
use transaction::temporary::TemporaryTables;
use transaction::verbs::Opened;

/// A client's session, in parts that each know their own.
#[derive(Debug)]
pub struct Session {
    place: Place,
    settings: Settings,
    work: Work,
    outbox: Outbox,
    cursors: Cursors,
    memory: Memory,
    temporary: TemporaryTables,
}
