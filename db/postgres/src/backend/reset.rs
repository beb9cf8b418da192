//! Putting a connection back to how it was after login.

use bytes::BytesMut;
use pando_kernel::{Error, Result};

use super::request;
use crate::codec::frontend::encode_sync;

/// What `DISCARD ALL` does, but for the prepared statements and plans, which are kept.
/// <https://www.postgresql.org/docs/current/sql-discard.html>
const RESET: &str = "CLOSE ALL; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; UNLISTEN *; \
    SELECT pg_catalog.pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES";
/// What forgets also statements that somebody has prepared under the names of ours. It commits by itself.
/// <https://www.postgresql.org/docs/current/sql-discard.html>
const SCRUB: &str = "DISCARD ALL";

/// What a connection is doing that is to be put back.
#[derive(Debug, Clone, Copy)]
pub(super) enum Doing {
    Nothing,
    /// Something is under way, or a transaction is open.
    Something,
}

/// Appends what puts a connection back, of which the prepared statements stay.
pub(super) fn put(out: &mut BytesMut, doing: Doing) -> Result<()> {
    match doing {
        Doing::Nothing => request::query(out, RESET),
        Doing::Something => request::query(out, &format!("ROLLBACK; {RESET}")),
    }
}

/// Appends what puts a connection back from all that somebody may have made of it. Behind what it runs stands one Sync: where the first fails nothing else is done. Somebody
/// may have made the numbers of random() known beforehand, which DISCARD does not care for; SET needs no plan, as `SELECT setseed(…)` does.
/// <https://www.postgresql.org/docs/current/sql-set.html>
pub(super) fn put_scrub(out: &mut BytesMut, doing: Doing) -> Result<()> {
    let seed = format!("SET seed = {}", seed()?);
    match doing {
        Doing::Nothing => {}
        Doing::Something => request::aside(out, "ROLLBACK")?,
    }
    request::aside(out, SCRUB)?;
    request::aside(out, &seed)?;
    encode_sync(out);
    Ok(())
}

/// Where random() begins anew: nobody can know.
fn seed() -> Result<f64> {
    let mut bytes = [0; 4];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| Error::internal("no randomness is to be had"))?;
    Ok(f64::from(i32::from_ne_bytes(bytes)) / f64::from(1_u32 << 31))
}
