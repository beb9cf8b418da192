//! The thread of one connection: opens the database, runs one job after the other, ends with its backend.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::unavailable;
use crate::functions;
use crate::line::{Line, Presence, Stop};
use crate::pragma;
use crate::run::Session;

/// How long a statement waits for another connection's lock before it fails.
const BUSY_LIMIT: Duration = Duration::from_secs(10);

/// Virtual-machine steps between two looks at whether the statement shall stop.
const STEPS_BETWEEN_LOOKS: i32 = 1000;

/// Prepared statements kept per connection.
pub(crate) const STATEMENT_CACHE: usize = 256;

/// The most bytes of one value or one row: what makes them (`zeroblob`, `printf`, `group_concat`) holds all of it in this process's memory.
const LONGEST: i32 = 64 << 20;

/// Durability is the default's: a commit is on disk when it is reported.
const SETUP: &str =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON";

/// Starts the thread. The line tells whether the database could be opened.
pub(crate) fn spawn(path: &Arc<str>, number: u64, line: Arc<Line>) {
    let (own, inner) = (Arc::clone(path), Arc::clone(&line));
    let name = format!("pando-sqlite-{number}");
    let started = thread::Builder::new().name(name).spawn(move || work(&own, &inner));
    if let Err(error) = started {
        let error = format!("no thread for the connection: {error}");
        line.opened(Err(unavailable(path, error)), None);
    }
}

fn work(path: &str, line: &Arc<Line>) {
    let _presence = Presence(Arc::clone(line));
    let mut session = match open(path, line).and_then(|c| Session::new(c, Arc::clone(line))) {
        Ok(session) => session,
        Err(error) => {
            line.opened(Err(unavailable(path, error.to_string())), None);
            return;
        }
    };
    line.opened(Ok(()), Some(session.interrupt_handle()));
    while let Some(job) = line.next_job() {
        match session.run(job) {
            Ok(()) => line.end(Ok(()), session.transaction()),
            Err(Stop::Failed(error)) => line.end(Err(error), session.transaction()),
            Err(Stop::Abandoned) => return,
        }
    }
}

fn open(path: &str, line: &Arc<Line>) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    wait_for_locks(&mut connection, Arc::clone(line))?;
    let looked = Arc::clone(line);
    connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || looked.stopping()))?;
    set_up(&connection, line)?;
    connection.authorizer(Some(pragma::authorize))?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    functions::register(&connection)?;
    Ok(connection)
}

/// Two connections that open a new file at once cannot both turn it to WAL, and no busy handler is asked then.
fn set_up(connection: &Connection, line: &Line) -> rusqlite::Result<()> {
    let since = Instant::now();
    loop {
        let done = connection.execute_batch(SETUP);
        let is_locked = done.as_ref().is_err_and(|error| {
            let code = error.sqlite_error_code();
            matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
        });
        if !is_locked || since.elapsed() > BUSY_LIMIT || !line.linger(Duration::from_millis(5)) {
            return done;
        }
    }
}

/// SQLite's own busy timeout cannot be interrupted; this one can.
fn wait_for_locks(connection: &mut Connection, line: Arc<Line>) -> rusqlite::Result<()> {
    let mut since = Instant::now();
    connection.busy_handler(Some(move |tries: i32| {
        if tries == 0 {
            since = Instant::now();
        }
        let pause = Duration::from_millis(1 << tries.clamp(0, 4));
        since.elapsed() < BUSY_LIMIT && line.linger(pause)
    }))
}
