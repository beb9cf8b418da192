//! One client's session: requests in, pieces of replies out.

mod bulk;
mod connections;
mod cursors;
mod door;
mod errors;
mod given;
mod line;
mod memory;
mod place;
mod reply;
mod request;
mod run;
mod settings;
mod statement;
mod steps;
mod transaction;

use crate::meant::Meant;

use cursors::Cursors;
use memory::Memory;
use place::Place;
use reply::Outbox;
use settings::Settings;
use transaction::Work;
use transaction::temporary::TemporaryTables;

pub(crate) use connections::ask::{answer, undress};
pub(crate) use run::find_out::read_effects;

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
    meant: Meant,
}
