//! Statements that were under way while a rule changed: they may have put rows where nobody looks any more.

use std::time::Duration;

use pando_kernel::error::Result;
use pando_model::{Change, Check};

use crate::error::coded;
use crate::governor::{Governor, Now};

/// How long other instances are waited for: they take up a change at once, or do not answer.
const FOLLOW: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);

/// Looks once more at what had to be empty, now that every instance serves the change.
///
/// # Errors
/// 17013: the change is made, and rows came meanwhile. It is not taken back, as others may have come by the new rule since.
pub(crate) async fn look(governor: &Governor, base: &Now, changes: &[Change]) -> Result<()> {
    let mut has_waited = false;
    for change in changes {
        for check in &change.checks {
            let (Some(name), Check::IsEmpty { table, nodes }) = (&change.database, check) else {
                continue;
            };
            if !std::mem::replace(&mut has_waited, true) {
                follow(governor).await;
            }
            let why = match governor.inhabited(base, name, nodes).await {
                Ok(None) => continue,
                Ok(Some(node)) => format!("rows were written to `{node}` meanwhile"),
                Err(error) => error.to_string(),
            };
            let message = format!(
                "the rule of table `{table}` is changed, but {why}; statements that were under way may have left rows where the new rule does not look for them: move them"
            );
            return Err(coded(17013, "44000", &message));
        }
    }
    Ok(())
}

/// Waits until all instances serve the newest configuration, as far as they say so.
async fn follow(governor: &Governor) {
    let Some(repository) = governor.repository() else { return };
    let runtime = &governor.shared.runtime;
    let end = runtime.now() + FOLLOW;
    while runtime.now() < end {
        let Ok(stored) = governor.read(&*repository).await else { return };
        let newest = governor.now().checksum.clone();
        let own = &*governor.shared.id;
        let others = stored.cluster.instances.iter().filter(|(id, _)| id.as_str() != own);
        if others.into_iter().all(|(_, instance)| instance.serves == newest) {
            return;
        }
        runtime.sleep(PAUSE).await;
    }
}
