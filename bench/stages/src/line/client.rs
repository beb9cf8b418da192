//! A client: logs in, asks the same again and again, leaves.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::{Bytes, BytesMut};

use super::ROW;
use super::wire::Peer;

/// What a client says, each when the one before has been answered.
#[derive(Debug)]
pub(super) struct Dialogue {
    /// Login and preparations.
    pub(super) opening: VecDeque<Bytes>,
    /// The client speaks first.
    pub(super) first: bool,
    /// The question.
    pub(super) request: Bytes,
    /// How often it is asked.
    pub(super) times: u32,
    /// Good-bye.
    pub(super) farewell: Bytes,
}

/// Finds the end of replies.
pub(super) trait Replies: Send + Sync + Unpin {
    /// A request goes out.
    fn begins(&mut self, request: &[u8]);

    /// Whether a reply ends with this piece.
    ///
    /// # Errors
    /// When the reply is an error.
    fn ends(&mut self, piece: &[u8]) -> io::Result<bool>;
}

/// What has become of a dialogue.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Replies to the question.
    pub(super) answered: AtomicU32,
    /// Why the client fell silent.
    pub(super) trouble: OnceLock<String>,
}

pub(super) struct Client<R> {
    replies: R,
    dialogue: Dialogue,
    asked: u32,
    /// Bytes of the reply under way.
    size: usize,
    /// The row was found in the first reply, which may come in several pieces.
    found: bool,
    /// Bytes of the first reply: all others must be as long.
    usual: Option<usize>,
    ledger: Arc<Ledger>,
    done: bool,
}

impl<R: Replies> Client<R> {
    /// A client who writes down in the ledger how it goes.
    pub(super) fn new(replies: R, dialogue: Dialogue, ledger: Arc<Ledger>) -> Self {
        Self {
            replies,
            dialogue,
            asked: 0,
            size: 0,
            found: false,
            usual: None,
            ledger,
            done: false,
        }
    }

    fn speak(&mut self, out: &mut BytesMut) {
        let dialogue = &mut self.dialogue;
        if let Some(next) = dialogue.opening.pop_front() {
            self.replies.begins(&next);
            out.extend_from_slice(&next);
        } else if self.asked < dialogue.times {
            self.asked += 1;
            self.replies.begins(&dialogue.request);
            out.extend_from_slice(&dialogue.request);
        } else {
            self.done = true;
            out.extend_from_slice(&dialogue.farewell);
        }
    }

    fn listen(&mut self, piece: &[u8], out: &mut BytesMut) -> io::Result<()> {
        self.size += piece.len();
        if self.usual.is_none() && self.asked > 0 {
            self.found |= piece.windows(ROW.len()).any(|part| part == ROW);
        }
        if self.replies.ends(piece)? {
            self.check()?;
            self.size = 0;
            self.speak(out);
        }
        Ok(())
    }

    fn check(&mut self) -> io::Result<()> {
        if self.asked == 0 {
            return Ok(());
        }
        match self.usual {
            None if self.found => self.usual = Some(self.size),
            Some(usual) if usual == self.size => {}
            None | Some(_) => return Err(io::Error::other("a reply without the row")),
        }
        self.ledger.answered.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl<R: Replies> Peer for Client<R> {
    fn greet(&mut self, out: &mut BytesMut) -> io::Result<()> {
        if self.dialogue.first {
            self.speak(out);
        }
        Ok(())
    }

    fn hear(&mut self, piece: &[u8], out: &mut BytesMut) -> io::Result<()> {
        self.listen(piece, out).inspect_err(|error| {
            self.ledger.trouble.get_or_init(|| error.to_string());
        })
    }

    fn is_done(&self) -> bool {
        self.done
    }
}
