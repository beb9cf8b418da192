//! From what the grammar found to commands. The grammar has the order of words; here is what they mean and which values cannot be.

mod administer;
mod algorithm;
mod define;
mod query;
mod rules;
mod sharding;
mod unit;

pub(crate) use administer::{
    administer, alter_clock, alter_compute_node, alter_federation, alter_parser, alter_transaction,
    alter_translator, import_metadata, label, lock_cluster, refresh_table, resolve, set_node_state,
    set_read_unit_state, set_unit_state, set_variable, show_plugins, show_variables, timeout,
};
pub(crate) use algorithm::{algorithm, algorithm_use, named_algorithm};
pub(crate) use define::{default_strategy, define, drop_named, drop_removal, each, encrypt_step};
pub(crate) use query::{count_query, help, query, storage_unit_query, unloaded_query, utility};
pub(crate) use rules::{
    discovery_rule, encrypt_rule, heartbeat, mask_rule, readwrite_rule, shadow_rule,
};
pub(crate) use sharding::{key_generate_rule, reference, table_rule};
pub(crate) use unit::{drop_units, single_tables, storage_units};
