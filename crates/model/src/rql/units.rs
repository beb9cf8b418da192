//! Storage units and who uses them.

use pando_config::{StorageUnit, Vendor};
use pando_distsql::command::Name;

use super::Asked;
use crate::draft::Seen;
use crate::refusal::{Kind, Result};
use crate::rows::{Rows, props};
use crate::uses::{self, Use};

impl Asked<'_> {
    pub(super) fn storage_units(&self, wanted_uses: Option<u64>) -> Result<Rows> {
        let mut rows = Rows::of("SHOW STORAGE UNITS");
        let seen = wanted_uses.map(|_| self.seen()).transpose()?;
        for unit in &self.database.storage_units {
            let count = seen.as_ref().map(|seen| self.uses(seen, &unit.name).len() as u64);
            if count == wanted_uses {
                storage_unit(unit, &mut rows);
            }
        }
        Ok(rows)
    }

    pub(super) fn rules_of_unit(&self, unit: &Name) -> Result<Rows> {
        if self.database.storage_unit(&unit.text).is_none() {
            return Err(self.missing(Kind::MissingStorageUnits, "storage units", &unit.text));
        }
        let mut rows = Rows::of("SHOW RULES USED STORAGE UNIT");
        for used in self.uses(&self.seen()?, &unit.text) {
            rows.push([&used.rule, &used.name]);
        }
        Ok(rows)
    }

    fn uses(&self, seen: &Seen, unit: &str) -> Vec<Use> {
        uses::of_unit(seen, unit, self.facts.around.language)
    }
}

fn storage_unit(unit: &StorageUnit, rows: &mut Rows) {
    let vendor = match unit.url.vendor {
        Vendor::MySql => "MySQL",
        Vendor::MariaDb => "MariaDB",
        Vendor::Postgres => "PostgreSQL",
        Vendor::OpenGauss => "openGauss",
        Vendor::Sqlite => "SQLite",
    };
    let milliseconds =
        |time: Option<std::time::Duration>| time.map_or(0, |time| time.as_millis()).to_string();
    let pool = &unit.pool;
    rows.push([
        &unit.name,
        vendor,
        &unit.url.host,
        &unit.url.port.to_string(),
        &unit.url.database,
        &milliseconds(Some(pool.connection_timeout)),
        &milliseconds(pool.idle_timeout),
        &milliseconds(pool.max_lifetime),
        &pool.max.to_string(),
        &pool.min.to_string(),
        if unit.read_only { "true" } else { "false" },
        &props(&unit.other),
    ]);
}
