//! Portals of one client.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::{CursorId, Error, ErrorKind, Format, Parameter, Prepared};

use super::end::own;
use super::shape::Shape;

/// Portals one client may have.
const MAX_PORTALS: usize = 1_000;

/// A statement bound to values.
#[derive(Debug)]
pub(super) struct Portal {
    pub(super) prepared: Arc<Prepared>,
    /// Given away when the portal runs: it runs once.
    pub(super) parameters: Vec<Parameter>,
    /// None means all text, one means all so, else one per column.
    pub(super) formats: Vec<Format>,
    pub(super) progress: Progress,
    /// How its rows go out, once it has run.
    pub(super) shape: Option<Shape>,
}

/// How far a portal has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    New,
    Suspended(CursorId),
    Done,
}

/// Portals by name.
#[derive(Debug, Default)]
pub(super) struct Portals {
    /// Looked for several times by each statement of most drivers.
    unnamed: Option<Portal>,
    named: HashMap<String, Portal>,
    last_cursor: u64,
}

impl Portals {
    /// Fails when a portal of that name may not be made now.
    pub(super) fn check(&self, name: &str) -> Result<(), Error> {
        if self.named.contains_key(name) {
            return Err(own("42P03", format!("portal \"{name}\" already exists")));
        }
        if !name.is_empty() && self.named.len() >= MAX_PORTALS {
            let message = format!("more than {MAX_PORTALS} portals");
            return Err(Error::new(ErrorKind::TooLarge(message)));
        }
        Ok(())
    }

    pub(super) fn insert(&mut self, name: &str, portal: Portal) {
        if name.is_empty() {
            self.unnamed = Some(portal);
        } else {
            self.named.insert(name.to_owned(), portal);
        }
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Result<&mut Portal, Error> {
        let found = match name {
            "" => self.unnamed.as_mut(),
            name => self.named.get_mut(name),
        };
        found.ok_or_else(|| own("34000", format!("portal \"{name}\" does not exist")))
    }

    /// Whether there is one that a statement may name.
    pub(super) fn have_names(&self) -> bool {
        !self.named.is_empty()
    }

    /// Removes a portal; the cursor it waits on has to be closed.
    pub(super) fn remove(&mut self, name: &str) -> Option<CursorId> {
        let gone = match name {
            "" => self.unnamed.take(),
            name => self.named.remove(name),
        };
        gone.and_then(|portal| portal.cursor())
    }

    /// Removes all portals; the cursors they wait on have to be closed.
    pub(super) fn take_all(&mut self) -> Vec<CursorId> {
        if self.named.is_empty() {
            return self.unnamed.take().and_then(|portal| portal.cursor()).into_iter().collect();
        }
        let named = self.named.drain().map(|(_, portal)| portal);
        self.unnamed.take().into_iter().chain(named).filter_map(|portal| portal.cursor()).collect()
    }

    /// A number for a cursor that no other cursor of this client has had.
    pub(super) fn next_cursor(&mut self) -> CursorId {
        self.last_cursor += 1;
        CursorId(self.last_cursor)
    }
}

impl Portal {
    fn cursor(&self) -> Option<CursorId> {
        match self.progress {
            Progress::Suspended(cursor) => Some(cursor),
            Progress::New | Progress::Done => None,
        }
    }
}
