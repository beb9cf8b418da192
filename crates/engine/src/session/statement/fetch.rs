//! FETCH and MOVE: over the rows that a cursor has to give, and back over those that it has given.

use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::event::{Completion, Event};
use pando_kernel::{Columns, Rows};
use pando_sql::ast::Direction;

use crate::execute::too_much;

use crate::session::Session;
use crate::session::cursors::fetch as portal;
use crate::session::cursors::rows::{Order, Stand};
use crate::session::errors::server_error;
use crate::session::reply::pull::piece;

/// What is done with the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Verb {
    /// The client gets them.
    Fetch,
    /// They are counted.
    Move,
}

/// The cursor that is asked, and what it has given for this statement.
struct Walk<'a> {
    session: &'a mut Session,
    name: &'a str,
    columns: Option<Columns>,
    found: Vec<Rows>,
}

/// Runs FETCH or MOVE.
///
/// # Errors
/// `Server` where there is no such cursor, or it does not go there. `TooLarge` where it has to keep more than a session
/// may. What came in place of its rows: the transaction has failed then.
pub(in crate::session) async fn fetch(
    session: &mut Session,
    name: &str,
    direction: Direction,
    verb: Verb,
) -> Result<()> {
    let columns = session.cursors.declared(name).ok_or_else(|| unknown_cursor(name))?.columns();
    let mut walk = Walk { session, name, columns, found: Vec::new() };
    walk.go(direction).await?;
    let Walk { session, columns, found, .. } = walk;
    let count = found.iter().map(|rows| u64::from(rows.count)).sum();
    let tag = match verb {
        Verb::Fetch => {
            session.outbox.tell_all(columns.map(Event::Columns));
            session.outbox.tell_all(found.into_iter().map(Event::Rows));
            "FETCH"
        }
        Verb::Move => "MOVE",
    };
    let completion = Completion { tag: tag.into(), affected: Some(count), ..Completion::default() };
    session.outbox.complete(completion);
    Ok(())
}

