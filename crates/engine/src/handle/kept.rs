//! The connections that a session keeps because they have locks of its application.

use std::sync::Arc;

use pando_deadlock::Held;
use pando_kernel::backend::Connector;
use pando_pool::Connection;

use super::Handle;

impl Handle {
    /// Notes a connection that has locks of its application from here on, whatever becomes of transactions.
    pub(crate) fn keeps(&self, connection: &Connection) {
        if let Some(connector) = connection.connector() {
            let id = connection.token().id;
            self.doing().kept.push(Held { connector, id, is_running: false });
        }
    }

    /// Notes that a connection has such locks no more.
    pub(crate) fn keeps_no_more(&self, connection: &Connection) {
        let Some(connector) = connection.connector() else { return };
        let id = connection.token().id;
        let is_it = |held: &Held| held.id == id && Arc::ptr_eq(&held.connector, &connector);
        self.doing().kept.retain(|held| !is_it(held));
    }

    /// How many connections that this opens it keeps so.
    pub(crate) fn kept(&self, connector: &Arc<dyn Connector>) -> usize {
        self.doing().kept.iter().filter(|held| Arc::ptr_eq(&held.connector, connector)).count()
    }

    /// Whether it keeps the connection with this number so.
    pub(crate) fn keeps_number(&self, connector: &Arc<dyn Connector>, id: u64) -> bool {
        let doing = self.doing();
        doing.kept.iter().any(|held| held.id == id && Arc::ptr_eq(&held.connector, connector))
    }
}
