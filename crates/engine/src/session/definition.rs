//! Definitions concern other instances: what they know of a database's tables may be of yesterday.

use pando_kernel::error::Result;

use crate::snapshot::LiveDatabase;

use super::Session;

impl Session {
    /// A definition is about to be run: others will be told, however it ends.
    ///
    /// # Errors
    /// When others could not be told.
    pub(super) fn begin_definition(&mut self, live: &LiveDatabase) -> Result<()> {
        if let Some(administration) = self.engine.administration() {
            administration.may_define(&live.database.name)?;
        }
        self.defining = true;
        Ok(())
    }

    /// Forgets what is known of the current database's tables, here and, once a definition has come into force, at other instances.
    pub(super) async fn forget_tables(&mut self, live: &LiveDatabase) {
        live.catalog.forget();
        self.defining = false;
        if let Some(administration) = self.engine.administration()
            && let Some(telling) = administration.defined(&live.database.name)
        {
            telling.await;
        }
    }

    /// What a definition that failed may have done on some units is told, too.
    pub(super) async fn end_definition(&mut self) {
        if std::mem::take(&mut self.defining)
            && let Ok(live) = self.live()
        {
            Box::pin(self.forget_tables(&live)).await;
        }
    }
}
