//! What the client is told of its settings whenever they change: by SET, and by whatever takes that back.
//! <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-ASYNC>

use std::sync::Arc;

use pando_kernel::Dialect;
use pando_kernel::session::TransactionState;

use crate::session::Session;

/// Names, as the protocol spells them, and values.
type Values = Arc<Vec<(String, String)>>;

/// The settings that clients are told of, as far as they are not the server's own.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Shown {
    /// Those that outlive the open transaction, if it is committed.
    lasting: Values,
    /// Those that hold now.
    now: Values,
    /// Those that the client knows.
    told: Values,
    /// Those that outlived the transaction before.
    at_begin: Values,
}

impl Shown {
    /// A setting has a value.
    pub(in crate::session) fn set(&mut self, name: &str, value: &str) {
        put(&mut self.lasting, name, value);
        put(&mut self.now, name, value);
    }

    /// The same up to the end of the transaction.
    pub(in crate::session) fn set_locally(&mut self, name: &str, value: &str) {
        put(&mut self.now, name, value);
    }

    /// A setting is the server's own again.
    pub(in crate::session) fn unset(&mut self, name: &str) {
        take(&mut self.lasting, name);
        take(&mut self.now, name);
    }

    /// All are.
    pub(in crate::session) fn unset_all(&mut self) {
        self.lasting = Arc::default();
        self.now = Arc::default();
    }

    /// Those that hold now.
    pub(in crate::session) fn now(&self) -> Arc<Vec<(String, String)>> {
        Arc::clone(&self.now)
    }

    /// The client has heard of all of them by other means.
    pub(in crate::session) fn is_known(&mut self) {
        self.told = Arc::clone(&self.now);
    }

    pub(in crate::session) fn transaction_begins(&mut self) {
        self.at_begin = Arc::clone(&self.lasting);
    }

    /// What was set for the time of the transaction is over.
    pub(in crate::session) fn transaction_ends(&mut self) {
        self.now = Arc::clone(&self.lasting);
    }

    /// All that was set in the transaction is taken back.
    pub(in crate::session) fn is_rolled_back(&mut self) {
        self.lasting = Arc::clone(&self.at_begin);
        self.now = Arc::clone(&self.at_begin);
    }

    /// What was set behind a savepoint is taken back.
    pub(in crate::session) fn returns_to(&mut self, mark: &Self) {
        self.lasting = Arc::clone(&mark.lasting);
        self.now = Arc::clone(&mark.now);
    }

    /// Whether the client knows all of them.
    fn is_told(&self) -> bool {
        Arc::ptr_eq(&self.told, &self.now)
    }

    /// What the client does not know yet.
    fn changed_parameters(&mut self, dialect: &dyn Dialect) -> Vec<(String, String)> {
        let is_known = |one: &&(String, String)| !self.told.contains(one);
        let mut news: Vec<(String, String)> = self.now.iter().filter(is_known).cloned().collect();
        let is_gone = |name: &str| self.now.iter().all(|(other, _)| other != name);
        for (name, value) in self.told.iter().filter(|(name, _)| is_gone(name)) {
            let own = dialect.shown_at_first(name).filter(|own| own != value);
            news.extend(own.map(|own| (name.clone(), own.to_owned())));
        }
        self.told = Arc::clone(&self.now);
        news
    }
}

/// The settings that are others than the client knows. In a failed transaction they are already those to which its end
/// goes back.
pub(in crate::session) fn changed_parameters(session: &mut Session) -> Vec<(String, String)> {
    let is_failed = session.work.transaction().state() == TransactionState::Failed;
    if !is_failed && session.settings.shown_mut().is_told() {
        return Vec::new();
    }
    let Some(dialect) = session.place.dialect().filter(|one| one.error_fails_transaction()) else {
        return Vec::new();
    };
    if is_failed {
        session.settings.shows_what_stays();
    }
    session.settings.shown_mut().changed_parameters(dialect.as_ref())
}

fn put(values: &mut Values, name: &str, value: &str) {
    take(values, name);
    Arc::make_mut(values).push((name.to_owned(), value.to_owned()));
}

fn take(values: &mut Values, name: &str) {
    if values.iter().any(|(known, _)| known == name) {
        Arc::make_mut(values).retain(|(known, _)| known != name);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Shown;

    fn now(shown: &Shown) -> Vec<(&str, &str)> {
        shown.now.iter().map(|(name, value)| (&**name, &**value)).collect()
    }

    #[test]
    fn what_is_taken_back_holds_no_longer() {
        let mut shown = Shown::default();
        shown.set("zone", "a");
        shown.is_known();
        shown.transaction_begins();
        shown.set_locally("zone", "b");
        assert_eq!(now(&shown), [("zone", "b")]);
        shown.transaction_ends();
        assert_eq!(now(&shown), [("zone", "a")]);
        shown.set("zone", "c");
        shown.is_rolled_back();
        assert_eq!(now(&shown), [("zone", "a")]);
    }

    #[test]
    fn a_session_that_sets_nothing_is_known_at_once() {
        let mut shown = Shown::default();
        shown.transaction_begins();
        shown.transaction_ends();
        shown.is_known();
        assert!(Arc::ptr_eq(&shown.told, &shown.now));
    }
}
