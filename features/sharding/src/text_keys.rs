//! What an algorithm sees of a text in a sharding column whose collation calls different texts equal.

use pando_config::Problem;

/// The property of every algorithm that says it.
pub(crate) const PROPERTY: &str = "text-keys";

/// Algorithms that read dates, of which a letter in another case is none.
const OF_DATES: [&str; 2] = ["INTERVAL", "AUTO_INTERVAL"];

/// What is seen of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKeys {
    /// The one text that stands for all that are equal to it, so that they are on one shard.
    Collation,
    /// The text as it is written: texts that are equal may be on several shards.
    Bytes,
}

impl TextKeys {
    /// What an algorithm says; without a word rows that ShardingSphere has placed stay where they are.
    pub(crate) fn of(config: &pando_config::Algorithm) -> Result<Self, Problem> {
        let is = |text: &str, word: &str| text.trim().eq_ignore_ascii_case(word);
        let Some(text) = config.props.get(PROPERTY) else {
            let kept = config.props.get("compatibility");
            let is_of_dates = OF_DATES.iter().any(|kind| is(&config.kind, kind));
            let keeps = is_of_dates || kept.is_some_and(|kept| is(kept, "shardingsphere"));
            return Ok(if keeps { Self::Bytes } else { Self::Collation });
        };
        match () {
            () if is(text, "collation") => Ok(Self::Collation),
            () if is(text, "bytes") => Ok(Self::Bytes),
            () => Err(text.at.problem(format!(
                "property `{PROPERTY}`: expected `collation` or `bytes`, found `{}`",
                text.value
            ))),
        }
    }
}
