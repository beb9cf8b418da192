//! Work on a client's text that is none of an event loop's.

use std::sync::Arc;

use pando_kernel::error::Result;

use crate::aside::HEAVY;

use crate::session::Session;

/// Work on a text of the client's that may take its time, beside the event loops.
pub(in crate::session) async fn beside<T: Send + 'static>(
    session: &mut Session,
    text: String,
    work: impl FnOnce(&str) -> T + Send + 'static,
) -> Result<T> {
    let inner = Arc::clone(&session.place.engine().inner);
    let size = text.len();
    if size < HEAVY {
        return Ok(work(&text));
    }
    let work = async move { work(&text) };
    session.place.handle().taken(async { inner.aside.run(&inner.runtime, size, work).await }).await
}
