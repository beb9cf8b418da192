//! Statements that were under way while a rule changed: they may have put rows where nobody looks any more.

use pando_kernel::error::Result;
use pando_model::{Change, Check};

use crate::error::coded;
use crate::governor::{ENVIRONMENT, Governor, Now};
use crate::standing::Looks;

/// Looks once more at what had to be empty, now that every instance serves the change.
///
/// # Errors
/// 17013: the change is made, and rows came meanwhile. It is not taken back, as others may have come by the new rule since.
pub(crate) async fn look(governor: &Governor, base: &Now, changes: &[Change]) -> Result<()> {
    for change in changes {
        let Some(name) = &change.database else { continue };
        let Ok((after, _)) = change.model.read(name, ENVIRONMENT) else { continue };
        let before = base.database(name).map(|before| &**before);
        let mut looks = Looks::new(&*governor.shared.house, before, &after);
        for check in &change.checks {
            let Check::IsEmpty { table, nodes, .. } = check else { continue };
            let why = match governor.inhabited(nodes, &mut looks).await {
                Ok(None) => continue,
                Ok(Some(rows)) => format!("{rows} came meanwhile"),
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
