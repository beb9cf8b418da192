//! Storage units that a change takes away: what is in doubt on them, or is decided by them, would never come to its end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use pando_config::{Database, StorageUnit};
use pando_kernel::error::Result;
use pando_model::Model;

use crate::error::coded;
use crate::governor::{ENVIRONMENT, Governor, Now};

/// What is in doubt is looked at again so often, which is as long as recovery needs for what it can end.
const LOOKS: u32 = 8;
const PAUSE: Duration = Duration::from_millis(700);
/// So many transactions are named.
const NAMED: usize = 3;

/// Where a storage unit stands.
type Place = (String, u16, String);

/// Waits until nothing is in doubt on storage units that the model has no more.
///
/// # Errors
/// 17014 when something stays in doubt: nobody would end it, nor tell of it, once its storage unit is unknown.
pub(crate) async fn settled(governor: &Governor, base: &Now, model: &Model) -> Result<()> {
    for (database, units) in leaving(base, model) {
        for look in 1..=LOOKS {
            let found = governor.shared.house.unsettled(&database, &units).await;
            let Some((transaction, unit)) = found.transactions.first() else {
                warn(&database, &found.silent);
                break;
            };
            if look < LOOKS {
                governor.shared.runtime.sleep(PAUSE).await;
                continue;
            }
            let more = match found.transactions.len().saturating_sub(1) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let name = &database.name.value;
            let message = format!(
                "transaction `{transaction}`{more} is in doubt on storage unit `{unit}` of database `{name}`, and nobody would end it without that; SHOW IN DOUBT \
                 TRANSACTIONS tells what it waits for, RESOLVE IN DOUBT TRANSACTION ends it by hand"
            );
            return Err(coded(17014, "55006", &message));
        }
    }
    Ok(())
}

/// A server that is gone for good must not keep its storage unit for ever; a person should know what that may mean.
fn warn(database: &Database, silent: &[String]) {
    for unit in silent.iter().take(NAMED) {
        tracing::warn!(
            database = database.name.value,
            unit,
            "a storage unit that goes does not answer: what is in doubt there, or was decided there, is nobody's from here on; look into it when its server comes back"
        );
    }
}

/// The storage units that stand nowhere in the model, by the database they are in now.
fn leaving(base: &Now, model: &Model) -> Vec<(Arc<Database>, Vec<String>)> {
    if *model == base.model {
        return Vec::new();
    }
    let mut stay: BTreeSet<Place> = BTreeSet::new();
    for name in model.databases() {
        // A database that cannot be read is refused elsewhere; what it is now stays.
        match model.read(name, ENVIRONMENT) {
            Ok((database, _)) => stay.extend(database.storage_units.iter().map(place)),
            Err(_) => stay.extend(
                base.database(name).iter().flat_map(|now| now.storage_units.iter().map(place)),
            ),
        }
    }
    let go = |database: &Arc<Database>| {
        let units = database.storage_units.iter().filter(|unit| !stay.contains(&place(unit)));
        let units: Vec<String> = units.map(|unit| unit.name.value.clone()).collect();
        (!units.is_empty()).then(|| (Arc::clone(database), units))
    };
    base.databases().filter_map(go).collect()
}

fn place(unit: &StorageUnit) -> Place {
    let url = &unit.url.value;
    (url.host.to_lowercase(), url.port, url.database.clone())
}
