//! The sections of a database's rules and of the global configuration: their fields, in the order documents have them, and what the
//! repository makes of each.

/// A rule section.
#[derive(Debug)]
pub(crate) struct Section {
    /// Its tag in documents; in lower case it is its folder in the repository.
    pub(crate) tag: &'static str,
    /// Known fields.
    pub(crate) fields: &'static [(&'static str, Holds)],
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// A mapping: one entry of the repository for each key.
    Many,
    /// A list of `name:tables`: one entry for each name.
    References,
    /// A list of names, which may also be written as one text with commas.
    Names,
    /// One value.
    One,
}

use Holds::{Many, Names, One, References};

pub(crate) const SECTIONS: [Section; 7] = [
    Section {
        tag: "SHARDING",
        fields: &[
            ("tables", Many),
            ("autoTables", Many),
            ("bindingTables", References),
            ("defaultDatabaseStrategy", One),
            ("defaultTableStrategy", One),
            ("defaultKeyGenerateStrategy", One),
            ("defaultAuditStrategy", One),
            ("defaultShardingColumn", One),
            ("shardingAlgorithms", Many),
            ("keyGenerators", Many),
            ("keyGenerateStrategies", Many),
            ("auditors", Many),
            ("shardingCache", One),
        ],
    },
    Section { tag: "BROADCAST", fields: &[("tables", Names)] },
    Section { tag: "SINGLE", fields: &[("tables", Names), ("defaultDataSource", One)] },
    Section {
        tag: "READWRITE_SPLITTING",
        fields: &[("dataSourceGroups", Many), ("loadBalancers", Many)],
    },
    Section { tag: "ENCRYPT", fields: &[("tables", Many), ("encryptors", Many)] },
    Section { tag: "MASK", fields: &[("tables", Many), ("maskAlgorithms", Many)] },
    Section {
        tag: "SHADOW",
        fields: &[
            ("dataSources", Many),
            ("tables", Many),
            ("defaultShadowAlgorithmName", One),
            ("shadowAlgorithms", Many),
        ],
    },
];

/// Root keys of the global configuration and their rule types, in the order documents have them. `mode` is each instance's own.
pub(crate) const GLOBAL: [(&str, &str); 7] = [
    ("authority", "AUTHORITY"),
    ("transaction", "TRANSACTION"),
    ("sqlParser", "SQL_PARSER"),
    ("sqlTranslator", "SQL_TRANSLATOR"),
    ("sqlFederation", "SQL_FEDERATION"),
    ("globalClock", "GLOBAL_CLOCK"),
    ("logging", "LOGGING"),
];

/// The section with a tag.
pub(crate) fn section(tag: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.tag == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_that_documents_are_read_with_has_its_fields_here() {
        let tags = SECTIONS.map(|section| section.tag);
        assert_eq!(tags, pando_config::Rules::TAGS);
    }
}
