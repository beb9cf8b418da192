//! How many rules there are.

use pando_config::Named;
use pando_distsql::command::Counted;

use super::Asked;
use crate::refusal::{Refusal, Result};
use crate::rows::Rows;

impl Asked<'_> {
    pub(super) fn count(&self, counted: Counted) -> Result<Rows> {
        let rules = &self.database.rules;
        let sharding = rules.sharding.as_ref();
        let sharded = sharding.map_or(0, |s| s.tables.len() + s.auto_tables.len());
        let sharding = vec![
            ("sharding_table", sharded),
            ("sharding_table_reference", sharding.map_or(0, |s| s.binding_tables.len())),
        ];
        let broadcast = rules.broadcast.as_ref().map_or(0, |section| section.tables.len());
        let readwrite = rules.readwrite.as_ref().map_or(0, |section| section.groups.len());
        let encrypt = rules.encrypt.as_ref().map_or(0, |section| section.tables.len());
        let mask = rules.mask.as_ref().map_or(0, |section| section.tables.len());
        let shadow = rules.shadow.as_ref().map(|section| &section.data_sources);
        let shadow = shadow.map_or(0, Named::len);
        let broadcast = vec![("broadcast_table", broadcast)];
        let readwrite = vec![("readwrite_splitting", readwrite)];
        let (encrypt, mask) = (vec![("encrypt", encrypt)], vec![("mask", mask)]);
        let shadow = vec![("shadow", shadow)];
        let single = self.facts.single_tables.len();
        let counts = match counted {
            Counted::Sharding => sharding,
            Counted::Broadcast => broadcast,
            Counted::ReadwriteSplitting => readwrite,
            Counted::Encrypt => encrypt,
            Counted::Mask => mask,
            Counted::Shadow => shadow,
            Counted::Discovery => {
                let what = "database discovery, which ShardingSphere has dropped since 5.4,";
                return Err(Refusal::not_supported(what));
            }
            Counted::SingleTable => {
                let mut rows = Rows::of("COUNT SINGLE TABLE");
                rows.push([self.name, &single.to_string()]);
                return Ok(rows);
            }
            Counted::Every => {
                let single = vec![("single_table", single)];
                let all = [single, sharding, broadcast, readwrite, encrypt, mask, shadow];
                all.into_iter().flatten().collect()
            }
            Counted::Own(_) => Vec::new(),
        };
        let own = self.facts.around.language.sorts().filter(|own| match counted {
            Counted::Own(wanted) => wanted == *own,
            Counted::Every => true,
            Counted::Sharding
            | Counted::Broadcast
            | Counted::ReadwriteSplitting
            | Counted::Encrypt
            | Counted::Mask
            | Counted::Shadow
            | Counted::Discovery
            | Counted::SingleTable => false,
        });
        let own = own.map(|own| (own.grammar.counted(), self.own_count(own)));
        let mut rows = Rows::of("COUNT RULE");
        for (rule, count) in
            counts.into_iter().map(|(rule, count)| (rule.to_owned(), count)).chain(own)
        {
            rows.push([&rule, self.name, &count.to_string()]);
        }
        Ok(rows)
    }
}
