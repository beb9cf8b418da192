//! RQL: what the configuration is, in ShardingSphere's columns.

mod count;
mod features;
mod own;
mod sharding;
mod tables;
mod units;

use pando_config::Database;
use pando_distsql::command::{Rql, Subject};

use crate::around::Facts;
use crate::draft::{Seen, see};
use crate::model::Model;
use crate::refusal::{Kind, Refusal, Result, listed};
use crate::rows::Rows;

/// What answers are made of.
struct Asked<'a> {
    /// The logical database as it is called.
    name: &'a str,
    database: &'a Database,
    tree: &'a pando_config::Node,
    facts: &'a Facts<'a>,
}

impl Model {
    /// The rows that answer a question about a database: the one after FROM, else `database`.
    ///
    /// # Errors
    /// `UnknownDatabase`; a thing asked for by name that is not there; `InvalidDocument` where a placeholder cannot be filled.
    pub fn answer(&self, database: &str, question: &Rql, facts: &Facts<'_>) -> Result<Rows> {
        let database = question.database.as_ref().map_or(database, |name| &name.text);
        let (name, tree) = self.database(database)?;
        let (read, _) = self.read(name, facts.around.environment)?;
        let asked = Asked { name, database: &read, tree, facts };
        Ok(asked.rows(&question.subject)?.like(question.like.as_deref()))
    }
}

impl Asked<'_> {
    fn rows(&self, subject: &Subject) -> Result<Rows> {
        match subject {
            Subject::StorageUnits(uses) => self.storage_units(*uses),
            Subject::RulesUsedStorageUnit(unit) => self.rules_of_unit(unit),
            Subject::LogicalTables(detail) => self.logical_tables(*detail),
            Subject::ShardingTableRules(table) => self.table_rules(table.as_ref()),
            Subject::References(name) => self.references(name.as_ref()),
            Subject::ShardingTableNodes(table) => self.table_nodes(table.as_ref()),
            Subject::ShardingAlgorithms(usage) => Ok(self.sharding_algorithms(*usage)),
            Subject::KeyGenerators(usage) => Ok(self.key_generators(*usage)),
            Subject::Auditors(usage) => Ok(self.auditors(*usage)),
            Subject::RulesUsedAlgorithm(name) => self.tables_of_algorithm(name),
            Subject::RulesUsedKeyGenerator(name) => self.tables_of_generator(name),
            Subject::RulesUsedAuditor(name) => self.tables_of_auditor(name),
            Subject::DefaultStrategies => Ok(self.default_strategies()),
            Subject::KeyGenerateStrategies(name) => self.key_generate_strategies(name.as_ref()),
            Subject::Count(counted) => self.count(*counted),
            Subject::BroadcastTables => Ok(self.broadcast_tables()),
            Subject::SingleTables(table) => self.single_tables(table.as_ref()),
            Subject::UnloadedSingleTables { unit, schema } => {
                self.unloaded_tables(unit.as_ref(), schema.as_ref())
            }
            Subject::DefaultSingleTableUnit => Ok(self.default_single_unit()),
            Subject::ReadwriteSplittingRules(name) => self.readwrite_rules(name.as_ref()),
            Subject::EncryptRules(table) => self.encrypt_rules(table.as_ref()),
            Subject::MaskRules(table) => self.mask_rules(table.as_ref()),
            Subject::ShadowRules(name) => self.shadow_rules(name.as_ref()),
            Subject::ShadowTableRules(table) => self.shadow_table_rules(table.as_ref()),
            Subject::ShadowAlgorithms => Ok(self.shadow_algorithms()),
            Subject::DefaultShadowAlgorithm => Ok(self.default_shadow_algorithm()),
            Subject::OwnRules(own, key) => self.own_rules(*own, key.as_ref()),
            Subject::DiscoveryRules(_) | Subject::DiscoveryTypes | Subject::DiscoveryHeartbeats => {
                Err(Refusal::not_supported(
                    "database discovery, which ShardingSphere has dropped since 5.4,",
                ))
            }
        }
    }

    /// The database with what its rooms know.
    fn seen(&self) -> Result<Seen> {
        see(self.tree, &self.facts.around, Kind::InvalidDocument)
    }

    /// Refuses a name that nothing was found for.
    fn found(
        &self,
        rows: Rows,
        what: &str,
        name: Option<&pando_distsql::command::Name>,
    ) -> Result<Rows> {
        match name {
            Some(name) if rows.rows.is_empty() => {
                Err(self.missing(Kind::MissingRule, what, &name.text))
            }
            Some(_) | None => Ok(rows),
        }
    }

    fn missing(&self, kind: Kind, what: &str, name: &str) -> Refusal {
        let message = format!("{what} {} do not exist in database `{}`", listed([name]), self.name);
        Refusal::new(kind, message)
    }
}
