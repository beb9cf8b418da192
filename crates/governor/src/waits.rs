//! The board where instances tell each other of transactions that wait: an entry of each instance that has any, as long as its session lives.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::runtime::BoxFuture;
use pando_kernel::waits::{Board, Notice};
use pando_repository::{Change, Prefix};

use crate::governor::Governor;
use crate::keys;

impl Governor {
    /// Where the instances of this cluster tell each other of their waits; `None` where there can be no others.
    pub fn board(&self) -> Option<Arc<dyn Board>> {
        self.has_others().then(|| Arc::new(self.clone()) as Arc<dyn Board>)
    }

    async fn tell_waits(&self, text: Option<String>) -> Result<()> {
        let Some(repository) = self.repository() else { return Ok(()) };
        let key = keys::key(keys::WAITS, &[&self.shared.id]).map_err(unavailable)?;
        let change = match text {
            Some(text) => Change::new().put_for_session(&key, text),
            None => Change::new().delete(&key),
        };
        repository.commit(change).await.map(drop).map_err(unavailable)
    }

    async fn hear_waits(&self) -> Result<Vec<Notice>> {
        let Some(repository) = self.repository() else { return Ok(Vec::new()) };
        let below = Prefix::parse(keys::WAITS.trim_end_matches('/')).map_err(unavailable)?;
        let view = repository.read(&below).await.map_err(unavailable)?;
        let notices = view.entries.iter().filter_map(|(key, entry)| {
            let name = key.as_str().strip_prefix(keys::WAITS)?;
            let [instance] = keys::parts::<1>(name)?;
            let text = String::from_utf8(entry.value.to_vec()).ok()?;
            (*instance != *self.shared.id).then(|| Notice { instance: instance.into(), text })
        });
        Ok(notices.collect())
    }

    /// Whether another instance runs now.
    fn is_alone(&self) -> bool {
        self.cluster().instances.len() < 2
    }
}

impl Board for Governor {
    fn own(&self) -> Arc<str> {
        Arc::clone(&self.shared.id)
    }

    fn publish(&self, text: Option<String>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            // What was told before goes in any case.
            if self.is_alone() && text.is_some() {
                return Ok(());
            }
            self.tell_waits(text).await
        })
    }

    fn others(&self) -> BoxFuture<'_, Result<Vec<Notice>>> {
        Box::pin(
            async move { if self.is_alone() { Ok(Vec::new()) } else { self.hear_waits().await } },
        )
    }
}

fn unavailable(error: pando_repository::Error) -> Error {
    let (unit, message) = ("repository".to_owned(), error.to_string());
    Error::new(ErrorKind::Unavailable { unit, message })
}
