//! Asking the unit that decides on a transaction, and deciding where nothing was decided.

use std::sync::Arc;

use pando_kernel::backend::Connector;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_kernel::two_phase::{InDoubt, Part, Verdict, verdict};
use pando_kernel::value::Value;

use crate::aside::Aside;

use super::id::GlobalId;

/// The decision on a transaction. Where there is none it is made: to abort.
///
/// # Errors
/// `Timeout`, or the unit's error: it cannot be asked, or somebody is about to decide.
pub async fn decide(
    decider: &Arc<dyn Connector>,
    runtime: &SharedRuntime,
    id: &GlobalId,
) -> Result<Verdict> {
    let mut aside = Aside::open(Arc::clone(decider), Arc::clone(runtime)).await?;
    let query = aside.two_phase(|family| Ok(family.ledger().identity_query()))?;
    // A name or an address may by now be another's, who knows nothing of the transaction.
    if !matches!(&aside.rows(query).await?.concat()[..], [Value::Text(identity), ..] if identity == id.decider())
    {
        return Err(Error::unsupported(
            14000,
            format!("the storage unit that decides on transaction `{id}` is another one"),
            "its identity stands in the transaction's name and in `pando.unit` (`pando_unit`)",
        ));
    }
    let query = aside.two_phase(|family| Ok(family.ledger().verdict_query(id.as_str())))?;
    if let Some(verdict) = verdict(&aside.rows(&query).await?) {
        return Ok(verdict);
    }
    for text in aside.two_phase(|family| Ok(family.ledger().fence(id.as_str())))? {
        aside.rows(&text).await?;
    }
    let verdict = verdict(&aside.rows(&query).await?);
    verdict.ok_or_else(|| Error::internal("a decision that was made is not there"))
}

/// What was decided, if anything was.
pub(super) async fn recall(
    decider: &Arc<dyn Connector>,
    runtime: &SharedRuntime,
    global: &str,
) -> Result<Option<Verdict>> {
    let mut aside = Aside::open(Arc::clone(decider), Arc::clone(runtime)).await?;
    let query = aside.two_phase(|family| Ok(family.ledger().verdict_query(global)))?;
    Ok(verdict(&aside.rows(&query).await?))
}

/// Ends the connection that holds a decision open, so that it can be made.
async fn evict(decider: &Arc<dyn Connector>, runtime: &SharedRuntime, doubt: &InDoubt) {
    let Some(part) = Part::read(&doubt.part) else { return };
    let evicted = async {
        let mut aside = Aside::open(Arc::clone(decider), Arc::clone(runtime)).await?;
        let text =
            aside.two_phase(|family| Ok(family.evict_decider(&doubt.global, part.decider)))?;
        aside.rows(&text).await
    };
    if let Err(error) = evicted.await {
        tracing::debug!(%error, "a lost connection cannot be ended");
    }
}

/// Asks for one decision. Who holds one open although it is `lost` is ended first.
pub(super) fn asked(
    decider: Arc<dyn Connector>,
    runtime: SharedRuntime,
    id: GlobalId,
    lost: Option<&InDoubt>,
) -> BoxFuture<'_, Result<(GlobalId, Result<Verdict>)>> {
    Box::pin(async move {
        let mut told = decide(&decider, &runtime, &id).await;
        if let (Err(error), Some(lost)) = (&told, lost)
            && is_held(error)
        {
            evict(&decider, &runtime, lost).await;
            told = decide(&decider, &runtime, &id).await;
        }
        Ok((id, told))
    })
}

/// Whether a decision could not be made since somebody else is about to make it: the server has waited for him, and said so.
fn is_held(error: &Error) -> bool {
    let ErrorKind::Server(server) = error.kind() else { return false };
    server.sqlstate == "55P03" || server.number == 1205
}
