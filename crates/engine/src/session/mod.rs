//! One client's session: requests in, pieces of replies out.

mod acquire;
mod administer;
mod admission;
mod ahead;
mod alone;
mod altered;
mod assemble;
mod base;
mod bound;
mod chosen;
mod computed;
mod config;
mod copy;
mod cursor;
mod database;
mod declared;
mod deferred;
mod definition;
mod door;
mod errand;
mod finish;
mod global;
mod guard;
mod home;
mod insert_query;
mod keys;
mod limited;
mod listed;
mod local;
mod lock;
mod maintain;
mod marks;
mod memory;
mod modes;
mod moved;
mod needs;
mod origin;
mod outbox;
mod outline;
mod own;
mod parted;
mod place;
mod pooled;
mod prepared;
mod recall;
mod relocation;
mod reply;
mod retell;
mod round;
mod run;
mod seen;
mod serial;
mod setting;
mod settings;
mod status;
mod steps;
mod tag;
mod temporary;
mod text;
mod verbs;
mod victim;
mod view;
mod warnings;
mod whole;
mod work;

use bound::{Bound, Window};
use cursor::Cursors;
use memory::Memory;
use outbox::Outbox;
use place::Place;
pub(crate) use setting::{answer, read_effects, undress};
use settings::Settings;
use temporary::TemporaryTables;
use verbs::Opened;
use work::Work;

/// A client's session, in parts that each know their own.
#[derive(Debug)]
pub struct Session {
    place: Place,
    settings: Settings,
    work: Work,
    outbox: Outbox,
    cursors: Cursors,
    memory: Memory,
    /// The session's temporary tables, and the connection that has them.
    temporary: TemporaryTables,
}
