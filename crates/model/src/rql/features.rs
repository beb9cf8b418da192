//! Read-write splitting, encrypt, mask and shadow.

use pando_config::rules::{Encrypted, TransactionalRead};
use pando_distsql::command::Name;

use super::Asked;
use super::sharding::{described, is_wanted};
use crate::refusal::Result;
use crate::rows::{Rows, props};

impl Asked<'_> {
    pub(super) fn readwrite_rules(&self, wanted: Option<&Name>) -> Result<Rows> {
        let mut rows = Rows::of("SHOW READWRITE_SPLITTING RULES");
        if let Some(section) = &self.database.rules.readwrite {
            for (name, group) in section.groups.iter().filter(|(name, _)| is_wanted(wanted, name)) {
                let reads: Vec<&str> = group.read.iter().map(|unit| unit.as_str()).collect();
                let strategy = match group.transactional_read {
                    TransactionalRead::Primary => "PRIMARY",
                    TransactionalRead::Fixed => "FIXED",
                    TransactionalRead::Dynamic => "DYNAMIC",
                };
                let balancer = group.load_balancer.as_ref().map(|name| name.as_str());
                let (kind, props) = described(&section.load_balancers, balancer);
                rows.push([name, &group.write, &reads.join(","), strategy, &kind, &props]);
            }
        }
        self.found(rows, "readwrite-splitting groups", wanted)
    }

    pub(super) fn encrypt_rules(&self, wanted: Option<&Name>) -> Result<Rows> {
        let mut rows = Rows::of("SHOW ENCRYPT RULES");
        if let Some(section) = &self.database.rules.encrypt {
            let tables = section.tables.iter().filter(|(name, _)| is_wanted(wanted, name));
            for (table, column, stored) in tables
                .flat_map(|(name, table)| table.columns.iter().map(move |(c, s)| (name, c, s)))
            {
                let algorithm = |stored: Option<&Encrypted>| {
                    described(&section.encryptors, stored.map(|stored| stored.encryptor.as_str()))
                };
                let name = |stored: Option<&Encrypted>| {
                    stored.map(|stored| stored.name.value.clone()).unwrap_or_default()
                };
                let (assisted, like) = (stored.assisted_query.as_ref(), stored.like_query.as_ref());
                let (kind, props) = algorithm(Some(&stored.cipher));
                let (assisted_kind, assisted_props) = algorithm(assisted);
                let (like_kind, like_props) = algorithm(like);
                rows.push([
                    table,
                    column,
                    &stored.cipher.name,
                    &name(assisted),
                    &name(like),
                    &kind,
                    &props,
                    &assisted_kind,
                    &assisted_props,
                    &like_kind,
                    &like_props,
                    stored.data_type.as_ref().map_or("", |kind| kind.as_str()),
                ]);
            }
        }
        self.found(rows, "encrypt tables", wanted)
    }

    pub(super) fn mask_rules(&self, wanted: Option<&Name>) -> Result<Rows> {
        let mut rows = Rows::of("SHOW MASK RULES");
        if let Some(section) = &self.database.rules.mask {
            for (table, mask) in section.tables.iter().filter(|(name, _)| is_wanted(wanted, name)) {
                for (column, mask) in mask.columns.iter() {
                    let (kind, props) = described(&section.algorithms, Some(&mask.algorithm));
                    let users: Vec<&str> = mask.unmasked.iter().map(|user| user.as_str()).collect();
                    let allows = mask.allows_conditions.to_string();
                    rows.push([table, column, &kind, &props, &users.join(","), &allows]);
                }
            }
        }
        self.found(rows, "mask tables", wanted)
    }

    pub(super) fn shadow_rules(&self, wanted: Option<&Name>) -> Result<Rows> {
        let mut rows = Rows::of("SHOW SHADOW RULES");
        if let Some(section) = &self.database.rules.shadow {
            for (rule, pair) in
                section.data_sources.iter().filter(|(name, _)| is_wanted(wanted, name))
            {
                for (table, shadowed) in section.tables.iter() {
                    if !shadowed.data_sources.iter().any(|name| name.value == rule.value) {
                        continue;
                    }
                    for algorithm in &shadowed.algorithms {
                        let (kind, props) = described(&section.algorithms, Some(algorithm));
                        rows.push([table, rule, &pair.production, &pair.shadow, &kind, &props]);
                    }
                }
            }
        }
        self.found(rows, "shadow rules", wanted)
    }

    pub(super) fn shadow_table_rules(&self, wanted: Option<&Name>) -> Result<Rows> {
        let mut rows = Rows::of("SHOW SHADOW TABLE RULES");
        let tables = self.database.rules.shadow.iter().flat_map(|section| section.tables.iter());
        for (table, shadowed) in tables.filter(|(name, _)| is_wanted(wanted, name)) {
            let names: Vec<&str> = shadowed.algorithms.iter().map(|name| name.as_str()).collect();
            rows.push([table, &names.join(",")]);
        }
        self.found(rows, "shadow tables", wanted)
    }

    pub(super) fn shadow_algorithms(&self) -> Rows {
        let mut rows = Rows::of("SHOW SHADOW ALGORITHMS");
        if let Some(section) = &self.database.rules.shadow {
            for (name, algorithm) in section.algorithms.iter() {
                let default = section.default_algorithm.as_ref();
                let is_default = default.is_some_and(|default| default.value == name.value);
                let is_default = if is_default { "true" } else { "false" };
                rows.push([name, &algorithm.kind, &props(&algorithm.props), is_default]);
            }
        }
        rows
    }

    pub(super) fn default_shadow_algorithm(&self) -> Rows {
        let mut rows = Rows::of("SHOW DEFAULT SHADOW ALGORITHM");
        if let Some(section) = &self.database.rules.shadow
            && let Some(name) = &section.default_algorithm
        {
            let (kind, props) = described(&section.algorithms, Some(name));
            rows.push([name, &kind, &props]);
        }
        rows
    }
}
