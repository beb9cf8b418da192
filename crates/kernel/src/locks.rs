//! Functions whose effect is a whole server's, and so the engine's where there are several: those that take and free
//! locks that applications know by a number or a name, and those that tell something to other sessions.

/// One of a family's functions of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerFunction {
    /// Its name, in lower case.
    pub name: &'static str,
    /// What it does.
    pub act: ServerAct,
    /// When what it takes is freed at last.
    pub hold: LockHold,
    /// The function that does the same until it is taken back by `undo`: that of the connection's, not of its transaction's.
    pub call: &'static str,
    /// The function that takes back once what `call` did once, and so tells the lock's kind; empty where there is nothing to take back.
    pub undo: &'static str,
    /// How many of its arguments may say which lock, from the first on. Whatever follows says how.
    pub keys: &'static [usize],
    /// Its locks are numbers, and not names.
    pub is_numbered: bool,
    /// What is said where it is to free what the session has not; empty where only the server knows what to say.
    pub unheld: &'static str,
    /// The type of what it gives; empty where a literal has it by itself.
    pub gives: &'static str,
}

impl ServerFunction {
    /// How many of so many arguments say which lock.
    pub fn named_by(&self, arguments: usize) -> usize {
        self.keys.iter().copied().filter(|keys| *keys <= arguments).max().unwrap_or(0)
    }
}

/// What such a function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerAct {
    /// Takes the lock, or says that it did not.
    Take,
    /// Frees the session's own lock once.
    Free,
    /// Frees all of the session's own.
    FreeAll,
    /// Tells whether the lock is free.
    Ask,
    /// Tells whose connection has the lock, by its number.
    Holder,
    /// Concerns no lock: tells something over a channel when the transaction commits. Its arguments are the channel and
    /// what is told.
    Tell,
}

/// How long a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockHold {
    /// Until the session frees it, or ends.
    Session,
    /// Until the transaction ends in which it was taken, or returns to a savepoint in front of it.
    Transaction,
}