impl Walk<'_> {
    /// <https://www.postgresql.org/docs/current/sql-fetch.html>
    async fn go(&mut self, direction: Direction) -> Result<()> {
        match direction {
            Direction::Forward(None) => self.forward(u64::MAX).await,
            Direction::Backward(None) => self.backward(u64::MAX),
            Direction::Forward(Some(0)) | Direction::Backward(Some(0)) => self.again(),
            Direction::Forward(Some(count)) if count > 0 => {
                self.forward(count.unsigned_abs()).await
            }
            Direction::Backward(Some(count)) if count < 0 => {
                self.forward(count.unsigned_abs()).await
            }
            Direction::Forward(Some(count)) | Direction::Backward(Some(count)) => {
                self.backward(count.unsigned_abs())
            }
            Direction::Relative(0) => self.again(),
            Direction::Relative(count) if count > 0 => {
                self.skip(count.unsigned_abs() - 1).await?;
                self.forward(1).await
            }
            Direction::Relative(count) => {
                self.backward(count.unsigned_abs() - 1)?;
                self.found.clear();
                self.backward(1)
            }
            Direction::Absolute(0) => self.stand(Stand::Row(0)),
            Direction::Absolute(number) if number > 0 => {
                let before = number.unsigned_abs() - 1;
                let here = match self.stands_at()? {
                    Stand::Row(at) if at <= before => at,
                    Stand::Row(_) | Stand::End => {
                        self.stand(Stand::Row(0))?;
                        0
                    }
                };
                self.skip(before - here).await?;
                self.forward(1).await
            }
            Direction::Absolute(number) => {
                self.goes_back()?;
                self.skip(u64::MAX).await?;
                self.backward(number.unsigned_abs() - 1)?;
                self.found.clear();
                self.backward(1)
            }
        }
    }

    fn stands_at(&self) -> Result<Stand> {
        let known = self.session.cursors.declared(self.name);
        known.map(|known| known.given().stand()).ok_or_else(|| unknown_cursor(self.name))
    }

    /// Goes to a place that it has passed.
    fn stand(&mut self, stand: Stand) -> Result<()> {
        if self.stands_at()? != stand {
            self.goes_back()?;
        }
        if let Some(known) = self.session.cursors.declared_mut(self.name) {
            known.given_mut().stands_at(stand);
        }
        Ok(())
    }

    async fn skip(&mut self, count: u64) -> Result<()> {
        if count > 0 {
            self.forward(count).await?;
            self.found.clear();
        }
        Ok(())
    }

    /// Over so many rows, those first that are at hand.
    async fn forward(&mut self, count: u64) -> Result<()> {
        let Stand::Row(at) = self.stands_at()? else { return Ok(()) };
        let (mut at, mut left) = (at, count);
        let known = self.session.cursors.declared(self.name);
        let kept = known.and_then(|known| known.given().again(at, left, Order::Read));
        if let Some(rows) = kept {
            at += u64::from(rows.count);
            left -= u64::from(rows.count);
            self.found.push(rows);
        }
        while left > 0 {
            // A limit that the protocol's number does not hold is none.
            let limit = u32::try_from(left).ok();
            let read = self.read(limit).await?;
            at += read;
            left = left.saturating_sub(read);
            if limit.is_none() || read == 0 {
                break;
            }
        }
        if let Some(known) = self.session.cursors.declared_mut(self.name) {
            let stand = if left > 0 { Stand::End } else { Stand::Row(at) };
            known.given_mut().stands_at(stand);
        }
        Ok(())
    }

    /// Reads at most so many rows that nobody has read. Result: how many there were.
    async fn read(&mut self, limit: Option<u32>) -> Result<u64> {
        let known = self.session.cursors.declared(self.name);
        let id = known.ok_or_else(|| unknown_cursor(self.name))?.id();
        if !self.session.cursors.has_cursor(id) {
            return Ok(0);
        }
        let most = self.session.place.properties().memory_bytes;
        let mut count = 0;
        portal::fetch(self.session, id, limit)?;
        while let Some(event) = piece::next_of_reply(self.session).await? {
            let Event::Rows(rows) = event else { continue };
            count += u64::from(rows.count);
            if let (Some(known), Some(columns)) =
                (self.session.cursors.declared_mut(self.name), &self.columns)
            {
                known.given_mut().keep(columns, &rows)?;
            }
            if self.session.cursors.given_bytes() > most {
                return Err(too_much(most));
            }
            self.found.push(rows);
        }
        Ok(count)
    }

    /// Back over so many rows.
    fn backward(&mut self, count: u64) -> Result<()> {
        self.goes_back()?;
        let Some(known) = self.session.cursors.declared_mut(self.name) else { return Ok(()) };
        let given = known.given_mut();
        let before = match given.stand() {
            Stand::Row(at) => at.saturating_sub(1),
            Stand::End => given.count(),
        };
        let passed = before.min(count);
        self.found.extend(given.again(before - passed, passed, Order::Back));
        // Where fewer rows lie there than asked for, it stands before the first.
        let at = if passed < count { 0 } else { before - passed + 1 };
        if count > 0 {
            given.stands_at(Stand::Row(at));
        }
        Ok(())
    }

    /// The row that it stands on.
    fn again(&mut self) -> Result<()> {
        let Stand::Row(1..) = self.stands_at()? else { return Ok(()) };
        self.goes_back()?;
        if let (Some(known), Some(columns)) =
            (self.session.cursors.declared(self.name), &self.columns)
        {
            self.found.extend(known.given().current(columns)?);
        }
        Ok(())
    }

    fn goes_back(&self) -> Result<()> {
        let known = self.session.cursors.declared(self.name);
        let known = known.ok_or_else(|| unknown_cursor(self.name))?;
        if known.given().goes_back() { Ok(()) } else { Err(forward_only()) }
    }
}

pub(in crate::session) fn unknown_cursor(name: &str) -> Error {
    server_error(0, "34000", &format!("cursor \"{name}\" does not exist"))
}

fn forward_only() -> Error {
    let hint = "Declare it with SCROLL option to enable backward scan.".to_owned();
    ErrorKind::Server(Box::new(ServerError {
        number: 0,
        sqlstate: "55000".to_owned(),
        message: "cursor can only scan forward".to_owned(),
        severity: "ERROR".into(),
        fields: vec![(b'H', hint)],
    }))
    .into()
}
