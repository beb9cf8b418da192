//! Logic tables of every kind, broadcast and single ones.

use pando_distsql::command::{Detail, Name};
use pando_kernel::feature::TableKind;

use super::Asked;
use super::sharding::is_wanted;
use crate::around::SingleTable;
use crate::refusal::{Kind, Result};
use crate::rows::Rows;

impl Asked<'_> {
    /// Whether units have schemas between themselves and their tables.
    fn has_schemas(&self) -> bool {
        let first = self.database.storage_units.first();
        first.is_some_and(|unit| match unit.url.vendor {
            pando_config::Vendor::Postgres | pando_config::Vendor::OpenGauss => true,
            pando_config::Vendor::MySql
            | pando_config::Vendor::MariaDb
            | pando_config::Vendor::Sqlite => false,
        })
    }

    pub(super) fn logical_tables(&self, detail: Detail) -> Result<Rows> {
        let seen = self.seen()?;
        let ruled = seen.tables.iter().filter(|table| match table.kind {
            TableKind::Sharded | TableKind::Broadcast => true,
            TableKind::Single => false,
        });
        let mut names: Vec<&str> = ruled.map(|table| table.name.as_str()).collect();
        names.extend(self.facts.single_tables.iter().map(|table| table.table.as_str()));
        names.sort_unstable();
        names.dedup();
        let mut rows = match detail {
            Detail::Name => Rows::of("SHOW LOGICAL TABLES"),
            Detail::Full => Rows::of("SHOW FULL LOGICAL TABLES"),
        };
        for name in names {
            match detail {
                Detail::Name => rows.push([name]),
                Detail::Full => rows.push([name, "BASE TABLE"]),
            }
        }
        Ok(rows)
    }

    pub(super) fn broadcast_tables(&self) -> Rows {
        let mut rows = Rows::of("SHOW BROADCAST TABLE RULES");
        for table in self.database.rules.broadcast.iter().flat_map(|section| &section.tables) {
            rows.push([table.as_str()]);
        }
        rows
    }

    pub(super) fn single_tables(&self, wanted: Option<&Name>) -> Result<Rows> {
        let tables = self.facts.single_tables.iter();
        let tables = tables.filter(|table| is_wanted(wanted, &table.table));
        let rows = self.placed("SHOW SINGLE TABLES", tables);
        match wanted {
            Some(name) if rows.rows.is_empty() => {
                Err(self.missing(Kind::MissingSingleTable, "single tables", &name.text))
            }
            Some(_) | None => Ok(rows),
        }
    }

    pub(super) fn unloaded_tables(
        &self,
        unit: Option<&Name>,
        schema: Option<&Name>,
    ) -> Result<Rows> {
        if let Some(unit) = unit {
            let groups = self.database.rules.readwrite.iter();
            let mut groups = groups.flat_map(|section| section.groups.names());
            let is_known = self.database.storage_unit(&unit.text).is_some()
                || groups.any(|group| group == unit.text);
            if !is_known {
                return Err(self.missing(Kind::MissingStorageUnits, "storage units", &unit.text));
            }
        }
        let in_schema = |table: &SingleTable| {
            schema.is_none_or(|schema| table.schema.as_deref() == Some(schema.text.as_str()))
        };
        let tables = self.facts.unloaded.iter();
        let tables = tables
            .filter(|table| unit.is_none_or(|unit| unit.text == table.unit) && in_schema(table));
        Ok(self.placed("SHOW UNLOADED SINGLE TABLES", tables))
    }

    fn placed<'t>(&self, statement: &str, tables: impl Iterator<Item = &'t SingleTable>) -> Rows {
        let mut rows = Rows::of(statement);
        let has_schemas = self.has_schemas();
        if has_schemas {
            rows.columns.push("schema_name");
        }
        for table in tables {
            let schema = table.schema.as_deref().unwrap_or_default();
            match has_schemas {
                true => rows.push([&table.table, &table.unit, schema]),
                false => rows.push([&table.table, &table.unit]),
            }
        }
        rows
    }

    pub(super) fn default_single_unit(&self) -> Rows {
        let mut rows = Rows::of("SHOW DEFAULT SINGLE TABLE STORAGE UNIT");
        let section = self.database.rules.single.as_ref();
        let unit = section.and_then(|section| section.default_data_source.as_ref());
        rows.push([unit.map_or("RANDOM", |unit| unit.as_str())]);
        rows
    }
}
